"""What is asked: every request of a job, planned before any is sent, equal ones once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from stressbed.config.entries import GeneratorEntry, PromptEntry, Step
from stressbed.fingerprint import digest
from stressbed.generate.marks import Marks
from stressbed.generate.prompts import instruction, messages
from stressbed.generate.request import ChatRequest, Completion, Finish

TEMPLATE_TOKENS = 32
"""Tokens set aside for a chat template's own marks when it is judged whether a prompt fits."""


FINAL: frozenset[Finish] = frozenset({"too_long", "refused", "broken"})
"""Ends that another attempt would not change: `broken` has had all the attempts of its connection."""


@dataclass(frozen=True)
class Call:
    """One planned request and what it was planned from.

    Attributes:
        key: The request's identity.
        request: What is sent.
        prompt_id: Catalogue id of its prompt.
        language: Tag of the language asked for.
        tokens: Estimated tokens of the prompt.
        first_limit: Output limit of the first attempt.
        fits: Whether prompt and limit fit the model's context; else it is never sent.
        base_seed: The run's seed where the first attempt samples, else None.
    """

    key: str
    request: ChatRequest
    prompt_id: str
    language: str
    tokens: int
    first_limit: int
    fits: bool
    base_seed: int | None

    @property
    def length(self) -> int:
        """Tokens of prompt and limit together."""
        return self.tokens + self.request.max_tokens


class Planner:
    """Plans the calls of one generator.

    Args:
        generator: Its catalogue entry (sampling, limits, retries, context).
        identity: Its identity, part of every key.
        prompts: Catalogue prompts by id.
        count: Counts the tokens of texts.
    """

    def __init__(
        self,
        generator: GeneratorEntry,
        identity: str,
        prompts: Mapping[str, PromptEntry],
        count: Callable[[Sequence[str]], list[int]],
    ) -> None:
        self.generator, self.identity, self.prompts, self._count = generator, identity, prompts, count
        self.marks = Marks.of(generator)
        self._made: dict[tuple[str, int, tuple[tuple[str, str], ...], int | None], Call] = {}

    def calls(self, step: Step, items: Sequence[tuple[str, str]], seed: int) -> list[Call]:
        """Return the first attempt at a step for each (text, language), equal ones as one object.

        The seed enters only where the generator samples: at temperature 0 it decides the
        drawn languages and nothing else.
        """
        prompt = self.prompts[step.prompt]
        languages = sorted({language for _, language in items})
        words = [instruction(prompt, language) + prompt.separator for language in languages]
        overhead = dict(zip(languages, self._count(words), strict=True)) if words else {}
        tokens = self._count([text for text, _ in items])
        base_seed = seed if self.generator.sampling.temperature > 0 else None
        return [
            self._first(
                prompt,
                (text, language),
                self.limit(n, expands=step.expands),
                n + overhead[language],
                base_seed,
            )
            for (text, language), n in zip(items, tokens, strict=True)
        ]

    def limit(self, tokens: int, *, expands: bool) -> int:
        """Return the output limit for an input of so many tokens."""
        limits = self.generator.limits
        factor = limits.expansion_factor if expands else limits.factor
        return min(max(math.ceil(factor * tokens), limits.minimum), limits.maximum)

    def _first(
        self, prompt: PromptEntry, item: tuple[str, str], limit: int, tokens: int, base_seed: int | None
    ) -> Call:
        text, language = item
        said = messages(prompt, language, text)
        place = (prompt.id, limit, said, base_seed)
        if place not in self._made:
            sampling = self.generator.sampling
            request = ChatRequest(said, limit, sampling.temperature, sampling.top_p, 0, base_seed)
            needed = tokens + TEMPLATE_TOKENS
            self._made[place] = Call(
                request.key(self.identity), request, prompt.id, language, needed, limit,
                needed + limit <= self.generator.context, base_seed,
            )  # fmt: skip
        return self._made[place]

    def retry(self, call: Call, completion: Completion, text: str) -> Call | None:
        """Return the next attempt after an answer, or None if it is good or nothing could change.

        A cut answer first gets a larger limit; from the second retry on, and at once where a larger limit
        cannot matter (the model ended by itself, or a filter ended it), the temperature rises too. The
        seed of a sampled retry is a hash of its request, so that equal retries are still asked once.

        Args:
            call: The last attempt.
            completion: Its answer.
            text: The answer after post-processing.
        """
        rule, old = self.generator.retry, call.request
        attempt = old.attempt + 1
        good = completion.finish == "stop" and bool(text)
        if good or completion.finish in FINAL or attempt > rule.attempts:
            return None
        room = self.generator.context - call.tokens
        limit = max(old.max_tokens, min(math.ceil(call.first_limit * rule.limit_factor), room))
        temperature = old.temperature
        if attempt >= 2 or completion.finish != "length" or limit == old.max_tokens:
            temperature = max(temperature, rule.temperature)
        if temperature == 0 and (limit == old.max_tokens or completion.finish != "length"):
            return None
        request = ChatRequest(old.messages, limit, temperature, old.top_p, attempt)
        if temperature > 0:
            request = replace(request, seed=_seed(request, call.base_seed))
        return replace(call, key=request.key(self.identity), request=request)


def _seed(request: ChatRequest, base_seed: int | None) -> int:
    """Return a seed of 31 bits from what is asked."""
    return int(digest([request.key(""), base_seed])[:8], 16) >> 1
