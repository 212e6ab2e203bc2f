"""Values that rest on zero vectors carry a mark of their own, and a finding names whose they are."""

from __future__ import annotations

import pandas as pd
from fabricate import EIGHT
from test_analyse_aggregate import made, names

from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.descriptive.scores import (
    by_dataset,
    delta_by_transformation,
    hteb_scores,
)
from stressbed.analyse.table import MARK_NOTE, ZERO_NOTE
from stressbed.analyse.write import to_latex, to_markdown

E, D = ("ann", "bob", "cy"), ("one", "two")


def scores(**zeros: int) -> pd.DataFrame:
    """Return scores in which ann has zero vectors on `one`: in its original, or in a transformation."""
    values = {(e, d, t, s): 50.0 for e in E for d in D for t in EIGHT for s in (1, 2)}
    values |= {(e, d, "original", 0): 60.0 for e in E for d in D}
    frame = made(values, E, D).assign(zero_vectors=0)
    for transformation, count in zeros.items():
        cell = (frame["embedder"] == "ann") & (frame["dataset"] == "one")
        frame.loc[cell & (frame["transformation"] == transformation), "zero_vectors"] = count
    return frame


def marked(table, embedder="ann"):
    zeros = table.zeros[table.frame["embedder"] == embedder]
    return [c for c in zeros.columns if zeros[c].any()]


def test_a_rewrite_marks_what_it_is_part_of() -> None:
    all_names = names(E, D)
    table = hteb_scores(scores(paraphrasing=3), all_names)
    assert marked(table) == ["lexical_stylistic", "hteb", "drop"]
    assert marked(table, "bob") == []
    assert table.notes[-1] == ZERO_NOTE
    assert MARK_NOTE not in table.notes
    assert marked(delta_by_transformation(scores(paraphrasing=3), all_names)) == ["paraphrasing"]


def test_an_original_marks_itself_and_every_difference_to_it() -> None:
    all_names = names(E, D)
    frame = scores(original=2)
    assert marked(hteb_scores(frame, all_names)) == ["original", "drop"]
    assert marked(delta_by_transformation(frame, all_names)) == list(EIGHT)
    rows = by_dataset(frame, all_names)
    assert rows.frame.set_index(["dataset", "embedder"])["zero_vectors"].to_dict() == {
        (d, e): 2 * ((d, e) == ("one", "ann")) for d in D for e in E
    }


def test_both_marks_are_written_and_told_apart() -> None:
    frame = scores(paraphrasing=3)
    frame.loc[(frame["embedder"] == "ann") & (frame["transformation"] == "paraphrasing"), "marked"] = True
    table, all_names = hteb_scores(frame, names(E, D)), names(E, D)
    (row,) = [line for line in to_markdown(table, all_names).splitlines() if line.startswith("| ANN")]
    assert row.count("†‡") == 3
    assert r"\textsuperscript{\dag}\textsuperscript{\ddag}" in to_latex(table, all_names)


def test_marks_follow_the_rows_in_whatever_order() -> None:
    all_names = names(E, D)
    shuffled = scores(paraphrasing=3).sample(frac=1, random_state=5)
    assert marked(hteb_scores(shuffled, all_names)) == ["lexical_stylistic", "hteb", "drop"]
    assert marked(hteb_scores(shuffled, all_names), "bob") == []


def test_without_zero_vectors_nothing_is_marked() -> None:
    table = hteb_scores(scores(), names(E, D))
    assert table.zeros is None
    assert ZERO_NOTE not in table.notes


def test_a_finding_counts_the_pairs_and_names_the_worst() -> None:
    all_names = names(E, D)
    tables = {"by_dataset": by_dataset(scores(paraphrasing=3, original=2), all_names).frame}
    said = findings(tables, all_names, run="mine")
    assert (
        "1 of 6 pairs of embedder and dataset has texts whose vector is zero: ANN on one (up to 3 in a cell)."
        in said
    )
    assert "zero:" not in findings(
        {"by_dataset": by_dataset(scores(), all_names).frame}, all_names, run="mine"
    )
