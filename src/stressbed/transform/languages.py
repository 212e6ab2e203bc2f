"""Which language a text is in, without a network; where that is unclear, it says so."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from stressbed.generate import languages

if TYPE_CHECKING:
    from lingua import LanguageDetector


@lru_cache(maxsize=1)
def _detector() -> LanguageDetector:
    """Return the identifier for all its languages; its models (about 1 GB) load with the first texts."""
    from lingua import LanguageDetectorBuilder

    return LanguageDetectorBuilder.from_all_languages().build()


@lru_cache(maxsize=1)
def supported() -> frozenset[str]:
    """Return the languages (see `stressbed.generate.languages.identity`) that can be told apart."""
    from lingua import Language

    return frozenset(languages.identity(one.iso_code_639_3.name.lower()) for one in Language.all())


@lru_cache(maxsize=200_000)
def confidences(text: str) -> tuple[tuple[str, float], ...]:
    """Return (language, probability) pairs, the likeliest first; varieties of one language add up."""
    sums: dict[str, float] = {}
    for one in _detector().compute_language_confidence_values(text):
        code = languages.identity(one.language.iso_code_639_3.name.lower())
        sums[code] = sums.get(code, 0.0) + one.value
    return tuple(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def is_other_language(text: str, expected: str, *, ratio: float, min_letters: int) -> bool:
    """Return whether a text is clearly in another language than expected; unknown is not other.

    Args:
        text: The text.
        expected: Tag of the language it should be in.
        ratio: The likeliest language must be so many times likelier than the expected one.
        min_letters: Texts with fewer letters are not judged.
    """
    if not languages.is_known(expected) or languages.identity(expected) not in supported():
        return False
    if sum(map(str.isalpha, text)) < min_letters:
        return False
    found = confidences(text)
    probability = dict(found)
    best = found[0][1]
    return best > 0 and best > ratio * probability.get(languages.identity(expected), 0.0)
