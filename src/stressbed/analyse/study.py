"""What the statistical analyses see: a run's cells, cut into studies that are analysed alone.

A study is one generator in one setting. Generators are never averaged, and a setting (the paper's
English and multilingual one) has its own datasets and embedders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import AXES, ORIGINAL, paired_totals, strict_mean
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.analyse.seeds import Seeds
from stressbed.analyse.table import Table, finish
from stressbed.config.model import Analysis
from stressbed.fingerprint import digest

TOTAL = "hteb"

Pairs = Mapping[tuple[str, str], bool | None]
"""(embedder, dataset) -> whether the embedder was not trained on the dataset; None: not known."""

Rows = tuple[Sequence[Mapping[str, object]], Sequence[str]]
"""Rows of a table, and sentences on what is left out of it."""


@dataclass(frozen=True)
class Study:
    """The cells of one generator in one setting.

    Attributes:
        generator: Catalogue id.
        setting: Name of the setting.
        cells: Rows of `paired_totals`, one per cell.
        names: Labels and orders of the run.
    """

    generator: str
    setting: str
    cells: pd.DataFrame
    names: Names

    @property
    def label(self) -> str:
        """What its values are of, for a sentence."""
        parts = [
            *([self.names.label(self.setting)] if len(self.names.setting_order) > 1 else []),
            *([self.names.label(self.generator)] if len(self.names.generators) > 1 else []),
        ]
        return f" ({', '.join(parts)})" if parts else ""

    @cached_property
    def seeds(self) -> Seeds:
        """Which of its seeds can differ."""
        return Seeds.of(self.cells, self.names)

    @property
    def axes(self) -> list[str]:
        """The axes of the run, in the paper's order."""
        return [a for a in AXES if a in self.names.axes.values()]

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean over seeds: index embedder, dataset; columns original and the transformations."""
        mean = strict_mean(self.cells, ["embedder", "dataset", "transformation"])
        wide = mean.pivot(index=["embedder", "dataset"], columns="transformation", values="value")  # noqa: PD010
        return wide.reindex(columns=[ORIGINAL, *self.names.transformations])

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Per embedder and dataset: original, transformations, axes, total; NaN where a cell is lacking."""
        return with_axes(self.means, self.names)

    @cached_property
    def deltas(self) -> pd.DataFrame:
        """`scores` minus the original's score, without the original."""
        return self.scores.drop(columns=ORIGINAL).sub(self.scores[ORIGINAL], axis=0)

    @cached_property
    def complete(self) -> pd.DataFrame:
        """`scores` on the datasets on which every embedder has every cell."""
        lacking = self.scores.isna().any(axis=1).groupby("dataset").any()
        kept = lacking.index[~lacking]
        return self.scores[self.scores.index.get_level_values("dataset").isin(kept)]

    @property
    def embedders(self) -> list[str]:
        """Embedders with cells, in the run's order."""
        have = set(self.cells["embedder"])
        return [e for e in self.names.embedders if e in have]

    @property
    def datasets(self) -> list[str]:
        """Datasets with cells, in the run's order."""
        have = set(self.cells["dataset"])
        return [d for d in self.names.datasets if d in have]

    def matrix(self, column: str, *, deltas: bool = False) -> pd.DataFrame:
        """Return datasets x embedders of a column on complete datasets, in the run's orders."""
        frame = self.complete
        values = frame[column] - frame[ORIGINAL] if deltas else frame[column]
        wide = values.unstack("embedder")  # noqa: PD010  # the index is unique
        datasets = [d for d in self.datasets if d in wide.index]
        return wide.reindex(index=datasets, columns=self.embedders)

    def mean_scores(self, embedder: str) -> dict[str, float]:
        """Return an embedder's `scores` averaged over datasets; NaN where a cell is lacking."""
        mine = self.scores[self.scores.index.get_level_values("embedder") == embedder]
        return {str(c): float(mine[c].mean(skipna=False)) for c in mine.columns}

    def task_types(self) -> dict[str, str]:
        """Return the task type of each dataset."""
        once = self.cells.drop_duplicates("dataset")
        return dict(zip(once["dataset"], once["task_type"], strict=True))


@dataclass(frozen=True)
class Analysed:
    """All that the statistical analyses take.

    Attributes:
        scores: Rows of `scores.parquet`.
        names: Labels, orders, settings.
        options: Units, splits, resamples, seed.
        zero_shot: Whether an embedder was not trained on a dataset; pairs that are not known are None.
        languages: Languages that an embedder was trained on, where they are known.
    """

    scores: pd.DataFrame
    names: Names
    options: Analysis = field(default_factory=Analysis)
    zero_shot: Pairs = field(default_factory=dict)
    languages: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def totals(self) -> pd.DataFrame:
        """Rows of `paired_totals`."""
        return paired_totals(self.scores)

    @cached_property
    def studies(self) -> list[Study]:
        """The run's studies, in its order of generators and settings."""
        settings = self.totals["dataset"].map(self.names.setting)
        return [
            Study(g, s, self.totals[(self.totals["generator"] == g) & (settings == s)], self.names)
            for g in self.names.generators
            for s in self.names.setting_order
        ]

    def rng(self, *parts: str) -> np.random.Generator:
        """Return a source of chance that hangs on the options' seed and on what it is for."""
        return np.random.default_rng([self.options.seed, int(digest(list(parts))[:12], 16)])


def with_axes(means: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Return scores with a column per axis (mean of its transformations) and the total (mean of axes)."""
    found = means.copy()
    axes = [a for a in AXES if a in names.axes.values()]
    for axis in axes:
        members = [t for t, a in names.axes.items() if a == axis]
        found[axis] = means[members].mean(axis=1, skipna=False)
    found[TOTAL] = found[axes].mean(axis=1, skipna=False)
    return found


def per_study(
    data: Analysed,
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Callable[[Study], Rows],
    *,
    notes: Sequence[str] = (),
    decimals: int = 1,
    digits: Mapping[str, int] | None = None,
) -> Table:
    """Return a table of all studies' rows, with the sentences on what a study lacks below it.

    Args:
        data: The run.
        name: Name of the table.
        title: Its title.
        columns: Its columns after generator and setting.
        rows: Gives a study's rows, and sentences on what it could not say.
        notes: Sentences below the table, where it has rows.
        decimals: Decimals shown.
        digits: Decimals by column.
    """
    found: list[Mapping[str, object]] = []
    said: list[str] = []
    for study in data.studies:
        mine, sentences = rows(study)
        found += [{"generator": study.generator, "setting": study.setting, **r} for r in mine]
        said += sentences
    frame = pd.DataFrame(found, columns=["generator", "setting", *columns])
    if not found and not said:
        said = ["Left out: no cell of the run gives a value for this table."]
    kept = [*(notes if found else ()), *dict.fromkeys(said)]
    return finish(
        Table(name, title, frame, kept, decimals=decimals, digits=digits or {}), data.names, dashes=False
    )


def rows_of(names: Names, study: Study) -> Iterator[tuple[str, str]]:
    """Yield (row, level) of the paper's tables: each axis, then its transformations, then the total."""
    for axis in study.axes:
        yield axis, "axis"
        yield from ((t, "transformation") for t, a in names.axes.items() if a == axis)
    yield TOTAL, "overall"


def label_of(names: Names, row: str) -> str:
    """Return the label of an axis, a transformation or the total."""
    return AXIS_LABELS.get(row) or names.label(row)
