"""Answers that are one of given choices: how likely each is, and which one is given.

A choice's probability is that of its tokens given the prompt, scaled so that the choices sum to 1.
Nothing is written token by token: each beginning that some choice goes on from is one row of a
forward pass, and where every choice is a single token (a digit) that is the prompt alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stressbed.generate.engines.decoding import NOISE, Row, next_logits, sample

if TYPE_CHECKING:
    from torch import Tensor


TOP_TOKENS = 20
"""Likeliest first tokens that vLLM and endpoints are asked for: the most that they give by default."""

END = -1
"""Stands for any of the tokens that end an answer."""


@dataclass(frozen=True)
class Choice:
    """What the model answers.

    Attributes:
        number: Which of the choices, from 0.
        probabilities: Of each choice; they sum to 1.
    """

    number: int
    probabilities: tuple[float, ...]


@dataclass(frozen=True)
class Question:
    """A prompt and the tokens of its choices.

    Attributes:
        prompt: Token numbers of the prompt.
        choices: Token numbers of each choice; none is the beginning of another.
        ends: Token numbers that end an answer.
        row: Temperature, nucleus and source of randomness of the choice.
    """

    prompt: Sequence[int]
    choices: Sequence[tuple[int, ...]]
    ends: frozenset[int]
    row: Row

    @property
    def beginnings(self) -> list[tuple[int, ...]]:
        """What has been said before each token of each choice, without repeats."""
        return list(dict.fromkeys(c[:i] for c in self.choices for i in range(len(c))))


def without_ambiguity(choices: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the choices' tokens, each with `END` after it where one choice begins another (1 and 10)."""
    out = [tuple(c) for c in choices]
    if any(i != j and b[: len(a)] == a for i, a in enumerate(out) for j, b in enumerate(out)):
        return [(*c, END) for c in out]
    return out


def choose(model: Any, questions: Sequence[Question]) -> list[Choice]:
    """Return the answer to each question.

    In float32 the answer does not depend on the other questions: where the two best choices are
    closer than rounding noise, the question is settled by runs of its own.

    Args:
        model: A causal language model of transformers, in evaluation mode.
        questions: At least one.
    """
    import torch

    with torch.inference_mode():
        shared = _scores(model, questions, together=True)
        out = []
        for question, scores in zip(questions, shared, strict=True):
            settled = scores
            if question.row.temperature == 0 and _close(scores, question):
                settled = _scores(model, [question], together=False)[0]
            out.append(_pick(settled, question.row))
    return out


def _scores(model: Any, questions: Sequence[Question], *, together: bool) -> list[Tensor]:
    """Return the log probability of each choice of each question.

    Args:
        model: The model.
        questions: The questions.
        together: In one batch, or every row by itself.
    """
    import torch

    rows = [Row([*q.prompt, *said], 1) for q in questions for said in q.beginnings]
    parts = [rows] if together else [[row] for row in rows]
    logits = torch.cat([next_logits(model, part, share_prefix=together) for part in parts])
    logs = logits.double().log_softmax(-1).cpu()
    out, first = [], 0
    for q in questions:
        at = {said: first + i for i, said in enumerate(q.beginnings)}
        first += len(at)
        ends = sorted(q.ends)
        scores = [
            sum(
                logs[at[c[:i]], ends].logsumexp(-1) if token == END else logs[at[c[:i]], token]
                for i, token in enumerate(c)
            )
            for c in q.choices
        ]
        out.append(torch.tensor(scores, dtype=torch.float64))
    return out


def _close(scores: Tensor, question: Question) -> bool:
    if len(question.choices) < 2:
        return False
    best = scores.topk(2).values
    return bool(best[0] - best[1] < NOISE * max(map(len, question.choices)))


def _pick(scores: Tensor, row: Row) -> Choice:
    probabilities = scores.softmax(-1)
    number = sample(scores, row) if row.temperature > 0 else int(scores.argmax())
    return Choice(number, tuple(probabilities.tolist()))


def from_first_tokens(
    choices: Sequence[str], tokens: Iterable[tuple[str, float]]
) -> tuple[float, ...] | None:
    """Return the choices' probabilities from those of an answer's first token, or None if they do not tell.

    Args:
        choices: The strings that may be answered.
        tokens: Text and log probability of the likeliest first tokens. Tokens that begin no choice are
            left out; one that begins several choices tells nothing.
    """
    mass = [0.0] * len(choices)
    for text, log in tokens:
        begun = [i for i, choice in enumerate(choices) if text and choice.startswith(text)]
        if len(begun) > 1 and log > math.log(1e-6):
            return None
        if len(begun) == 1:
            mass[begun[0]] += math.exp(log)
    total = math.fsum(mass)
    return tuple(m / total for m in mass) if total > 0 else None
