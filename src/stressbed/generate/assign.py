"""Which language a text is asked for in; every draw is a pure function of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stressbed.config.entries import TransformationEntry
from stressbed.fingerprint import text_digest
from stressbed.languages import english_name, is_known, language_of, remaining

if TYPE_CHECKING:
    import pandas as pd

ONE_SUBSET = "default"
"""Stands for the subset where one language is drawn for a whole dataset: with one subset, both draw alike."""


def draw(pool: Iterable[str], seed: int, stage: str, *coordinates: str) -> str:
    """Return one language of the pool, each equally likely, the same for the same coordinates.

    Every language gets a hash of (seed, stage, coordinates, language) and the highest wins, so
    that the pool's order does not matter, and a pool that grows by one language leaves all draws
    that do not fall on the new one as they were.

    Raises:
        ValueError: The pool is empty.
    """
    return max(pool, key=lambda tag: text_digest("draw", str(seed), stage, *coordinates, language_of(tag)))


@dataclass(frozen=True)
class Assignment:
    """What a variant asks for.

    Attributes:
        texts: The touched texts of the subsets that exist, in order of their text_id.
        languages: The drawn language of each of them, or None where nothing is drawn.
        absent: Subset -> reason, where nothing can be drawn.
    """

    texts: pd.DataFrame
    languages: list[str | None]
    absent: dict[str, str] = field(default_factory=dict)


def touched(texts: pd.DataFrame, fields: str) -> pd.DataFrame:
    """Return the texts that a transformation's `fields` selects.

    A text that is both query and document belongs to `all` alone.
    """
    if fields == "all":
        return texts
    return texts[texts["side"] == {"queries": "query", "documents": "document"}[fields]]


def assign(
    entry: TransformationEntry,
    seed: int,
    *,
    dataset: str,
    texts: pd.DataFrame,
    languages: Mapping[str, Sequence[str]],
) -> Assignment:
    """Return the touched texts with their drawn languages.

    Args:
        entry: The transformation.
        seed: The run's seed.
        dataset: Catalogue id of the dataset.
        texts: The dataset's texts (schema in docs/architecture.md).
        languages: All languages of each subset, from the manifest.
    """
    chosen = touched(texts, entry.fields)
    excluded = _excluded(entry, chosen, languages)
    pools, absent = _pools(entry, chosen, excluded)
    there = ~chosen["subset"].isin(list(absent))
    kept = chosen[there]
    if entry.draw == "none":
        return Assignment(kept, [None] * len(kept), absent)
    columns = ("subset", "language", "split", "field", "row", "position", "text")
    left_out = [e for e, is_there in zip(excluded, there, strict=True) if is_there]
    drawn: list[str | None] = []
    for out, subset, source, split, where, row, position, text in zip(
        left_out, *(kept[c].tolist() for c in columns), strict=True
    ):
        if entry.draw == "dataset":
            place = ["target", dataset, ONE_SUBSET]
        elif entry.draw == "subset":
            place = ["target", dataset, subset]
        elif entry.steps[0].language == "intermediate":
            place = ["intermediate", language_of(source), text]
        else:
            place = ["cross", dataset, subset, split, where, row, str(position)]
        drawn.append(draw(pools[out], seed, *place))
    return Assignment(kept, drawn, absent)


def _excluded(
    entry: TransformationEntry, texts: pd.DataFrame, languages: Mapping[str, Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the languages that each text may not be asked in."""
    sources = texts["language"].tolist()
    if entry.draw == "none" or entry.exclude == "none":
        return [()] * len(texts)
    if entry.exclude == "row":
        row = list(zip(*(texts[c].tolist() for c in ("subset", "split", "row")), strict=True))
        of_row: dict[tuple[str, str, str], dict[str, None]] = {}
        for key, source in zip(row, sources, strict=True):
            of_row.setdefault(key, {})[source] = None
        return [tuple(of_row[key]) for key in row]
    if entry.exclude == "source" and entry.draw != "subset":
        return [(source,) for source in sources]
    spoken: dict[str, dict[str, None]] = {}
    for subset, source in texts[["subset", "language"]].drop_duplicates().itertuples(index=False):
        own = languages.get(subset, []) if entry.exclude == "subset" else []
        spoken.setdefault(subset, dict.fromkeys(own))[source] = None
    return [tuple(spoken[subset]) for subset in texts["subset"].tolist()]


def _pools(
    entry: TransformationEntry, texts: pd.DataFrame, excluded: Sequence[tuple[str, ...]]
) -> tuple[dict[tuple[str, ...], list[str]], dict[str, str]]:
    """Return what may be drawn by what is excluded, and subset -> reason where nothing may.

    One text without a choice makes its whole subset absent: half a pair cannot be scored.
    """
    pools: dict[tuple[str, ...], list[str]] = {}
    absent: dict[str, str] = {}
    if entry.draw == "none":
        return pools, absent
    needs_source = any(step.language == "source" for step in entry.steps)
    places = zip(texts["subset"].tolist(), texts["language"].tolist(), excluded, strict=True)
    for subset, source, out in dict.fromkeys(places):
        if out not in pools:
            pools[out] = remaining(entry.pool, out)
        if not pools[out]:
            names = ", ".join(sorted({english_name(tag) for tag in out})) or "nothing"
            pool = ", ".join(entry.pool) or "empty"
            absent[subset] = f"no language left to draw: pool {pool}; excluded {names}"
        elif needs_source and not is_known(source):
            absent[subset] = f"the language of the texts is unknown ({source}), so nothing leads back to it"
    return pools, absent
