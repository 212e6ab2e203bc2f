"""Post-processing of an answer: what is not part of the rewrite is taken off, and it is said what."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from stressbed.generate.marks import KNOWN, Marks

QUOTES: dict[str, str] = {
    '"': '"', "'": "'", "“": "”", "‘": "’", "„": "“”", "‚": "‘’", "”": "”", "«": "»", "»": "«",
    "‹": "›", "›": "‹", "「": "」", "『": "』", "＂": "＂", "`": "`",
}  # fmt: skip
"""Opening quotation mark -> the marks that may close it."""

_BEGIN = re.compile(
    r"\[BEGIN FINAL RESPONSE\]|<\|channel\|>final<\|message\|>|<\|channel>\s*final\b|<\|content\|>",
    re.IGNORECASE,
)
_END = re.compile(r"\[END FINAL RESPONSE\]", re.IGNORECASE)
_END_OF_TURN = re.compile(
    r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<\|end_of_text\|>|<\|end\|>|<\|return\|>"
    r"|<end_of_turn>|<turn\|>|</s>|<[|｜](?:end[_▁]of[_▁]sentence|endofresponse|role_end|eom|eot|flush)[|｜]>",
    re.IGNORECASE,
)
_START_OF_TURN = re.compile(
    r"\A\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<[|｜]assistant[|｜]>|<s>|<bos>|<\|bom\|>"
    r"|\[/INST\])"
    r"\s*(?:(?:assistant|model)\b\s*)?(?:<\|end_header_id\|>)?\s*:?)+",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\A\s*(?:assistant|model)\s*:\s*", re.IGNORECASE)
_BARE_ROLE = re.compile(r"\A\s*assistant[ \t]*\n", re.IGNORECASE)
_FENCE = re.compile(r"\A\s*(?P<f>`{3,}|~{3,})[^\n`]*\n(?P<inner>.*?)\n?(?P=f)\s*\Z", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Cleaned:
    """A cleaned answer.

    Attributes:
        text: What is left; may be empty.
        steps: Names of the steps that changed something, in the order they first did.
    """

    text: str
    steps: tuple[str, ...]


def clean(answer: str, original: str, marks: Marks = KNOWN) -> Cleaned:
    """Return the rewrite inside a raw answer.

    Args:
        answer: What the generator wrote.
        original: The text it was asked to rewrite: marks that it has itself are left alone.
        marks: Marks of thinking and of answers.
    """
    text, done = answer, []
    changed = True
    while changed:  # every step shortens, so this ends: a fence may hold quotes, quotes a fence
        changed = False
        for name, step in STEPS:
            new = step(text, original, marks)
            if new != text:
                text, changed = new, True
                if name not in done:
                    done.append(name)
    return Cleaned(text, tuple(done))


def quoted(text: str) -> bool:
    """Return whether one pair of quotation marks encloses the whole text."""
    text = text.strip()
    if len(text) < 2 or text[-1] not in QUOTES.get(text[0], ""):
        return False
    opening, closing, inner = text[0], text[-1], text[1:-1]
    if opening in closing:
        return not _has_mark(inner, opening)
    depth = 1
    for i, c in enumerate(inner):
        if c == opening:
            depth += 1
        elif c in QUOTES[opening] and not _is_apostrophe(inner, i):
            depth -= 1
            if depth == 0:
                return False
    return depth == 1


def _has_mark(text: str, mark: str) -> bool:
    return any(c == mark and not _is_apostrophe(text, i) for i, c in enumerate(text))


def _is_apostrophe(text: str, i: int) -> bool:
    """Return whether the mark stands between two letters, as in *it's*."""
    between = 0 < i < len(text) - 1 and text[i - 1].isalnum() and text[i + 1].isalnum()
    return text[i] in "'’" and between


def _surrogates(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    return _SURROGATE.sub("\ufffd", text)


def _think(text: str, original: str, marks: Marks) -> str:
    for pair in marks.thinking:
        if not pair.known_to(original):
            text = pair.without(text, until=_BEGIN)
    return text


def _answer(text: str, original: str, marks: Marks) -> str:
    for pair in marks.answers:
        if not pair.known_to(original):
            text = pair.inside(text)
    return text


def _envelope(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    if _BEGIN.search(original):
        return text
    begins = list(_BEGIN.finditer(text))
    if not begins:
        return text
    return _END.split(text[begins[-1].end() :], maxsplit=1)[0]


def _wrapper(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    if not _START_OF_TURN.match(original):
        text = _START_OF_TURN.sub("", text)
    if not _END_OF_TURN.search(original):
        text = next((part for part in _END_OF_TURN.split(text) if part.strip()), text if text.strip() else "")
        text = _END_OF_TURN.sub("", text)
    for role in (_ROLE, _BARE_ROLE):
        if not role.match(original):
            text = role.sub("", text)
    return text


def _fence(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    match = _FENCE.match(text)
    return match["inner"] if match and not _FENCE.match(original) else text


def _quotes(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    return text.strip()[1:-1] if quoted(text) and not quoted(original) else text


def _whitespace(text: str, original: str, marks: Marks) -> str:  # noqa: ARG001
    return text.strip().strip("\ufeff\u200b").strip()


STEPS: tuple[tuple[str, Callable[[str, str, Marks], str]], ...] = (
    ("surrogates", _surrogates),
    ("think", _think),
    ("answer", _answer),
    ("envelope", _envelope),
    ("wrapper", _wrapper),
    ("fence", _fence),
    ("quotes", _quotes),
    ("whitespace", _whitespace),
)
"""Name and function of each step, in order."""
