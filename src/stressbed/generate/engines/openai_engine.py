"""Any endpoint that speaks OpenAI's chat completions: hosted, or a server on this machine."""

from __future__ import annotations

import ipaddress
import json
import logging
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import numpy as np

from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError, IncompleteBatchError, StoppedError
from stressbed.fingerprint import text_digest
from stressbed.generate.engines.chat import TEMPLATE_OPTION, speakable, too_long
from stressbed.generate.engines.guided import TOP_TOKENS, from_first_tokens
from stressbed.generate.engines.http import Patience, TooLongError, excerpt, post
from stressbed.generate.engines.spending import Ledger
from stressbed.generate.request import ChatRequest, Completion, Finish

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("stressbed")

CHARACTERS_PER_TOKEN = 3
"""For estimates: English has about 4 characters a token, most other languages fewer."""

ANSWER = "answer"
"""Key of the choice in a JSON answer."""

JSON_TOKENS = 64
"""Room for the braces, the key and the blanks around it."""

OWN_OPTIONS: dict[str, str | int | float | bool] = {
    "timeout_s": 120.0,
    "tries": 8,
    "wait_scale": 1.0,
    "limit_field": "max_tokens",
}
"""Options that steer the engine, with their defaults; all others go into the request's body."""


class OpenAIEngine:
    """Chat completions of an endpoint: several requests in flight, patient, careful with money.

    Args:
        entry: The catalogue entry. `engine_options`: `timeout_s`, `tries`, `wait_scale`, `limit_field`
            (`max_completion_tokens` where a model wants that), `template_...` for the server's chat
            template; all others go into the body of each request as they are.
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
        self._secret = self._key()
        self._options = {**OWN_OPTIONS, **{k: v for k, v in entry.engine_options.items() if k in OWN_OPTIONS}}
        self._ledger = (
            None
            if entry.spending_cap is None
            else Ledger(cache / "spending" / f"{entry.id}.jsonl", cap=entry.spending_cap)
        )
        self._warned = False

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of the number of tokens of each text: a third of its characters, rounded up."""
        return [math.ceil(len(t) / CHARACTERS_PER_TOKEN) for t in texts]

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            EngineError: The batch might exceed the spending cap; nothing was sent.
            IncompleteBatchError: A request failed for good; the error holds the other answers.
        """
        self._warn()
        bill = Bill(self.entry)
        batch = self._ledger.reserve(sum(map(bill.worst, requests))) if self._ledger else ""
        try:
            with ThreadPoolExecutor(self.entry.concurrency) as pool:
                work = [pool.submit(self._ask, r, k, bill) for r, k in zip(requests, keys, strict=True)]
        finally:
            if self._ledger:
                self._ledger.settle(batch, bill.total)
        errors = [e for e in (w.exception() for w in work) if e is not None]
        done = [w.result() for w in work if w.exception() is None]
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
        if "_client" in self.__dict__:
            self._client.close()
            del self._client

    def _ask(self, request: ChatRequest, key: str, bill: Bill) -> Completion:
        patience = Patience(
            tries=int(self._options["tries"]),
            scale=float(self._options["wait_scale"]),
            on_lost=lambda: bill.lost(request),
        )
        rng = np.random.default_rng(int(text_digest("backoff", key), 16))
        try:
            answer = post(
                self._client,
                "/chat/completions",
                self._body(request),
                rng=rng,
                patience=patience,
                secret=self._secret,
            )
        except TooLongError:
            return too_long(key, sum(self.count_tokens([c for _, c in request.messages])))
        completion = self._read(answer, request, key)
        bill.add(completion)
        return completion

    def _body(self, request: ChatRequest) -> dict[str, object]:
        options = self.entry.engine_options
        body: dict[str, object] = {
            "model": self.entry.model,
            "messages": [{"role": role, "content": speakable(content)} for role, content in request.messages],
            str(self._options["limit_field"]): limit(request),
            "temperature": request.temperature,
            "top_p": request.top_p,
        }
        if request.seed is not None:
            body["seed"] = request.seed
        template = {
            k.removeprefix(TEMPLATE_OPTION): v for k, v in options.items() if k.startswith(TEMPLATE_OPTION)
        }
        if template:
            body["chat_template_kwargs"] = template
        body |= guide(request)
        body |= {
            k: v for k, v in options.items() if k not in OWN_OPTIONS and not k.startswith(TEMPLATE_OPTION)
        }
        return body

    def _read(self, answer: dict[str, Any], request: ChatRequest, key: str) -> Completion:
        """Return the completion in a chat completion object."""
        try:
            choice = answer["choices"][0]
            text = choice["message"].get("content") or ""
            reason = choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError) as e:
            raise EngineError(
                f"the endpoint's answer is no chat completion: {excerpt(str(answer))}",
                where=self._where,
                do="check that `base_url` is an OpenAI-compatible address",
            ) from e
        usage = answer.get("usage") or {}
        n_in = usage.get("prompt_tokens") or sum(self.count_tokens([c for _, c in request.messages]))
        n_out = usage.get("completion_tokens")
        n_out = self.count_tokens([text])[0] if n_out is None else n_out
        finish: Finish = "length" if reason in {"length", "max_tokens"} else "stop"
        if request.choices and request.guided == "json_schema":
            text = unwrapped(text)
        return Completion(key, text, finish, n_in, n_out, said_probabilities(choice, request))

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        logging.getLogger("httpx").setLevel(logging.WARNING)
        n = self.entry.concurrency
        return httpx.Client(
            base_url=str(self.entry.base_url).rstrip("/"),
            headers={"Authorization": f"Bearer {self._secret}"} if self._secret else {},
            timeout=httpx.Timeout(float(self._options["timeout_s"]), connect=20.0),
            limits=httpx.Limits(max_connections=n, max_keepalive_connections=n),
            trust_env=not is_loopback(str(self.entry.base_url)),
        )

    def _key(self) -> str:
        name = self.entry.api_key_env
        if name is None:
            return ""
        if not (secret := os.environ.get(name, "").strip()):
            raise EngineError(
                f"the environment variable {name} is empty",
                where=f"{self._where}, api_key_env",
                do=f"export {name}=... with the endpoint's key",
            )
        return secret

    def _warn(self) -> None:
        if not self._warned and not is_loopback(str(self.entry.base_url)):
            host = urlsplit(str(self.entry.base_url)).hostname
            log.warning("texts leave this machine: they are sent to %s", host)
        self._warned = True


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


def unwrapped(text: str) -> str:
    """Return the choice in a JSON answer, or the answer as it is if it is something else."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    value = found.get(ANSWER) if isinstance(found, dict) else None
    return value if isinstance(value, str) else text


def said_probabilities(choice: Mapping[str, Any], request: ChatRequest) -> tuple[float, ...] | None:
    """Return the probabilities of the request's choices, where the endpoint tells its first tokens'."""
    if not request.choices or request.guided != "structured_outputs":
        return None
    try:
        tokens = [(t["token"], float(t["logprob"])) for t in choice["logprobs"]["content"][0]["top_logprobs"]]
    except (KeyError, IndexError, TypeError, ValueError):
        return None  # the rating itself is there: only its probabilities are not known
    return from_first_tokens(request.choices, tokens)


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


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine's own."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
