"""Whether a text shows anything, and when two names look the same."""

from __future__ import annotations

import re
import unicodedata

IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""What Unicode says is shown as nothing (Default_Ignorable_Code_Point), beside controls and formats."""

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
    return any(
        c not in BLANK_LETTERS and unicodedata.category(c) not in NOTHING and not IGNORED.match(c)
        for c in text
    )


def look(name: str) -> str:
    """Return what a reader sees of a name: other blanks, invisible characters or normal forms do not count.

    Case counts.
    """
    plain = IGNORED.sub("", name).replace("\u2800", " ")
    seen = (c for c in plain if c.isspace() or unicodedata.category(c) not in {"Cc", "Cf"})
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", "".join(seen))).strip()
