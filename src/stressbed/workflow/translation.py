"""What the rules of translated datasets ask for: paths, inputs and params, as plain functions of a plan.

A dataset that is another one in translation needs rewritten texts before it exists. They lie below
`results/translate/`, not beside a run's own rewrites: a run may have other transformations and seeds,
and need not evaluate the source at all. The store keeps that from costing anything twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from stressbed import paths
from stressbed.config import Plan
from stressbed.config.translations import Translation
from stressbed.workflow import lines
from stressbed.workflow.deciding import version
from stressbed.workflow.lines import as_text
from stressbed.workflow.spec import spec


@dataclass(frozen=True)
class TranslationGrid:
    """The paths and params of the rules that translate datasets."""

    plan: Plan

    def path(self, pattern: str) -> str:
        """Return a pattern of the path grammar; what is translated by what stays wildcards."""
        return f"{self.plan.results}/{pattern}".replace("{variant}", paths.VARIANT)

    def stats(self, stage: str) -> str:
        """Return the path of a job's statistics, with wildcards."""
        return self.path(f"jobs/translate/{stage}/{{dataset}}/{{variant}}.json")

    def log(self, stage: str) -> str:
        """Return the path of a job's log, with wildcards."""
        return self.path(f"logs/translate/{stage}/{{dataset}}/{{variant}}.log")

    def targets(self) -> list[str]:
        """Return the intermediates of the run's translated datasets, their sources included."""
        of_source = (paths.MANIFEST, paths.TEXTS, paths.INPUTS)
        of_variant = (paths.TRANSLATION_COMPLETIONS, paths.TRANSLATION_TRANSFORM)
        return list(dict.fromkeys(self._filled([*map(self.path, of_source), *map(self.path, of_variant)])))

    def jobs(self) -> list[str]:
        """Return the statistics of jobs that no run has without its translated datasets."""
        own = set(self.plan.config.datasets)
        found = self._filled([self.stats("generate"), self.stats("transform")])
        found += [
            self.path(f"jobs/{stage}/{t.source}.json")
            for t in self.plan.translations
            if t.source not in own
            for stage in ("dataset", "texts")
        ]
        return list(dict.fromkeys(found))

    def _filled(self, patterns: list[str]) -> list[str]:
        return [
            p.format(dataset=t.source, generator=t.generator, transformation=t.entry.id, seed=t.variant.seed)
            for t in self.plan.translations
            for p in patterns
        ]

    def at(self, made: Translation) -> dict[str, str]:
        """Return the wildcards of the jobs that make a translation."""
        return {
            "dataset": made.source, "generator": made.generator, "transformation": made.entry.id,
            "seed": str(made.variant.seed),
        }  # fmt: skip

    def outputs(self, stage: str) -> list[str]:
        """Return what a job makes beside its statistics, with wildcards."""
        made = {"generate": paths.TRANSLATION_COMPLETIONS, "transform": paths.TRANSLATION_TRANSFORM}
        return [self.path(made[stage])]

    def inputs(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return what a job reads."""
        read = [self.path(paths.MANIFEST), self.path(paths.TEXTS)]
        read += self.outputs("generate") if stage == "transform" else []
        return [p.format(**wildcards) for p in read]

    def translation(self, wildcards: Mapping[str, str]) -> Translation:
        """Return what a job's wildcards stand for.

        Raises:
            LookupError: No dataset of the run is made like this.
        """
        names = ("dataset", "generator", "transformation", "seed")
        wanted = tuple(wildcards[name] for name in names)
        for t in self.plan.translations:
            if (t.source, t.generator, t.entry.id, str(t.seed)) == wanted:
                return t
        raise LookupError(f"no dataset of this run is translated by {'/'.join(wanted)}")

    def decides(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return what decides the answers (`generate`) or the translations (`transform`)."""
        made = self.translation(wildcards)
        found = version(stage) | lines.of_transformation(self.plan, made.entry)
        found |= lines.of_generator(self.plan, made.generator)
        return as_text(found | (lines.of_flags(self.plan, [made.entry]) if stage == "transform" else {}))

    def spec(self, wildcards: Mapping[str, str], *kinds: str) -> str:
        """Return the catalogue entries that a script needs, as JSON; the transformation has one language."""
        made = self.translation(wildcards)
        whole = json.loads(spec(self.plan, kinds))
        transformations = {made.entry.id: made.entry.model_dump(mode="json")}
        return json.dumps({**whole, "transformations": transformations, "seeds": [made.seed]}, sort_keys=True)
