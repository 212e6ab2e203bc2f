"""What single rows say: their language, texts that stand twice, classes that mteb's metrics stumble over."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from ds_samples import LANGUAGES, entry_of, tables_of

from stressbed.config.entries import DatasetEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record
from stressbed.dataset.recorder import Recorder
from stressbed.dataset.thaw import thaw
from stressbed.generate.assign import assign
from stressbed.score.evaluate import evaluate_task

FAILING = Path(__file__).parents[2] / "data" / "failing"
BOTH = {"default": ["eng-Latn", "deu-Latn"]}


def frozen(entry, folder, out):
    """Freeze and record; return manifest and texts."""
    manifest = freeze(entry, folder, out)
    record(out)
    return manifest, pd.read_parquet(out / "texts.parquet")


def of_case(name, out, dataset):
    (folder,) = FAILING.glob(f"{name}-*")
    entries = yaml.safe_load((folder / "cat.yaml").read_text(encoding="utf-8"))["datasets"]
    entry = DatasetEntry(**next(e for e in entries if e["id"] == dataset))
    return frozen(entry, folder, out)


def test_the_texts_of_a_tsv_begin_with_their_quotation_marks(tmp_path):
    _, texts = of_case("12", tmp_path / "out", "pairs")
    assert len(texts) == 8
    assert texts[texts["field"] == "sentence1"]["text"].tolist() == [
        '"Well,', 'Yes"', "The door is shut.", "Five eggs.",
    ]  # fmt: skip


@pytest.mark.parametrize(("dataset", "documents"), [("dup-d", 2), ("dup-z", 2)])
def test_documents_like_a_judged_one_are_noted(tmp_path, dataset, documents):
    manifest, _ = of_case("23", tmp_path / "out", dataset)
    assert manifest["notes"] == {"documents_like_a_judged_one": documents}


def test_documents_that_are_judged_or_like_an_irrelevant_one_are_not(tmp_path):
    tables = tables_of("Retrieval")
    tables["corpus"] = [{"id": f"d{i}", "text": "ab"[i // 2]} for i in range(4)]
    tables["queries"] = [{"id": "q", "text": "x"}]
    tables["qrels"] = [
        {"query_id": "q", "corpus_id": d, "score": s} for d, s in (("d0", 1), ("d1", 0), ("d2", 0))
    ]
    manifest, _ = frozen(entry_of("Retrieval", tables, tmp_path), tmp_path, tmp_path / "out")
    assert manifest["notes"] == {}


@pytest.mark.parametrize(
    ("kind", "change", "notes"),
    [
        ("STS", {"score": 4.9}, {"equal_pairs": 2}),
        ("STS", {"score": None}, {}),
        ("PairClassification", {"label": 1}, {"equal_pairs": 2}),
        ("Clustering", {"label": "sail"}, {"equal_texts": 2}),
        ("Classification", {"label": "b"}, {"equal_texts": 2}),
        ("MultilabelClassification", {"labels": ["x", "y", "z"]}, {"equal_texts": 2}),
        ("BitextMining", {"sentence2": "other"}, {"equal_sentences": 2}),
    ],
)
def test_equal_texts_with_other_answers_are_noted(tmp_path, kind, change, notes):
    tables = tables_of(kind)
    again = {**tables["test"][0], **{k: v for k, v in change.items() if v is not None}}
    tables["test"].append(again)
    manifest = freeze(entry_of(kind, tables, tmp_path), tmp_path, tmp_path / "out")
    assert manifest["notes"] == notes


@pytest.mark.parametrize("kind", ["STS", "Classification", "Summarization"])
def test_rows_keep_their_language(tmp_path, kind):
    tables = tables_of(kind)
    for rows in tables.values():
        for i, row in enumerate(rows):
            row["language"] = ["eng-Latn", "de"][i % 2]
    _, texts = frozen(entry_of(kind, tables, tmp_path, languages=BOTH), tmp_path, tmp_path / "out")
    assert len(texts) > 10
    assert texts["language"].tolist() == [BOTH["default"][int(row) % 2] for row in texts["row"]]


def test_documents_and_queries_keep_theirs_when_rows_are_left_out(tmp_path):
    tables = tables_of("Retrieval")
    spoken = {}
    for name in ("corpus", "queries"):
        for i, row in enumerate(tables[name]):
            row["language"] = BOTH["default"][i % 3 == 0]
            spoken[row["id"]] = row["language"]
    entry = entry_of("Retrieval", tables, tmp_path, languages=BOTH, row_limit=3, corpus_sample=2)
    manifest, texts = frozen(entry, tmp_path, tmp_path / "out")
    assert texts["language"].tolist() == [spoken[row] for row in texts["row"]]
    assert set(texts["language"]) == set(BOTH["default"])
    # mteb sees no column of ours.
    assert thaw(tmp_path / "out").dataset["default"]["test"]["corpus"].column_names == ["id", "text", "title"]
    assert {t["table"] for t in manifest["tables"]} == {"corpus", "queries", "qrels", "languages"}


def test_the_two_texts_of_a_pair_may_have_a_language_each(tmp_path):
    tables = tables_of("BitextMining")
    for i, row in enumerate(tables["test"]):
        row["language1"], row["language2"] = BOTH["default"][:: 1 if i % 2 else -1]
    _, texts = frozen(entry_of("BitextMining", tables, tmp_path, languages=BOTH), tmp_path, tmp_path / "out")
    first = texts[texts["field"] == "sentence1"]["language"].tolist()
    second = texts[texts["field"] == "sentence2"]["language"].tolist()
    assert first == ["deu-Latn", "eng-Latn"] * 7 + ["deu-Latn"]
    assert second == ["eng-Latn", "deu-Latn"] * 7 + ["eng-Latn"]


def test_a_language_in_the_rows_changes_the_hash_and_one_for_all_does_not_need_it(tmp_path):
    tables = tables_of("Clustering")
    plain = freeze(entry_of("Clustering", tables, tmp_path), tmp_path, tmp_path / "a")
    for row in tables["test"]:
        row["language"] = "eng-Latn"
    named = freeze(entry_of("Clustering", tables, tmp_path, languages=LANGUAGES), tmp_path, tmp_path / "b")
    assert plain["content_hash"] != named["content_hash"]
    assert [t["table"] for t in plain["tables"]] == ["rows"]


def test_the_texts_of_a_language_decide_its_script_row_by_row(tmp_path):
    texts = {"eng-Latn": ["The cat sleeps", "Bread is here"], "rus-Cyrl": ["Koshka spit", "Hleb na stole"]}
    rows = [
        {"sentence1": t, "sentence2": f"{t} {i}", "score": i, "language": tag}
        for tag, found in texts.items() for i, t in enumerate(found)
    ]  # fmt: skip
    entry = entry_of("STS", {"test": rows}, tmp_path, languages={"default": list(texts)})
    manifest, found = frozen(entry, tmp_path, tmp_path / "out")
    assert manifest["languages"] == {"default": ["eng-Latn", "rus-Latn"]}
    assert list(manifest["notes"]) == [
        "language of default: rus-Latn, since its texts are not written as rus-Cyrl says"
    ]
    assert found.groupby("language").size().to_dict() == {"eng-Latn": 4, "rus-Latn": 4}


def test_no_row_is_given_its_own_language(tmp_path):
    from stressbed.config.entries import TransformationEntry

    tables = tables_of("STS")
    for i, row in enumerate(tables["test"]):
        row["language"] = BOTH["default"][i % 2]
    entry = entry_of("STS", tables, tmp_path, languages=BOTH)
    manifest, texts = frozen(entry, tmp_path, tmp_path / "out")
    cross = TransformationEntry(
        id="t", label="t", axis="language", draw="text", pool=["eng-Latn", "deu-Latn"], exclude="source",
        steps=[{"prompt": "to", "language": "target"}],
    )  # fmt: skip
    a = assign(cross, 1, dataset=entry.id, texts=texts, languages=manifest["languages"])
    assert a.absent == {}
    assert a.languages == [BOTH["default"][1 - int(row) % 2] for row in texts["row"]]


class _Numbered(Recorder):
    """An encoder whose vectors are made of a string's characters."""

    def __init__(self):
        super().__init__()
        self.encoded = {}

    def encode(self, inputs, *, prompt_type=None, **_):
        import numpy as np

        strings = inputs.dataset["text"][:]
        return np.array([[s.count(c) for c in "abcdefghilmnoprstuvy"] for s in strings], dtype=np.float32)


@pytest.mark.parametrize(
    "labels", [["bad", "fine", "good"], [0, 1, 2], [2, 3, 5], ["-1", "7", "x"], [0, 2, 1]], ids=str
)
def test_two_of_three_classes_in_the_test_give_an_accuracy(tmp_path, labels):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score

    low, middle, high = labels
    train = [
        (f"{w} {i}", n) for i in range(4) for w, n in (("cold", low), ("okay", middle), ("lovely", high))
    ]
    test = [("cold again", low), ("lovely", high), ("very cold", low), ("lovely okay", high)]
    tables = {
        name: [{"text": t, "label": n} for t, n in rows] for name, rows in (("train", train), ("test", test))
    }
    frozen(entry_of("Classification", tables, tmp_path), tmp_path, tmp_path / "out")
    (found,) = evaluate_task(thaw(tmp_path / "out"), _Numbered(), subsets=["default"], splits=["test"])
    # All 12 training rows are drawn in each experiment, so one fit by other code says what comes out.
    vectors = [[[t.count(c) for c in "abcdefghilmnoprstuvy"] for t, _ in rows] for rows in (train, test)]
    model = LogisticRegression(max_iter=100).fit(vectors[0], [str(n) for _, n in train])
    wanted = [str(n) for _, n in test]
    predicted = model.predict(vectors[1]).tolist()
    right = sum(p == w for p, w in zip(predicted, wanted, strict=True))
    assert (found.metrics["accuracy"], found.error) == (right / 4, "")
    # Of the test's two classes the second is the positive one, whatever they are called.
    number = {str(low): 0, str(high): 1, str(middle): 2}
    ap = average_precision_score([0, 1, 0, 1], [number[p] for p in predicted])
    assert found.metrics["ap"] == pytest.approx(ap)


def test_labels_that_no_table_could_hold_are_names(tmp_path):
    tables = tables_of("Classification")
    huge = {"a": 10**30, "b": 5, "c": "\u00b2"}
    for rows in tables.values():
        for row in rows:
            row["label"] = huge[row["label"]]
    freeze(entry_of("Classification", tables, tmp_path), tmp_path, tmp_path / "out")
    table = thaw(tmp_path / "out").dataset["train"]
    names = sorted(map(str, huge.values()))
    assert table["label"][:] == [names.index(str(r["label"])) for r in tables["train"]]


def test_a_label_that_stands_twice_in_a_row_counts_once(tmp_path):
    tables = tables_of("MultilabelClassification")
    tables["train"][0]["labels"] = ["x", "x", "y"]
    frozen(entry_of("MultilabelClassification", tables, tmp_path), tmp_path, tmp_path / "out")
    assert thaw(tmp_path / "out").dataset["train"]["labels"][0] == ["x", "y"]


def test_invisible_texts_of_a_benchmark_are_counted_and_not_listed(tmp_path):
    from datasets import Dataset

    from stressbed.dataset.check import check
    from stressbed.dataset.parts import Part
    from stressbed.dataset.thaw import fresh_task

    tables = tables_of("Clustering")
    manifest = freeze(entry_of("Clustering", tables, tmp_path), tmp_path, tmp_path / "out")
    rows = [{"text": t, "label": i % 2} for i, t in enumerate(["seen", "\u200b", "\u2060\ufeff", "too"])]
    part = Part("default", "test", {"rows": Dataset.from_list(rows)})
    check(fresh_task(manifest), [part], "x", local=False)
    assert part.notes == {"empty_texts": 2}


def test_a_title_that_shows_nothing_is_empty(tmp_path):
    tables = tables_of("Retrieval")
    tables["corpus"][1]["title"] = "\u200b\u00a0"
    freeze(entry_of("Retrieval", tables, tmp_path), tmp_path, tmp_path / "out")
    assert json.dumps(thaw(tmp_path / "out").dataset["default"]["test"]["corpus"]["title"][1]) == '""'
