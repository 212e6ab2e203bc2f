"""Keeping secrets out of what is shown: one place that every log, message and record goes through."""

from __future__ import annotations

import html
import json
import logging
import re
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

_known: dict[str, re.Pattern[str]] = {}
"""Secrets of this process and what finds each, in all the forms that it may be echoed in."""


def keep_out(secret: str) -> None:
    """Hide a secret from now on, in everything that this process shows or writes down."""
    if secret and secret not in _known:
        forms = {
            secret, quote(secret, safe=""), quote(secret), quote_plus(secret), html.escape(secret),
            json.dumps(secret)[1:-1], repr(secret)[1:-1], repr(secret.encode())[2:-1],
        }  # fmt: skip
        words = "|".join(re.escape(f) for f in sorted(forms, key=len, reverse=True))
        whole = len(secret) >= LONG
        # Percent-encoding is written in capitals by some and in small letters by others.
        _known[secret] = re.compile(
            f"(?:{words})" if whole else rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE
        )


def redacted(text: str) -> str:
    """Return a text without the secrets that are known, and without what only a secret looks like."""
    for pattern in list(_known.values()):
        text = pattern.sub(HIDDEN, text)
    text = KEY_FORMAT.sub(HIDDEN, text)
    text = _ADDRESS.sub(f"{HIDDEN}@", text)
    text = _PARAMETER.sub(rf"\1={HIDDEN}", text)
    return _BEARER.sub(rf"\1\2{HIDDEN}", text)


def holds_secret(text: str) -> bool:
    """Return whether a text holds a secret that this process knows."""
    return any(pattern.search(text) for pattern in list(_known.values()))


def without_keys(answer: str) -> str:
    """Return a model's answer without known secrets; words that only look like one are the model's own."""
    for secret, pattern in list(_known.items()):
        if len(secret) >= UNMISTAKABLE:
            answer = pattern.sub(HIDDEN, answer)
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
