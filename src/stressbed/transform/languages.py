"""Which language a text is in, without a network; where that is unclear, it says so.

Two looks, since the exact models of all languages take 1 GB and many seconds to load: small models of
all 75 languages name a suspect, then exact models of only that language, the expected one and
English decide. On windows of 3 to 20 words of English news, 0 to 2 % were taken for another language,
as with the exact models of all languages.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from stressbed.generate import languages

if TYPE_CHECKING:
    from lingua import Language, LanguageDetector

ENGLISH = languages.identity("eng")
DENSE = frozenset({"zh", "ja", "ko"})
"""Languages that say with one letter what others say with about three."""

_LONG_WORD = re.compile(r"(\S{5000})(?=\S)")
"""Such words (encoded files, say) are cut: the identifier's time grows with the square of a word's length."""

_HAN_ONLY = 15
"""Shorter texts in Chinese characters alone may be Japanese names or titles."""


@lru_cache(maxsize=1)
def supported() -> dict[str, tuple[Language, ...]]:
    """Return the identifier's languages, by `stressbed.generate.languages.identity`."""
    from lingua import Language

    found: dict[str, tuple[Language, ...]] = {}
    for one in sorted(Language.all(), key=lambda language: language.name):
        code = languages.identity(one.iso_code_639_3.name.lower())
        found[code] = (*found.get(code, ()), one)
    return found


@lru_cache(maxsize=1)
def _quick() -> LanguageDetector:
    from lingua import LanguageDetectorBuilder

    return LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()


@lru_cache(maxsize=4096)
def _exact(codes: frozenset[str]) -> LanguageDetector:
    """Return the exact identifier among some languages; a language's model is loaded once per process."""
    from lingua import LanguageDetectorBuilder

    chosen = [one for code in sorted(codes) for one in supported()[code]]
    return LanguageDetectorBuilder.from_languages(*chosen).build()


def _probabilities(detector: LanguageDetector, text: str) -> dict[str, float]:
    """Return probability by language; varieties of one language add up."""
    sums: dict[str, float] = {}
    for one in detector.compute_language_confidence_values(_LONG_WORD.sub(r"\1 ", text)):
        code = languages.identity(one.language.iso_code_639_3.name.lower())
        sums[code] = sums.get(code, 0.0) + one.value
    return sums


@lru_cache(maxsize=200_000)
def is_other_language(text: str, expected: str, *, ratio: float, min_letters: int) -> bool:
    """Return whether a text is clearly in another language than expected; unknown is not other.

    Args:
        text: The text.
        expected: Tag of the language it should be in; one that cannot be identified is never refuted.
        ratio: Another language must be so many times likelier than the expected one.
        min_letters: Texts with fewer letters are not judged; a Chinese, Japanese or Korean one counts as
            three where another language is expected.
    """
    wanted = languages.identity(expected)
    if wanted not in supported() or _weight(text, wanted) < min_letters:
        return False
    if wanted == "ja" and len(text) < _HAN_ONLY and _scripts(text) == {"CJK"}:
        return False
    seen = _probabilities(_quick(), text)
    suspect = max(seen, key=lambda code: (seen[code], code))
    if seen[suspect] <= ratio * seen[wanted]:  # also where nothing is known: all are 0
        return False
    exact = _probabilities(_exact(frozenset({wanted, suspect, ENGLISH})), text)
    return max(exact.values()) > ratio * exact[wanted]


def _scripts(text: str) -> set[str]:
    """Return the first words of the names of a text's letters: `LATIN`, `CJK`, `HIRAGANA`, `HANGUL` ..."""
    return {unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()}


def _weight(text: str, wanted: str) -> int:
    letters = [c for c in text if c.isalpha()]
    if wanted in DENSE:
        return len(letters)
    dense = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
    return sum(3 if unicodedata.name(c, "").startswith(dense) else 1 for c in letters)
