"""Any endpoint that speaks OpenAI's chat completions: hosted, or a server on this machine."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import cast

from stressbed.config.engine_options import OPENAI, TEMPLATE, with_defaults
from stressbed.config.entries import GeneratorEntry
from stressbed.endpoint.connection import Connection, DeclinedError, Patience
from stressbed.endpoint.verdict import Kind
from stressbed.errors import EngineError, IncompleteBatchError, StoppedError
from stressbed.generate.engines.chat import too_long
from stressbed.generate.engines.chat_answers import ANSWER, Said, said_in
from stressbed.generate.engines.guided import TOP_TOKENS
from stressbed.generate.engines.spending import Ledger
from stressbed.generate.request import NO_ANSWER, ChatRequest, Completion, Progress

log = logging.getLogger("stressbed")

CHARACTERS_PER_TOKEN = 3
"""For estimates: English has about 4 characters a token, most other languages fewer."""

JSON_TOKENS = 64
"""Room for the braces, the key and the blanks around it."""

DEFAULT = 1.0
"""Temperature and top_p of a request that names none, in OpenAI's interface."""


class OpenAIEngine:
    """Chat completions of an endpoint: several requests in flight, patient, careful with money.

    Args:
        entry: The catalogue entry. `engine_options`: those of `engine_options.OPENAI`, `template_...` for
            the server's chat template; all others go into the body of each request as they are, and null
            leaves one out that would be sent (`top_p`, `temperature`, `seed`).
        cache: Root of the store: the ledger behind `spending_cap` lies there.

    Raises:
        EngineError: No address, no key where one is named, or a cap without prices.
    """

    def __init__(self, entry: GeneratorEntry, *, cache: Path) -> None:
        self.entry = entry
        self._where = f"generator {entry.id!r}"
        if not entry.base_url:
            raise EngineError(
                "engine `openai` needs an address",
                where=f"{self._where}, base_url",
                allowed="an address like http://127.0.0.1:8000/v1",
                do="add `base_url`",
            )
        if entry.spending_cap is not None and (entry.price_in is None or entry.price_out is None):
            raise EngineError(
                "a spending cap needs prices",
                where=f"{self._where}, spending_cap",
                do="add `price_in` and `price_out`, per million tokens",
            )
        self._options = with_defaults(OPENAI, entry.engine_options)
        self._connection = Connection(
            entry.base_url,
            api_key_env=entry.api_key_env,
            patience=Patience.of(self._options),
            concurrency=entry.concurrency,
            where=self._where,
            error=EngineError,
            options=list(entry.engine_options),
        )
        self._ledger = (
            None
            if entry.spending_cap is None
            else Ledger(cache / "spending" / f"{entry.id}.jsonl", cap=entry.spending_cap)
        )
        self._progress: Progress = lambda _: None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of the number of tokens of each text: a third of its characters, rounded up."""
        return [math.ceil(len(t) / CHARACTERS_PER_TOKEN) for t in texts]

    def watch(self, progress: Progress) -> None:
        """Tell of each answer from now on, as it comes."""
        self._progress = progress

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            EngineError: The batch might exceed the spending cap; nothing was sent.
            IncompleteBatchError: A request failed for good; the error holds the other answers.
        """
        bill = Bill(self.entry)
        batch = self._ledger.reserve(sum(map(bill.worst, requests))) if self._ledger else ""
        why: list[tuple[str, str]] = []
        try:
            with ThreadPoolExecutor(self.entry.concurrency) as pool:
                work = [pool.submit(self._ask, r, k, bill, why) for r, k in zip(requests, keys, strict=True)]
        finally:
            if self._ledger:
                self._ledger.settle(batch, bill.total)
        errors = [e for e in (w.exception() for w in work) if e is not None]
        done = [w.result() for w in work if w.exception() is None]
        self._report(why)
        for error in errors:
            if not isinstance(error, EngineError | StoppedError):
                raise error
        if errors:
            raise IncompleteBatchError.of(
                cast("EngineError | StoppedError", errors[0]), failed=len(errors), done=done
            )
        return done

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _ask(self, request: ChatRequest, key: str, bill: Bill, why: list[tuple[str, str]]) -> Completion:
        """Return the answer to one request; add to `why` what kept it from being a text."""
        estimate = sum(self.count_tokens([c for _, c in request.messages]))
        try:
            said = self._connection.post(
                "/chat/completions",
                self._body(request),
                read=partial(said_in, request=request, where=self._connection.where),
                on_lost=lambda: bill.lost(request),
            )
        except DeclinedError as e:
            if e.kind is Kind.TOO_LONG:
                self._progress(1)
                return too_long(key, estimate)
            if e.kind is not Kind.REFUSED:
                raise self._connection.refusal(e.said, do="look at the server's words") from None
            said = Said("", "refused", estimate, 0, why=e.said)
        n_in = estimate if said.tokens_in is None else said.tokens_in
        n_out = self.count_tokens([said.text])[0] if said.tokens_out is None else said.tokens_out
        completion = Completion(key, said.text, said.finish, n_in, n_out, said.probabilities)
        if said.finish in NO_ANSWER:
            why.append((said.finish, said.why))
        elif said.finish == "length" and said.thought and not said.text.strip():
            why.append(("thinking", ""))
        if said.finish != "broken":  # the attempts of a broken one are counted as lost
            bill.add(completion)
        self._progress(1)
        return completion

    def _report(self, why: Sequence[tuple[str, str]]) -> None:
        """Say how many answers of a batch are none, and the endpoint's words about the first of each kind."""
        for kind, n in Counter(kind for kind, _ in why).items():
            if kind == "thinking":
                log.warning(
                    "%s: %d answers reached their limit while the model still thought: raise `limits` or "
                    "keep it from thinking (`template_enable_thinking: false`, `reasoning_effort`)",
                    self._where, n,
                )  # fmt: skip
            else:
                first = next(words for k, words in why if k == kind)
                log.warning("%s: %d requests were %s, the first: %s", self._where, n, WORDS[kind], first)

    def _body(self, request: ChatRequest) -> dict[str, object]:
        """Return the request's body.

        What is at the interface's own default is left out: some models refuse the very names.
        """
        options = self.entry.engine_options
        body: dict[str, object] = {
            "model": self.entry.model,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            str(self._options["limit_field"]): limit(request),
        }
        sampling = {"temperature": request.temperature, "top_p": request.top_p}
        body |= {name: value for name, value in sampling.items() if value != DEFAULT}
        if request.seed is not None:
            body["seed"] = request.seed
        template = {k.removeprefix(TEMPLATE): v for k, v in options.items() if k.startswith(TEMPLATE)}
        if template:
            body["chat_template_kwargs"] = template
        body |= guide(request)
        own = {k: v for k, v in options.items() if k not in OPENAI and not k.startswith(TEMPLATE)}
        return {name: value for name, value in (body | own).items() if value is not None}


WORDS = {
    "refused": "refused for what they say; the texts stay as they are",
    "filtered": "answered with a text that a filter broke off",
    "broken": "not answered with a finished text in any attempt",
}
"""What is said in the log of answers that are none."""


def limit(request: ChatRequest) -> int:
    """Return the output limit that is sent: JSON around a choice takes tokens of its own."""
    wrapped = bool(request.choices) and request.guided == "json_schema"
    return request.max_tokens + (JSON_TOKENS if wrapped else 0)


def guide(request: ChatRequest) -> dict[str, object]:
    """Return the fields of the body that keep an answer to the request's choices; none if it is free."""
    if not request.choices:
        return {}
    if request.guided == "structured_outputs":
        return {
            "structured_outputs": {"choice": list(request.choices)},
            "logprobs": True,
            "top_logprobs": TOP_TOKENS,
        }
    if request.guided == "json_schema":
        schema = {
            "type": "object",
            "properties": {ANSWER: {"type": "string", "enum": list(request.choices)}},
            "required": [ANSWER],
            "additionalProperties": False,
        }
        described = {"name": "choice", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": described}}
    return {}


class Bill:
    """What a batch costs, from the tokens that the endpoint counts.

    Args:
        entry: The generator with its prices per million tokens.
    """

    def __init__(self, entry: GeneratorEntry) -> None:
        self._in, self._out = (entry.price_in or 0) / 1e6, (entry.price_out or 0) / 1e6
        self._costs: list[float] = []

    @property
    def total(self) -> float:
        """What has been spent so far."""
        return math.fsum(self._costs)

    def worst(self, request: ChatRequest) -> float:
        """Return the most that one attempt can cost: a token per byte, and the output at its limit."""
        size = sum(len(c.encode("utf-8", "replace")) + 16 for _, c in request.messages)
        return size * self._in + limit(request) * self._out

    def add(self, completion: Completion) -> None:
        """Count an answer."""
        self._costs.append(completion.tokens_in * self._in + completion.tokens_out * self._out)

    def lost(self, request: ChatRequest) -> None:
        """Count an attempt that may have been billed though no answer came."""
        self._costs.append(self.worst(request))
