"""The rows of one part of a run's tables, and a claim about them, for the sentences of `findings.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from stressbed.analyse.conclusions.paper import Beside
from stressbed.analyse.names import Names
from stressbed.analyse.write import escape_markdown
from stressbed.collect.schema import ALL

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Finding:
    """One claim for this run, and what the paper reports on the same grid."""

    text: str
    paper: str = ""

    def __str__(self) -> str:
        """Return it as a line of Markdown."""
        return f"- {self.text}" + (f" *(paper: {self.paper})*" if self.paper else "")


@dataclass(frozen=True)
class Part:
    """The rows of one generator in one setting, and what the sentences need to know.

    Attributes:
        tables: Analysed tables by name.
        names: Labels, orders and settings.
        generator: Catalogue id.
        setting: Name of the setting; `ALL_DATASETS` for what is said across settings.
        beside: Which of the paper's numbers may stand here.
    """

    tables: Tables
    names: Names
    generator: str
    setting: str
    beside: Beside = field(default_factory=Beside)

    def rows(self, table: str) -> pd.DataFrame:
        """Return a table's rows of this part; none where the run does not have the table."""
        frame = self.tables.get(table, pd.DataFrame())
        for column, value in (("generator", self.generator), ("setting", self.setting)):
            if column in frame.columns:
                frame = frame[frame[column] == value]
        return frame

    def records(self, table: str) -> list[dict[str, Any]]:
        """Return a table's rows of this part as mappings."""
        return [{str(k): v for k, v in r.items()} for r in self.rows(table).to_dict("records")]

    def label(self, name: str) -> str:
        """Return the label of an id or an axis as Markdown; it may hold marks of its own."""
        return escape_markdown(self.names.label(name))

    def paper(self, claim: str) -> str:
        """Return the paper's number on a claim over this part's datasets and embedders."""
        datasets, embedders = self.names.in_setting(self.setting), self.names.embedders_of(self.setting)
        return self.paper_over(claim, {(d, e) for d in datasets for e in embedders})

    def paper_over(self, claim: str, pairs: set[tuple[str, str]]) -> str:
        """Return the paper's number on a claim over pairs of dataset and embedder.

        A run that lacks one of their cells speaks of others than the paper does.
        """
        lacking = self.tables.get("incomplete_cells", pd.DataFrame())
        if len(lacking):
            cells = lacking[lacking["subset"] == ALL]
            if pairs & set(zip(cells["dataset"], cells["embedder"], strict=True)):
                return ""
        return self.beside.number(claim, generator=self.generator, pairs=pairs)
