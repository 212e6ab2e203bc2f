"""Ratings as a judge is asked for them: a long head that all prompts share, then a text and its rewrite."""

from __future__ import annotations

from smollm2_requests import TEXTS

from stressbed.generate.request import ChatRequest

SCALE = ("1", "2", "3", "4", "5")
HEAD = """You compare a rewritten text with its original.

The writer was asked to paraphrase the original without changing what it says. Judge two things \
together: whether the rewrite does what was asked, and whether everything that the original says is \
still there, with nothing added. Do not reward length. A copy of the original is no paraphrase.

5: does what was asked, and the meaning is the same
4: does what was asked, with a small slip in meaning
3: partly does what was asked, or loses a detail that matters
2: hardly does what was asked, or changes the meaning
1: a failure: empty, off the topic, or in the wrong form

Answer with one number from 1 to 5 and nothing else."""


def ratings(n: int = 8, choices: tuple[str, ...] = SCALE, **kw: object) -> list[ChatRequest]:
    """Return n requests, each about another pair of a text and a rewrite."""
    said = [f"{HEAD}\n\nOriginal:\n{TEXTS[i % 8]}\n\nRewrite:\n{TEXTS[(i + i // 8) % 8]}" for i in range(n)]
    return [ChatRequest((("user", s),), 16, choices=choices, **kw) for s in said]  # type: ignore[arg-type]
