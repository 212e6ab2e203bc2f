"""Planted effects: what a synthetic embedder of a run with a known truth is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from stressbed.config.model import Strict
from stressbed.errors import ConfigError

if TYPE_CHECKING:
    from stressbed.config.entries import EmbedderEntry, GeneratorEntry

MARK = r"[a-z][a-z-]*"
"""A mark: the word that the engine `planted` leaves in a text after `@`."""

Marks = Annotated[str, Field(pattern=rf"^{MARK}(\+{MARK})*$")]


class Planted(Strict):
    """Noise of a synthetic embedder (backend `planted`): what its scores must show is known beforehand."""

    noise: float = Field(
        ge=0, description="Length of the noise in every vector, relative to the text's meaning (length 1)."
    )
    effects: dict[Marks, Annotated[float, Field(ge=0)]] = Field(
        default={},
        description=(
            "Further noise by the marks that the engine `planted` left in a text, in order and joined by `+` "
            "(`expand+summarise`). A rewritten text that is not named has the noise of an original: nothing "
            "is planted there."
        ),
    )
    not_english: float = Field(
        default=1.0, ge=0, description="Factor of the effects in datasets that are not all in English."
    )


def check_planted(entry: EmbedderEntry, where: str) -> Iterator[ConfigError]:
    """Yield an error for a synthetic embedder without its noise, or with settings that it has no use for."""
    if entry.backend == "planted" and entry.planted is None:
        yield ConfigError(
            "backend 'planted' needs the noise that is planted", where=where, do="add `planted: {noise: 1.0}`"
        )
    if entry.backend == "planted" and entry.similarity == "dot":
        yield ConfigError(
            "backend 'planted' has vectors of length 1", where=f"{where}, key 'similarity'", allowed="cosine"
        )


def check_marks(entry: GeneratorEntry, where: str) -> Iterator[ConfigError]:
    """Yield an error for a synthetic generator that could not tell one prompt from another."""
    if entry.engine == "planted":
        yield from wrong_marks(entry.engine_options, f"{where}, key 'engine_options'")


def wrong_marks(options: Mapping[str, object], where: str) -> Iterator[ConfigError]:
    """Yield what is wrong with the engine's marks: names, and beginnings of prompts that begin alike.

    Args:
        options: Mark -> the words that a prompt begins with.
        where: The place of the options, for messages.
    """
    allowed = "a mark of small letters and hyphens, and the words that its prompt begins with"
    if not options:
        yield ConfigError("engine 'planted' has no marks", where=where, allowed=allowed)
    seen: list[tuple[str, str]] = []
    for mark, beginning in options.items():
        if not re.fullmatch(MARK, mark) or not isinstance(beginning, str) or not beginning:
            yield ConfigError(f"{mark!r}: {beginning!r} is no mark", where=where, allowed=allowed)
            continue
        for other, words in seen:
            if beginning.startswith(words) or words.startswith(beginning):
                yield ConfigError(
                    f"the prompts of {other!r} and {mark!r} begin alike", where=where, do="give more words"
                )
        seen.append((mark, beginning))
