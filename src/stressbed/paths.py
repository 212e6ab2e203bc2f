"""The path grammar of ``results/``: every file that stressbed writes is named here and nowhere else.

Patterns hold Snakemake wildcards. ``{variant}`` stands for ``{generator}/{transformation}/{seed}``;
the untransformed dataset is ``none/original/0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ORIGINAL = "none/original/0"
"""The variant of an untransformed dataset."""

VARIANT = "{generator}/{transformation}/{seed}"

MANIFEST = "datasets/{dataset}/manifest.json"
DATA_FOLDER = "datasets/{dataset}/data"
TEXTS = "datasets/{dataset}/texts.parquet"
INPUTS = "datasets/{dataset}/inputs.parquet"
COMPLETIONS = "completions/{dataset}/{variant}.parquet"
TRANSFORM = "transforms/{dataset}/{variant}.parquet"
EMBEDDING = "embeddings/{embedder}/{dataset}/{variant}.json"
SCORE = "scores/{embedder}/{dataset}/{variant}.json"
TRANSLATION_COMPLETIONS = "translate/completions/{dataset}/{variant}.parquet"
TRANSLATION_TRANSFORM = "translate/transforms/{dataset}/{variant}.parquet"
SELECTION = "select/{selection}"
SELECTION_TEXTS = "select/{selection}/texts.parquet"
SELECTION_COMPLETIONS = "select/{selection}/completions/{dataset}/{variant}.parquet"
SELECTION_TRANSFORM = "select/{selection}/transforms/{dataset}/{variant}.parquet"
SHORTLIST = "select/{selection}/shortlist.json"
RATINGS = "select/{selection}/ratings/{judge}/{generator}.parquet"
WINNER = "select/{selection}/winner.json"
HUMAN_FOLDER = "human/{run}"
RUN_FOLDER = "runs/{run}"
STORE = ".store"

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What a catalogue id may look like: it becomes a folder name."""


@dataclass(frozen=True, order=True)
class Variant:
    """What is done to a dataset: which generator, which transformation, which seed."""

    generator: str
    transformation: str
    seed: int

    @property
    def is_original(self) -> bool:
        """Whether this is the untransformed dataset."""
        return self.transformation == "original"

    def __str__(self) -> str:
        """Return the variant as it stands in a path."""
        return f"{self.generator}/{self.transformation}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Return the variant named by ``generator/transformation/seed``.

        Raises:
            ValueError: The text does not have three parts or the seed is not a number.
        """
        generator, transformation, seed = text.split("/")
        return cls(generator, transformation, int(seed))


@dataclass(frozen=True, order=True)
class Cell:
    """The unit of result: embedder x dataset x variant."""

    embedder: str
    dataset: str
    variant: Variant

    @classmethod
    def of_path(cls, path: str | Path) -> Cell:
        """Return the cell whose score or embedding lies at ``path``."""
        *_, embedder, dataset, generator, transformation, seed = PurePosixPath(path).parts
        return cls(embedder, dataset, Variant(generator, transformation, int(Path(seed).stem)))


def variant_of_path(path: str | Path) -> tuple[str, Variant]:
    """Return ``(dataset, variant)`` of a completions or transforms file."""
    *_, dataset, generator, transformation, seed = PurePosixPath(path).parts
    return dataset, Variant(generator, transformation, int(Path(seed).stem))
