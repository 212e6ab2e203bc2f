"""Whether a text shows anything, and when two names look the same."""

from __future__ import annotations

import re
import unicodedata

NOTHING = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Mc", "Me"})
"""Unicode categories that show nothing by themselves: controls, formats, blanks, combining marks."""

BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Hangul fillers and the empty Braille pattern: letters and symbols by category, but blank."""

_BLANKS = re.compile(r"\s+")


def shows(text: str) -> bool:
    """Return whether a text has a character that can be seen.

    A text of blanks, zero-width characters, byte order marks, control characters or combining marks alone
    has none, though `str.strip` would leave most of these.
    """
    return any(c not in BLANK_LETTERS and unicodedata.category(c) not in NOTHING for c in text)


def look(name: str) -> str:
    """Return what a reader sees of a name: other blanks, invisible characters or normal forms do not count.

    Case counts.
    """
    plain = unicodedata.normalize("NFKC", name)
    seen = (c for c in plain if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf"})
    return _BLANKS.sub(" ", "".join(seen)).strip()
