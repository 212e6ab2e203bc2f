import numpy as np
import pandas as pd
import pytest
from item_runs import PAIR, item_rows, names_of, score_row

from stressbed.analyse.items import worst as worst_module
from stressbed.analyse.items.panels import blocks
from stressbed.analyse.items.worst import worst_items
from stressbed.analyse.write import to_csv, to_latex, to_markdown

HOSTILE = "<script>alert('x')</script> | a\nb \u202e\u05e9\u05dc\u05d5\u05dd & 50 % \\end{table} `x`"


def text_rows(item, original="before", rewritten="after", variant=("llm", "expansion", 1), **more):
    generator, transformation, seed = variant
    row = {
        "dataset": "d", "generator": generator, "transformation": transformation, "seed": seed,
        "subset": "default", "split": "test", "item": item, "field": "queries.text", "position": 0,
        "original": original, "rewritten": rewritten, "language": "deu-Latn", "outcome": "ok", "flags": "",
    }  # fmt: skip
    return row | more


def worst(items, texts, names=None, **score):
    rows = [score_row(50, 60, **score)]
    texts = [pd.DataFrame(texts)] if texts else []
    return worst_items(blocks(items), pd.DataFrame(rows), texts, names or names_of())


def test_the_items_that_lose_most_stand_with_their_texts():
    items = item_rows([0.9, 0.1, 0.5, 0.4, 0.8], [0.8, 1.0, 0.6, 0.8, 0.9])
    texts = [text_rows(f"i{i}", f"query {i}", f"Anfrage {i}", flags="runaway,ellipsis") for i in range(5)]
    frame = worst([items], texts).frame
    assert frame["item"].tolist() == ["i1", "i3", "i2"]
    assert frame["delta"].tolist() == pytest.approx([-0.9, -0.4, -0.1])
    first = frame.iloc[0]
    assert (first["original_text"], first["rewritten_text"]) == ("query 1", "Anfrage 1")
    assert (first["language"], first["flags"], first["field"]) == (
        "deu-Latn",
        "runaway, ellipsis",
        "queries.text",
    )
    assert (first["original_value"], first["value"]) == (1.0, 0.1)


def test_an_item_that_gains_or_stays_is_not_among_them():
    assert worst([item_rows([0.9, 0.5], [0.8, 0.5])], []).frame.empty


def test_seeds_compete_for_the_places_of_a_transformation_and_an_item_stands_once():
    first = item_rows([0.1, 0.2, 0.9], [1, 1, 1])
    second = item_rows([0.0, 0.9, 0.8], [1, 1, 1], ("llm", "expansion", 2))
    frame = worst([pd.concat([first, second], ignore_index=True)], []).frame
    assert frame[["item", "seed"]].to_numpy().tolist() == [["i0", 2], ["i1", 1], ["i2", 2]]


def test_both_sentences_of_a_pair_are_shown_also_the_one_that_was_left_alone():
    items = item_rows([0.1, 0.5, 0.9], [0.95, 0.5, 0.9], gold=[5, 2, 3], **PAIR)
    texts = [
        text_rows("i0", "one", "eins", field="sentence1"),
        text_rows("i0", "two", None, field="sentence2", language=None),
    ]
    frame = worst([items], texts, task_type="STS", metric="cosine_spearman").frame
    shown = frame[frame["item"] == "i0"]
    assert shown[["field", "original_text", "rewritten_text"]].to_numpy().tolist() == [
        ["sentence1", "one", "eins"], ["sentence2", "two", ""],
    ]  # fmt: skip


@pytest.mark.parametrize(("gold", "lost"), [(1.0, True), (0.0, False)])
def test_a_similarity_that_falls_is_a_loss_only_where_people_said_similar(gold, lost):
    others = np.linspace(0.1, 0.8, 8)
    items = item_rows([0.0, *others], [0.9, *others], gold=[gold, *([0.0, 1.0] * 4)], **PAIR)
    frame = worst([items], [], task_type="PairClassification", metric="similarity_ap").frame
    assert ("i0" in frame["item"].tolist()) == lost


def test_summaries_of_a_document_stand_below_each_other():
    items = item_rows([0.1], [0.5], unit="summary", metric="cosine_spearman")
    texts = [
        text_rows("i0", f"s{k}", None if k == 1 else f"S{k}", field="machine_summaries", position=k)
        for k in (2, 0, 1)
    ]
    row = worst([items], texts, task_type="Summarization").frame.iloc[0]
    assert (row["original_text"], row["rewritten_text"]) == ("s0\ns1\ns2", "S0\ns1\nS2")


def test_experiments_have_no_texts_and_are_left_out():
    assert worst([item_rows([0.1] * 5, [0.9] * 5, unit="experiment", metric="accuracy")], []).frame.empty


def test_embedders_take_turns_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(worst_module, "ROWS", 4)
    mild = item_rows([0.8, 0.85, 0.9], [1, 1, 1], embedder="a")
    bad = item_rows([0.0, 0.1, 0.2], [1, 1, 1], embedder="b")
    rows = pd.DataFrame([score_row(50, 60, embedder=e) for e in "ab"])
    frame = worst_items(blocks([mild, bad]), rows, [], names_of(embedders=("a", "b"))).frame
    assert frame[["embedder", "item"]].to_numpy().tolist() == [
        ["a", "i0"], ["a", "i1"], ["b", "i0"], ["b", "i1"],
    ]  # fmt: skip


def test_an_item_is_not_cut_in_the_middle_of_its_texts(monkeypatch):
    monkeypatch.setattr(worst_module, "ROWS", 3)
    items = item_rows([0.1, 0.2, 0.3], [1, 1, 1])
    texts = [text_rows(f"i{i}", field=f) for i in range(3) for f in ("queries.text", "queries.instruction")]
    assert worst([items], texts).frame["item"].tolist() == ["i0", "i0"]


def test_without_texts_the_values_stand_and_the_note_says_so():
    table = worst([item_rows([0.1, 0.2], [0.5, 0.6])], [text_rows("another")])
    assert table.frame["item"].tolist() == ["i0", "i1"] or table.frame["item"].tolist() == ["i1", "i0"]
    assert set(table.frame["original_text"]) == {""}
    assert any("item_texts.parquet" in n for n in table.notes)


def test_hostile_texts_stay_whole_in_the_csv_and_harmless_elsewhere():
    table = worst([item_rows([0.1], [0.5])], [text_rows("i0", HOSTILE, HOSTILE)])
    import csv
    import io

    (row,) = csv.DictReader(io.StringIO(to_csv(table.frame), newline=""))
    assert row["original_text"] == row["rewritten_text"] == HOSTILE
    markdown = to_markdown(table, names_of())
    (line,) = [x for x in markdown.splitlines() if "alert" in x]
    assert r"\<script\>" in line
    assert line.replace(r"\|", "").count("|") == len(table.frame.columns) + 1
    latex = to_latex(table, names_of())
    assert latex.count(r"\end{table}") == 1
    assert r"50 \%" in latex


def test_a_run_without_items_has_columns_and_no_rows():
    frame = worst([], []).frame
    assert frame.empty
    assert list(frame.columns)[:3] == ["embedder", "dataset", "transformation"]
