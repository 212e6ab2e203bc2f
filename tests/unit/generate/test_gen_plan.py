"""Planning: limits, keys, seeds, retries, batches."""

import random
from dataclasses import dataclass

import pytest
from gen_samples import catalogue

from stressbed.config.entries import PromptEntry, Step
from stressbed.generate.batches import cut
from stressbed.generate.plan import TEMPLATE_TOKENS, Planner
from stressbed.generate.prompts import messages
from stressbed.generate.request import Completion

STEP = Step(prompt="paraphrase", language="source")


def words(texts):
    return [len(t.split()) for t in texts]


def planner(**changes):
    cat = catalogue()
    base = cat.generators["fake"].model_dump()
    sampling = {"sampling": {"temperature": changes.pop("temperature", 0.0)}}
    entry = type(cat.generators["fake"]).model_validate(base | sampling | changes)
    return Planner(entry, "identity", cat.prompts, words)


def first(p, text="one two three", language="eng-Latn", step=STEP, seed=1):
    return p.calls(step, [(text, language)], seed)[0]


def ended(call, text, finish="stop"):
    return Completion(call.key, text, finish, 1, 1)


def test_braces_in_a_text_are_left_alone():
    prompt = PromptEntry(id="p", template="Say it in {target_language}.", source="here")
    text = "a {target_language} {0} {} {{x}} % \\n"
    assert messages(prompt, "fra", text) == (("user", f"Say it in French.\n\n{text}"),)


def test_a_system_prompt_is_a_message_of_its_own():
    prompt = PromptEntry(id="p", template="In {target_language}.", role="system", source="here")
    assert messages(prompt, "fra", "t") == (("system", "In French."), ("user", "t"))


@pytest.mark.parametrize(
    ("n", "expands", "limit"), [(1, False, 10), (7, False, 14), (90, False, 50), (7, True, 28)]
)
def test_limits_follow_the_input(n, expands, limit):
    p = planner(limits={"factor": 2, "minimum": 10, "maximum": 50, "expansion_factor": 4})
    step = Step(prompt="expand", language="source", expands=expands)
    assert first(p, " ".join("w" * n), step=step).request.max_tokens == limit


def test_equal_calls_are_one_and_seeds_matter_only_when_sampling():
    p = planner()
    assert first(p, seed=1) is first(p, seed=2)
    assert first(p).request.seed is None
    assert first(p).key != first(p, language="fra").key
    assert first(p).key == first(p, language="en").key
    sampling = planner(temperature=0.5)
    assert first(sampling, seed=1).request.seed == 1
    assert first(sampling, seed=1).key != first(sampling, seed=2).key


def test_a_prompt_that_does_not_fit_is_never_sent_nor_retried():
    p = planner(context=300)
    overhead = words([catalogue().prompts["paraphrase"].template])[0] + TEMPLATE_TOKENS
    n = 0
    while overhead + n + p.limit(n, expands=False) <= 300:
        n += 1
    fits, too_long = first(p, " ".join("w" * (n - 1))), first(p, " ".join("w" * n))
    assert fits.fits
    assert not too_long.fits
    assert p.retry(too_long, ended(too_long, "", "too_long"), "") is None


def ladder(p, finish, text):
    """All requests that follow when every answer is the same bad one."""
    call, requests = first(p), []
    while call is not None:
        requests.append(call.request)
        call = p.retry(call, ended(call, text, finish), text)
    return requests


def test_good_answers_are_not_retried():
    p = planner()
    assert p.retry(first(p), ended(first(p), "fine"), "fine") is None


def test_a_cut_answer_gets_a_larger_limit_then_a_temperature():
    got = ladder(planner(retry={"attempts": 3, "limit_factor": 2}), "length", "half")
    limit = got[0].max_tokens
    assert [(r.attempt, r.max_tokens, r.temperature) for r in got] == [
        (0, limit, 0.0), (1, 2 * limit, 0.0), (2, 2 * limit, 0.7), (3, 2 * limit, 0.7),
    ]  # fmt: skip
    assert [r.seed is None for r in got] == [True, True, False, False]
    assert got[2].seed != got[3].seed


def test_an_empty_answer_the_model_ended_itself_gets_a_temperature_at_once():
    got = ladder(planner(retry={"attempts": 1}), "stop", "")
    assert [(r.attempt, r.temperature) for r in got] == [(0, 0.0), (1, 0.7)]


def test_a_filtered_answer_gets_a_temperature_at_once_as_an_empty_one_does():
    p = planner(retry={"attempts": 1, "limit_factor": 2.0, "temperature": 0.7})
    call = first(p)
    again = p.retry(call, ended(call, "", "filtered"), "")
    assert again == p.retry(call, ended(call, "", "stop"), "")
    assert again.request.temperature == 0.7
    assert p.retry(again, ended(again, "", "filtered"), "") is None


@pytest.mark.parametrize("finish", ["refused", "broken", "too_long"])
def test_what_another_attempt_would_not_change_is_final(finish):
    p = planner(retry={"attempts": 4}, temperature=0.5)
    assert p.retry(first(p), ended(first(p), "", finish), "") is None


def test_what_cannot_change_is_not_retried():
    assert len(ladder(planner(retry={"attempts": 4, "temperature": 0}), "stop", "")) == 1
    assert (
        len(ladder(planner(retry={"attempts": 4, "temperature": 0, "limit_factor": 1}), "length", "h")) == 1
    )
    assert len(ladder(planner(retry={"attempts": 4, "temperature": 0}), "length", "h")) == 2
    assert len(ladder(planner(retry={"attempts": 0}), "length", "h")) == 1


def test_a_larger_limit_stays_inside_the_context():
    p = planner(context=200, retry={"attempts": 1, "limit_factor": 100})
    got = ladder(p, "length", "half")
    assert got[1].max_tokens == 200 - first(p).tokens


def test_a_retrys_seed_comes_from_its_request():
    one, two = (ladder(planner(retry={"attempts": 2}), "length", "half")[2] for _ in range(2))
    assert one == two
    other = planner(retry={"attempts": 2})
    call = first(other, "another text")
    for _ in range(2):
        call = other.retry(call, ended(call, "half", "length"), "half")
    assert call.request.seed != one.seed
    hot = [ladder_seed(s) for s in (1, 2)]
    assert hot[0] != hot[1]  # a sampling generator's seeds stay different in retries


def ladder_seed(seed):
    p = planner(temperature=0.5, retry={"attempts": 1})
    call = first(p, seed=seed)
    return p.retry(call, ended(call, "half", "length"), "half").request.seed


@dataclass(frozen=True)
class Thing:
    key: str
    length: int


def test_batches_do_not_depend_on_order_and_resume_at_the_same_places():
    rng = random.Random(5)
    things = [Thing(f"{rng.getrandbits(128):032x}", rng.randrange(20)) for _ in range(103)]
    whole = list(cut(things, 10))
    shuffled = things[:]
    rng.shuffle(shuffled)
    assert list(cut(shuffled, 10)) == whole
    assert [len(b) for b in whole] == [10] * 10 + [3]
    assert sorted((t for b in whole for t in b), key=lambda t: t.key) == sorted(things, key=lambda t: t.key)
    done = {t for b in whole[:4] for t in b}
    assert list(cut([t for t in shuffled if t not in done], 10)) == whole[4:]
    lengths = [t.length for b in whole for t in b]
    assert lengths == sorted(lengths, reverse=True)
