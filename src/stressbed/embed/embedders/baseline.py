"""A random baseline: what scores say when vectors know nothing of a text but its identity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.fingerprint import text_digest

DIMENSIONS = 64


class RandomEmbedder(EntryEmbedder):
    """A normally distributed vector per string, the same one wherever the string comes up."""

    def context(self, role: str, manifest: Manifest) -> str:  # noqa: ARG002  # the Protocol's signature
        """Return nothing: only the string decides."""
        return ""

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:  # noqa: ARG002
        """Return vectors drawn from generators that are seeded with the strings, shape (n, d)."""
        size = self.entry.dimensions or DIMENSIONS
        drawn = [
            np.random.default_rng(int(text_digest("random", s), 16)).standard_normal(size) for s in strings
        ]
        return self.finish(np.asarray(drawn, dtype=np.float32).reshape(len(strings), size))
