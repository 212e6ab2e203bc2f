"""Values that stand in configs and catalogues, with the limits beyond which a job would fail or lie later."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field

from stressbed.paths import ID_PATTERN
from stressbed.visible import shows

LONGEST_NAME = 128
"""Characters of an id: it becomes part of file names, of which file systems take 255 bytes."""

LONGEST_PART = 255
"""Bytes of a file's or folder's name."""

LARGEST_SEED = 2**32 - 1
"""The largest seed that all libraries take."""

MOST_RESAMPLES = 100_000
"""More change no digit that is shown, and fill the memory after all other work is done."""

LINES = "\n\r\t"
"""Control characters that a paragraph may hold."""


_VARIABLE = re.compile(r"\$(\{|[A-Za-z_])")


def usable_path(text: str) -> str:
    """Return a path as it was written, if it means to us what it means to a shell.

    Raises:
        ValueError: It is empty, has a `~` or a variable that nobody would replace, braces, or cannot be.
    """
    if not shows(text):
        raise ValueError("a path must not be empty")
    if _VARIABLE.search(text):
        raise ValueError(
            "variables are not filled in here: write the path itself, or `~` for the home folder"
        )
    if found := sorted({"{", "}"} & set(text)):
        raise ValueError(
            f"a path must not hold {' or '.join(found)}: the workflow reads braces as names of wildcards; "
            "rename the folder or file"
        )
    _tilde(text)
    if "\0" in text:
        raise ValueError("a path must not hold a null character")
    longest = max((len(part.encode()) for part in PurePosixPath(text).parts), default=0)
    if longest > LONGEST_PART:
        raise ValueError(
            f"a file's name of {longest} bytes is longer than the {LONGEST_PART} that are possible"
        )
    return text


def _label(text: str) -> str:
    if text and not shows(text):
        raise ValueError("a name must not be blank")
    return _without_controls(text, allowed="")


def _paragraph(text: str) -> str:
    return _without_controls(text, allowed=LINES)


def _without_controls(text: str, *, allowed: str) -> str:
    for c in text:
        # Cs: half of a pair, which no file can hold.
        if unicodedata.category(c) in {"Cc", "Cs"} and c not in allowed:
            raise ValueError(f"the control character U+{ord(c):04X} must not stand here")
    return text


def _shown(text: str) -> str:
    if not text:
        raise ValueError("a name must not be empty")
    return text


def _tilde(text: str) -> None:
    first, *others = text.split("/")
    if "~" in others:
        raise ValueError("`~` is the home folder at the beginning of a path only")
    try:
        Path(first).expanduser()
    except RuntimeError as e:
        raise ValueError(f"there is no user {first[1:]!r}, whose home folder {first!r} would be") from e


def at_home(text: str) -> str:
    """Return a path with the home folder for a `~` at its beginning; others as they are."""
    return str(Path(text).expanduser()) if text.startswith("~") else text


def given_path(text: str) -> Path:
    """Return the path that a command line gives.

    Raises:
        ValueError: See `usable_path`.
    """
    return Path(at_home(usable_path(text)))


Id = Annotated[str, Field(pattern=f"^{ID_PATTERN}$", max_length=LONGEST_NAME)]
Colour = Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]
SourcePath = Annotated[str, AfterValidator(usable_path)]
"""A file or folder, or what else names a model: not empty, and such that a file system can hold it.

A `~` in it stays, since it is part of an entry's identity, which is the same for all users; `sources.resolve`
knows it.
"""

FilePath = Annotated[str, AfterValidator(usable_path), AfterValidator(at_home)]
"""A file or folder whose `~` is the home folder already."""

Label = Annotated[str, AfterValidator(_label)]
"""A name in tables and figures; it may be empty, where the id stands for it."""

GivenLabel = Annotated[str, AfterValidator(_shown), AfterValidator(_label)]
"""A name that a run config gives, which must not be empty."""

Words = Annotated[str, AfterValidator(_paragraph)]
"""Sentences for readers."""

Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
