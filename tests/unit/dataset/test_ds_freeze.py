"""Freezing: what is written, what changes the hash, what is refused."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ds_samples import LANGUAGES, entry_of, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.config.catalogue import identity
from stressbed.config.entries import NOT_IDENTITY, DatasetEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.limit import draw_stratified
from stressbed.dataset.thaw import read_manifest, thaw
from stressbed.errors import DataError
from stressbed.fingerprint import digest

pytestmark = pytest.mark.filterwarnings("ignore")
GENSIM = "package:gensim/test/test_data/"


def run(tmp_path: Path, task_type: str, tables: dict | None = None, **entry) -> dict:
    tables = tables_of(task_type) if tables is None else tables
    return freeze(entry_of(task_type, tables, tmp_path, **entry), tmp_path, tmp_path / "out")


def test_the_manifest_has_the_declared_keys_and_is_what_was_returned(tmp_path):
    manifest = run(tmp_path, "Retrieval", licence="MIT")
    assert manifest == read_manifest(tmp_path / "out")
    declared = {
        "dataset", "source", "task", "task_type", "revision", "subsets", "splits", "languages",
        "field_languages", "main_score", "row_limit", "licence", "tables", "sides", "content_hash",
        "versions", "stage_version",
    }  # fmt: skip
    assert declared <= set(manifest)
    assert manifest["source"] == "local"
    rows = {t["table"]: t["rows"] for t in manifest["tables"]}
    assert rows == {"corpus": 30, "queries": 8, "qrels": 24}
    for t in manifest["tables"]:
        assert len(pd.read_parquet(tmp_path / "out" / t["path"])) == t["rows"]


def test_the_hash_depends_on_contents_and_on_what_changes_a_metric(tmp_path):
    tables = tables_of("STS")
    base = run(tmp_path, "STS", tables)["content_hash"]
    assert run(tmp_path, "STS", tables, licence="MIT", description="x")["content_hash"] == base
    # Cells keep all metrics: which of them is the main score changes no data.
    other = run(tmp_path, "STS", tables, main_score="cosine_pearson")
    assert (other["content_hash"], other["main_score"]) == (base, "cosine_pearson")
    assert run(tmp_path, "STS", tables, languages={"default": ["deu-Latn"]})["content_hash"] != base
    changed = [dict(r) for r in tables["test"]]
    changed[3]["score"] += 0.01
    assert run(tmp_path, "STS", {"test": changed})["content_hash"] != base
    assert run(tmp_path, "STS", {"test": tables["test"][::-1]})["content_hash"] != base


def test_the_hash_does_not_depend_on_the_file_type(tmp_path):
    tables = tables_of("STS")
    base = run(tmp_path, "STS", tables)["content_hash"]
    frame = pd.DataFrame(tables["test"])
    frame.to_csv(tmp_path / "test.csv", index=False)
    frame.to_parquet(tmp_path / "test.parquet")
    frame.to_csv(tmp_path / "test.tsv", index=False, sep="\t")
    for suffix in ("csv", "parquet", "tsv"):
        got = run(tmp_path, "STS", tables, files={"test": f"test.{suffix}"})["content_hash"]
        assert got == base, suffix


def test_columns_are_renamed_and_words_that_look_like_nothing_stay_words(tmp_path):
    frame = pd.DataFrame({"A": ["NA", "null", "x"], "B": ["1", "02", "nan"], "R": [1, 2, 3]})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    columns = {"sentence1": "A", "sentence2": "B", "score": "R"}
    run(tmp_path, "STS", files={"test": "mine.csv"}, columns=columns)
    rows = thaw(tmp_path / "out").dataset["test"].to_list()
    assert [(r["sentence1"], r["sentence2"]) for r in rows] == [("NA", "1"), ("null", "02"), ("x", "nan")]


ODD = [
    "one", " leading and trailing ", "tab\tin it", "line\r\nbreak", "nul\x00 and bell\x07",
    '"quoted", ""twice""', "{target_language} {0} {{x}}", '{"text": "JSON"}',
    "🙂👩‍👩‍👧", "من يعزف؟", "私は東京に住んでいます。", "ฉันรักภาษาไทย",
    "sep\u2028arator", "long " * 30_000,
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_odd_texts_are_frozen_as_they_stand(tmp_path, suffix):
    frame = pd.DataFrame(
        {"sentence1": ODD, "sentence2": ODD[::-1], "score": [i % 5 for i in range(len(ODD))]}
    )
    path = tmp_path / f"odd.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",", encoding="utf-8-sig")
    run(tmp_path, "STS", files={"test": path.name})
    table = thaw(tmp_path / "out").dataset["test"]
    assert table["sentence1"][:] == ODD
    assert table["sentence2"][:] == ODD[::-1]


@pytest.mark.parametrize("rows", ["a,b,1,x\nc,d,2,y\n", "a,b,1,\nc,d,2,\n", 'a,b,1\n"c" d,e,2\n'])
def test_rows_that_a_lenient_reader_would_shift_or_join_are_refused(tmp_path, rows):
    (tmp_path / "test.csv").write_text("sentence1,sentence2,score\n" + rows)
    with pytest.raises(DataError, match=r"test\.csv, line [23]"):
        run(tmp_path, "STS", files={"test": "test.csv"})


def test_labels_in_words_become_numbers_alike_in_both_tables(tmp_path):
    train = [{"text": f"t{i}", "label": "zab"[i % 3]} for i in range(9)]
    test = [{"text": f"e{i}", "label": "bz"[i % 2]} for i in range(4)]
    run(tmp_path, "Classification", {"train": train, "test": test})
    data = thaw(tmp_path / "out").dataset
    assert data["train"]["label"][:3] == [2, 0, 1]
    assert data["test"]["label"][:2] == [1, 2]


def test_labels_of_several_in_one_cell(tmp_path):
    frame = pd.DataFrame({"text": ["a", "b", "c"], "labels": ["x;y", " y ", "z; x"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    run(tmp_path, "MultilabelClassification", files={"train": "t.csv", "test": "t.csv"})
    assert thaw(tmp_path / "out").dataset["test"]["labels"][:] == [["x", "y"], ["y"], ["z", "x"]]


def test_lee_pairs_equal_the_matrix_read_by_numpy(tmp_path):
    entry = DatasetEntry(
        id="lee",
        format="lee",
        encoding="cp1252",
        task_type="STS",
        languages=LANGUAGES,
        main_score="cosine_spearman",
        row_limit=8,
        files={"corpus": GENSIM + "lee.cor", "ratings": GENSIM + "similarities0-1.txt"},
        min_score=0,
        max_score=1,
    )
    freeze(entry, tmp_path, tmp_path / "out")
    import gensim

    folder = Path(gensim.__file__).parent / "test" / "test_data"
    matrix = np.loadtxt(folder / "similarities0-1.txt")
    lines = (folder / "lee.cor").read_text(encoding="cp1252").splitlines()
    task = thaw(tmp_path / "out")
    assert (task.min_score, task.max_score) == (0, 1)
    rows = task.dataset["test"].to_list()
    assert len(rows) == 28
    expected = [
        (lines[i].strip(), lines[j].strip(), matrix[i, j])
        for i, j in zip(*np.triu_indices(8, 1), strict=True)
    ]
    assert [(r["sentence1"], r["sentence2"], r["score"]) for r in rows] == expected


def test_fasttext_halves_are_of_equal_shares_and_do_not_overlap(tmp_path):
    entry = DatasetEntry(
        id="polarity",
        format="fasttext",
        encoding="cp1252",
        task_type="Classification",
        languages=LANGUAGES,
        main_score="accuracy",
        row_limit=40,
        files={"all": GENSIM + "pang_lee_polarity.cor"},
    )
    freeze(entry, tmp_path, tmp_path / "out")
    data = thaw(tmp_path / "out").dataset
    assert len(data["train"]) + len(data["test"]) == 40
    shares = [Counter(data[s]["label"][:]) for s in ("train", "test")]
    assert max(abs(shares[0][c] - shares[1][c]) for c in (0, 1)) <= 1
    assert not set(data["train"]["text"][:]) & set(data["test"]["text"][:])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from("aabbbbcd"), min_size=8, max_size=80), st.integers(4, 60))
def test_stratified_rows_keep_every_class_and_its_share(labels, limit):
    kept = draw_stratified(labels, limit, np.random.default_rng(0))
    assert kept == sorted(set(kept))
    assert len(kept) == min(limit, len(labels))
    have, got = Counter(labels), Counter(labels[i] for i in kept)
    assert got.keys() == have.keys()
    assert all(abs(got[c] - have[c] * len(kept) / len(labels)) <= len(have) for c in have)


def test_a_row_limit_draws_the_same_rows_every_time_and_keeps_classes(tmp_path):
    first = run(tmp_path, "Classification", row_limit=9)
    again = run(tmp_path, "Classification", row_limit=9)
    assert first["content_hash"] == again["content_hash"]
    data = thaw(tmp_path / "out").dataset
    assert [len(data[s]) for s in ("train", "test")] == [9, 9]
    assert set(data["train"]["label"][:]) == set(data["test"]["label"][:]) == {0, 1, 2}


def test_a_row_limit_cuts_queries_and_keeps_the_corpus(tmp_path):
    manifest = run(tmp_path, "Retrieval", row_limit=3)
    assert {t["table"]: t["rows"] for t in manifest["tables"]} == {"corpus": 30, "queries": 3, "qrels": 9}


def test_a_row_limit_of_reranking_keeps_only_the_candidates(tmp_path):
    run(tmp_path, "Reranking", row_limit=2)
    data = thaw(tmp_path / "out").dataset["default"]["test"]
    candidates = {d for docs in data["top_ranked"].values() for d in docs}
    assert len(data["queries"]) == len(data["top_ranked"]) == 2
    assert set(data["corpus"]["id"][:]) == candidates


@pytest.mark.parametrize("task_type", ["Retrieval", "Reranking"])
@pytest.mark.parametrize("size", [0, 4, 1000])
def test_a_sample_of_the_corpus_keeps_what_queries_judge(tmp_path, task_type, size):
    run(tmp_path, task_type, row_limit=2 if task_type == "Retrieval" else None)
    whole = thaw(tmp_path / "out").dataset["default"]["test"]
    limit = {"row_limit": 2} if task_type == "Retrieval" else {}
    manifest = run(tmp_path, task_type, corpus_sample=size, **limit)
    sampled = thaw(tmp_path / "out").dataset["default"]["test"]
    needed = {d for docs in sampled["relevant_docs"].values() for d in docs}
    needed |= {d for docs in (sampled["top_ranked"] or {}).values() for d in docs}
    before, after = whole["corpus"]["id"][:], sampled["corpus"]["id"][:]
    assert after == [d for d in before if d in set(after)]
    assert needed <= set(after)
    assert len(set(after) - needed) == min(size, len(set(before) - needed))
    assert sampled["relevant_docs"] == whole["relevant_docs"]
    assert manifest["notes"].get("documents_left_out", 0) == len(before) - len(after)


def test_a_sample_of_the_corpus_is_the_same_every_time_and_another_dataset(tmp_path):
    hashes = [run(tmp_path, "Retrieval", row_limit=2, corpus_sample=n)["content_hash"] for n in (4, 4, 5)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_entry_without_a_sample_keeps_its_identity():
    entry = DatasetEntry(
        id="a", task="T", task_type="Retrieval", languages=LANGUAGES, main_score="ndcg_at_10"
    )
    known = entry.model_dump(mode="json", exclude={*NOT_IDENTITY["dataset"], "corpus_sample", "evaluation"})
    assert identity("dataset", entry) == digest(known)
    assert identity("dataset", entry.model_copy(update={"corpus_sample": 0})) != digest(known)


def bad(task_type: str, **tables) -> tuple[str, dict]:
    return task_type, {**tables_of(task_type), **tables}


def changed(task_type: str, table: str, row: int, **values) -> tuple[str, dict]:
    rows = [dict(r) for r in tables_of(task_type)[table]]
    rows[row].update(values)
    return bad(task_type, **{table: rows})


def without(task_type: str, table: str, column: str) -> tuple[str, dict]:
    rows = [{k: v for k, v in r.items() if k != column} for r in tables_of(task_type)[table]]
    return bad(task_type, **{table: rows})


def missing(task_type: str, table: str) -> tuple[str, dict]:
    return task_type, {n: t for n, t in tables_of(task_type).items() if n != table}


WRONG = {
    "empty text": (changed("STS", "test", 4, sentence2=" "), ["is empty", "sentence2", "row 4"]),
    "missing text": (changed("Clustering", "test", 7, text=None), ["missing", "text", "row 7"]),
    "missing label": (
        changed("Classification", "train", 2, label=None),
        ["missing", "label", "'train'", "row 2"],
    ),
    "a list for a text": (
        changed("BitextMining", "test", 1, sentence1=["x"]),
        ["text was expected", "row 1"],
    ),
    "rating in words": (changed("STS", "test", 5, score="high"), ["not a number", "row 5"]),
    "equal ratings": (
        bad("STS", test=[{**r, "score": 1.0} for r in tables_of("STS")["test"]]),
        ["all ratings are equal"],
    ),
    "label of a pair": (changed("PairClassification", "test", 0, label=2), ["a label is 2", "0, 1"]),
    "one class": (
        bad("Classification", test=[{"text": "a", "label": "b"}] * 5),
        ["one class only", "'test'"],
    ),
    "one cluster": (bad("Clustering", test=[{"text": "a", "label": "b"}] * 5), ["one class only"]),
    "empty table": (bad("STS", test=[]), ["empty", "test"]),
    "missing column": (without("STS", "test", "score"), ["'score' is missing", "sentence1"]),
    "missing table": (missing("Reranking", "top_ranked"), ["top_ranked", "missing"]),
    "duplicate document": (
        changed("Retrieval", "corpus", 3, id="d1"),
        ["'d1' is there twice", "'corpus'", "row 3"],
    ),
    "duplicate query": (changed("Retrieval", "queries", 3, id="q1"), ["'q1' is there twice", "'queries'"]),
    "unknown document": (
        changed("Retrieval", "qrels", 3, corpus_id="dX"),
        ["unknown document 'dX'", "row 3"],
    ),
    "unknown query": (changed("Retrieval", "qrels", 3, query_id="qX"), ["unknown query 'qX'"]),
    "unjudged query": (
        bad("Retrieval", qrels=[r for r in tables_of("Retrieval")["qrels"] if r["query_id"] != "q4"]),
        ["no relevance judgement", "'q4'"],
    ),
    "unknown candidate": (changed("Reranking", "top_ranked", 0, corpus_id="dX"), ["unknown document 'dX'"]),
    "ratings per summary": (
        changed("Summarization", "test", 2, relevance=[1.0]),
        ["5 summaries but 1 ratings"],
    ),
    "no list": (changed("Summarization", "test", 2, human_summaries="one"), ["a list was expected"]),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_data_are_refused_with_their_place(tmp_path, name):
    (task_type, tables), words = WRONG[name]
    with pytest.raises(DataError) as caught:
        run(tmp_path, task_type, tables)
    message = str(caught.value)
    assert all(w in message for w in words), message
    assert "sample-" in message
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_files_that_are_not_there_or_of_an_unknown_type(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        run(tmp_path, "STS", files={"test": "nowhere.csv"})
    (tmp_path / "test.docx").write_bytes(b"x")
    with pytest.raises(DataError, match="no reader for the extension"):
        run(tmp_path, "STS", files={"test": "test.docx"})
    (tmp_path / "test.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="not valid Parquet"):
        run(tmp_path, "STS", files={"test": "test.parquet"})
    (tmp_path / "lines").write_bytes(b"\xa3 1")
    lee = {"format": "lee", "files": {"corpus": "lines", "ratings": "lines"}}
    with pytest.raises(DataError, match="the file is not UTF-8: byte 0"):
        run(tmp_path, "STS", **lee)
    (tmp_path / "latin.csv").write_bytes("sentence1,sentence2,score\nü,b,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        run(tmp_path, "STS", files={"test": "latin.csv"})


def test_several_languages_must_be_told_apart(tmp_path):
    two = {"default": ["eng-Latn", "deu-Latn"]}
    with pytest.raises(DataError, match=r"which is 'queries\.text' in"):
        run(tmp_path, "Retrieval", languages=two)
    manifest = run(
        tmp_path,
        "Retrieval",
        languages=two,
        field_languages={"default": {"queries": "eng-Latn", "corpus": "deu-Latn"}},
    )
    assert manifest["field_languages"] == {"default": {"queries": "eng-Latn", "corpus": "deu-Latn"}}
    run(tmp_path, "STS", languages=two)  # pairs: the first column has the first language


def test_a_damaged_table_is_an_error_that_names_the_file(tmp_path):
    run(tmp_path, "STS")
    path = tmp_path / "out" / read_manifest(tmp_path / "out")["tables"][0]["path"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=path.name):
        thaw(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(DataError, match="not frozen"):
        thaw(tmp_path / "out")
