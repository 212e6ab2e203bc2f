"""Keeping secrets out of what is shown: one place that every log, message and record goes through."""

from __future__ import annotations

import base64
import html
import json
import logging
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, quote_plus

HIDDEN = "***"
"""What stands in a secret's place."""

LONG = 8
"""From so many characters on a secret is hidden wherever it stands; a shorter one (`EMPTY`) as a word."""

UNMISTAKABLE = 12
"""From so many characters on a secret is no word of a language, and is taken out of answers too."""

PARAMETERS = (
    r"(?:[a-z0-9]+[-_])*?(?:api[-_]?key|apikey|key|access[-_]?key|access[-_]?token|token|secret|password|passwd|sig"
    r"|signature|credentials?|code)"
)
"""Names of an address's parameters whose value is a secret."""

KEY_FORMAT = re.compile(
    r"\b(sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}"
    r"|AKIA[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|gsk_[A-Za-z0-9]{16,}"
    r"|nvapi-[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"
)
"""Values in the form of well-known services' keys."""

_ADDRESS = re.compile(r"(?<=://)[^/\s@\"'<>]+@")
_PARAMETER = re.compile(rf"(?<=[?&])({PARAMETERS})=[^&\s\"'<>]+", re.IGNORECASE)
_BEARER = re.compile(r"\b(bearer)(\s+|%20|\+)[^\s\"',;<>]{6,}", re.IGNORECASE)

PIECES = 64
"""So many beginnings and ends of a secret are looked for, where it is echoed in part."""


class _Finder(NamedTuple):
    """What finds a secret: as a whole, in all forms that it may be echoed in, or also in part."""

    whole: re.Pattern[str]
    any_part: re.Pattern[str]


_known: dict[str, _Finder] = {}
"""Secrets of this process and what finds each."""


def keep_out(secret: str) -> None:
    """Hide a secret from now on, in everything that this process shows or writes down."""
    if not secret or secret in _known:
        return
    quoted = quote(secret, safe="")
    forms = {
        secret, quoted, quote(secret), quote_plus(secret), quote(quoted, safe=""), html.escape(secret),
        json.dumps(secret)[1:-1], json.dumps(secret)[1:-1].replace("/", r"\/"),
        repr(secret)[1:-1], repr(secret.encode())[2:-1],
    }  # fmt: skip
    parts = set[str]()
    if len(secret) >= UNMISTAKABLE:
        forms |= {secret.encode().hex(), *_in_base64(secret.encode())}
        parts = set(_parts(secret))
    _known[secret] = _Finder(*(_any_of(words, len(secret) >= LONG) for words in (forms, forms | parts)))


def _any_of(words: set[str], anywhere: bool) -> re.Pattern[str]:
    found = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    # Percent-encoding is written in capitals by some and in small letters by others.
    return re.compile(f"(?:{found})" if anywhere else rf"(?<![\w-])(?:{found})(?![\w-])", re.IGNORECASE)


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield what stays of a secret in base64, wherever it stands in what is encoded (`user:secret`)."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret)
        same = encoded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6].decode()
        yield from (same, same.replace("+", "-").replace("/", "_"))


def _parts(secret: str) -> Iterator[str]:
    """Yield beginnings and ends of a secret that are at least half of it, for one that was cut."""
    n = len(secret)
    for size in range(max(LONG, -(-n // 2)), n, max(1, n // PIECES)):
        yield from (secret[:size], secret[-size:])


def redacted(text: str) -> str:
    """Return a text without the secrets that are known, and without what only a secret looks like."""
    for found in list(_known.values()):
        text = found.any_part.sub(HIDDEN, text)
    text = KEY_FORMAT.sub(HIDDEN, text)
    text = _ADDRESS.sub(f"{HIDDEN}@", text)
    text = _PARAMETER.sub(rf"\1={HIDDEN}", text)
    return _BEARER.sub(rf"\1\2{HIDDEN}", text)


def holds_secret(text: str) -> bool:
    """Return whether a text holds a secret that this process knows, or a large part of one."""
    return any(found.any_part.search(text) for found in list(_known.values()))


def without_keys(answer: str) -> str:
    """Return a model's answer without known secrets; words that only look like one are the model's own."""
    for secret, found in list(_known.items()):
        if len(secret) >= UNMISTAKABLE:
            answer = found.whole.sub(HIDDEN, answer)
    return answer


def excerpt(text: str, length: int = 300) -> str:
    """Return the beginning of a text on one line, without secrets: they are taken out before it is cut."""
    line = " ".join(redacted(text).split())
    return line if len(line) <= length else line[:length] + " ..."


class RedactingFormatter(logging.Formatter):
    """A formatter whose lines hold no secret, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return redacted(super().format(record))
