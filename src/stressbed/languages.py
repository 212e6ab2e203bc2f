"""Language tags: whether they are valid, which of them are one language, and what each is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import langcodes
from langcodes.data_dicts import MACROLANGUAGES

from stressbed.errors import ConfigError

UNKNOWN = frozenset({"und", "mul", "mis", "zxx"})
"""ISO 639 codes that name no one language."""

_PART_OF = {"Hang": "Kore", "Hira": "Jpan", "Kana": "Jpan", "Hrkt": "Jpan"}
"""Scripts that are parts of a mixed script in ISO 15924: Hangul is how Korean is written anyway."""


@lru_cache(maxsize=4096)
def is_valid(tag: str) -> bool:
    """Return whether a tag is ISO 639 (with or without a script), such as `eng-Latn`."""
    return bool(tag) and langcodes.tag_is_valid(tag)


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
def language_of(tag: str) -> str:
    """Return the language behind a valid tag, whatever its spelling, script or region.

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
    return language_of(tag) not in UNKNOWN


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


def remaining(pool: Sequence[str], excluded: Iterable[str]) -> list[str]:
    """Return the languages of the pool that are none of the excluded ones, each once."""
    out = {language_of(tag) for tag in excluded}
    kept: dict[str, str] = {}
    for tag in pool:
        if language_of(tag) not in out:
            kept.setdefault(language_of(tag), tag)
    return list(kept.values())
