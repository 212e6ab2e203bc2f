"""What things are called and in which order they stand in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stressbed.config.load import Plan

AXIS_LABELS = {
    "original": "Original",
    "lexical_stylistic": "Lexical/Stylistic",
    "length": "Length",
    "language": "Language",
    "hteb": "HTEB",
    "drop": "Drop",
}


@dataclass(frozen=True)
class Names:
    """Labels by catalogue id; the order of each mapping is the order of rows and columns.

    Attributes:
        embedders: Label of each embedder, in the order of the run's config.
        datasets: Label of each dataset, in the order of the run's config.
        generators: Label of each generator, in the order of the run's config.
        transformations: Label of each transformation, by its `order` in the catalogue.
        axes: Axis of each transformation.
        colours: Colour by catalogue id or axis (hex), where the run's config sets one.
    """

    embedders: Mapping[str, str]
    datasets: Mapping[str, str]
    generators: Mapping[str, str]
    transformations: Mapping[str, str]
    axes: Mapping[str, str]
    colours: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Names:
        """Return the names of a run; its `labels` come before the catalogue's."""
        c, catalogue = plan.config, plan.catalogue
        entries = sorted((catalogue.transformations[t] for t in c.transformations), key=lambda e: e.order)
        return cls(
            embedders={e: c.labels.get(e) or catalogue.embedders[e].label or e for e in c.embedders},
            datasets={d: c.labels.get(d, d) for d in c.datasets},
            generators={g: c.labels.get(g, g) for g in c.generator},
            transformations={e.id: c.labels.get(e.id) or e.label for e in entries},
            axes={e.id: e.axis for e in entries},
            colours=dict(c.colours),
        )

    def label(self, name: str) -> str:
        """Return the label of an id, an axis or a column; the name itself where there is none."""
        for known in (self.embedders, self.datasets, self.generators, self.transformations, AXIS_LABELS):
            if name in known:
                return known[name]
        return name
