"""Which dataset, model and variant a file of the results belongs to, as far as its path says so."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

OF_A_VARIANT = frozenset({"completions", "transforms", "embeddings", "scores"})
"""Folders of files that are one variant's, and hang on nothing of other variants."""

KEYS = ("dataset", "generator", "transformation", "seed", "embedder")

Place = Mapping[str, str]
"""Dataset, generator, transformation, seed and embedder of a file, as far as its path names them."""


class Inputs:
    """What a job's inputs held, so that those which concern one of its outputs are found at once.

    Args:
        contents: Content of each input, by its path below the results.
    """

    def __init__(self, contents: Mapping[str, str]) -> None:
        self.contents = dict(contents)
        self._at: dict[tuple[str | None, ...], dict[str, str]] = {}
        for name, content in contents.items():
            place = place_of(name) or dataset_of(name)
            self._at.setdefault(tuple(map(place.get, KEYS)), {})[name] = content

    def concerning(self, place: Place) -> dict[str, str]:
        """Return the inputs that a file is made of: not those of other datasets and variants."""
        if not place:
            return self.contents
        wanted = tuple(map(place.get, KEYS))
        found: dict[str, str] = {}
        for known in range(len(KEYS) + 1):
            found |= self._at.get((*wanted[:known], *[None] * (len(KEYS) - known)), {})
        return found


@lru_cache(maxsize=200_000)
def place_of(name: str) -> Place:
    """Return the coordinates of a variant's file (its path below the results); nothing for all others."""
    parts = PurePosixPath(name).parts
    folder = next((i for i, part in enumerate(parts[:-1]) if part in OF_A_VARIANT), None)
    if folder is None or parts[0] in {"runs", "human"}:
        return {}
    rest = [*parts[folder + 1 : -1], PurePosixPath(parts[-1]).stem]
    keys = ["dataset", "generator", "transformation", "seed"]
    if parts[folder] in {"embeddings", "scores"}:
        keys = ["embedder", *keys]
    return dict(zip(keys, rest, strict=True)) if len(rest) == len(keys) else {}


def dataset_of(name: str) -> Place:
    """Return the dataset of a frozen dataset's file (its path below the results); nothing for all others."""
    parts = PurePosixPath(name).parts
    return {"dataset": parts[1]} if parts[0] == "datasets" and len(parts) > 2 else {}
