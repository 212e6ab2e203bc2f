"""What columns are called on the page, and notes that call them so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import MappingProxyType

from stressbed.analyse.names import Names

HEADS = MappingProxyType(
    {
        "n": "n",
        "p": "p",
        "p_holm": "p (Holm)",
        "rho": "rho",
        "n_datasets": "Datasets",
        "n_embedders": "Embedders",
        "median_abs": "Median |delta|",
        "tau_mean": "Tau, mean",
        "tau_sd": "Tau, SD",
        "within_mean": "Tau between seeds, mean",
        "within_sd": "Tau between seeds, SD",
        "n_within": "Datasets with seeds that can differ",
        "tau_there": "Tau, mean over these",
        "pairs": "Pairs of seeds that can differ",
        "pairs_all": "Pairs of seeds",
        "members": "Transformations",
        "members_differ": "Transformations whose seeds can differ",
        "within": "Tau between seeds",
        "english_original": "English, original",
        "english_delta": "English, delta",
        "english_relative": "English, relative",
        "non_english_original": "Non-English, original",
        "non_english_delta": "Non-English, delta",
        "non_english_relative": "Non-English, relative",
        "n_english": "Embedders, English",
        "n_non_english": "Embedders, non-English",
        "datasets_english": "Datasets, English",
        "datasets_non_english": "Datasets, non-English",
        "original_text": "Original",
        "rewritten_text": "Rewritten",
    }
)
"""Headers that are not the column's own name with a capital."""


def headed(column: str, names: Names) -> str:
    """Return the header of a column: its own words, a label where it is an id, else its name."""
    if column in HEADS:
        return HEADS[column]
    label = names.label(column)
    return label if label != column else f"{column[:1].upper()}{column[1:]}".replace("_", " ")


def spaced(notes: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return notes in which these words have spaces for underscores; names of files stay."""
    one = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    if not one:
        return list(notes)
    pattern = re.compile(rf"(?<![\w./-])(?:{one})(?![\w/-]|\.\w)")
    return [pattern.sub(lambda found: found[0].replace("_", " "), n) for n in notes]


def readable(notes: Iterable[str], columns: Sequence[str], names: Names) -> list[str]:
    """Return notes that name columns as their headers do: `p_holm: ...` becomes `p (Holm): ...`.

    A column that a clause explains stands before its colon, alone or in a list. Elsewhere only names with
    an underscore are surely columns; the others are words. Names of files stay.

    Args:
        notes: Sentences below a table, as its Markdown has them.
        columns: The table's columns.
        names: Labels of ids.
    """
    if not columns:
        return [_CODE.sub(r"“\1”", n) for n in notes]
    heads = {c: headed(c, names) for c in columns}
    one = "|".join(re.escape(c) for c in sorted(columns, key=len, reverse=True))
    explained = re.compile(rf"(?:^|(?<=[.;] ))(?:{one})(?:, (?:{one}))*(?=:)")
    within = re.compile(rf"(?<![\w./-])(?:{one})(?![\w/-]|\.\w)")

    def listed(found: re.Match[str]) -> str:
        return ", ".join(heads[c] for c in found[0].split(", "))

    def quoted(found: re.Match[str]) -> str:
        return f"“{heads[found[0]]}”" if "_" in found[0] else found[0]

    said = (within.sub(quoted, explained.sub(listed, n)) for n in notes)
    return [_CODE.sub(r"“\1”", n) for n in said]


_CODE = re.compile(r"`([^`]+)`")
