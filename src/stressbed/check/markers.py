"""Checks of the lists of markers: a wrong regular expression would fail, or flag everything, in a job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stressbed.check.datasets import invalid_tags
from stressbed.config.catalogue import Catalogue
from stressbed.errors import ConfigError, StressbedError


def check_markers(catalogue: Catalogue) -> Iterator[StressbedError]:
    """Yield what is wrong with the catalogue's lists of markers; every run uses all of them."""
    for name, entry in catalogue.markers.items():
        where = f"{catalogue.origin['markers', name]}, markers {name!r}"
        yield from invalid_tags(entry.languages, f"{where}, key 'languages'")
        if not (entry.reasoning or entry.prefixes or entry.refusals):
            yield ConfigError(
                "the list holds no markers", where=where, do="add `reasoning`, `prefixes` or `refusals`"
            )
        for key in ("reasoning", "prefixes", "refusals"):
            for i, pattern in enumerate(getattr(entry, key)):
                yield from _pattern(pattern, f"{where}, key {key!r}, item {i + 1}")


def _pattern(pattern: str, where: str) -> Iterator[StressbedError]:
    allowed = "a regular expression as Python's `re` reads it"
    try:
        # As it is used later, inside a group: flags such as `(?i)` are refused there.
        compiled = re.compile(f"(?:{pattern})", re.IGNORECASE)
    except re.error as e:
        at = "" if e.pos is None else f" at character {max(e.pos - 2, 1)}"
        yield ConfigError(
            f"{pattern!r} is no regular expression: {e.msg}{at}",
            where=where,
            allowed=allowed,
            do="put a backslash before characters that stand for themselves, such as ( [ * ?",
        )
        return
    if compiled.groups:
        yield ConfigError(
            f"{pattern!r} has a capturing group",
            where=where,
            allowed="groups without a number",
            do="write (?:...) instead of (...)",
        )
    if compiled.match(""):
        yield ConfigError(
            f"{pattern!r} matches the empty text, so it would flag every output",
            where=where,
            do="let it stand for at least one character",
        )
