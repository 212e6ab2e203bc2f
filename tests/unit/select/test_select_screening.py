"""Screening: rates from transform tables, the shortlist, and the paper's table 9."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from statsmodels.stats.proportion import proportion_confint

from stressbed.analyse.names import Names
from stressbed.errors import DataError
from stressbed.select.screening import RATES, intervals, screen, screening, screening_counts, shortlist
from stressbed.transform.flags import FLAGS
from stressbed.transform.run import SCHEMA

PAPER = pd.read_csv(Path(__file__).parents[2] / "data" / "hteb" / "hteb_table9_screening.csv")
"""Table 9 of the paper."""

FIVE = (
    "Gemma-3-27B-int4-AWQ", "Qwen3-8B-AWQ", "Ministral-3-14B-Instruct-2512", "Olmo-3-7B-Instruct", "Qwen3-8B",
)  # fmt: skip
NAMES = Names({}, {}, {"b": "Model B", "a": "Model A", "c": "Model C"}, {"t1": "One", "t2": "Two"}, {})


def write(folder, generator, transformation, n, *, outcome="ok", attempts=1, cleaned="", **flags):
    """A transform table in which the first so many texts have a flag."""
    rows = [
        {
            **{f.name: None for f in SCHEMA},
            **{name: i < flags.get(name, 0) for name in FLAGS},
            "outcome": outcome if i == 0 else "ok", "attempts": attempts, "cleaned": cleaned if i < 2 else "",
        }
        for i in range(n)
    ]  # fmt: skip
    path = folder / "sts" / generator / transformation / "7.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    return path


def candidates(folder):
    return {
        "b": [write(folder, "b", "t1", 10, identical=4, empty=2), write(folder, "b", "t2", 10, runaway=1)],
        "a": [
            write(folder, "a", "t1", 10, cleaned="think,quotes", outcome="fallback", attempts=2),
            write(folder, "a", "t2", 10, cleaned="quotes", identical=1),
        ],
        "c": [write(folder, "c", "t1", 10), write(folder, "c", "t2", 10, cleaned="envelope", truncated=1)],
    }


def everything(folder):
    return screening_counts([p for files in candidates(folder).values() for p in files])


def test_the_papers_five():
    rates = PAPER[["generator", "total"]]
    assert shortlist(rates, 5) == FIVE
    assert shortlist(rates.iloc[::-1], 5) == FIVE
    assert set(shortlist(rates, 99)) == set(PAPER["generator"])


def test_the_papers_totals_are_at_most_their_sums():
    """Eleven numbers are rounded to one decimal: 11 x 0.05."""
    assert (PAPER["total"] <= PAPER[list(FLAGS)].sum(axis=1) + 0.55).all()
    assert (PAPER["total"] >= PAPER[list(FLAGS)].max(axis=1) - 0.1).all()


def test_rates_by_hand(tmp_path):
    rates = screening(everything(tmp_path)).set_index("generator")
    b = rates.loc["b"]
    assert b[["n_texts", "identical", "empty", "runaway", "total"]].tolist() == [20, 20.0, 10.0, 5.0, 25.0]
    a = rates.loc["a"]
    assert a[["identical", "total", "fallback", "retried", "extracted"]].tolist() == [5, 5, 5, 50, 10]
    assert rates.loc["c", "extracted"] == 10


def test_each_transformation_weighs_the_same(tmp_path):
    files = [write(tmp_path, "a", "t1", 10, identical=10), write(tmp_path, "a", "t2", 90)]
    counts = screening_counts(files)
    assert screening(counts)["total"].tolist() == [50.0]
    pooled = intervals(counts).set_index("rate").loc["total"]
    assert pooled["estimate"] == pytest.approx(10.0)
    low, high = proportion_confint(10, 100, method="wilson")
    assert (pooled["low"], pooled["high"]) == pytest.approx((100 * low, 100 * high))


def test_a_transformation_without_texts_does_not_count(tmp_path):
    files = [write(tmp_path, "a", "t1", 10, identical=5), write(tmp_path, "a", "t2", 0)]
    assert screening(screening_counts(files))["total"].tolist() == [50.0]


def test_equal_totals_keep_the_order_of_the_candidates():
    rates = pd.DataFrame({"generator": ["z", "y", "x"], "total": [0.1 + 0.2, 0.3, 0.1]})
    assert shortlist(rates, 2) == ("x", "z")
    many = pd.DataFrame({"generator": [f"g{i}" for i in range(60)], "total": [i % 2 for i in range(60)]})
    assert shortlist(many, 31) == (*(f"g{i}" for i in range(0, 60, 2)), "g1")
    with pytest.raises(ValueError, match="at least one"):
        shortlist(rates, 0)


def test_what_is_written(tmp_path):
    folder, out = tmp_path / "tables", tmp_path / "shortlist.json"
    given = candidates(tmp_path)
    assert screen(transforms=given, shortlist=2, names=NAMES, folder=folder, out=out) == ["a", "c"]
    first = out.read_bytes()
    found = json.loads(first)
    assert (found["shortlist"], found["candidates"]) == (["a", "c"], ["b", "a", "c"])
    assert set(found["rates"]["b"]) == set(RATES)
    assert found["rates"]["b"]["total"] == 25.0
    table = pd.read_csv(folder / "screening.csv")
    assert table["generator"].tolist() == ["b", "a", "c"]
    assert table["shortlist"].fillna("").tolist() == ["", "yes", "yes"]
    assert "**5.0**" in (folder / "screening.md").read_text(encoding="utf-8")
    assert len(pd.read_csv(folder / "screening_by_transformation.csv")) == 6
    assert len(pd.read_csv(folder / "screening_intervals.csv")) == 3 * len(RATES)
    screen(transforms=given, shortlist=2, names=NAMES, folder=folder, out=out)
    assert out.read_bytes() == first


def test_a_candidate_without_faults_is_the_best(tmp_path):
    given = {**candidates(tmp_path), "e": [write(tmp_path, "e", "t2", 4)]}
    given["d"] = [write(tmp_path, "d", "t1", 300, identical=2), write(tmp_path, "d", "t2", 9)]
    out = tmp_path / "x.json"
    assert screen(transforms=given, shortlist=2, names=NAMES, folder=tmp_path, out=out) == ["e", "d"]
    rates = json.loads(out.read_text())["rates"]
    assert (rates["e"]["total"], rates["d"]["total"]) == (0.0, pytest.approx(1 / 3, abs=1e-6))


@pytest.mark.parametrize("empty", [False, True])
def test_a_candidate_without_rewrites_is_an_error(tmp_path, empty):
    given = {**candidates(tmp_path), "d": [write(tmp_path, "d", "t1", 0)] if empty else []}
    with pytest.raises(DataError) as caught:
        screen(transforms=given, shortlist=2, names=NAMES, folder=tmp_path, out=tmp_path / "x.json")
    assert caught.value.message() == (
        "the candidate 'd' has rewritten no text\n  where: screening\n"
        "  do: let the screening dataset have texts, or take the candidate out of the selection"
    )
