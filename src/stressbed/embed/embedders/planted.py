"""A synthetic embedder with planted weaknesses, for runs whose results are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from stressbed.config.entries import EmbedderEntry
from stressbed.config.planted import Planted
from stressbed.embed.embedders.common import EntryEmbedder, normalise
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError
from stressbed.fingerprint import text_digest
from stressbed.languages import language_of

DIMENSIONS = 128
ENGLISH = language_of("eng")


class PlantedEmbedder(EntryEmbedder):
    """The meaning of a text plus noise, whose length depends on how the text was rewritten.

    The meaning is the sum of the words' vectors, scaled to length 1; every model sees the same one, and a
    rewrite by the engine `planted` has the meaning of its original. The noise is drawn anew for each
    model and text. Where a rewritten text has the noise of an original, its score differs from the
    original's by chance alone and in either direction: a planted null is no change of zero.

    A string is one text: the marks of two texts in one string would be read as those of one.
    """

    def __init__(self, entry: EmbedderEntry) -> None:
        super().__init__(entry)
        if entry.planted is None:
            raise EmbedError("nothing is planted", where=f"embedder {entry.id!r}, key 'planted'")
        self.planted: Planted = entry.planted

    def context(self, role: str, manifest: Manifest) -> str:  # noqa: ARG002  # the Protocol's signature
        """Return the factor of the effects: a text has another vector where that is another one."""
        return f"{self._factor(manifest):g}"

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:  # noqa: ARG002
        """Return one vector per string, shape (n, d)."""
        size = self.entry.dimensions or DIMENSIONS
        factor = self._factor(manifest)
        out = np.zeros((len(strings), size), dtype=np.float32)
        for row, string in enumerate(strings):
            said, marks = split_marks(string)
            noise = self.planted.noise + factor * self.planted.effects.get("+".join(marks), 0.0)
            out[row] = _meaning(said, size) + noise * _drawn(size, "noise", self.entry.model, string)
        return normalise(out)  # what is planted holds for vectors of length 1

    def _factor(self, manifest: Manifest) -> float:
        languages = {language_of(tag) for tags in manifest["languages"].values() for tag in tags}
        return 1.0 if languages <= {ENGLISH} else self.planted.not_english


def split_marks(string: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a text's own words, and the marks that the engine `planted` left in it, in order."""
    words = string.split()
    said = tuple(word for word in words if word[0] not in "@#")
    return said, tuple(word[1:] for word in words if word[0] == "@")


def _meaning(words: Sequence[str], size: int) -> Floats:
    total = np.zeros((1, size))
    for word in words:
        total += _word(word.casefold(), size)
    return np.asarray(normalise(np.asarray(total, dtype=np.float32))[0])


@lru_cache(maxsize=100_000)
def _word(word: str, size: int) -> Floats:
    return _drawn(size, "word", word)


def _drawn(size: int, *seed: str) -> Floats:
    """Return a normally distributed vector whose expected squared length is 1, shape (d,)."""
    generator = np.random.default_rng(int(text_digest("planted", *seed), 16))
    return np.asarray(generator.standard_normal(size) / np.sqrt(size), dtype=np.float32)
