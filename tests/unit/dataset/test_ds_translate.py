"""A translated dataset: new texts, everything else as in its source, and where it comes from."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ds_samples import SCORES, TYPES, HashEncoder, assert_same, entry_of, evaluate, tables_of

from stressbed.config.entries import DatasetEntry, GeneratorEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record
from stressbed.dataset.rewrite import rewrite
from stressbed.dataset.thaw import thaw
from stressbed.dataset.translate import NOT_TRANSLATED, SAME, freeze_translation
from stressbed.errors import DataError
from stressbed.transform.run import SCHEMA

pytestmark = pytest.mark.filterwarnings("ignore")

TRANSLATED = [t for t in TYPES if t != "BitextMining"]
GENERATOR = GeneratorEntry(id="llm", engine="fake", model="fake", revision="3", licence="gemma")


def german(text: str) -> str:
    """Stands for a translation: other words, the same order."""
    return " ".join(f"{word}ung" for word in text.split())


def translations(texts: pd.DataFrame, **changes) -> pa.Table:
    """Return what the transform stage would write; `changes` replace columns."""
    columns = {n: [{pa.bool_(): False, pa.int64(): 0}.get(SCHEMA.field(n).type, "")] * len(texts)
               for n in SCHEMA.names}  # fmt: skip
    columns |= {
        n: texts[n].tolist() for n in ("text_id", "subset", "split", "field", "row", "position", "side")
    }
    columns |= {"original": texts["text"].tolist(), "text": list(map(german, texts["text"]))}
    columns |= {"outcome": ["ok"] * len(texts), **changes}
    return pa.table(columns, schema=SCHEMA.with_metadata({"stressbed.content_hash": "abc"}))


class Made:
    """A frozen source and what its translation is made of."""

    def __init__(self, folder, task_type: str, tables=None, **more) -> None:
        self.source, self.out, self.rewrites = (
            folder / "source",
            folder / "german",
            folder / "rewrites.parquet",
        )
        entry = entry_of(task_type, tables or tables_of(task_type), folder, **more)
        freeze(entry, folder, self.source)
        record(self.source)
        self.texts = pd.read_parquet(self.source / "texts.parquet")
        self.entry = DatasetEntry(
            id="in-german", task_type=task_type, main_score=SCORES[task_type],
            languages={"default": ["deu-Latn"]},
            translate_dataset={"source": entry.id, "generator": "llm"},
        )  # fmt: skip

    def translate(self, **changes):
        pq.write_table(translations(self.texts, **changes), self.rewrites)
        return freeze_translation(
            self.entry, source=self.source, texts=self.source / "texts.parquet", rewrites=self.rewrites,
            generator=GENERATOR, out=self.out,
        )  # fmt: skip


@pytest.mark.parametrize("task_type", TRANSLATED)
def test_every_embedded_text_is_translated_and_all_else_is_the_sources(task_type, tmp_path):
    made = Made(tmp_path, task_type)
    manifest = made.translate()
    record(made.out)
    texts = pd.read_parquet(made.out / "texts.parquet")
    assert set(texts["language"]) == {"deu-Latn"}
    assert texts["text"].tolist() == list(map(german, made.texts["text"]))
    places = ["text_id", "subset", "split", "field", "row", "position", "side"]
    pd.testing.assert_frame_equal(texts[places], made.texts[places])
    base = json.loads((made.source / "manifest.json").read_text())
    for key in ("source", "task", "task_type", "revision", "sides", "min_score", "max_score", "subsets"):
        assert manifest[key] == base[key]
    assert [t["rows"] for t in manifest["tables"]] == [t["rows"] for t in base["tables"]]
    assert manifest["content_hash"] != base["content_hash"]


@pytest.mark.parametrize("task_type", TRANSLATED)
def test_a_translated_dataset_scores_as_the_source_with_its_texts_replaced(task_type, tmp_path):
    made = Made(tmp_path, task_type)
    made.translate()
    replaced = thaw(made.source)
    rewrite(
        replaced, made.texts, dict(zip(made.texts["text_id"], map(german, made.texts["text"]), strict=True))
    )
    assert_same(evaluate(thaw(made.out), HashEncoder()), evaluate(replaced, HashEncoder()))


def test_the_manifest_says_what_was_translated_by_whom_and_how_well(tmp_path):
    made = Made(tmp_path, "STS", licence="cc-by-4.0")
    n = len(made.texts)
    german_but_one = [made.texts["text"][0], *map(german, made.texts["text"][1:])]
    manifest = made.translate(
        text=german_but_one, outcome=["fallback", *["flagged"] * (n - 1)], wrong_language=[True] * n
    )
    found = manifest["translation"]
    base = json.loads((made.source / "manifest.json").read_text())
    assert (found["source"], found["source_hash"]) == ("sample-sts", base["content_hash"])
    assert (found["generator"], found["model"], found["model_revision"]) == ("llm", "fake", "3")
    assert (found["transformation"], found["seed"], found["language"]) == ("translation", 1337, "deu-Latn")
    assert found["rewrites_hash"] == "abc"
    assert (found["texts"], found["fallbacks"]) == (n, 1)
    assert found["outcomes"] == {"fallback": 1, "flagged": n - 1}
    assert (found["flags"]["wrong_language"], found["flags"]["empty"]) == (n, 0)
    assert manifest["notes"][SAME] == 1
    assert manifest["licence"] == "cc-by-4.0"


def test_texts_that_are_never_embedded_stay_and_are_counted(tmp_path):
    tables = tables_of("Classification")
    tables["train"] = [{**row, "text": f"{row['text']} {i}"} for i in range(10) for row in tables["train"]]
    made = Made(tmp_path, "Classification", tables)
    manifest = made.translate()
    sampled = set(made.texts.loc[made.texts["split"] == "train", "row"].astype(int))
    assert manifest["notes"][NOT_TRANSLATED] == 600 - len(sampled) > 0
    train = thaw(made.out).dataset["train"]["text"][:]
    assert all(("ung " in text) == (i in sampled) for i, text in enumerate(train))


def test_blank_texts_and_a_row_limit_are_the_sources(tmp_path):
    tables = tables_of("Retrieval")
    made = Made(tmp_path, "Retrieval", tables, row_limit=4)
    manifest = made.translate()
    assert manifest["row_limit"] == 4
    old, new = (thaw(f).dataset["default"]["test"] for f in (made.source, made.out))
    assert new["relevant_docs"] == old["relevant_docs"]
    assert new["corpus"]["id"][:] == old["corpus"]["id"][:]
    assert [t == "" for t in new["corpus"]["title"][:]] == [t == "" for t in old["corpus"]["title"][:]]


def test_the_content_hash_hangs_on_the_translations(tmp_path):
    made = Made(tmp_path, "STS")
    first = made.translate()["content_hash"]
    assert made.translate()["content_hash"] == first
    other = [f"{german(t)} noch" for t in made.texts["text"]]
    assert made.translate(text=other)["content_hash"] != first


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"original": "other"}, "do not belong together"),
        ({"outcome": "dropped"}, "were dropped"),
    ],
)
def test_translations_of_other_texts_and_dropped_ones_are_refused(changes, words, tmp_path):
    made = Made(tmp_path, "STS")
    ((column, value),) = changes.items()
    with pytest.raises(DataError, match=words):
        made.translate(**{column: [value] * len(made.texts)})
    assert not (made.out / "manifest.json").exists()


def test_a_missing_translation_is_refused(tmp_path):
    made = Made(tmp_path, "STS")
    made.texts = made.texts.iloc[1:]
    with pytest.raises(DataError, match="1 texts and their translations do not belong together"):
        made.translate()
