"""Keys of endpoints: from the environment only, fit to be sent, never shown."""

from __future__ import annotations

import os

from stressbed.redaction import keep_out

AROUND = "\ufeff\u200b"
"""Invisible characters that come with a pasted value, beside blanks and line ends."""


def key_in(name: str) -> str:
    """Return the key that an environment variable holds, without blanks around it; hidden from now on."""
    raw = os.environ.get(name, "")
    key = raw.strip().strip(AROUND).strip()
    keep_out(raw)
    keep_out(key)
    return key


def wrong_key(key: str) -> str:
    """Return in words why a key cannot be sent, without the key; empty for a good one."""
    if key.lower().startswith("bearer "):
        return "it begins with `Bearer`, which is put before it anyway"
    if any(c in "\r\n" for c in key):
        return "there is a line end within it"
    if any(c.isspace() for c in key):
        return "there is a blank within it"
    if not (key.isascii() and key.isprintable()):
        return "there are characters in it that no header can hold (letters with accents, control characters)"
    return ""
