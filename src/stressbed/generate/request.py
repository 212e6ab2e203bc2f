"""What is asked of a generator and what it answers: the seam between planning and engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from stressbed.config.entries import Guided
from stressbed.fingerprint import digest

Finish = Literal["stop", "length", "too_long", "refused", "filtered", "broken"]
"""How an answer ended. `stop`: the model ended. `length`: cut at the limit. The others have no text:

- `too_long`: the prompt did not fit.
- `refused`: the endpoint or its model declined the prompt for what it says.
- `filtered`: a filter broke the answer off; another one may pass.
- `broken`: no attempt gave a finished answer. The only one that is not kept in the store.
"""

NO_ANSWER: frozenset[Finish] = frozenset({"refused", "filtered", "broken"})
"""Ends of requests that were sent and gave no text."""


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
        choices: The answer must be one of these strings, where the engine can see to it; where it
            cannot, the answer is free and the caller reads it. Empty for any answer.
        guided: How an endpoint is told the choices: the generator entry's `guided`. It decides the
            answer only where there are choices, so it is part of such requests' identity and not of
            the generator's: another way to guide judges asks for no rewrite again.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    attempt: int = 0
    seed: int | None = None
    choices: tuple[str, ...] = ()
    guided: Guided = "auto"

    def key(self, generator: str) -> str:
        """Return the request's identity under a generator's identity."""
        messages = [[role, content.encode("utf-8", "surrogatepass").hex()] for role, content in self.messages]
        asked = [generator, messages, self.max_tokens, self.temperature, self.top_p, self.attempt, self.seed]
        if self.choices:  # absent otherwise: the keys of free requests are older than choices
            asked += [list(self.choices), self.guided]
        return digest(asked)


@dataclass(frozen=True)
class Completion:
    """What a generator answered to the request with this key.

    Attributes:
        key: The request's identity.
        text: The answer.
        finish: How it ended.
        tokens_in: Tokens of the prompt.
        tokens_out: Tokens of the answer.
        probabilities: Of each of the request's choices, in order, as the model sees them; they sum to
            1 over the choices. None where there are no choices or the engine does not say.
    """

    key: str
    text: str
    finish: Finish
    tokens_in: int
    tokens_out: int
    probabilities: tuple[float, ...] | None = None


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


@runtime_checkable
class Watched(Protocol):
    """An engine that tells of answers as they come, not only of whole batches."""

    def watch(self, progress: Progress) -> None:
        """Call `progress` from now on, from any thread."""
        ...
