"""Which languages are compared, named and drawn; every draw is a pure function of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import langcodes
from langcodes.data_dicts import MACROLANGUAGES

from stressbed.config.entries import TransformationEntry
from stressbed.errors import ConfigError
from stressbed.fingerprint import text_digest

if TYPE_CHECKING:
    import pandas as pd

ONE_SUBSET = "default"
"""Stands for the subset where one language is drawn for a whole dataset: with one subset, both draw alike."""

UNKNOWN = frozenset({"und", "mul", "mis", "zxx"})
"""ISO 639 codes that name no one language."""

_PART_OF = {"Hang": "Kore", "Hira": "Jpan", "Kana": "Jpan", "Hrkt": "Jpan"}
"""Scripts that are parts of a mixed script in ISO 15924: Hangul is how Korean is written anyway."""


@lru_cache(maxsize=4096)
def canonical(tag: str) -> langcodes.Language:
    """Return a language tag in its preferred form: ``arb-Arab`` and ``ara`` become ``ar``.

    Raises:
        ConfigError: The tag is not a language that ISO 639 knows.
    """
    try:
        language = langcodes.Language.get(langcodes.standardize_tag(tag.replace("_", "-"), macro=True))
    except ValueError:
        language = None
    if language is None or not language.is_valid():
        raise ConfigError(
            f"{tag!r} is not a language",
            allowed="an ISO 639 code, with or without a script: eng-Latn, deu, zho-Hans",
        )
    return language


@lru_cache(maxsize=4096)
def identity(tag: str) -> str:
    """Return the language behind a tag, whatever its spelling, script or region.

    Members of an ISO 639-3 macrolanguage count as that language (``arz`` and ``arb`` as ``ar``,
    ``cmn`` and ``yue`` as ``zh``): a text is never translated into a variety of its own language.
    """
    code = canonical(tag).language or "und"
    return MACROLANGUAGES.get(code, code)


@lru_cache(maxsize=4096)
def script_of(tag: str) -> str:
    """Return the script that a tag names, usual or not; empty where it names none."""
    return langcodes.Language.get(tag.replace("_", "-"), normalize=False).script or ""


@lru_cache(maxsize=4096)
def one_tag(tag: str) -> str:
    """Return the tag under which a language stands in tables, whatever the spelling: ISO 639-3 and script.

    `arb-Arab`, `ar` and `ara` are `ara-Arab`, `cmn` and `zh` are `zho-Hans`, `nob` is `nor-Latn`. Varieties
    that ISO 639-3 counts to a macrolanguage without being what is meant by its name stay themselves (`ary`,
    `yue`, `nno`). What names no language stays as it is.
    """
    try:
        language = canonical(tag)
    except ConfigError:
        return tag
    code = _SAME.get(language.language or "und", language.language or "und")
    if code in UNKNOWN:
        return tag
    bare = langcodes.Language.make(language=code)
    script = script_of(tag) or language.script or bare.maximize().script or ""
    return f"{bare.to_alpha3()}-{_WRITTEN.get(script, script)}".rstrip("-")


_SAME = {"nb": "no", "zlm": "ms"}
"""Languages that are meant by the name of their macrolanguage, where Unicode's data keep two codes."""

_WRITTEN = {"Kore": "Hang", "Hira": "Jpan", "Kana": "Jpan", "Hrkt": "Jpan"}
"""Scripts under the name that datasets use."""


def is_known(tag: str) -> bool:
    """Return whether a tag names one language (not undetermined, several, or none)."""
    return identity(tag) not in UNKNOWN


@lru_cache(maxsize=4096)
def english_name(tag: str) -> str:
    """Return what a prompt calls the language, such as ``Arabic`` for ``arb-Arab``.

    The script is named only where it is not the usual one: ``Chinese`` for ``zho-Hans``,
    ``Chinese (Traditional)`` for ``zho-Hant``.
    """
    language = canonical(tag)
    if (language.language or "und") in UNKNOWN:
        return "the language of the text"
    bare = langcodes.Language.make(language=language.language)
    usual = bare.maximize().script
    script = language.script
    if script is None or usual in {script, _PART_OF.get(script)}:
        return str(bare.display_name()).removesuffix(" (individual language)")  # `zlm` beside `msa`
    return str(langcodes.Language.make(language=language.language, script=script).display_name())


def draw(pool: Iterable[str], seed: int, stage: str, *coordinates: str) -> str:
    """Return one language of the pool, each equally likely, the same for the same coordinates.

    Every language gets a hash of (seed, stage, coordinates, language) and the highest wins, so
    that the pool's order does not matter, and a pool that grows by one language leaves all draws
    that do not fall on the new one as they were.

    Raises:
        ValueError: The pool is empty.
    """
    return max(pool, key=lambda tag: text_digest("draw", str(seed), stage, *coordinates, identity(tag)))


def remaining(pool: Sequence[str], excluded: Iterable[str]) -> list[str]:
    """Return the languages of the pool that are none of the excluded ones, each once."""
    out = {identity(tag) for tag in excluded}
    kept: dict[str, str] = {}
    for tag in pool:
        if identity(tag) not in out:
            kept.setdefault(identity(tag), tag)
    return list(kept.values())


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
            place = ["intermediate", identity(source), text]
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
