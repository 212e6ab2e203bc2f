"""What becomes of a text after all attempts: the new text, and how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from stressbed.config.entries import TransformationEntry
from stressbed.generate.marks import KNOWN, Marks
from stressbed.generate.request import NO_ANSWER, Finish
from stressbed.generate.settle import Settled, settle

Outcome = Literal["ok", "retried", "flagged", "fallback", "dropped"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What can become of a text, the gravest last."""


@dataclass(frozen=True)
class Result:
    """The end of one text's way through a transformation's steps.

    Attributes:
        output: What the generator made of it, after post-processing; empty if there is nothing.
        text: The new text after the fallback rules, never empty.
        reason: Why a rule applied: `too_long`, `refused`, `filtered`, `broken`, `empty`, `cut`, else empty.
        rule: The rule that applied: `original`, `keep`, `drop`, else empty.
        attempts: The most attempts that a step took.
        cleaned: Names of the post-processing steps that changed the last answer.
    """

    output: str
    text: str
    reason: str
    rule: str
    attempts: int
    cleaned: tuple[str, ...]

    def outcome(self, *, flagged: bool) -> Outcome:
        """Return the one outcome: the gravest of dropped, fallback, flagged, retried, ok.

        Args:
            flagged: Whether there is an error flag or a sign that it is no rewrite.
        """
        if self.rule == "drop":
            return "dropped"
        if self.rule:
            return "fallback"
        if flagged:
            return "flagged"
        return "retried" if self.attempts > 1 else "ok"


def never(_original: str, _output: str) -> bool:
    """Return that nothing is refused."""
    return False


def resolve(
    steps: Sequence[Sequence[tuple[str, Finish]]],
    original: str,
    entry: TransformationEntry,
    marks: Marks = KNOWN,
    refused: Callable[[str, str], bool] = never,
) -> Result:
    """Return what became of a text.

    Args:
        steps: The attempts (raw text, finish) of each step that was asked, in order.
        original: The text.
        entry: The transformation, for its fallback rules.
        marks: The generator's marks of thinking and of answers.
        refused: Says of an input and its output whether that refuses instead of rewriting.
    """
    settled: list[Settled] = []
    refusals = []
    given = original
    for attempts in steps:
        settled.append(settle(attempts, given, marks))
        refusals.append(refused(given, settled[-1].cleaned.text))
        given = settled[-1].cleaned.text
    last = settled[-1]
    reason, rule = _rule(settled, entry, refused=any(refusals))
    replaced = rule in {"original", "drop"}
    return Result(
        output=last.cleaned.text if len(settled) == len(entry.steps) else "",
        text=original if replaced else last.cleaned.text,
        reason=reason,
        rule=rule,
        attempts=max(len(attempts) for attempts in steps),
        cleaned=last.cleaned.steps,
    )


def _rule(settled: Sequence[Settled], entry: TransformationEntry, *, refused: bool) -> tuple[str, str]:
    """Return (reason, rule) of the gravest thing that happened at a step."""
    if any(s.finish == "too_long" for s in settled):
        return "too_long", entry.on_too_long
    for finish in sorted(NO_ANSWER, reverse=True):
        if any(s.finish == finish for s in settled):
            return finish, entry.on_empty
    if any(s.empty for s in settled):
        return "empty", entry.on_empty
    if refused:
        return "refused", entry.on_empty
    if any(s.finish == "length" for s in settled):
        return "cut", entry.on_cut
    return "", ""
