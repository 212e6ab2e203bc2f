"""Cut-offs of tables and sentences from both sides, and what stands on each side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from stressbed.analyse.aggregate import any_marked, complete_datasets, paired, profile, strict_mean
from stressbed.analyse.conclusions.lacking import dropped, no_rewrites, unscored
from stressbed.analyse.conclusions.verdicts import Loss, ends, level, sentence
from stressbed.analyse.names import Names, short_number
from stressbed.analyse.remarks import outcome_of, remarks
from stressbed.analyse.table import Table
from stressbed.analyse.words import amount, counted, is_gain, lose, points, span
from stressbed.analyse.write import to_latex, to_markdown

NOBODY = Names({}, {}, {}, {}, {})


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (Loss(0.0, -0.99, 0.99), "negligible"),
        (Loss(0.0, -1.0, 0.5), "cannot be told apart from no loss; it may be as much as 0.5 points"),
        (Loss(0.0, -0.5, 1.0), "cannot be told apart from no loss; it may be as much as 1.0 point"),
        (Loss(0.5, 0.0, 1.0), "cannot be told apart from no loss; it may be as much as 1.0 point"),
        (Loss(0.5, 0.01, 1.0), "a loss, negligible to noticeable"),
        (Loss(0.5, 0.99, 4.99), "a loss, negligible to noticeable"),
        (Loss(3.0, 1.0, 4.99), "noticeable"),
        (Loss(3.0, 1.0, 5.0), "noticeable to large"),
        (Loss(6.0, 5.0, 7.0), "large"),
        (Loss(-3.0, -5.0, -0.5), "a gain, negligible to large"),
        (Loss(-3.0, -4.0, -1.0), "a gain, noticeable"),
        (Loss(-1.0, -2.0, 0.0), "cannot be told apart from no loss; it may be as much as 0.0 points"),
    ],
)
def test_a_verdict_hangs_on_the_ends_of_the_interval(loss, said):
    assert level(loss) == said


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (Loss(float("nan"), remark="no score."), "X: no score."),
        (Loss(2.04, remark="Few."), "X costs 2.0 points. Few."),
        (Loss(2.0, 1.0, float("nan"), remark="Few."), "X costs 2.0 points. Few."),
        (Loss(2.0, float("nan"), 3.0, remark="Few."), "X costs 2.0 points. Few."),
        (
            Loss(1.0, 1.0, 2.0, "7 datasets", "R."),
            "X costs 1.0 point (95 % interval 1.0 to 2.0 over 7 datasets): noticeable. R.",
        ),
        (
            Loss(-2.0, -3.0, -1.5, "7 datasets"),
            "X gains 2.0 points (95 % interval 1.5 to 3.0 over 7 datasets): a gain, noticeable.",
        ),
    ],
)  # fmt: skip
def test_a_verdict_says_points_interval_basis_and_remark(loss, said):
    assert sentence("X", loss) == said
    assert ends(Loss(1.0, 0.04, 2.0)) == "0.0 to 2.0"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (is_gain(-0.05001), True), (is_gain(-0.0499), False), (is_gain(0.0), False),
        (is_gain(-0.004, 2), False), (is_gain(-0.006, 2), True),
        (amount(1.04), "a loss of 1.0 point"), (amount(-0.96), "a gain of 1.0 point"),
        (lose(-1.0, plural=False), "gains 1.0 point"), (points(1.004, 2), "1.00 point"),
        (points(1.006, 2), "1.01 points"), (counted(1, "query", "queries"), "1 query"),
        (counted(2, "query", "queries"), "2 queries"), (span(0.0, 0.0), "0.0 to 0.0"),
        (span(-1.0, 0.0), "a gain of 0.0 to 1.0"), (span(-0.06, 0.04), "a gain of 0.0 to 0.1"),
        (span(1.26, 2.0, 2), "1.26 to 2.00"),
    ],
)  # fmt: skip
def test_words_at_their_borders(said, words):
    assert said == words


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (999, "1K"), (999_999, "1000K"), (1_000_000, "1M"), (33_360_000, "33M"), (999_000_000, "999M"),
        (1_000_000_000, "1B"), (7_610_000_000, "7.6B"), (9_960_000_000, "10B"), (10_000_000_000, "10B"),
        (70_600_000_000, "71B"), (1_500, "2K"), (1_500_000, "2M"), (7_650_000_000, "7.7B"),
        (11_500_000_000, "12B"),
    ],
)  # fmt: skip
def test_numbers_of_parameters_are_short(n, said):
    assert short_number(n) == said


def test_a_label_is_followed_by_a_size_that_it_does_not_hold():
    parameters = {"a": 33_000_000, "b": 8_000_000_000}
    names = Names({"a": "Small", "b": "Model-8B", "c": "Other"}, {}, {}, {}, {}, parameters=parameters)
    assert [names.sized(e) for e in "abc"] == ["Small (33M)", "Model-8B", "Other"]


@pytest.mark.parametrize(
    ("outcome", "rewritten", "said"),
    [
        ("ok", "same", "ok"), ("fallback", "same", "fallback: original"),
        ("fallback", "cut", "fallback: cut"), ("retried", "x", "retried"),
    ],
)  # fmt: skip
def test_a_fallback_says_which_it_is(outcome, rewritten, said):
    assert outcome_of(outcome, "same", rewritten) == said


def test_remarks_join_outcomes_and_flags_in_words():
    cut = "fallback: the answer was cut off and is used as it came"
    assert remarks("ok, fallback: cut, fallback: cut", "identical, runaway") == (
        f"{cut}; same as the original; far longer than the original"
    )
    assert remarks("retried", "new_flag") == "asked more than once; new flag"
    assert remarks(float("nan"), None) == ""


def cells(*rows):
    return pd.DataFrame(rows, columns=["subset", "dataset"])


WHY = "(`incomplete_cells` says why): what needs"


@pytest.mark.parametrize(
    ("rows", "compared", "n", "head", "end"),
    [
        ([("(all)", "D1")], 3, 2, "1 cell of D1 has", "it is blank, and {} rest on 3 of 4 datasets."),
        ([("(all)", "D1")], 3, 1, "1 cell of D1 has", "it is blank, and the rest rests on what is left."),
        (
            [("(all)", "D3"), ("(all)", "D1"), ("(all)", "D1")], 0, 2, "3 cells of D1, D3 have",
            "them is blank, and embedders are not compared, since no dataset has every cell of every "
            "embedder.",
        ),
        (
            [("(all)", f"D{i}") for i in range(1, 5)], 1, 2, "4 cells of D1, D2, D3 and 1 more have",
            "them is blank, and {} rest on 1 of 4 datasets.",
        ),
    ],
)  # fmt: skip
def test_cells_without_a_score_are_counted(rows, compared, n, head, end):
    names = ["D1", "D2", "D3", "D4"]
    (said,) = unscored(cells(*rows), datasets=names, compared=compared, n_embedders=n)
    assert said == f"{head} no score {WHY} {end.format('comparisons of embedders')}"


def test_parts_of_cells_and_none_at_all_need_no_sentence():
    for rows in ([], [("a", "D1")]):
        assert list(unscored(cells(*rows), datasets=["D1"], compared=1, n_embedders=2)) == []


@pytest.mark.parametrize(
    ("n", "lost", "share"), [(200, 2, "1 %"), (201, 2, "under 1 %"), (8, 2, "25 %"), (5000, 2345, "47 %")]
)
def test_dropped_rewrites_are_a_share(n, lost, share):
    counts = ("n_texts", "distinct", "dropped", "distinct_dropped")
    numbers = (n - 1, n - 1, lost - 1, lost - 1)
    frame = pd.DataFrame([dict(zip(counts, numbers, strict=True)), dict.fromkeys(counts, 1)])
    (said,) = dropped(frame)
    assert said.startswith(f"{lost:,} of {n:,} ")
    assert f"({share})" in said
    assert "are dropped" in said
    assert list(dropped(frame.assign(dropped=0, distinct_dropped=0))) == []


def test_one_dropped_rewrite_is_not_several():
    said = "no answer was usable, so that"
    one = pd.DataFrame(
        {"n_texts": [30, 70], "dropped": [1, 0], "distinct": [30, 70], "distinct_dropped": [1, 0]}
    )
    assert list(dropped(one)) == [
        f"1 of 100 rewrites (1 %) is dropped: {said} its item was left out, of the original too."
    ]
    assert list(dropped(one.assign(dropped=[2, 3], distinct=[20, 25], distinct_dropped=[2, 0]))) == [
        f"2 of 45 distinct rewrites (4 %) are dropped: {said} their items were left out, of the original "
        "too. Equal texts and seeds that cannot differ counted again: 5 of 100."
    ]


def test_answers_that_are_no_rewrites_are_counted_by_kind():
    frame = pd.DataFrame({"n_distinct": [600, 634], "refused": [1, 2], "echo": [0, 0], "answered": [1000, 1]})
    assert list(no_rewrites(frame)) == [
        "Of 1,234 distinct rewrites some look like none (one may count twice): 3 refused, 1,001 with an "
        "answer to the question."
    ]
    assert list(no_rewrites(frame[["n_distinct", "echo"]])) == []
    assert list(no_rewrites(pd.DataFrame({"n_distinct": [1], "echo": [1], "repeated": [1]}))) == [
        "Of 1 distinct rewrite some look like none (one may count twice): 1 with words of the instruction, "
        "1 with an answer that many different texts got."
    ]


@pytest.mark.parametrize(("decimals", "bold"), [(1, [0, 1]), (2, [0])])
def test_bold_are_those_that_are_best_as_shown(decimals, bold):
    frame = pd.DataFrame({"embedder": list("abc"), "x": [70.04, 70.01, 69.9], "y": [1.0, 3.0, 2.0]})
    text = to_markdown(Table("t", "T", frame, best={"x": "max", "y": "min"}, decimals=decimals), NOBODY)
    rows = [line.split("|")[2:4] for line in text.split("\n")[4:7]]
    assert [i for i, r in enumerate(rows) if "**" in r[0]] == bold
    assert [i for i, r in enumerate(rows) if "**" in r[1]] == [0]
    alone = to_markdown(Table("t", "T", frame[:1], best={"x": "max"}), NOBODY)
    assert "**" not in alone


@pytest.mark.parametrize(("n", "cut"), [(300, False), (301, True)])
def test_long_texts_are_cut_after_299_characters(n, cut):
    frame = pd.DataFrame({"text": ["x" * n]})
    shown = to_markdown(Table("t", "T", frame), NOBODY).split("\n")[4].strip("| ")
    assert shown == ("x" * 299 + "…" if cut else "x" * 300)


@pytest.mark.parametrize(
    ("columns", "size", "gap"),
    [(7, "normalsize", 6), (8, "footnotesize", 3), (10, "footnotesize", 3), (11, "scriptsize", 3)],
)
def test_many_columns_are_set_smaller(columns, size, gap):
    frame = pd.DataFrame({f"c{i}": [1.0] for i in range(columns)})
    found = to_latex(Table("t", "T", frame), NOBODY)
    assert rf"\{size}\setlength{{\tabcolsep}}{{{gap}pt}}" in found


@pytest.mark.parametrize(("rows", "long"), [(40, False), (41, True)])
def test_more_rows_than_a_page_has_are_a_long_table(rows, long):
    found = to_latex(Table("t", "T", pd.DataFrame({"a": [1.0] * rows}), ["A note."]), NOBODY)
    assert ("longtable" in found) == long
    assert r"\par\footnotesize A note." in found
    assert found.count(r"\\") >= rows


@pytest.mark.parametrize(
    ("widths", "spec"),
    [
        ((40, 3), "ll"),
        ((41, 3), r"p{0.70\linewidth}l"),
        ((41, 40), r"p{0.70\linewidth}l"),
        ((41, 80), r"p{0.35\linewidth}p{0.35\linewidth}"),
    ],
)
def test_columns_of_sentences_are_wrapped(widths, spec):
    frame = pd.DataFrame({f"c{i}": ["x" * w] for i, w in enumerate(widths)})
    assert rf"\begin{{tabular}}{{{spec}}}" in to_latex(Table("t", "T", frame), NOBODY)


def test_rows_beyond_the_longest_are_counted():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    assert "more." not in to_markdown(Table("t", "T", frame, rows=3), NOBODY)
    assert "The first 2 rows; t.csv has 1 more." in to_markdown(Table("t", "T", frame, rows=2), NOBODY)
    assert "3.0" not in to_markdown(Table("t", "T", frame, rows=2), NOBODY)


def score(embedder, dataset, axis, transformation, seed, value, **more):
    row = {
        "generator": "g", "embedder": embedder, "dataset": dataset, "axis": axis,
        "transformation": transformation, "seed": seed, "value": value,
        "subset": "(all)", "split": "(all)", "score": value, "delta": 0.0,
        "higher_is_better": True, "metric": "m", "matched": False, "marked": False,
    }  # fmt: skip
    return row | more


def test_a_profile_means_seeds_then_datasets_then_transformations_then_axes():
    """Groups of unequal size at every level, so that another order gives another number."""
    rows = [score("e", d, "original", "original", 0, v) for d, v in (("x", 90.0), ("y", 60.0))]
    values = {
        ("x", "length", "t1"): [80.0, 71.0, 20.0], ("y", "length", "t1"): [30.0],
        ("x", "length", "t2"): [8.0], ("y", "length", "t2"): [2.0],
        ("x", "language", "t3"): [50.0, 10.0], ("y", "language", "t3"): [17.0],
    }  # fmt: skip
    rows += [score("e", d, a, t, s, v) for (d, a, t), many in values.items() for s, v in enumerate(many)]
    (row,) = profile(pd.DataFrame(rows), ["generator", "embedder"]).to_dict("records")
    length = ((57.0 + 30.0) / 2 + 5.0) / 2
    language = (30.0 + 17.0) / 2
    assert row["original"] == 75.0
    assert (row["length"], row["language"]) == (pytest.approx(length), pytest.approx(language))
    assert row["hteb"] == pytest.approx((length + language) / 2)
    assert row["drop"] == pytest.approx(75 - (length + language) / 2)
    rows.append(score("e", "z", "length", "t1", 0, float("nan")))
    (row,) = profile(pd.DataFrame(rows), ["generator", "embedder"]).to_dict("records")
    assert [row[k] == row[k] for k in ("original", "length", "language", "hteb", "drop")] == [
        True, False, True, False, False,
    ]  # fmt: skip


def test_marks_are_of_their_own_axis_and_group():
    rows = [
        score("e", "x", "length", "t", 1, 1.0, marked=True), score("e", "x", "language", "u", 1, 1.0),
        score("f", "x", "length", "t", 1, 1.0), score("f", "x", "original", "original", 0, 1.0),
    ]  # fmt: skip
    found = any_marked(pd.DataFrame(rows), ["generator", "embedder"]).set_index("embedder")
    columns = ["original", "lexical_stylistic", "length", "language", "hteb", "drop"]
    assert found.loc["e", columns].tolist() == [False, False, True, False, True, True]
    assert found.loc["f", columns].tolist() == [False] * 6


def test_a_matched_cell_counts_as_the_full_original_and_its_own_difference():
    rows = [
        score("e", "x", "original", "original", 0, 80.0, generator="none"),
        score("e", "x", "length", "t", 1, 71.0, delta=-4.0, matched=True),
        score("e", "x", "length", "t", 2, 71.0, delta=-9.0),
        score("f", "x", "original", "original", 0, 50.0, generator="none"),
        score("f", "x", "length", "t", 1, 30.0, delta=-20.0, generator="h"),
    ]
    found = paired(pd.DataFrame(rows).drop(columns="value"), ["embedder", "dataset"])
    at = found.set_index(["generator", "embedder", "transformation", "seed"])["value"]
    assert at.loc[("g", "e", "t", 1)] == 76.0
    assert at.loc[("g", "e", "t", 2)] == 71.0
    assert sorted(at.xs("original", level="transformation").items()) == [
        (("g", "e", 0), 80.0), (("g", "f", 0), 50.0), (("h", "e", 0), 80.0), (("h", "f", 0), 50.0),
    ]  # fmt: skip


def test_a_mean_is_strict_within_its_group_alone():
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"], "value": [1.0, np.nan, 3.0, 8.0]})
    assert strict_mean(frame, ["a"])["value"].tolist()[1] == 5.5
    assert np.isnan(strict_mean(frame, ["a"])["value"].tolist()[0])
    assert strict_mean(frame, ["a", "b"])["value"].tolist()[::2] == [1.0, 5.5]
    totals = frame.assign(dataset=["d", "d", "e", "e"])
    assert complete_datasets(totals) == ["e"]
