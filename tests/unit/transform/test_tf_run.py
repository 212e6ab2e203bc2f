"""From completions to a table of new texts: outcomes and fallback rules."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stressbed.config.catalogue import Catalogue
from stressbed.errors import DataError
from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.run import SCHEMA as COMPLETIONS
from stressbed.generate.run import generate
from stressbed.paths import Variant
from stressbed.transform.markers import Markers
from stressbed.transform.run import SCHEMA, transform

CATALOGUE = Path(__file__).parents[3] / "config" / "catalogue"
CAT = Catalogue.read(
    [CATALOGUE / f"{n}.yaml" for n in ("transformations", "prompts", "generators", "markers")]
)
MARKERS = Markers.of(CAT.markers.values())
MANIFEST = {"dataset": "sample", "languages": {"default": ["eng-Latn"]}, "content_hash": "0" * 32}
ORIGINAL = "A man plays the guitar in the park."


def texts_of(*texts, language="eng-Latn", subset="default", side="both"):
    return pd.DataFrame(
        {
            "text_id": range(len(texts)), "subset": subset, "split": "test", "field": "text",
            "row": [str(i) for i in range(len(texts))], "position": 0, "side": side,
            "language": language, "text": texts,
        }
    )  # fmt: skip


def one(tmp_path, name, answers, texts=None, absent=None, languages=None, prompts=None, **rules):
    """The table made from answers: (text_id, step, attempt, raw, finish); languages by text and step."""
    entry = CAT.transformations[name].model_copy(update=rules)
    rows = [
        {
            "text_id": i, "step": step, "attempt": attempt, "key": f"{i}{step}{attempt}", "prompt_id": "p",
            "language": (languages or {}).get((i, step), "fra-Latn" if name == "translation" else "eng-Latn"),
            "text": raw, "finish": finish,
            "tokens_in": 10, "tokens_out": 5, "temperature": 0.0,
        }
        for i, step, attempt, raw, finish in answers
    ]  # fmt: skip
    metadata = {"stressbed.absent": json.dumps(absent or {}), "stressbed.fingerprint": "f"}
    table = pa.Table.from_pylist(rows, schema=COMPLETIONS.with_metadata(metadata))
    pq.write_table(table, tmp_path / "completions.parquet")
    transform(
        completions=tmp_path / "completions.parquet", texts=texts_of(ORIGINAL) if texts is None else texts,
        manifest=MANIFEST, variant=Variant("fake", name, 1), entry=entry, generator=CAT.generators["fake"],
        markers=MARKERS, out=tmp_path / "out" / "1.parquet", prompts=prompts or {},
    )  # fmt: skip
    return pq.read_table(tmp_path / "out" / "1.parquet")


GOOD = "In the park, a man is playing guitar."


def test_a_good_answer(tmp_path):
    (row,) = one(tmp_path, "paraphrasing", [(0, 1, 0, f'<think>hm</think> "{GOOD}"', "stop")]).to_pylist()
    assert (row["text"], row["outcome"], row["reason"], row["attempts"]) == (GOOD, "ok", "", 1)
    assert row["cleaned"] == "think,quotes"
    assert (row["source_language"], row["target_language"]) == ("eng-Latn", "eng-Latn")
    assert (row["original"], row["tokens_in"], row["tokens_out"]) == (ORIGINAL, 10, 5)


@pytest.mark.parametrize(
    ("attempts", "rules", "outcome", "reason", "text"),
    [
        ([(ORIGINAL.upper(), "stop")], {}, "flagged", "", ORIGINAL.upper()),
        ([("", "stop"), (GOOD, "stop")], {}, "retried", "", GOOD),
        ([("", "stop"), (ORIGINAL, "stop")], {}, "flagged", "", ORIGINAL),  # retried too: a flag is graver
        ([("In the", "length"), (GOOD, "stop")], {}, "retried", "", GOOD),
        ([("", "stop"), (" ", "stop")], {}, "fallback", "empty", ORIGINAL),
        ([("<think>endless", "length")] * 2, {}, "fallback", "empty", ORIGINAL),
        ([("", "stop")] * 2, {"on_empty": "drop"}, "dropped", "empty", ORIGINAL),
        ([("In the", "length"), ("In the park", "length")], {}, "fallback", "cut", "In the park"),
        ([("In the", "length"), ("", "stop")], {}, "fallback", "cut", "In the"),
        ([("In the", "length")] * 2, {"on_cut": "original"}, "fallback", "cut", ORIGINAL),
        ([("In the", "length")] * 2, {"on_cut": "drop"}, "dropped", "cut", ORIGINAL),
        ([("", "too_long")], {}, "fallback", "too_long", ORIGINAL),
        ([("", "too_long")], {"on_too_long": "drop"}, "dropped", "too_long", ORIGINAL),
    ],
)
def test_outcomes_and_rules(tmp_path, attempts, rules, outcome, reason, text):
    answers = [(0, 1, n, raw, finish) for n, (raw, finish) in enumerate(attempts)]
    (row,) = one(tmp_path, "paraphrasing", answers, **rules).to_pylist()
    assert (row["outcome"], row["reason"], row["text"]) == (outcome, reason, text)
    assert row["attempts"] == len(attempts)


def test_what_was_never_asked_has_no_flags(tmp_path):
    (row,) = one(tmp_path, "paraphrasing", [(0, 1, 0, "", "too_long")]).to_pylist()
    assert not any(value for value in row.values() if isinstance(value, bool))


@pytest.mark.parametrize(
    ("answers", "outcome", "reason", "text"),
    [
        ([(0, 1, 0, "Long.", "stop"), (0, 2, 0, GOOD, "stop")], "ok", "", GOOD),
        ([(0, 1, 0, "", "stop"), (0, 1, 1, "", "stop")], "fallback", "empty", ORIGINAL),
        ([(0, 1, 0, "Long", "length"), (0, 2, 0, GOOD, "stop")], "fallback", "cut", GOOD),
        ([(0, 1, 0, "Long.", "stop"), (0, 2, 0, "", "stop")], "fallback", "empty", ORIGINAL),
        ([(0, 1, 0, "Long.", "stop"), (0, 2, 0, "", "too_long")], "fallback", "too_long", ORIGINAL),
        ([(0, 1, 0, "", "stop"), (0, 1, 1, "Long.", "stop"), (0, 2, 0, GOOD, "stop")], "retried", "", GOOD),
    ],
)  # fmt: skip
def test_two_steps(tmp_path, answers, outcome, reason, text):
    (row,) = one(tmp_path, "summarised_expansion", answers).to_pylist()
    assert (row["outcome"], row["reason"], row["text"]) == (outcome, reason, text)
    assert row["tokens_out"] == 5 * len(answers)


def test_translation_must_be_in_its_target_language(tmp_path):
    french = "Un homme joue de la guitare dans le parc."
    (row,) = one(tmp_path, "translation", [(0, 1, 0, french, "stop")]).to_pylist()
    assert (row["target_language"], row["wrong_language"], row["outcome"]) == ("fra-Latn", False, "ok")
    (row,) = one(tmp_path, "translation", [(0, 1, 0, GOOD, "stop")]).to_pylist()
    assert (row["wrong_language"], row["outcome"]) == (True, "flagged")
    (row,) = one(tmp_path, "paraphrasing", [(0, 1, 0, french, "stop")]).to_pylist()
    assert row["wrong_language"]


def test_absent_subsets_and_untouched_fields_have_no_rows(tmp_path):
    texts = pd.concat([texts_of("a b c"), texts_of("d e f", subset="fr")], ignore_index=True)
    texts["text_id"] = [0, 1]
    texts["side"] = ["query", "query"]
    table = one(tmp_path, "paraphrasing", [(0, 1, 0, "c b a", "stop")], texts, absent={"fr": "none left"})
    assert table["text_id"].to_pylist() == [0]
    assert json.loads(table.schema.metadata[b"stressbed.absent"]) == {"fr": "none left"}
    texts["side"] = ["query", "document"]
    table = one(tmp_path, "paraphrasing-queries", [(0, 1, 0, "c b a", "stop")], texts)
    assert table["text_id"].to_pylist() == [0]


def test_the_content_hash_covers_texts_and_dropped_rows_only(tmp_path):
    def content(raw, finish="stop", **rules):
        table = one(tmp_path, "paraphrasing", [(0, 1, 0, raw, finish)], **rules)
        return table.schema.metadata[b"stressbed.content_hash"]

    assert content(GOOD) == content(f'"{GOOD}"')
    assert content(GOOD) != content(GOOD + "!")
    assert content("", on_empty="drop") != content("")


def test_what_was_drawn_is_told_by_the_languages_of_every_text_and_step_alone(tmp_path):
    two = [
        (0, 1, 0, "Un", "stop"),
        (0, 2, 0, "One", "stop"),
        (1, 1, 0, "Deux", "stop"),
        (1, 2, 0, "T", "stop"),
    ]

    def drawn(languages, answers=two):
        found = one(tmp_path, "backtranslation", answers, texts_of("a", "b"), languages=languages)
        return found.schema.metadata[b"stressbed.drawn"]

    french, german = {(0, 1): "fra-Latn", (1, 1): "fra-Latn"}, {(0, 1): "fra-Latn", (1, 1): "deu-Latn"}
    assert drawn(french) != drawn(german)
    assert drawn(german) != drawn({(0, 1): "deu-Latn", (1, 1): "fra-Latn"})
    retried = [*two[:3], (1, 1, 1, "Zwei", "stop"), (1, 2, 0, "Two", "stop")]
    assert drawn(french, retried) == drawn(french)  # answers and attempts are no draw


def test_completions_that_miss_a_text_are_refused(tmp_path):
    with pytest.raises(DataError, match="no answer for text 1"):
        one(tmp_path, "paraphrasing", [(0, 1, 0, GOOD, "stop")], texts_of("a", "b"))


def test_after_generate(tmp_path):
    texts = texts_of(*(f"Sentence number {i} about a man and his guitar." for i in range(60)))
    entry = CAT.generators["fake"].model_copy(
        update={"engine_options": {"empty_rate": 0.4, "cut_rate": 0.3}, "batch_size": 500}
    )
    chosen = [t for t in CAT.transformations.values() if t.order < 100]
    outputs = {Variant("fake", t.id, 5): tmp_path / f"{t.id}.parquet" for t in chosen}
    generate(
        dataset="sample", manifest=MANIFEST, texts=texts, generator=entry, generator_identity="g",
        transformations=chosen, prompts=CAT.prompts, seeds=[5], store_root=tmp_path / "store",
        outputs=outputs, open_engine=lambda: FakeEngine(entry),
    )  # fmt: skip
    seen = set()
    for variant, completions in outputs.items():
        for name in ("a", "b"):
            transform(
                completions=completions, texts=texts, manifest=MANIFEST, variant=variant,
                entry=CAT.transformations[variant.transformation], generator=entry,
                markers=MARKERS, out=tmp_path / name,
            )  # fmt: skip
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        table = pq.read_table(tmp_path / "a")
        assert table.schema.equals(SCHEMA)
        rows = table.to_pylist()
        assert [r["text_id"] for r in rows] == list(range(60))
        assert all(r["text"].strip() for r in rows)
        assert all(r["text"] == r["original"] for r in rows if r["reason"] == "empty")
        assert all((r["reason"] != "") == (r["outcome"] == "fallback") for r in rows)
        seen |= {(r["outcome"], r["reason"]) for r in rows}
    assert {("fallback", "empty"), ("fallback", "cut"), ("retried", ""), ("ok", "")} <= seen
