"""Which statistics a run's tables hold: question, test, unit, how many, correction (HTEB, table 20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from stressbed import paths
from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.config.load import Plan

COLUMNS = ("question", "test", "unit", "n", "correction", "where")
NONE = "none"
DESCRIBED = "none; no test is made"

Row = dict[str, str]
Tables = Mapping[str, pd.DataFrame]


def statistical_tests(plan: Plan, names: Names, tables: Tables) -> Table:
    """Return one row per statistic that the run really has, with the units that it really has.

    A table that is missing, empty or without a single value gives no row, so the rows are what a reader
    can look up. `n` stands for the units of one test: a range where tests differ in it.

    Args:
        plan: The run; its selection and its study with people have tables of their own.
        names: What the run compares.
        tables: Tables of the run by name, with the columns of their CSV files.
    """
    rows: list[Row] = []
    for name, make in _FROM_TABLES.items():
        if name in tables and len(tables[name]):
            rows += [_row(r, where=f"{name}.csv") for r in make(tables[name], names)]
    rows += [_row(r) for r in [*_of_selection(plan), *_of_people(plan)]]
    notes = [
        "Only what this run has. All intervals aim at 95 % and need six units; where a bootstrap over few "
        "covers less, its table says so. Intervals are never corrected for their number.",
        "Seeds are averaged before anything is tested: runs of one dataset are no independent observations.",
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(str)
    return Table("statistical_tests", "Statistics of this run", frame, notes)


def _row(parts: Mapping[str, str], where: str = "") -> Row:
    return {"correction": NONE, "where": where, **parts}


def _shifts(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    unit = _words(frame["unit"])
    if frame["p"].notna().any():
        tested = frame[frame["p"].notna()]
        families = tested.groupby(_groups(frame), dropna=False).size()
        yield {
            "question": "Does a transformation shift scores?",
            "test": f"Wilcoxon signed-rank, two-sided, {_words(tested['method'])}, zeros ranked (Pratt)",
            "unit": unit,
            "n": _span(frame["n"]),
            "correction": f"Holm over {_span(families)} transformations" if families.max() > 1 else NONE,
        }
    if frame["shift"].notna().any():
        yield {
            "question": "By how much?",
            "test": "Hodges-Lehmann shift"
            + (" with the interval of the signed-rank test" if frame["low"].notna().any() else ""),
            "unit": unit,
            "n": _span(frame["n"]),
        }


def _rank_stability(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    if frame["tau_mean"].notna().any():
        yield {
            "question": "Does a transformation change the ranking of embedders?",
            "test": f"Kendall's tau-b of {_span(frame['n_embedders'])} embedders, mean and SD over datasets",
            "unit": "dataset",
            "n": _span(frame["n_datasets"]),
            "correction": DESCRIBED,
        }
    if frame["within_mean"].notna().any():
        yield {
            "question": "Do seeds change the ranking of embedders?",
            "test": "Kendall's tau-b between every two seeds that can differ, mean and SD over datasets",
            "unit": "dataset",
            "n": _span(frame.loc[frame["within_mean"].notna(), "n_within"]),
            "correction": DESCRIBED,
        }


def _split_half(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    if frame["median"].notna().any():
        yield {
            "question": "Would other datasets rank the embedders alike?",
            "test": f"Spearman's rho of task-stratified halves, median and range of {_span(frame['halves'])}",
            "unit": "dataset",
            "n": _span(frame["n_datasets"]),
            "correction": DESCRIBED,
        }


def _axis_correlations(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    for level, unit in (("embedder", "embedder"), ("cell", "dataset")):
        mine = frame[(frame["level"] == level) & frame["rho"].notna()]
        if len(mine):
            yield {
                "question": "Do two axes go together?",
                "test": f"Spearman's rho over {level}s, percentile bootstrap of {unit}s",
                "unit": unit,
                "n": _span(mine["n"]),
            }


def _hteb_ranks(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    if frame["hteb_low"].notna().any():
        yield {
            "question": "How sure are totals, drops and ranks?",
            "test": "Percentile bootstrap of datasets, the same for all embedders",
            "unit": "dataset",
            "n": _span(frame["n_datasets"]),
        }


def _crosscheck(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    if frame["difference"].notna().any():
        yield {
            "question": "Do losses depend on who rewrites?",
            "test": "Percentile bootstrap of the mean difference over datasets; Pearson's r, Spearman's rho, "
            "Kendall's tau",
            "unit": "embedder x dataset x transformation",
            "n": _span(frame["n"]),
        }


def _item_intervals(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    with_interval = frame[frame["low"].notna()]
    for unit, rows in with_interval.groupby("unit"):
        yield {
            "question": "How sure is a drop within a dataset?",
            "test": "Paired percentile bootstrap of items",
            "unit": str(unit),
            "n": _span(rows["n"]),
        }


def _item_causes(frame: pd.DataFrame, _: Names) -> Iterator[Row]:
    if frame["low"].notna().any():
        yield {
            "question": "What do items that lose have in common?",
            "test": "Spearman's rho or difference of means, percentile bootstrap of items",
            "unit": "item",
            "n": _span(frame["n"]),
        }


def _recommendation(frame: pd.DataFrame, names: Names) -> Iterator[Row]:
    if frame["low"].notna().any():
        several = len(names.datasets) > 1
        yield {
            "question": "Which verdicts are justified?",
            "test": "Hodges-Lehmann interval of datasets"
            if several
            else "Paired percentile bootstrap of items",
            "unit": "dataset" if several else "item",
            "n": _per_setting(names) if several else "",
            "correction": "Holm over pairs of embedders; none for the verdicts per embedder",
        }


_FROM_TABLES: Mapping[str, Callable[[pd.DataFrame, Names], Iterator[Row]]] = {
    "shifts": _shifts,
    "rank_stability": _rank_stability,
    "split_half": _split_half,
    "axis_correlations": _axis_correlations,
    "hteb_ranks": _hteb_ranks,
    "crosscheck": _crosscheck,
    "item_intervals": _item_intervals,
    "item_causes": _item_causes,
    "recommendation": _recommendation,
}


def _of_selection(plan: Plan) -> Iterator[Row]:
    """Yield what the choice of a generator rests on."""
    chosen = plan.selection
    if chosen is None:
        return
    n = "all rows" if chosen.rows is None else str(chosen.rows)
    folder = f"{paths.SELECTION.format(selection=chosen.id)}/tables"
    yield {
        "question": "How often does a generator err?",
        "test": "Wilson interval of a share",
        "unit": "rewrite",
        "n": "",
        "where": f"{folder}/screening_intervals.csv",
    }
    yield {
        "question": "Which generator do judges rate best?",
        "test": "Paired bootstrap of mean ratings, two-sided",
        "unit": "row of the screening data, over judges and transformations",
        "n": n,
        "correction": "Holm over all pairs of the shortlist",
        "where": f"{folder}/generator_comparisons.csv",
    }


def _of_people(plan: Plan) -> Iterator[Row]:
    """Yield what people's ratings are used for; without ratings there is nothing yet."""
    study = plan.config.human
    if study is None or not study.ratings:
        return
    folder = f"{paths.HUMAN_FOLDER.format(run=plan.config.run)}/tables"
    yield {
        "question": "Do raters agree?",
        "test": "Gwet's AC2, ordinal weights",
        "unit": "item",
        "n": str(study.per_transformation),
        "where": folder,
    }
    yield {
        "question": "Does quality explain how far a vector moves?",
        "test": "Spearman's rho, percentile bootstrap of items",
        "unit": "item",
        "n": str(study.per_transformation),
        "where": folder,
    }


def _groups(frame: pd.DataFrame) -> Any:
    """Return the columns that tell families of tests apart, or one constant group."""
    found = [c for c in ("generator", "setting") if c in frame.columns]
    return found or (lambda _: 0)


def _per_setting(names: Names) -> str:
    settings = pd.Series({d: names.settings.get(d, "") for d in names.datasets}, dtype=object)
    return _span(settings.value_counts())


def _span(numbers: pd.Series[Any]) -> str:
    """Return `19`, or `13 to 19` where numbers differ; empty without any."""
    found = sorted({int(n) for n in numbers.dropna()})
    if not found:
        return ""
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _words(units: pd.Series[Any]) -> str:
    return ", ".join(dict.fromkeys(str(u).replace("_", " x ") for u in units))
