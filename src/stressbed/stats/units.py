"""What is resampled where items share texts: 28 pairs of 8 documents are no 28 independent observations.

Items that share nothing are units of their own. Items that hang together by shared texts are one unit, drawn
or not as a whole (a cluster bootstrap), as long as they are few among all items. Where a net of shared texts
holds more than `LARGE` of the items, as when 8 documents are paired with each other, its texts are the
units: an item counts as often as the product of its shared texts (Owen, 2007, The pigeonhole bootstrap).
That errs on the side of wide intervals where texts matter little; clusters do not, so that they come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stressbed.stats.interval import Floats

LARGE = 0.1
"""Share of all items from which on those that hang together are too many to be one unit."""

MOST = 2
"""Shared texts of an item whose numbers are multiplied; one with more is drawn with all that it hangs on."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """Which units each of n items belongs to.

    Attributes:
        first: Number of an item's unit, shape (n,).
        second: Number of its second unit, -1 where it has one unit only.
        n: Units, numbered from 0.
        shared: Whether some items share a unit.
    """

    first: Ints
    second: Ints
    n: int
    shared: bool

    @classmethod
    def own(cls, n: int) -> Units:
        """Return n items that share nothing: each is the unit of its own number."""
        return cls(np.arange(n), np.full(n, -1), n, shared=False)

    @classmethod
    def of(cls, names: Sequence[Sequence[Hashable]]) -> Units:
        """Return the units of items by their names, at most two each; an item without one has its own."""
        numbers: dict[Hashable, int] = {}
        rows = [
            [numbers.setdefault(key, len(numbers)) for key in (held or [(None, i)])]
            for i, held in enumerate(names)
        ]
        if len(numbers) == len(rows) and all(len(r) == 1 for r in rows):
            return cls.own(len(rows))
        first = np.array([r[0] for r in rows], dtype=np.int64)
        second = np.array([r[1] if len(r) > 1 else -1 for r in rows], dtype=np.int64)
        return cls(first, second, len(numbers), shared=True)

    def weights(self, drawn: Floats) -> Floats:
        """Return how often each item counts, shape (n, c), from how often each unit was drawn (units, c)."""
        if not self.shared:
            return drawn
        found: Floats = drawn[self.first]
        both = self.second >= 0
        found[both] *= drawn[self.second[both]]
        return found


def shared_units(texts: Sequence[Sequence[Hashable]], *, large: float = LARGE) -> list[tuple[int, ...]]:
    """Return by item the units that it shares with other items: none, one, or two.

    Args:
        texts: The texts of each item.
        large: Share of the items from which on those that hang together are resampled by their texts.
    """
    held = [list(dict.fromkeys(t)) for t in texts]
    count = Counter(t for item in held for t in item)
    shared = [[t for t in item if count[t] > 1] for item in held]
    roots = _roots(shared)
    net = [roots[item[0]] if item else None for item in shared]
    size = Counter(net)
    numbers: dict[Hashable, int] = {}
    found: list[tuple[int, ...]] = []
    for item, root in zip(shared, net, strict=True):
        whole = size[root] <= large * len(texts) or len(item) > MOST
        keys = [] if root is None else [(whole, t) for t in ([root] if whole else item)]
        found.append(tuple(numbers.setdefault(key, len(numbers)) for key in keys))
    return found


def _roots(shared: Sequence[Sequence[Hashable]]) -> dict[Hashable, Hashable]:
    """Return for each text one text that stands for all that hang together with it (union and find)."""
    parent: dict[Hashable, Hashable] = {t: t for item in shared for t in item}

    def root(text: Hashable) -> Hashable:
        while parent[text] != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for item in shared:
        for text in item[1:]:
            parent[root(text)] = root(item[0])
    return {t: root(t) for t in parent}
