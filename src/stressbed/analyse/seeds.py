"""Which seeds can differ: what every table, figure and sentence that compares seeds asks.

A seed draws languages and, at a temperature above 0, tokens. Where it draws neither, or two seeds drew the
same languages for every text of a dataset, the two are one variant under two numbers: their scores agree
by construction, which says nothing about chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pandas as pd

from stressbed.analyse.names import Names

IDENTICAL = "identical by construction"


@dataclass(frozen=True)
class Seeds:
    """What is known of the seeds of a run.

    Attributes:
        names: Which transformations draw languages under a generator, which generators draw tokens.
        drawn: (generator, dataset, transformation, seed) -> hash of the languages that were drawn.
    """

    names: Names
    drawn: Mapping[tuple[str, str, str, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: pd.DataFrame, names: Names) -> Seeds:
        """Return the seeds of the cells of `scores.parquet`."""
        keys = ["generator", "dataset", "transformation", "seed"]
        if "drawn" not in scores.columns:
            return cls(names)
        known = scores[[*keys, "drawn"]].dropna().drop_duplicates(keys)
        rows = known.itertuples(index=False)
        return cls(names, {(g, d, t, int(s)): drawn for g, d, t, s, drawn in rows})

    def varies(self, generator: str, transformation: str) -> bool:
        """Return whether seeds of a transformation can differ on any dataset, by what the entries say."""
        return generator not in self.names.varying or transformation in self.names.varying[generator]

    def same(self, generator: str, dataset: str, transformation: str, first: int, second: int) -> bool:
        """Return whether two seeds of a dataset's transformation are the same by construction."""
        if first == second or not self.varies(generator, transformation):
            return True
        if generator in self.names.sampled:
            return False
        one, two = (self.drawn.get((generator, dataset, transformation, s)) for s in (first, second))
        return one is not None and one == two

    def pairs(
        self, generator: str, dataset: str, transformations: Iterable[str], seeds: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Return the pairs of seeds that can differ in at least one of the transformations."""
        members = list(transformations)
        return [
            (a, b)
            for a, b in combinations(seeds, 2)
            if not all(self.same(generator, dataset, t, a, b) for t in members)
        ]

    def first(
        self, generator: str, dataset: str, transformation: str, seeds: Iterable[int]
    ) -> dict[int, int]:
        """Return for each seed the lowest one that is the same: its own number where there is none."""
        found: dict[int, int] = {}
        for seed in sorted(seeds):
            known = (s for s in set(found.values()) if self.same(generator, dataset, transformation, s, seed))
            found[seed] = min(known, default=seed)
        return found
