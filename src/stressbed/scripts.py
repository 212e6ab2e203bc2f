"""Which script a text is written in, by the names of Unicode's characters, as ISO 15924 codes."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_CODES = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr",
    "ETHIOPIC": "Ethi", "DEVANAGARI": "Deva", "BENGALI": "Beng", "GURMUKHI": "Guru", "GUJARATI": "Gujr",
    "ORIYA": "Orya", "TAMIL": "Taml", "TELUGU": "Telu", "KANNADA": "Knda", "MALAYALAM": "Mlym",
    "SINHALA": "Sinh", "THAI": "Thai", "LAO": "Laoo", "TIBETAN": "Tibt", "MYANMAR": "Mymr",
    "GEORGIAN": "Geor", "ARMENIAN": "Armn", "KHMER": "Khmr", "MONGOLIAN": "Mong", "CJK": "Hani",
    "IDEOGRAPHIC": "Hani", "HIRAGANA": "Hira", "KATAKANA": "Kana", "HANGUL": "Hang", "BOPOMOFO": "Bopo",
    "CHEROKEE": "Cher", "TIFINAGH": "Tfng", "NKO": "Nkoo", "VAI": "Vaii", "ADLAM": "Adlm", "OL": "Olck",
    "MEETEI": "Mtei", "THAANA": "Thaa", "SYRIAC": "Syrc", "CANADIAN": "Cans", "JAVANESE": "Java",
    "BALINESE": "Bali", "SUNDANESE": "Sund", "COPTIC": "Copt", "YI": "Yiii", "GOTHIC": "Goth",
}  # fmt: skip
"""First word of a letter's name -> script."""

_PARTS = {
    "Jpan": frozenset({"Hani", "Hira", "Kana"}),
    "Hrkt": frozenset({"Hira", "Kana"}),
    "Kore": frozenset({"Hang", "Hani"}),
    "Hans": frozenset({"Hani"}),
    "Hant": frozenset({"Hani"}),
    "Hanb": frozenset({"Hani", "Bopo"}),
    "Geok": frozenset({"Geor"}),
    "Aran": frozenset({"Arab"}),
    "Cyrs": frozenset({"Cyrl"}),
    "Latf": frozenset({"Latn"}),
    "Latg": frozenset({"Latn"}),
    "Hang": frozenset({"Hang", "Hani"}),
}
"""Scripts of tags that are mixed, or variants, of those that characters have."""

_DENSE = frozenset({"Hani", "Hira", "Kana", "Hang"})

UNKNOWN = ""
"""Script of a text without letters, or of letters that are not known here."""

MAJORITY = 0.6
"""A text is in a script that so many of its letters have."""


def parts(script: str) -> frozenset[str]:
    """Return the characters' scripts that a tag's script is made of: `Jpan` is `Hani`, `Hira` and `Kana`."""
    return _PARTS.get(script, frozenset({script}))


def letters(text: str) -> Counter[str]:
    """Return how many letters of each script a text has; fullwidth and mathematical ones are Latin.

    Ideographs, kana and Hangul count as three: they say as much, and names stand in Latin letters among them.
    """
    found = Counter(map(_of, filter(str.isalpha, unicodedata.normalize("NFKC", text))))
    return Counter({code: n * (3 if code in _DENSE else 1) for code, n in found.items()})


def is_in(text: str, script: str) -> bool | None:
    """Return whether most of a text's letters are of a script; None where it has none that are known.

    Chinese texts are in `Hans` or `Hant` unless characters that only the other one has outnumber its own.
    """
    counts = letters(text)
    known = sum(n for code, n in counts.items() if code)
    if not known or not parts(script) <= _ALL:
        return None
    if sum(counts[code] for code in parts(script)) < MAJORITY * known:
        return False
    variant = _chinese(text) if script in {"Hans", "Hant"} else ""
    return not variant or variant == script


def main_script(texts: Iterable[str]) -> str:
    """Return the script that most of the texts are in, by majority of the letters of each.

    Japanese is `Jpan`, Korean `Kore`; Chinese is `Hans` or `Hant`, or `Hani` where nothing tells. `UNKNOWN`
    if there is none that more than half of the texts have.
    """
    found = Counter(filter(None, map(_of_text, texts)))
    variants = found["Hans"] + found["Hant"]
    if variants:  # short texts may have no character that tells
        more = "Hans" if found["Hans"] >= found["Hant"] else "Hant"
        found[more] += found.pop("Hani", 0)
    if found["Jpan"]:
        found["Jpan"] += found.pop("Hani", 0)
    total = found.total()
    script, n = found.most_common(1)[0] if total else (UNKNOWN, 0)
    return script if 2 * n > total else UNKNOWN


def _of_text(text: str) -> str:
    counts = letters(text)
    known = sum(n for code, n in counts.items() if code)
    for mixed, needed in (("Jpan", ("Hira", "Kana")), ("Kore", ("Hang",))):
        inside = sum(counts[code] for code in parts(mixed))
        own = sum(counts[code] for code in needed)
        if known and inside >= MAJORITY * known and own > 0.2 * inside:
            return mixed
    script = next((c for c, n in counts.items() if c and n >= MAJORITY * known), UNKNOWN)
    return (_chinese(text) or script) if script == "Hani" else script


def _chinese(text: str) -> str:
    """Return `Hans` or `Hant` by the characters that only one of the two has; empty where they are even."""
    simplified = sum(map(_only_simplified, text))
    traditional = sum(map(_only_traditional, text))
    if simplified == traditional:
        return ""
    return "Hans" if simplified > traditional else "Hant"


@lru_cache(maxsize=50_000)
def _only_simplified(c: str) -> bool:
    # The first levels of both sets hold the common characters; the second of Big5 has simplified ones too.
    return "\xb0" <= _code("gb2312", c) < "\xd8" and not "\xa4" <= _code("big5", c) < "\xc9"


@lru_cache(maxsize=50_000)
def _only_traditional(c: str) -> bool:
    return "\xa4" <= _code("big5", c) < "\xc9" and not _code("gb2312", c)


def _code(charset: str, c: str) -> str:
    """Return an ideograph's bytes, as characters, in a country's own set; nothing where it is not there."""
    if not "\u4e00" <= c <= "\u9fff":
        return ""
    return c.encode(charset, errors="ignore").decode("latin-1")


@lru_cache(maxsize=50_000)
def _of(c: str) -> str:
    return _CODES.get(unicodedata.name(c, "?").split()[0].split("-")[0], UNKNOWN)


_ALL = frozenset(_CODES.values())
