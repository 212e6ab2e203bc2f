"""What an endpoint's error means: to be tried again, too long, too many, refused for what it says, final."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from stressbed.redaction import excerpt


class Kind(Enum):
    """What follows from an error."""

    PASSING = auto()
    TOO_LONG = auto()
    TOO_MANY = auto()
    REFUSED = auto()
    FINAL = auto()


PASSING = frozenset({408, 409, 425, 429})
NEVER_PASSING = frozenset({501, 505})
"""Of the server's own errors (5xx) all others may pass."""

UNKNOWN = 502
"""Status of an error within a good answer that names none: something behind the endpoint failed."""

FAULTS: tuple[tuple[str, int], ...] = (
    (r"rate.?limit|too.?many.?requests|throttl", 429),
    (r"overload|unavailable|server.?error|internal.?error|timeout|upstream", 503),
    (r"invalid.?api.?key|authenticat|unauthorized", 401),
    (r"permission|forbidden", 403),
    (r"not.?found", 404),
    (r"invalid.?request|unsupported|bad.?request|validation", 400),
)
"""What the code or type of an error within a good answer stands for."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|maximum model length|context (window|size|length)"
    r"|prompt is too long|too many (input )?tokens|input is too long|string_above_max_length"
    r"|must have less than \d+ tokens|longer than the (model's )?max",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit."""

_TOO_MANY = re.compile(
    r"batch.?size|too many (inputs|texts|items)|number of (inputs|texts|items)|array_above_max_length"
    r"|at most \d+ (inputs|texts|items)|tokens per request|input array|array.{0,30}(too long|dimensions)",
    re.IGNORECASE,
)
"""How servers say that a request holds too many texts."""

_REFUSED = re.compile(
    r"content_filter|content_policy|content.management.policy|responsible_?ai_?policy|prohibited.?content"
    r"|data_inspection_failed|content exists risk|violat\w* (of )?(our|the|its) (usage|content|safety)"
    r"|requires moderation|(input|prompt|text|content) (was|is|has been) flagged"
    r"|blocked by .{0,20}(filter|moderation)",
    re.IGNORECASE,
)
"""How servers say that they decline a text for what it says."""

_NO_MONEY = re.compile(
    r"insufficient_quota|billing_hard_limit|insufficient.{0,10}(balance|credit|funds)", re.IGNORECASE
)


@dataclass(frozen=True)
class Fault:
    """An endpoint's error.

    Attributes:
        status: Of the answer, or that the error itself names within a good answer.
        words: What the error says in its own fields: code, type, message.
        said: The answer's beginning, without secrets, for messages.
    """

    status: int
    words: str
    said: str

    @property
    def kind(self) -> Kind:
        """What follows from it."""
        if _REFUSED.search(self.words) and self.status not in PASSING:
            return Kind.REFUSED
        if _NO_MONEY.search(self.words):
            return Kind.FINAL
        if self.status in PASSING or (self.status >= 500 and self.status not in NEVER_PASSING):
            return Kind.PASSING
        if self.status in {400, 413, 422}:
            if _TOO_MANY.search(self.words):
                return Kind.TOO_MANY
            if self.status == 413 or _TOO_LONG.search(self.words):
                return Kind.TOO_LONG
        return Kind.FINAL


def fault_of(status: int, text: str) -> Fault | None:
    """Return the error that an answer is, or None for a good one.

    Args:
        status: The answer's status.
        text: Its body.
    """
    found = _json(text)
    if 200 <= status < 300:
        error = _error_in(found)
        if error is None:
            return None
        status = _own_status(error)
    parts = list(_parts(found))
    words = " ".join(parts) if parts else text
    return Fault(status, words, f"status {status}: {excerpt(text)}")


def advice(fault: Fault, sent: Collection[str], options: Collection[str]) -> str:
    """Return what a user can do about a final refusal, with the key of the entry that it is about.

    Args:
        fault: The refusal.
        sent: Fields of the request's body.
        options: Names in the entry's `engine_options`.
    """
    words = fault.words
    if fault.status in {400, 422}:
        if "max_tokens" in sent and "max_completion_tokens" in words:
            return "set `engine_options: {limit_field: max_completion_tokens}` in the entry"
        named = [name for name in ("top_p", "temperature", "seed") if name in sent and _names(name, words)]
        if named:
            option = f"`engine_options: {{{', '.join(f'{name}: null' for name in named)}}}`"
            one = " (or only one of them)" if len(named) > 1 else ""
            return f"{option}{one} in the entry leaves {' and '.join(named)} out of the request"
        if "dimensions" in sent and _names("dimensions", words):
            return "correct `dimensions` in the entry, or leave it out"
        mine = [name for name in options if _names(name, words)]
        if mine:
            return f"remove or correct {', '.join(map(repr, mine))} in the entry's `engine_options`"
    return REMEDY.get(fault.status, "look at the server's words")


REMEDY = {
    400: "look at the server's words: correct what they name in the entry (`engine_options`, `model` ...)",
    401: "set the environment variable named by `api_key_env` to a valid key",
    402: "the account has no money left: pay, or take another key",
    403: "the key may not use this model: take another key or model",
    404: "correct `base_url` (it usually ends in /v1) and `model`",
    422: "look at the server's words: correct what they name in the entry (`engine_options`, `model` ...)",
    429: "the account's quota is used up: raise it, or take another key",
}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


ANSWERS = ("choices", "data")
"""Fields of which a good answer has one."""

TELLING = ("errors", "detail", "message", "msg", "code", "status_code", "base_resp")
"""Fields in which servers tell of an error where no answer is."""


def _error_in(found: Any) -> Any:
    """Return the error that stands within a good answer, or in its place; None if none does."""
    if isinstance(found, list):  # an error in a list of its own
        return next((e for e in map(_error_in, found) if e is not None), None)
    if not isinstance(found, dict):
        return None
    error = found.get("error")
    if error:
        return found if error is True else error
    if found.get("object") == "error" or found.get("type") == "error":
        return found
    if any(found.get(name) is not None for name in ANSWERS):
        return None
    name = next((n for n in TELLING if found.get(n)), None)
    return None if name is None else found[name] if isinstance(found[name], dict) else found


def _own_status(error: Any) -> int:
    """Return the status that an error within a good answer names or stands for."""
    if not isinstance(error, dict):
        error = {"message": str(error)}
    for name in ("code", "status", "status_code", "http_status"):
        named = re.fullmatch(r"([45][0-9]{2})(\.0)?", str(error.get(name, "")), re.ASCII)
        if named:
            return int(named[1])
    for name in ("code", "type", "status", "message", "msg", "detail", "errors", "status_msg", "error"):
        for pattern, status in FAULTS:
            if re.search(pattern, str(error.get(name) or ""), re.IGNORECASE):
                return status
    return UNKNOWN


def _parts(found: Any, depth: int = 0) -> Iterator[str]:
    """Yield the words of an error's own fields, at any depth; not what it echoes of the request."""
    if depth > 6:
        return
    if isinstance(found, list):
        for one in found:
            yield from _parts(one, depth + 1)
    elif isinstance(found, dict):
        for name in ("error", "errors", "code", "type", "message", "msg", "detail", "details", "param",
                     "reason", "reasons", "innererror", "metadata", "status", "base_resp",
                     "status_msg"):  # fmt: skip
            value = found.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value)
            else:
                yield from _parts(value, depth + 1)
    elif isinstance(found, str) and depth:
        yield found


def _names(name: str, words: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", words) is not None
