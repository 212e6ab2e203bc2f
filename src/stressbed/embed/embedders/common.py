"""What the embedders share: settings of an entry, lengths of vectors."""

from __future__ import annotations

import numpy as np

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.instructions import instruction_for
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError

SIMILARITIES = ("cosine", "dot")

AUTO_BATCH = 64
"""Strings per call where the entry says `auto`; with a GPU more are tried (`stressbed.embed.probe`)."""


def normalise(vectors: Floats) -> Floats:
    """Return vectors of length 1, shape (n, d); a zero vector stays zero."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float64)
    odd = np.flatnonzero(~np.isfinite(length) | (length == 0))
    # The square of a very large or very small number does not fit into 32 bits.
    length[odd] = np.linalg.norm(vectors[odd].astype(np.float64), axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


def compared_by(named: str | None, where: str) -> str:
    """Return the similarity function that a model names, cosine if it names none.

    Raises:
        EmbedError: It names one that no score is computed with.
    """
    if named is None or named in SIMILARITIES:
        return named or "cosine"
    raise EmbedError(
        f"the model compares vectors by {named!r}, which no score is computed with",
        where=where,
        allowed=", ".join(SIMILARITIES),
        do="set `similarity` for this embedder; its scores then are another measure than its authors meant",
    )


class EntryEmbedder:
    """The part of an embedder that follows from its catalogue entry."""

    def __init__(self, entry: EmbedderEntry) -> None:
        self.entry = entry

    @property
    def fitted_on(self) -> str:
        """Empty: not fitted on any texts."""
        return ""

    @property
    def similarity(self) -> str:
        """The entry's similarity function, or the model's own."""
        return self.entry.similarity or compared_by(self._own_similarity(), f"embedder {self.entry.id!r}")

    def _own_similarity(self) -> str | None:
        """Return the function that the model itself names."""
        return None

    @property
    def strings_per_call(self) -> int:
        """The entry's batch size; where it is `auto`, the size that trying begins with."""
        return AUTO_BATCH if self.entry.batch_size == "auto" else self.entry.batch_size

    def context(self, role: str, manifest: Manifest) -> str:
        """Return the instruction that is put before a string."""
        return instruction_for(self.entry, manifest, role)

    def finish(self, vectors: Floats) -> Floats:
        """Return the vectors in float32, scaled to length 1 if the entry says so, shape (n, d)."""
        vectors = np.asarray(vectors, dtype=np.float32)
        return normalise(vectors) if self.entry.normalise else vectors

    def sized(self, vectors: Floats) -> Floats:
        """Return vectors that have the size that the entry asks for.

        Raises:
            EmbedError: The model gave another size, whatever it was asked for.
        """
        wanted = self.entry.dimensions
        if wanted is not None and vectors.ndim == 2 and len(vectors) and vectors.shape[1] != wanted:
            raise EmbedError(
                f"the model gives vectors of {vectors.shape[1]} dimensions, not {wanted}",
                where=f"embedder {self.entry.id!r}, key 'dimensions'",
                do="correct the key, or take it out: the model may have no choice of sizes",
            )
        return vectors

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""
