"""Addresses of endpoints: whose machine it is, what may be shown of it, where a request goes."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from stressbed.redaction import PARAMETERS

HERE = frozenset(
    {"localhost", "localhost.localdomain", "localhost6", "localhost6.localdomain6", "ip6-localhost",
     "ip6-loopback"}
)  # fmt: skip
"""Names that systems give to this machine itself."""

_SECRET = re.compile(PARAMETERS, re.IGNORECASE)


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine's own, so that no text leaves it."""
    try:
        host = (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return False
    own = {*HERE, socket.gethostname().lower()} - {""}
    if host in own or host.endswith(".localhost"):
        return True
    number = _number(host)
    if number is None:
        return False
    mapped = getattr(number, "ipv4_mapped", None) or number
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the number of a host that is written as one, in short forms like `127.1` too."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    if not re.fullmatch(r"[0-9.]+", host):  # `inet_aton` takes much more than that
        return None
    try:
        return ipaddress.ip_address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def shown(address: str) -> str:
    """Return what may be shown of an address: neither user, password nor parameters."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def joined(address: str, path: str) -> str:
    """Return an address with a path appended, before its parameters (`?api-version=...`)."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def secrets_in(address: str) -> Iterator[str]:
    """Yield what in an address is a secret, in words that do not hold it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    if "@" in parts.netloc:
        yield "a user or password before the host"
    for name, value in parse_qsl(parts.query):
        if value and _SECRET.fullmatch(name):
            yield f"the parameter {name!r}"
