"""What is asked of a generator and what it answers: the seam between planning and engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from stressbed.fingerprint import digest

Finish = Literal["stop", "length", "too_long"]
"""`stop`: the model ended. `length`: cut at the limit. `too_long`: the prompt did not fit; text is empty."""


@dataclass(frozen=True)
class ChatRequest:
    """One chat request; equal requests are asked once.

    Attributes:
        messages: Pairs of (role, content).
        max_tokens: Output limit in tokens.
        temperature: 0 is greedy.
        top_p: Nucleus.
        attempt: 0 for the first attempt; part of the identity.
        seed: Only where temperature > 0, else None.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    attempt: int = 0
    seed: int | None = None

    def key(self, generator: str) -> str:
        """Return the request's identity under a generator's identity."""
        messages = [[role, content.encode("utf-8", "surrogatepass").hex()] for role, content in self.messages]
        return digest(
            [generator, messages, self.max_tokens, self.temperature, self.top_p, self.attempt, self.seed]
        )


@dataclass(frozen=True)
class Completion:
    """What a generator answered to the request with this key."""

    key: str
    text: str
    finish: Finish
    tokens_in: int
    tokens_out: int


class Engine(Protocol):
    """An engine: a list of chat requests in, a list of completions out."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        ...

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order. A batch of the plan is one call."""
        ...

    def close(self) -> None:
        """Give back memory and connections."""
        ...


Progress = Callable[[int], None]
"""Called with the number of requests finished since the last call."""
