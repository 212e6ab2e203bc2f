"""Language tags: whether they are valid, and which of them are the same language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache


@lru_cache(maxsize=4096)
def is_valid(tag: str) -> bool:
    """Return whether a tag is ISO 639 (with or without a script), such as `eng-Latn`."""
    import langcodes

    return bool(tag) and langcodes.tag_is_valid(tag)


@lru_cache(maxsize=4096)
def language_of(tag: str) -> str:
    """Return the language behind a valid tag, whatever its spelling, script or region.

    Members of a macrolanguage count as that language (`arb` and `arz` as `ar`), as they do when
    languages are drawn.
    """
    import langcodes
    from langcodes.data_dicts import MACROLANGUAGES

    code = langcodes.Language.get(langcodes.standardize_tag(tag, macro=True)).language or "und"
    return MACROLANGUAGES.get(code, code)


def remaining(pool: Sequence[str], excluded: Iterable[str]) -> list[str]:
    """Return the tags of the pool whose language is none of the excluded ones."""
    out = {language_of(tag) for tag in excluded}
    return [tag for tag in pool if language_of(tag) not in out]
