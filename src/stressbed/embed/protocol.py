"""What an embedder is: the seam between the plan of strings and the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from stressbed.embed.vectors import Floats

ROLES = ("none", "query", "document")
"""mteb's prompt types; `none` for the symmetric task types."""

Manifest = Mapping[str, Any]
"""A frozen dataset's manifest (`datasets/{dataset}/manifest.json`)."""

FitTexts = Callable[[], Sequence[str]]
"""Gives the texts that a fitted embedder learns from; called only if they are needed."""


class Embedder(Protocol):
    """A model under test. Opening one is cheap: a model is loaded, or fitted, by the first `encode`."""

    @property
    def fitted_on(self) -> str:
        """Hash of the texts that it is fitted on, empty for an embedder that is not fitted."""
        ...

    @property
    def strings_per_call(self) -> int:
        """How many strings `encode` takes at once; never part of a vector's identity."""
        ...

    @property
    def similarity(self) -> str:
        """The function that compares its vectors: `cosine` or `dot`.

        Raises:
            EmbedError: The model names another one.
        """
        ...

    def context(self, role: str, manifest: Manifest) -> str:
        """Return what decides a vector besides role and string: the instruction put in front, as a rule."""
        ...

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return one vector per string, shape (n, d), float32.

        Raises:
            EmbedError: The embedder cannot do this.
            MemoryError: Too many strings at once; fewer may work.
        """
        ...

    def close(self) -> None:
        """Give back memory and connections."""
        ...
