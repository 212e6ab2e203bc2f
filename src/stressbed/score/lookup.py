"""An encoder for mteb that looks vectors up: no model, no sentence-transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stressbed.errors import ScoreError
from stressbed.fingerprint import text_digests

NO_ROLE = "none"
"""The role of a string that mteb hands over without a prompt type."""

UNITS = 50_000
"""Vectors of length 1 that are kept, at most."""


class Vectors(Protocol):
    """Stored vectors by key, as `stressbed.embed.vectors.VectorStore` gives them."""

    def index(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """Return the position of each key, shape (n,); -1 where its vector is not there."""
        ...

    def rows(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors at positions, shape (n, d)."""
        ...


def role_of(prompt_type: Any) -> str:
    """Return the role of mteb's prompt type: `query`, `document` or `none`."""
    return NO_ROLE if prompt_type is None else str(prompt_type.value)


def strings_of_loader(inputs: Any) -> list[str]:
    """Return the strings of a data loader of mteb, in order.

    Titles and bodies, queries and instructions are joined already. The column is read as a
    whole: iterating over it or over the loader goes row by row, which is a hundred times slower.
    """
    return list(inputs.dataset["text"][:])


class LookupEncoder:
    """An encoder in mteb's sense whose vectors were computed before.

    Args:
        vectors: Where the vectors are.
        contexts: What was put before the strings of each role (or stands for it in the key).
        similarity: `cosine` or `dot`.
        name: Name of the embedder, for mteb's metadata and for messages.
        where: The cell, for messages.
    """

    def __init__(
        self,
        vectors: Vectors,
        *,
        contexts: Mapping[str, str],
        similarity: str = "cosine",
        name: str = "embedder",
        where: str = "",
    ) -> None:
        from mteb import similarity_functions
        from mteb.models.model_meta import ModelMeta, ScoringFunction

        self.vectors, self.contexts, self.where = vectors, dict(contexts), where
        self._units: dict[int, tuple[Any, Any]] | None = None if similarity == "dot" else {}
        self.encoded: dict[str, int] = {}
        self._seen: list[NDArray[np.int64]] = []
        self._zero: list[NDArray[np.int64]] = []
        # The enumeration member is needed: `create_empty` does not make one of a string.
        function = ScoringFunction(similarity)
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={"name": f"stressbed/{name}", "revision": "stored", "similarity_fn_name": function}
        )
        if similarity == "dot":
            self._all, self._pairs = similarity_functions.dot_score, similarity_functions.pairwise_dot_score
        else:
            self._all, self._pairs = similarity_functions.cos_sim, similarity_functions.pairwise_cos_sim

    def encode(
        self,
        inputs: Any,
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: Any = None,
        **_: Any,
    ) -> NDArray[np.float32]:
        """Return the stored vectors of a data loader's strings, shape (n, d), float32.

        Raises:
            ScoreError: A vector is missing.
        """
        role = role_of(prompt_type)
        strings = strings_of_loader(inputs)
        context = self.contexts.get(role, "")
        keys = text_digests((context, role), strings)
        positions = self.vectors.index(keys)
        missing = np.flatnonzero(positions < 0)
        if len(missing):
            first, cell = strings[missing[0]], self.where or task_metadata.name
            raise ScoreError(
                f"{len(missing)} of {len(strings)} vectors are missing; the first is that of {first[:80]!r}",
                where=f"{cell}, subset {hf_subset}, split {hf_split}, role {role}",
                do="embed again with `snakemake --forcerun embed`; what is stored is not encoded twice",
            )
        self.encoded[hf_split] = self.encoded.get(hf_split, 0) + len(strings)
        rows = np.asarray(self.vectors.rows(positions), dtype=np.float32)
        self._seen.append(positions)
        self._zero.append(positions[~rows.any(axis=1)])
        return rows

    def looked_up(self) -> tuple[int, int]:
        """Return how many different vectors were asked for so far, and how many of them are zero."""
        counts = [len(np.unique(np.concatenate(p))) if p else 0 for p in (self._seen, self._zero)]
        return counts[0], counts[1]

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of every vector with every other, a torch tensor of shape (n, m)."""
        # Summaries are compared one by one, each machine's with each human's.
        if self._units is not None and _is_single(embeddings1) and _is_single(embeddings2):
            return self._unit(embeddings1) @ self._unit(embeddings2).T
        return self._all(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Return the similarity of vectors at the same place, a torch tensor of shape (n,)."""
        return self._pairs(embeddings1, embeddings2)

    def _unit(self, vector: Any) -> Any:
        """Return a vector scaled to length 1, shape (1, d), as mteb's `cos_sim` scales it; once for each."""
        from torch import as_tensor
        from torch.nn.functional import normalize

        if self._units is None or len(self._units) > UNITS:
            self._units = {}
        place = vector.__array_interface__["data"][0]
        if place not in self._units:
            # The vector is kept, so that its place in memory stays its own.
            self._units[place] = vector, normalize(as_tensor(vector).reshape(1, -1), p=2, dim=1)
        return self._units[place][1]


def _is_single(vectors: Any) -> bool:
    return isinstance(vectors, np.ndarray) and vectors.ndim == 1
