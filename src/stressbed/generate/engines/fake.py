"""An engine without a model, for tests: its rewrites depend on the request and on nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stressbed.config.entries import GeneratorEntry
from stressbed.fingerprint import text_digest
from stressbed.generate.request import ChatRequest, Completion

_WORD = re.compile(r"\w+|[^\w\s]")


class FakeEngine:
    """Answers with the text's words in an order, and with an ending, that hash from the request.

    Args:
        entry: The generator's entry. `engine_options`: `empty_rate` and `cut_rate` (shares of
            requests, chosen by hash, that come back empty or cut at the limit), `nonsense_rate`
            (share of requests with choices that are answered with none of them), `log` (a file
            that gets one line per request, its key).
    """

    def __init__(self, entry: GeneratorEntry) -> None:
        options = entry.engine_options
        self.empty_rate = float(options.get("empty_rate") or 0.0)
        self.cut_rate = float(options.get("cut_rate") or 0.0)
        self.nonsense_rate = float(options.get("nonsense_rate") or 0.0)
        self.log = Path(str(options["log"])) if "log" in options else None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words and marks of each text."""
        return [len(_WORD.findall(text)) for text in texts]

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one pseudo-rewrite per request, in order; one of the choices where there are any."""
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as f:
                f.writelines(f"{key}\n" for key in keys)
        return [self._answer(r, k) for r, k in zip(requests, keys, strict=True)]

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _answer(self, request: ChatRequest, key: str) -> Completion:
        said = "\n\n".join(content for _, content in request.messages)
        tokens_in = self.count_tokens([said])[0]
        # The chance hangs on all that is asked, so that a changed request may fare better.
        mark = request.key("fake")
        chance = int(mark[:8], 16) / 0x100000000
        if request.choices:
            return self._rating(request, key, tokens_in)
        if chance < self.empty_rate:
            return Completion(key, "", "stop", tokens_in, 0)
        words = _WORD.findall(said.rpartition("\n\n")[2] or said)
        words.sort(key=lambda word: text_digest(mark, word))
        words.append(f"r{mark[:8]}")
        cut = chance < self.empty_rate + self.cut_rate
        words = words[: request.max_tokens]
        return Completion(key, " ".join(words), "length" if cut else "stop", tokens_in, len(words))

    def _rating(self, request: ChatRequest, key: str, tokens_in: int) -> Completion:
        """Return a choice by hash, with a probability for each, or a word that is none of them."""
        mark = text_digest("rating", request.key("fake"))
        if int(mark[:8], 16) / 0x100000000 < self.nonsense_rate:
            return Completion(key, f"word{mark[:4]}", "stop", tokens_in, 1)
        if request.guided == "none":
            return Completion(
                key, request.choices[int(mark[8:16], 16) % len(request.choices)], "stop", tokens_in, 1
            )
        weights = [1 + int(text_digest(mark, choice)[:4], 16) for choice in request.choices]
        total = sum(weights)
        best = max(range(len(weights)), key=weights.__getitem__)
        shares = tuple(weight / total for weight in weights)
        return Completion(key, request.choices[best], "stop", tokens_in, 1, shares)
