"""Secrets do not belong into files: finding what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from stressbed.endpoint.address import secrets_in
from stressbed.errors import ConfigError
from stressbed.redaction import KEY_FORMAT

_KEY = re.compile(r"(^|_|-)(api_?key|apikey|token|access_?key|password|passwd|secret|credentials?)$", re.I)
"""Names of keys whose value would be a secret."""

_VALUE = re.compile(
    KEY_FORMAT.pattern
    + r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bBearer\s+[A-Za-z0-9._-]{16,}|://[^/\s:@]+:[^/\s@]+@"
)
"""Values in the form of well-known services' keys, and passwords inside addresses."""

ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What the name of an environment variable looks like."""


def find(value: Any, where: str) -> Iterator[ConfigError]:
    """Yield one error per secret in a config or a catalogue file; the secret itself is not shown.

    Args:
        value: What the file holds, at any depth.
        where: The file.
    """
    yield from _find(value, where, [])


def _find(
    value: Any, where: str, path: list[str], above: frozenset[int] = frozenset()
) -> Iterator[ConfigError]:
    if id(value) in above:  # an anchor of YAML inside itself
        return
    inside = above | {id(value)} if isinstance(value, dict | list) else above
    if isinstance(value, dict):
        for key, inner in value.items():
            name = str(key)
            if _KEY.search(name) and isinstance(inner, str | int) and str(inner):
                yield _secret(where, [*path, name])
            else:
                yield from _find(inner, where, [*path, name], inside)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _find(inner, where, [*path, str(i)], inside)
    elif isinstance(value, str) and (
        _VALUE.search(value) or _bad_name(value, path) or _in_address(value, path)
    ):
        yield _secret(where, path)


def _bad_name(value: str, path: list[str]) -> bool:
    """Return whether `api_key_env` holds something that cannot be a variable's name."""
    return bool(path) and path[-1] == "api_key_env" and not ENVIRONMENT_NAME.fullmatch(value)


def _in_address(value: str, path: list[str]) -> bool:
    """Return whether an endpoint's address holds a user, a password or a key among its parameters."""
    return bool(path) and path[-1] == "base_url" and any(secrets_in(value))


def _secret(where: str, path: list[str]) -> ConfigError:
    return ConfigError(
        "a secret stands in a file, or something that looks like one",
        where=f"{where}, key {'.'.join(path)!r}",
        allowed="`api_key_env` with the name of an environment variable that holds the key",
        do="take it out of the file, revoke it if the file was ever shared, and export the variable",
    )
