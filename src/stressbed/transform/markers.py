"""Markers of reasoning, labels before an answer and refusals, compiled from the catalogue's lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stressbed.config.entries import MarkersEntry

Found = frozenset[tuple[int, str]]
"""What a text holds: (number of the list, the words without case)."""

_ANYTHING = r"[\s*#_>\-–•]*"


@dataclass(frozen=True)
class Markers:
    """Compiled lists of markers, one pattern per language.

    Attributes:
        reasoning: Patterns that are searched for anywhere in a text.
        prefixes: Patterns of a label at the start of a text, with its colon or as a heading.
        refusals: Patterns of what a text begins with that gives no rewrite.
    """

    reasoning: tuple[re.Pattern[str], ...]
    prefixes: tuple[re.Pattern[str], ...]
    refusals: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def of(cls, entries: Iterable[MarkersEntry]) -> Markers:
        """Return the compiled lists; the catalogue's check has read every expression before."""
        entries = list(entries)
        return cls(
            reasoning=tuple(_anywhere(e.reasoning, e.spaces) for e in entries if e.reasoning),
            prefixes=tuple(_label(e.prefixes) for e in entries if e.prefixes),
            refusals=tuple(_anywhere(e.refusals, spaces=False) for e in entries if e.refusals),
        )

    def reasons(self, text: str) -> Found:
        """Return the markers of reasoning that a text holds."""
        text = _plain(text)
        return frozenset((i, m[0].casefold()) for i, p in enumerate(self.reasoning) for m in p.finditer(text))

    def labels(self, text: str) -> Found:
        """Return the labels that a text may be said to begin with: at most one per list."""
        text = _plain(text)
        return frozenset(
            (i, (m["label"] or m["heading"]).casefold())
            for i, p in enumerate(self.prefixes)
            if (m := p.match(text))
        )

    def refusal(self, text: str) -> str:
        """Return the words of a refusal that a text begins with; empty where there is none."""
        text = _plain(text)
        start = _START.match(text)
        found = (p.match(text, start.end() if start else 0) for p in self.refusals)
        return max((m[0] for m in found if m), key=len, default="")

    def mentions_refusal(self, text: str) -> bool:
        """Return whether a text holds a refusal anywhere."""
        text = _plain(text)
        return any(p.search(text) for p in self.refusals)


def new(look: Callable[[str], Found], original: str, output: str, *, excuse: bool) -> bool:
    """Return whether an output holds what its input gives no reason for.

    With `excuse`, words that the input holds too are no leak. Where the input holds other words of the
    same kind, and none of the output's language, the output's are taken for their translation.

    Args:
        look: `Markers.reasons` or `Markers.labels`.
        original: The input.
        output: The output.
        excuse: Whether the input may excuse anything.
    """
    found = look(output)
    if not excuse or not found:
        return bool(found)
    given = look(original)
    words, lists = {word for _, word in given}, {i for i, _ in given}
    return any(word not in words and (not lists or i in lists) for i, word in found)


def left_marks(text: str) -> Found:
    """Return the marks of generators that post-processing left in a text, and a bare `thought` before it.

    They are counted as one list of markers of reasoning.
    """
    return frozenset((0, m[0].strip().casefold()) for m in _LEFT.finditer(text))


_LEFT = re.compile(
    r"\A\s*(?:thoughts?|thinking|reasoning|analysis)[ \t]*:?[ \t]*\n"
    r"|<[|｜][^<>|｜\s]{2,40}[|｜]?>|<[^<>|\s]{2,40}\|>|<unused\d+>|◁/?[^◁▷\s]{1,40}▷"
    r"|[<{\[]/?\w*(?:think|thought|reason)\w*/?[>}\]]"
    r"|\A\s*(?P<open>[<\[{【]|&lt;)"
    r"(?P<name>(?!code|div|pre|span|strong|su[bp])\w{3,})\b[^\n]*?(?P=open)/(?P=name)\b"
    r"|\A\s*(?:[#*_]+\s*)?(?:reasoning|thought process|thinking)\s*[*_]*:"
    r"|\n[ \t]*(?:[#*_]+[ \t]*)?final (?:answer|output|response)[ \t]*[*_]*:"
    r"|\n[ \t]*[#*_]+[ \t]*(?:answer|response)[ \t]*[*_:]*[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_START = re.compile(r"[\s*#_>\"'“”«»¡¿(\[\-–•]*")


def _anywhere(patterns: list[str], spaces: bool) -> re.Pattern[str]:
    either = "|".join(f"(?:{p})" for p in patterns)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if spaces else f"(?:{either})", re.IGNORECASE)


def _label(patterns: list[str]) -> re.Pattern[str]:
    """Return a pattern of a label followed by a colon, or set as a heading on a line of its own."""
    either = "|".join(f"(?:{p})" for p in patterns)
    return re.compile(
        rf"{_ANYTHING}(?P<label>{either})[\s*_]*[:：]"
        rf"|\s*(?:#+\s*|\*\*|__)(?P<heading>{either})(?:\*\*|__)?[ \t]*\n",
        re.IGNORECASE,
    )


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("ʼ", "'")
