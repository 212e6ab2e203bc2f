"""The generate stage as a whole, against an enumerator that asks everything for itself."""

import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from gen_samples import catalogue, english, hteb, manifest, texts_frame

from stressbed.errors import ConfigError, EngineError, IncompleteBatchError, StoreError
from stressbed.fingerprint import digest
from stressbed.generate.assign import assign
from stressbed.generate.clean import clean
from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.request import ChatRequest, Completion
from stressbed.generate.run import SCHEMA, generate
from stressbed.languages import english_name
from stressbed.paths import Variant

SEEDS = [1337, 1338]
MIXED = texts_frame(
    [
        ("en", "eng-Latn", "document", "a man plays the guitar"),
        ("en", "eng-Latn", "document", "a man plays the guitar"),
        ("en", "eng-Latn", "query", 'braces {target_language} {0} and "quotes"'),
        ("en", "eng-Latn", "query", "word " * 150),
        ("ar", "arb-Arab", "document", "رجل يعزف على الجيتار في الحديقة"),
        ("ar", "arb-Arab", "query", "من يعزف؟"),
        ("ja", "jpn-Jpan", "both", "私は東京に住んでいます。"),
        ("de-en", "deu-Latn", "both", "Ein Mann spielt Gitarre."),
        ("de-en", "eng-Latn", "both", "A man plays guitar."),
    ]
)
LANGUAGES = {"en": ["eng-Latn"], "ar": ["arb-Arab"], "ja": ["jpn-Jpan"], "de-en": ["deu-Latn", "eng-Latn"]}
OPTIONS = {"empty_rate": 0.15, "cut_rate": 0.25}


def fake(cat, log=None, attempts=2, temperature=0.0, **options):
    extra = {"log": str(log)} if log else {}
    base = cat.generators["fake"].model_dump()
    changes = {
        "engine_options": options | extra, "retry": {"attempts": attempts}, "batch_size": 16,
        "sampling": {"temperature": temperature}, "context": 500,
        "limits": {"factor": 2.0, "minimum": 32, "maximum": 256, "expansion_factor": 3.0},
    }  # fmt: skip
    return type(cat.generators["fake"]).model_validate(base | changes)


class Opened:
    """Opens fake engines and counts how often."""

    def __init__(self, entry):
        self.entry, self.times = entry, 0

    def __call__(self):
        self.times += 1
        return FakeEngine(self.entry)


def run(folder, cat, entry, texts, languages, *, transformations=None, seeds=SEEDS, opened=None, out="out"):
    chosen = transformations or hteb(cat)
    outputs = {Variant("fake", t.id, s): folder / out / t.id / f"{s}.parquet" for t in chosen for s in seeds}
    stats = generate(
        dataset="sample", manifest=manifest(languages), texts=texts, generator=entry,
        generator_identity="fake-identity", transformations=chosen, prompts=cat.prompts, seeds=seeds,
        store_root=folder / "store", outputs=outputs, open_engine=opened or Opened(entry),
    )  # fmt: skip
    return stats, {v: pq.read_table(p) for v, p in outputs.items()}


class Naive:
    """The naive way: every transformation, seed and step asks for itself, by rules written anew."""

    def __init__(self, cat, entry, engine):
        self.cat, self.entry, self.engine = cat, entry, engine
        self.requests, self.first = [], 0

    def tokens(self, text):
        return self.engine.count_tokens([text])[0]

    def ask(self, request):
        self.requests.append(request)
        return self.engine.complete([request], ["k"])[0]

    def step(self, step, text, language, seed):
        e, prompt = self.entry, self.cat.prompts[step.prompt]
        words = prompt.template.replace("{target_language}", english_name(language))
        apart = (("system", words), ("user", text))
        words += prompt.separator
        factor = e.limits.expansion_factor if step.expands else e.limits.factor
        limit = min(max(math.ceil(factor * self.tokens(text)), e.limits.minimum), e.limits.maximum)
        prompt_tokens = self.tokens(words) + self.tokens(text) + 32
        self.first += 1
        if prompt_tokens + limit > e.context:
            return [("", "too_long")]
        temperature = e.sampling.temperature
        said = apart if prompt.role == "system" else (("user", words + text),)
        request = ChatRequest(said, limit, temperature, e.sampling.top_p, 0, seed if temperature else None)
        answers = [self.ask(request)]
        while len(answers) <= e.retry.attempts:
            last = answers[-1]
            if last.finish == "stop" and clean(last.text, text).text:
                break
            larger = max(
                request.max_tokens, min(math.ceil(limit * e.retry.limit_factor), e.context - prompt_tokens)
            )
            hot = len(answers) >= 2 or last.finish == "stop" or larger == request.max_tokens
            t = max(request.temperature, e.retry.temperature) if hot else request.temperature
            request = ChatRequest(request.messages, larger, t, request.top_p, len(answers))
            if t:
                bits = digest([request.key(""), seed if temperature else None])[:8]
                request = ChatRequest(*[*vars(request).values()][:5], seed=int(bits, 16) // 2)
            answers.append(self.ask(request))
        return [(a.text, a.finish) for a in answers]

    def variant(self, transformation, seed, texts, languages):
        """Return {(text_id, step): [(raw, finish), ...]}."""
        found = {}
        a = assign(transformation, seed, dataset="sample", texts=texts, languages=languages)
        for row, drawn in zip(a.texts.to_dict("records"), a.languages, strict=True):
            given = row["text"]
            for number, step in enumerate(transformation.steps, 1):
                language = row["language"] if step.language == "source" else drawn
                answers = self.step(step, given, language, seed)
                found[row["text_id"], number] = answers
                cleaned = [(clean(text, given).text, finish) for text, finish in answers]
                good = [c for c in cleaned if c[0] and c[1] == "stop"]
                filled = [c for c in cleaned if c[0]]
                given, finish = good[0] if good else (filled[-1] if filled else ("", "stop"))
                if not given or finish == "too_long":
                    break
        return found

    def agrees(self, tables, texts, languages):
        """Check that every variant's completions are the naive ones; return how many were compared."""
        compared = 0
        for variant, table in tables.items():
            transformation = self.cat.transformations[variant.transformation]
            wanted = self.variant(transformation, variant.seed, texts, languages)
            got = {}
            for r in table.to_pylist():
                got.setdefault((r["text_id"], r["step"]), []).append((r["text"], r["finish"]))
            assert got == wanted, variant
            compared += sum(map(len, wanted.values()))
        return compared


@pytest.mark.parametrize("temperature", [0.0, 0.4])
def test_requests_and_answers_equal_the_naive_way(tmp_path, temperature):
    cat = catalogue()
    entry = fake(cat, log=tmp_path / "log", temperature=temperature, **OPTIONS)
    stats, tables = run(tmp_path, cat, entry, MIXED, LANGUAGES)
    naive = Naive(cat, entry, FakeEngine(entry.model_copy(update={"engine_options": OPTIONS})))
    naive.agrees(tables, MIXED, LANGUAGES)
    asked = (tmp_path / "log").read_text().split()
    assert len(asked) == len(set(asked))  # never twice
    assert set(asked) == {r.key("fake-identity") for r in naive.requests}
    assert stats.requests_naive == naive.first
    assert stats.sent + stats.retried == len(asked) < len(naive.requests)
    assert stats.too_long > 0
    assert stats.retried > 0
    assert stats.batches >= len(asked) / 16


def test_a_second_run_opens_no_engine_and_gives_the_same_files(tmp_path):
    cat = catalogue()
    entry = fake(cat, **OPTIONS)
    first, tables = run(tmp_path, cat, entry, MIXED, LANGUAGES)
    opened = Opened(entry)
    again, _ = run(tmp_path, cat, entry, MIXED, LANGUAGES, opened=opened, out="again")
    assert opened.times == 0
    assert (again.sent, again.retried, again.batches) == (0, 0, 0)
    assert again.reused == first.sent + first.retried
    for path in (tmp_path / "out").rglob("*.parquet"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "out")).read_bytes()
    assert all(t.schema.equals(SCHEMA) for t in tables.values())


def test_expansion_and_translations_are_shared(tmp_path):
    cat = catalogue()
    entry = fake(cat, log=tmp_path / "log")
    texts, languages = english(30), {"default": ["eng-Latn"]}

    def sent(*names):
        chosen = [cat.transformations[n] for n in names]
        return run(tmp_path, cat, entry, texts, languages, transformations=chosen)[0].sent

    assert sent("expansion") == 30
    assert sent("summarised_expansion") == 30  # its second step alone
    translations = sent("translation")
    back, tables = run(
        tmp_path, cat, entry, texts, languages, transformations=[cat.transformations["backtranslation"]]
    )
    steps = [r for t in tables.values() for r in t.to_pylist()]
    there = {(r["text_id"], r["language"]) for r in steps if r["step"] == 1}
    assert translations in {30, 60}
    assert back.sent < len(there) + len({r["key"] for r in steps if r["step"] == 2})


def test_steps_languages_and_prompts_are_recorded(tmp_path):
    cat = catalogue()
    _, tables = run(tmp_path, cat, fake(cat), MIXED, LANGUAGES)
    rows = tables[Variant("fake", "backtranslation", 1337)].to_pylist()
    assert {r["prompt_id"] for r in rows} == {"translate"}
    for text_id, source in zip(MIXED["text_id"], MIXED["language"], strict=True):
        languages = [r["language"] for r in rows if r["text_id"] == text_id]
        assert languages[-1] == source or len(languages) == 1
        assert languages[0] != source
    assert {r["language"] for r in tables[Variant("fake", "translation", 1337)].to_pylist()} <= {
        *cat.transformations["translation"].pool
    }


def test_an_absent_subset_is_recorded_with_its_reason(tmp_path):
    cat = catalogue()
    narrow = cat.transformations["translation"].model_copy(update={"pool": ["ar"]})
    _, tables = run(tmp_path, cat, fake(cat), MIXED, LANGUAGES, transformations=[narrow], seeds=[1])
    (table,) = tables.values()
    absent = json.loads(table.schema.metadata[b"stressbed.absent"])
    assert list(absent) == ["ar"]
    assert "Arabic" in absent["ar"]
    ids = set(MIXED["text_id"][MIXED["subset"] != "ar"])
    assert set(table["text_id"].to_pylist()) == ids


def test_a_new_seed_or_transformation_asks_only_for_its_own(tmp_path):
    cat = catalogue()
    entry = fake(cat)
    run(tmp_path, cat, entry, MIXED, LANGUAGES, seeds=[1])
    more, tables = run(tmp_path, cat, entry, MIXED, LANGUAGES, seeds=[1, 2])
    drawn = [t for v, t in tables.items() if cat.transformations[v.transformation].draw != "none"]
    assert 0 < more.sent < sum(t.num_rows for t in drawn)
    assert run(tmp_path, cat, entry, MIXED, LANGUAGES, seeds=[2])[0].sent == 0


class Dies(FakeEngine):
    """Fails in its n-th batch."""

    def __init__(self, entry, n):
        super().__init__(entry)
        self.left = n

    def complete(self, requests, keys):
        self.left -= 1
        if self.left == 0:
            raise EngineError("the machine is gone")
        return super().complete(requests, keys)


def test_a_broken_run_resumes_with_the_same_batches(tmp_path):
    cat = catalogue()
    whole = fake(cat, log=tmp_path / "whole", **OPTIONS)
    _, expected = run(tmp_path / "a", cat, whole, english(40), {"default": ["eng-Latn"]})
    broken = fake(cat, log=tmp_path / "broken", **OPTIONS)
    for n in (3, 5, 9):
        with pytest.raises(EngineError, match="gone"):
            run(
                tmp_path / "b", cat, broken, english(40), {"default": ["eng-Latn"]},
                opened=lambda n=n: Dies(broken, n),
            )  # fmt: skip
    assert not (tmp_path / "b" / "out").exists()
    _, tables = run(tmp_path / "b", cat, broken, english(40), {"default": ["eng-Latn"]})
    assert (tmp_path / "broken").read_text() == (tmp_path / "whole").read_text()  # same order, nothing twice
    for variant, table in tables.items():
        assert table.equals(expected[variant], check_metadata=True)


class Refuses(FakeEngine):
    """Refuses some requests for good and answers the others, as the engine of an API does."""

    def __init__(self, entry, refused):
        super().__init__(entry)
        self.refused = refused

    def complete(self, requests, keys):
        done = [a for a in super().complete(requests, keys) if a.key not in self.refused]
        if len(done) < len(keys):
            raise IncompleteBatchError.of(EngineError("status 400"), failed=len(keys) - len(done), done=done)
        return done


@pytest.mark.parametrize("n_refused", [1, 15, 16])
def test_answers_of_a_batch_that_failed_are_not_asked_for_again(tmp_path, n_refused):
    cat = catalogue()
    entry = fake(cat, log=tmp_path / "asked")
    args = (tmp_path, cat, entry, english(40), {"default": ["eng-Latn"]})
    _, expected = run(tmp_path / "whole", cat, fake(cat), english(40), {"default": ["eng-Latn"]})
    first = pq.read_table(tmp_path / "whole/out/paraphrasing/1337.parquet")["key"].to_pylist()[:16]
    refused = set(first[:n_refused])
    with pytest.raises(IncompleteBatchError, match="status 400"):
        run(*args, opened=lambda: Refuses(entry, refused))
    failed = (tmp_path / "asked").read_text().split()
    answered = set(failed) - refused
    _, tables = run(*args)
    again = (tmp_path / "asked").read_text().split()[len(failed) :]
    assert refused & set(failed)
    assert not answered & set(again)
    assert all(t.equals(expected[v], check_metadata=True) for v, t in tables.items())


class WrongKeys(FakeEngine):
    def complete(self, requests, keys):
        return super().complete(requests, keys)[::-1]


def test_answers_that_do_not_fit_the_requests_are_refused(tmp_path):
    cat = catalogue()
    entry = fake(cat)
    with pytest.raises(EngineError, match="do not fit"):
        run(tmp_path, cat, entry, MIXED, LANGUAGES, opened=lambda: WrongKeys(entry))
    assert not list((tmp_path / "store").rglob("batches/*"))


class Surrogates(FakeEngine):
    def complete(self, requests, keys):
        return [Completion(k, f"a\ud800\x00 {k}", "stop", 1, 1) for k in keys]


def test_lone_surrogates_do_not_break_files_or_second_steps(tmp_path):
    cat = catalogue()
    entry = fake(cat)
    _, tables = run(tmp_path, cat, entry, MIXED, LANGUAGES, opened=lambda: Surrogates(entry))
    texts = tables[Variant("fake", "summarised_expansion", 1337)]["text"].to_pylist()
    assert all(t.startswith("a\ufffd\x00") for t in texts if t)


def test_a_damaged_batch_stops_the_run_and_names_the_remedy(tmp_path):
    cat = catalogue()
    entry = fake(cat)
    run(tmp_path, cat, entry, MIXED, LANGUAGES)
    batch = next((tmp_path / "store/completions/fake-identity/batches").iterdir())
    batch.write_bytes(batch.read_bytes()[:-1])
    with pytest.raises(StoreError, match="delete this file"):
        run(tmp_path, cat, entry, MIXED, LANGUAGES)
    batch.unlink()
    assert 0 < run(tmp_path, cat, entry, MIXED, LANGUAGES)[0].sent <= 16


def test_an_unknown_variant_is_refused(tmp_path):
    cat = catalogue()
    with pytest.raises(ConfigError, match="no transformation 'expansionn'"):
        generate(
            dataset="d", manifest=manifest({}), texts=english(1), generator=fake(cat), generator_identity="x",
            transformations=hteb(cat), prompts=cat.prompts, seeds=[1], store_root=tmp_path,
            outputs={Variant("fake", "expansionn", 1): tmp_path / "x"}, open_engine=Opened(fake(cat)),
        )  # fmt: skip


SIGTERM_SCRIPT = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from gen_samples import catalogue, english
from test_gen_run import FakeEngine, fake, run
from stressbed.errors import StoppedError
cat = catalogue()
entry = fake(cat, log=Path({folder!r}) / "log")
class Signalled(FakeEngine):
    def complete(self, requests, keys):
        os.kill(os.getpid(), signal.SIGTERM)
        return super().complete(requests, keys)
try:
    languages = {{"default": ["eng-Latn"]}}
    run(Path({folder!r}), cat, entry, english(40), languages, opened=lambda: Signalled(entry))
except StoppedError as e:
    sys.exit(str(e))
"""


def test_sigterm_finishes_the_batch_in_flight_and_exits_non_zero(tmp_path):
    script = SIGTERM_SCRIPT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "stopped on request (SIGTERM) after 1 of" in done.stderr
    assert len((tmp_path / "log").read_text().split()) == 16
    cat = catalogue()
    before = signal.getsignal(signal.SIGTERM)
    stats, _ = run(tmp_path, cat, fake(cat), english(40), {"default": ["eng-Latn"]})
    assert stats.reused == 16
    assert signal.getsignal(signal.SIGTERM) is before
