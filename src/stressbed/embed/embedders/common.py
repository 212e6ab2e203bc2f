"""What the embedders share: settings of an entry, lengths of vectors."""

from __future__ import annotations

import numpy as np

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.instructions import instruction_for
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats

AUTO_BATCH = 64
"""Strings per call where the entry says `auto`; with a GPU more are tried (`stressbed.embed.probe`)."""


def normalise(vectors: Floats) -> Floats:
    """Return vectors of length 1, shape (n, d); a zero vector stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


class EntryEmbedder:
    """The part of an embedder that follows from its catalogue entry."""

    def __init__(self, entry: EmbedderEntry) -> None:
        self.entry = entry

    @property
    def fitted_on(self) -> str:
        """Empty: not fitted on any texts."""
        return ""

    @property
    def strings_per_call(self) -> int:
        """The entry's batch size; where it is `auto`, the size that trying begins with."""
        return AUTO_BATCH if self.entry.batch_size == "auto" else self.entry.batch_size

    def context(self, role: str, manifest: Manifest) -> str:
        """Return the instruction that is put before a string."""
        return instruction_for(self.entry, manifest, role)

    def finish(self, vectors: Floats) -> Floats:
        """Return the vectors with the entry's normalisation, shape (n, d), float32."""
        return normalise(vectors) if self.entry.normalise else np.asarray(vectors, dtype=np.float32)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""
