"""Which of several attempts counts, and what became of it: the same rule while asking and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stressbed.generate.clean import Cleaned, clean
from stressbed.generate.marks import KNOWN, Marks
from stressbed.generate.request import Finish


@dataclass(frozen=True)
class Settled:
    """The answer that counts after all attempts at one step.

    Attributes:
        attempt: Its place among the attempts, from 0.
        cleaned: Its text after post-processing, and what post-processing changed.
        finish: How it ended.
    """

    attempt: int
    cleaned: Cleaned
    finish: Finish

    @property
    def empty(self) -> bool:
        """Whether nothing is left to use."""
        return not self.cleaned.text

    @property
    def usable(self) -> bool:
        """Whether a second step can start from it."""
        return not self.empty and self.finish in {"stop", "length"}


def settle(answers: Sequence[tuple[str, Finish]], original: str, marks: Marks = KNOWN) -> Settled:
    """Return the attempt that counts: the first good one, else the last that is not empty, else the last.

    Good is neither empty after post-processing nor cut at the limit nor refused as too long.

    Args:
        answers: Raw text and finish of each attempt, in order; at least one.
        original: The text that the step was given.
        marks: The generator's marks of thinking and of answers.
    """
    all_of_them = [
        Settled(i, clean(text, original, marks), finish) for i, (text, finish) in enumerate(answers)
    ]
    for one in all_of_them:
        if not one.empty and one.finish == "stop":
            return one
    filled = [one for one in all_of_them if not one.empty]
    return filled[-1] if filled else all_of_them[-1]
