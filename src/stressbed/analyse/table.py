"""A result table: values, what is marked, and the words that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd


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
        digits: Decimals shown in Markdown and LaTeX, by column; `decimals` for the others.
        decimals: Decimals of columns that `digits` does not name. The CSV keeps six.
        rows: Longest that the Markdown and LaTeX may become; the CSV holds all rows.
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
