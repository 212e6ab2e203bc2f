"""Compact letter display: who differs significantly from whom, in letters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from string import ascii_lowercase


def compact_letters(
    names: Sequence[str], means: Mapping[str, float], different: Collection[frozenset[str]]
) -> dict[str, str]:
    """Return letters such that two names share one if and only if they do not differ significantly.

    Method: insert and absorb (Piepho, 2004, An algorithm for a letter-based representation of
    all-pairwise comparisons). The best mean has the first letter.

    Args:
        names: Who is compared.
        means: Their means; only the order counts.
        different: Pairs that differ significantly.

    Raises:
        ValueError: A pair names one who is not compared, or is no pair.
    """
    for pair in different:
        if len(pair) != 2 or not pair <= set(names):
            raise ValueError(f"{sorted(pair)} is no pair of {sorted(names)}")
    groups: list[frozenset[str]] = [frozenset(names)] if names else []
    for pair in sorted(different, key=sorted):
        split: list[frozenset[str]] = []
        for group in groups:
            split += [group - {one} for one in sorted(pair)] if pair <= group else [group]
        groups = _absorb(split)
    groups = _sweep(groups, different)
    ranked = sorted(names, key=lambda n: (-means[n], names.index(n)))
    place = {name: i for i, name in enumerate(ranked)}
    groups.sort(key=lambda g: sorted(place[n] for n in g))
    return {n: "".join(_letter(i) for i, g in enumerate(groups) if n in g) for n in names}


def _absorb(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return the groups that lie in no other one."""
    unique = list(dict.fromkeys(groups))
    return [g for g in unique if g and not any(g < other for other in unique)]


def _sweep(groups: Sequence[frozenset[str]], different: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Return the groups without those whose every pair shares another group anyway."""
    kept = list(groups)
    for group in sorted(groups, key=len):
        others = [g for g in kept if g != group]
        alone = any(not any(n in g for g in others) for n in group)
        pairs = [
            frozenset({a, b}) for a in group for b in group if a < b and frozenset({a, b}) not in different
        ]
        if not alone and all(any(pair <= g for g in others) for pair in pairs):
            kept = others
    return kept


def _letter(i: int) -> str:
    """Return a, b, ..., z, then a', b', ..."""
    return ascii_lowercase[i % 26] + "'" * (i // 26)
