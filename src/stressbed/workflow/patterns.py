"""Filling path patterns: one pattern, many files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product


def fill(text: str, axes: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the text for every combination of the axes it names; other wildcards stay."""
    names = [a for a in axes if f"{{{a}}}" in text]
    found = []
    for values in product(*(axes[a] for a in names)):
        filled = text
        for name, value in zip(names, values, strict=True):
            filled = filled.replace(f"{{{name}}}", str(value))
        found.append(filled)
    return found


def files_of(folder: str, names: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files of some tables or figures, all suffixes of one name together."""
    return [f"{folder}/{name}.{suffix}" for name in names for suffix in suffixes]
