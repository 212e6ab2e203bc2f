"""What the rules of a study with people ask for: paths, inputs and params, as plain functions of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stressbed import paths, plot
from stressbed.analyse import SUFFIXES
from stressbed.config import Plan
from stressbed.config.entries import FITTED
from stressbed.config.model import HumanStudy
from stressbed.human import FIGURES, PRESERVATION_TABLES, SHEET_FILES, TABLES
from stressbed.human.sample import is_pooled
from stressbed.workflow import lines
from stressbed.workflow.deciding import version
from stressbed.workflow.lines import as_text

AFTER_SHEETS = frozenset({"threshold", "drift_embedder", "ratings", "resamples"})
"""Fields of a study that matter once its sheets are filled."""


@dataclass(frozen=True)
class HumanGrid:
    """The paths and params of the rules of a run's study with people."""

    plan: Plan

    @property
    def study(self) -> HumanStudy:
        """The study; only asked for by runs that have one."""
        found = self.plan.config.human
        if found is None:
            raise LookupError("the run has no study with people")
        return found

    def path(self, name: str) -> str:
        """Return a path in the study's folder."""
        return f"{self.plan.results}/{paths.HUMAN_FOLDER.format(run=self.plan.config.run)}/{name}"

    @property
    def sheet_files(self) -> list[str]:
        """Files that the export writes, the key first, without the folder of sheets."""
        return [self.path(name) for name in SHEET_FILES]

    def transforms(self) -> list[str]:
        """Return the rewrites that sheets are drawn from: of the run's first generator and seed."""
        c = self.plan.config
        return [self._transform(d, t, c.seeds[0]) for d in c.datasets for t in c.transformations]

    def further_transforms(self) -> list[str]:
        """Return the pairs' rewrites under further seeds: of one seed all may be in one drawn language."""
        kept, entries = self.study.label_preservation, self.plan.catalogue.transformations
        if kept is None:
            return []
        drawn = [t for t in kept.transformations if is_pooled(entries[t])]
        return [self._transform(kept.dataset, t, s) for s in self.plan.config.seeds[1:] for t in drawn]

    def _transform(self, dataset: str, transformation: str, seed: int) -> str:
        pattern = f"{self.plan.results}/{paths.TRANSFORM}".replace("{variant}", paths.VARIANT)
        generator = self.plan.config.generator[0]
        return pattern.format(dataset=dataset, generator=generator, transformation=transformation, seed=seed)

    def manifests(self) -> list[str]:
        """Return the manifests of the run's datasets."""
        return [f"{self.plan.results}/{paths.MANIFEST.format(dataset=d)}" for d in self.plan.config.datasets]

    @property
    def drift_embedder(self) -> str:
        """The embedder under which a rewrite's drift is measured."""
        own = [
            e for e in self.plan.config.embedders if self.plan.catalogue.embedders[e].backend not in FITTED
        ]
        return self.study.drift_embedder or (own or self.plan.config.embedders)[0]

    @property
    def tables(self) -> list[str]:
        """Names of the tables of a study with ratings."""
        return [*TABLES, *(PRESERVATION_TABLES if self.study.label_preservation else ())]

    def table_files(self, suffixes: Sequence[str] = SUFFIXES) -> list[str]:
        """Return the tables."""
        return [self.path(f"tables/{t}.{s}") for t in self.tables for s in suffixes]

    def figure_files(self, suffixes: Sequence[str] = plot.SUFFIXES) -> list[str]:
        """Return the figures."""
        return [self.path(f"figures/{f}.{s}") for f in FIGURES for s in suffixes]

    def targets(self) -> list[str]:
        """Return the sheets, and what is made of the ratings once there are some."""
        if self.plan.config.human is None:
            return []
        made = [*self.sheet_files, self.path("sheets")]
        if self.study.ratings:
            made += [self.path("drift.parquet"), self.path("summary.json"), self.path("ratings.parquet")]
            made += [*self.table_files(), *self.figure_files()]
        return made

    def decides_sheets(self) -> list[str]:
        """Return what decides the sheets beside the rewrites."""
        c, catalogue = self.plan.config, self.plan.catalogue
        found = version("human")
        for entry in (catalogue.transformations[t] for t in c.transformations):
            fields = entry.model_dump(mode="json", exclude={*lines.EFFORT})
            found |= lines.of_fields(f"transformation {entry.id}", fields)
        drawn = self.study.model_dump(mode="json", exclude={*AFTER_SHEETS})
        return as_text(found | lines.of_fields("config: human", drawn))

    def decides_drift(self) -> list[str]:
        """Return what decides the drift beside the items."""
        name = self.drift_embedder
        label = {"label": self.plan.catalogue.embedders[name].label}
        found = version("human") | lines.of_embedder(self.plan, name)
        return as_text(found | lines.of_fields(f"embedder {name}", label))

    def decides_ratings(self) -> list[str]:
        """Return what decides the tables beside items, ratings and drift."""
        return as_text(
            version("human") | lines.of_run(self.plan, config=("description", "notice", "analysis"))
        )
