"""Datasets that are another one in translation: what is asked of whom before they exist."""

from __future__ import annotations

from dataclasses import dataclass

from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import TransformationEntry
from stressbed.paths import Variant


@dataclass(frozen=True)
class Translation:
    """How a translated dataset comes from its source.

    Attributes:
        dataset: Catalogue id of the translated dataset.
        source: Catalogue id of the dataset whose texts are translated.
        generator: Catalogue id of the LLM that translates.
        language: Language of the translated dataset.
        seed: Seed of the requests, where the generator samples.
        entry: The transformation: the catalogue's, with one language to draw.
    """

    dataset: str
    source: str
    generator: str
    language: str
    seed: int
    entry: TransformationEntry

    @property
    def variant(self) -> Variant:
        """The variant of the source that becomes a dataset of its own."""
        return Variant(self.generator, self.entry.id, self.seed)


def translation_of(dataset: str, catalogue: Catalogue) -> Translation | None:
    """Return how a dataset is translated from another; None for all other datasets.

    The transformation's pool becomes the language of the translated dataset, which is then drawn for
    sure; that the source is not in that language has been checked. The language is part of the
    transformation's id, so several translations of one source have paths of their own.

    Args:
        dataset: Catalogue id; its entry and those that it names must be there.
        catalogue: The catalogue.
    """
    entry = catalogue.datasets[dataset]
    rule = entry.translate_dataset
    if rule is None:
        return None
    language = entry.languages[entry.subsets[0]][0]
    base = catalogue.transformations[rule.transformation]
    fixed = base.model_copy(
        update={
            "id": f"{base.id}-{language}",
            "label": f"{base.label} ({language})",
            "draw": "subset",
            "pool": [language],
            "exclude": "none",
        }
    )
    return Translation(dataset, rule.source, rule.generator, language, rule.seed, fixed)
