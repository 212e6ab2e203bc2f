"""One POST to an OpenAI-compatible endpoint, repeated while that makes sense."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from stressbed import stopping
from stressbed.errors import EngineError

if TYPE_CHECKING:
    import httpx
    import numpy as np

log = logging.getLogger("stressbed")

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FIRST_WAIT, LONGEST_WAIT = 0.5, 120.0
"""Seconds."""

TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|maximum model length|context (window|size|length)"
    r"|prompt is too long|too many (input )?tokens|input is too long",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit."""

REMEDY = {
    400: "look at the server's words: a parameter that it does not take can be left out of the entry",
    401: "set the environment variable named by `api_key_env` to a valid key",
    403: "the key may not use this model: take another key or model",
    404: "correct `base_url` (it usually ends in /v1) and `model`",
    422: "look at the server's words: a parameter has a value that it does not take",
}


class TooLongError(Exception):
    """The server says that the prompt does not fit its model."""


@dataclass(frozen=True)
class Patience:
    """How often and how long to try.

    Attributes:
        tries: Attempts per request.
        scale: Factor on all waiting times; below 1 only in tests.
        on_lost: Called when an attempt ended without an answer though the server may have worked.
    """

    tries: int = 8
    scale: float = 1.0
    on_lost: Callable[[], object] = lambda: None


def post(
    client: httpx.Client,
    url: str,
    body: Mapping[str, object],
    *,
    rng: np.random.Generator,
    patience: Patience,
    secret: str = "",
) -> dict[str, Any]:
    """Return the JSON object that the endpoint answered.

    Args:
        client: Holds address, headers and timeout.
        url: Path under the client's base address.
        body: The request.
        rng: Source of the jitter.
        patience: How often and how long to try.
        secret: The key, taken out of everything that is shown.

    Raises:
        TooLongError: The prompt does not fit.
        EngineError: The endpoint refused the request, or all attempts failed.
        StoppedError: The job was asked to end before an attempt; none is begun any more.
    """
    trouble, wait = "", 0.0
    for attempt in range(patience.tries):
        stopping.wait(wait * patience.scale, "the requests in flight", where=f"{client.base_url}{url}")
        wait = _backoff(attempt, rng)
        answer, trouble = _attempt(client, url, body)
        if answer is None:
            patience.on_lost()
        elif answer.status_code in TRANSIENT:
            wait = max(wait, _retry_after(answer))
        elif answer.is_success:
            found, trouble = _parsed(answer)
            if found is not None:
                return found
            patience.on_lost()
        else:
            _refuse(answer, client, url, secret)
        log.debug("attempt %d failed: %s", attempt + 1, _redacted(trouble, secret))
    raise EngineError(
        f"the endpoint failed {patience.tries} times, last: {_redacted(trouble, secret)}",
        where=f"{client.base_url}{url}",
        do="look whether the server is up, lower `concurrency`, and run again: finished batches are kept",
    )


def _attempt(client: httpx.Client, url: str, body: Mapping[str, object]) -> tuple[httpx.Response | None, str]:
    """Return the response and, where it is none or an error, words about it."""
    import httpx

    try:
        answer = client.post(url, json=body)
    except httpx.InvalidURL as e:
        raise EngineError(f"the address is wrong: {e}", where="base_url", do="correct `base_url`") from e
    except httpx.TransportError as e:
        return None, f"{type(e).__name__}: {e}"
    return answer, f"status {answer.status_code}: {excerpt(answer.text)}"


def _parsed(answer: httpx.Response) -> tuple[dict[str, Any] | None, str]:
    """Return the JSON object of a response, or None and what is wrong with it."""
    try:
        found = answer.json()
    except ValueError:
        return None, f"status {answer.status_code} without JSON: {excerpt(answer.text)}"
    if isinstance(found, dict):
        return found, ""
    return None, f"status {answer.status_code} with something else than an object: {excerpt(answer.text)}"


def _refuse(answer: httpx.Response, client: httpx.Client, url: str, secret: str) -> None:
    """Raise what a final refusal means."""
    status = answer.status_code
    if status == 413 or (status in {400, 422} and TOO_LONG.search(answer.text)):
        raise TooLongError(excerpt(answer.text))
    raise EngineError(
        f"the endpoint refused the request with status {status}: {_redacted(excerpt(answer.text), secret)}",
        where=f"{client.base_url}{url}",
        do=REMEDY.get(status, "look at the server's words"),
    )


def excerpt(text: str, length: int = 300) -> str:
    """Return the beginning of a body on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length] + " ..."


def _redacted(text: str, secret: str) -> str:
    return text.replace(secret, "***") if secret else text


def _backoff(attempt: int, rng: np.random.Generator) -> float:
    """Return the seconds to wait after an attempt: doubling, between half and all of it at random."""
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * rng.uniform(0.5, 1.0))


def _retry_after(answer: httpx.Response) -> float:
    """Return the seconds that the server asks to wait for, 0 if it does not say."""
    value = answer.headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return 0.0
        seconds = (when.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else 0.0
