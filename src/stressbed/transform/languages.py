"""Which language a text is in, without a network; where that is unclear, it says so.

Two looks, since the exact models of all languages take 1 GB and many seconds to load: small models of
all 75 languages name a suspect, then exact models of only that language, the expected one and
a few common ones decide, if half of the words agree. On windows of 5 to 12 words of English news none was
taken for another language.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from stressbed import languages, scripts

if TYPE_CHECKING:
    from lingua import Language, LanguageDetector

COMMON = frozenset(map(languages.language_of, ("eng", "fra", "spa", "deu", "ita", "por")))
"""Languages that a generator falls into; small models take one for another or for a rare one."""

DENSE = frozenset({"zh", "ja", "ko"})
"""Languages that say with one letter what others say with about three."""

_LONG_WORD = re.compile(r"(\S{5000})(?=\S)")
"""Such words (encoded files, say) are cut: the identifier's time grows with the square of a word's length."""

_CODE = re.compile(r"://|www\.|[@#]\w|\w\(|[{}\[\]<>=_\\|^~`$\d]|\w[/.#:]\w")
"""What addresses, numbers and code hold: they are in no language."""

_COMMAND = re.compile(
    r"^[ \t]*(?:[$>#][ \t]+)?(?:(?:import|using)[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*$"
    r"|from[ \t]+[\w.]+[ \t]+import\b.*"
    r"|(?:sudo|pip3?|npm|apt(?:-get)?|docker|kubectl|conda|yum|dnf|chmod|chown|mkdir|wget|curl|ssh)[ \t].*"
    r"|(?:SELECT[ \t].*[ \t]FROM|INSERT[ \t]+INTO|DELETE[ \t]+FROM|UPDATE[ \t]+\w+[ \t]+SET)[ \t].*)",
    re.MULTILINE,
)
"""Lines of code that words alone make up."""

_VISIBLE = re.compile(r"[\x21-\x7e]*")
"""The rest of what such a mark stands in, on one side of it."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")

_MOST_WORDS = 40
"""So many words of a text are looked at one by one."""

_OWN_WORDS = 0.5
"""A text with so large a share of words of the expected language is not in another one."""

_HAN_ONLY = 15
"""Shorter texts in Chinese characters alone may be Japanese names or titles."""


@lru_cache(maxsize=1)
def supported() -> dict[str, tuple[Language, ...]]:
    """Return the identifier's languages, by `stressbed.languages.language_of`."""
    from lingua import Language

    found: dict[str, tuple[Language, ...]] = {}
    for one in sorted(Language.all(), key=lambda language: language.name):
        code = languages.language_of(one.iso_code_639_3.name.lower())
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
        code = languages.language_of(one.language.iso_code_639_3.name.lower())
        sums[code] = sums.get(code, 0.0) + one.value
    return sums


@lru_cache(maxsize=200_000)
def is_other_language(text: str, expected: str, *, ratio: float, min_letters: int) -> bool:
    """Return whether a text is clearly in another language or script than expected; unknown is not other.

    Args:
        text: The text.
        expected: Tag of the language it should be in; one that cannot be identified is never refuted, but
            the script that it names is.
        ratio: Another language must be so many times likelier than the expected one.
        min_letters: Texts with fewer letters are not judged; a Chinese, Japanese or Korean one counts as
            three where another language is expected.
    """
    whole, text = text, without_code(text)
    letters = scripts.letters(text).total()
    if letters < min_letters or 2 * letters < scripts.letters(whole).total():  # the rest is addresses or code
        return False
    asked = languages.script_of(expected)
    if asked and scripts.is_in(text, asked) is False:
        return True
    return _identified(text, languages.language_of(expected), asked, ratio=ratio, min_letters=min_letters)


def without_code(text: str) -> str:
    """Return a text without its addresses, numbers and code.

    From each mark outwards: one expression for all of it would take a second look at every letter of a
    word for each of its letters.
    """
    text = _COMMAND.sub("", text)
    kept, end = [], 0
    backwards = text[::-1]
    for mark in _CODE.finditer(text):
        if mark.start() >= end:
            start = len(text) - _reach(backwards, len(text) - mark.start())
            kept.append(text[end : max(end, start)])
        if mark.end() > end:
            end = _reach(text, mark.end())
    return "".join([*kept, text[end:]])


def _reach(text: str, start: int) -> int:
    """Return where the visible ASCII characters from a place on end."""
    found = _VISIBLE.match(text, start)
    return start if found is None else found.end()


def _identified(text: str, wanted: str, asked: str, *, ratio: float, min_letters: int) -> bool:
    """Return whether the identifier takes a text, in the script that was asked for, for another language."""
    if wanted not in supported() or _weight(text, wanted) < min_letters:
        return False
    if asked and not scripts.parts(asked) & _known_scripts(wanted):
        return False  # Hindi or Arabic in Latin letters, say: it would say anything of them
    if wanted == "ja" and len(text) < _HAN_ONLY and set(scripts.letters(text)) == {"Hani"}:
        return False
    text = _without_names(text, wanted)
    seen = _probabilities(_quick(), text)
    suspect = max(seen, key=lambda code: (seen[code], code))
    if seen[suspect] <= ratio * seen[wanted]:  # also where nothing is known: all are 0
        return False
    exact = _probabilities(_exact(frozenset({wanted, suspect, *COMMON})), text)
    other = max(exact, key=lambda code: (exact[code], code))
    return exact[other] > ratio * exact[wanted] and _words_agree(text, wanted, other)


def _without_names(text: str, wanted: str) -> str:
    """Return a text without Latin letters where most of it is in a language's own, other script.

    Brands and loanwords stand in Latin letters everywhere, and of the whole the identifier says anything.
    """
    own = _known_scripts(wanted)
    counts = scripts.letters(text)
    if "Latn" in own or sum(counts[s] for s in own) < scripts.MAJORITY * counts.total():
        return text
    return _LATIN.sub(" ", text)


def _words_agree(text: str, wanted: str, other: str) -> bool:
    """Return whether enough words, each for itself, are likelier in the other language.

    A few words that two languages share, `shopping` or `brunch`, outweigh all others in a short text; its
    small words are still those of its own language.
    """
    words = [w for w in _WORD.findall(text) if len(w) > 1][:_MOST_WORDS]
    if wanted in DENSE or other in DENSE or len(words) < 2:
        return True
    detector = _exact(frozenset({wanted, other}))
    sure = [_probabilities(detector, w) for w in words]
    own = sum(p.get(wanted, 0.0) > p.get(other, 0.0) for p in sure)
    return own < _OWN_WORDS * len(words)


@lru_cache(maxsize=1024)
def _known_scripts(code: str) -> frozenset[str]:
    """Return the scripts in which the identifier knows a language, as those of characters."""
    usual = (
        languages.canonical(one.iso_code_639_3.name.lower()).maximize().script for one in supported()[code]
    )
    return frozenset[str]().union(*(scripts.parts(script or "") for script in usual))


def _weight(text: str, wanted: str) -> int:
    letters = [c for c in text if c.isalpha()]
    if wanted in DENSE:
        return len(letters)
    dense = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
    return sum(3 if unicodedata.name(c, "").startswith(dense) else 1 for c in letters)
