"""Texts in any script on paper: what fonts can draw, how wide it is, where lines break."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font, LoadFlags

MOST = 0.3
"""Share of a text's letters that may lack a glyph before the text is replaced by a sentence."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")
"""Controls, among them those of direction: each line gets its own direction when it is drawn."""


@cache
def _font() -> FT2Font:
    return FT2Font(findfont(FontProperties(family="DejaVu Sans")))


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(_font().get_charmap())


def drawable(text: str) -> bool:
    """Return whether the figures' font has the glyphs of most of a text's letters."""
    letters = [c for c in text if unicodedata.category(c)[0] in "LMN"]
    lacking = sum(ord(c) not in _glyphs() for c in letters)
    return lacking <= MOST * len(letters)


def right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction is one of a script written from right to left."""
    return next((b != "L" for b in map(unicodedata.bidirectional, text) if b in {"L", "R", "AL"}), False)


@cache
def _advance(character: str) -> float:
    """Return a character's width in ems; one that the font lacks is drawn as a wide box."""
    font = _font()
    if ord(character) not in _glyphs():
        return 0.0 if unicodedata.combining(character) else 1.0
    return float(font.load_char(ord(character), LoadFlags.NO_SCALE).horiAdvance / font.units_per_EM)


def breadth(text: str) -> float:
    """Return how wide a text is in ems, letter by letter: scripts that join letters are a little narrower."""
    return sum(map(_advance, text))


def lines_of(text: str, *, width: float, most: int) -> list[str]:
    """Return a text in at most so many lines of at most so many ems; an ellipsis if it goes on."""
    found: list[str] = []
    line = ""
    for piece in _pieces(" ".join(_UNSEEN.sub(" ", text).split()), width):
        if line and breadth(line + piece.rstrip()) > width:
            found.append(line.rstrip())
            line = ""
        line += piece
    found += [line.rstrip()] if line.strip() else []
    if len(found) <= most:
        return found or [""]
    last = found[most - 1]
    while breadth(last) > width - 1:
        last = last[:-1]
    return [*found[: most - 1], f"{last.rstrip()}…"]


def _pieces(text: str, width: float) -> Iterator[str]:
    """Yield the words with the space behind them; what is longer than half a line in pieces."""
    for word in re.findall(r"\S+\s*", text):
        if breadth(word) <= width / 2:
            yield word
        else:
            yield from (word[i : i + 8] for i in range(0, len(word), 8))
