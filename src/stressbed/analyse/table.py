"""A result table: values, what is marked, the words that go with it, and what every one goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pandas as pd

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.names import Names

DASH_NOTE = "A dash: a cell behind this value is missing or failed; incomplete_cells.csv says which and why."
FALLBACK_NOTE = (
    "fallback: no answer was usable, also when asked again; a cut one or the original was embedded."
)
DISTINCT_NOTE = (
    "distinct, n_distinct: each rewrite once, with the first seed that has it; n_texts counts equal texts "
    "and seeds that cannot differ again."
)
BOLD_NOTE = (
    "Bold: the highest score of its column, of those without a dagger. Drops have none: the smallest may be "
    "that of an embedder with little to lose."
)
MARK_NOTE = (
    "†: rests on a cell with more texts without a usable answer than the run allows (fallback_mark): a cut "
    "one or the original was embedded, or the row left out; fallbacks.csv has the shares."
)

ZERO_NOTE = (
    "‡: rests on a cell with texts whose vector is zero. mteb's number stands, but a zero vector has no "
    "direction: its similarities are a convention (0.5 or 1 in a pair); by_dataset.csv counts them."
)


@dataclass(frozen=True)
class Table:
    """One table from which CSV, Markdown and LaTeX are written.

    Attributes:
        name: File name without suffix.
        title: One line above it.
        frame: The values; catalogue ids, not labels.
        notes: Sentences below it.
        marks: Same shape as `frame`, true where a value rests on a cell with too many fallbacks; or None.
        best: Columns in which the best value is set in bold, and which end is the best one.
        parts: Columns that tell apart rows which are not compared: each part has a best value of its own.
        digits: Decimals shown in Markdown and LaTeX, by column; `decimals` for the others.
        decimals: Decimals of columns that `digits` does not name. The CSV keeps six.
        rows: Longest that the Markdown and LaTeX may become; the CSV holds all rows.
        zeros: Same shape as `frame`, true where a value rests on a cell with zero vectors; or None.
    """

    name: str
    title: str
    frame: pd.DataFrame
    notes: Sequence[str] = ()
    marks: pd.DataFrame | None = None
    best: Mapping[str, Literal["max", "min"]] = field(default_factory=dict)
    digits: Mapping[str, int] = field(default_factory=dict)
    decimals: int = 1
    rows: int = 2000
    parts: Sequence[str] = ()
    zeros: pd.DataFrame | None = None


def ordered(frame: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Return the rows in the run's order of generators, datasets and embedders; others alphabetically."""
    ranks = {
        k: {n: i for i, n in enumerate(getattr(names, f"{k}s"))} for k in ("generator", "dataset", "embedder")
    }
    keys = [k for k in frame.columns if k in {*ranks, "language", "source_language", "task_type"}]
    return frame.sort_values(
        keys, key=lambda c: c.map(ranks[str(c.name)]) if c.name in ranks else c, ignore_index=True
    )


def finish(table: Table, names: Names, *, dashes: bool = True) -> Table:
    """Return the table without generator and setting where the run has one of them, notes completed.

    Args:
        table: The table.
        names: Labels and orders of the run.
        dashes: Whether a blank number stands for a missing or failed cell, which a note then says.
    """
    frame, marks = table.frame, table.marks
    alone = [
        *(["generator"] if len(names.generators) == 1 and table.name != "flag_rates_by_generator" else []),
        *(["setting"] if len(names.setting_order) == 1 else []),
    ]
    frame = frame.drop(columns=alone, errors="ignore")
    marks = None if marks is None else marks.drop(columns=alone, errors="ignore")
    notes = list(table.notes)
    # An axis that the run does not have is blank by choice, which the tables of scores say.
    left_out = [a for a in AXES if a not in names.axes.values()]
    if dashes and frame.drop(columns=left_out, errors="ignore").select_dtypes("number").isna().any(axis=None):
        notes.append(DASH_NOTE)
    if marks is not None and marks.any(axis=None):
        notes.append(MARK_NOTE)
    return replace(table, frame=frame, notes=notes, marks=marks)
