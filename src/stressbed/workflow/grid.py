"""The cells of a run and the paths of its jobs: what goes into a job and what comes out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from stressbed import paths
from stressbed.config import Plan
from stressbed.paths import Variant
from stressbed.select.winner import resolved
from stressbed.workflow.current import Current
from stressbed.workflow.deciding import AXES, decided
from stressbed.workflow.lines import as_text
from stressbed.workflow.made import Made
from stressbed.workflow.patterns import fill
from stressbed.workflow.run_folder import RunFolder
from stressbed.workflow.spec import resolved_config, spec

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "dataset": (paths.MANIFEST, paths.DATA_FOLDER),
    "texts": (paths.TEXTS, paths.INPUTS),
    "generate": (paths.COMPLETIONS,),
    "transform": (paths.TRANSFORM,),
    "embed": (paths.EMBEDDING,),
    "score": (paths.SCORE,),
}
"""What each of the stages that keep statistics makes."""


@dataclass(frozen=True)
class Grid:
    """The paths and params of a run's rules.

    Attributes:
        plan: The run.
        auto: Whether its config says `generator: auto`; the plan may hold the winner already.
    """

    plan: Plan
    auto: bool = False
    # What every job asks for anew and is the same for many: made once.
    _decided: dict[tuple[str, ...], list[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _specs: dict[tuple[str, ...], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, plan: Plan) -> Grid:
        """Return the grid of a run."""
        return cls(plan, plan.auto)

    def with_winner(self) -> Grid:
        """Return the grid in which `generator: auto` is the generator that the selection has chosen.

        Raises:
            ConfigError: The selection has not chosen yet.
        """
        return replace(self, plan=resolved(self.plan))

    def targets(self) -> list[str]:
        """Return every file of the run beside those of its selection and of its study with people.

        Every intermediate is among them: one that a failed job removed would otherwise go unnoticed.
        """
        folder = RunFolder(self.plan)
        if self.plan.only_selects:
            return [folder.path("config.yaml")]
        return [
            *self.datasets(paths.MANIFEST), *self.datasets(paths.TEXTS), *self.datasets(paths.INPUTS),
            *self.all_rewrites(paths.COMPLETIONS), *self.all_rewrites(paths.TRANSFORM),
            *self.all_cells(paths.EMBEDDING), *self.all_cells(paths.SCORE),
            *folder.files(),
        ]  # fmt: skip

    def path(self, pattern: str) -> str:
        """Return a pattern of the path grammar below the results folder."""
        return f"{self.plan.results}/{pattern}"

    @property
    def by_generator(self) -> bool:
        """Whether a rewritten variant's generator is a wildcard of `embed` and `score`.

        While a selection has not yet chosen, no list of outputs can name the generator. The original
        has none, so it is a job of its own then.
        """
        return self.auto and "variant" not in self.plan.config.job_axes

    @property
    def generator_pattern(self) -> str:
        """Return a regular expression of what the wildcard `generator` may be."""
        return "|".join(map(re.escape, self.plan.generators)) if self.by_generator else paths.ID_PATTERN

    @property
    def embed_axes(self) -> list[str]:
        """Wildcards of `embed` and `score`."""
        return [*self.plan.config.job_axes, *(["generator"] if self.by_generator else [])]

    @property
    def original_axes(self) -> list[str]:
        """Wildcards of the jobs that embed and score untransformed datasets alone."""
        return list(self.plan.config.job_axes)

    @property
    def generate_axes(self) -> list[str]:
        """Wildcards of `generate` and `transform`."""
        return list(self.plan.config.generate_job_axes)

    def cells(self, pattern: str) -> list[str]:
        """Return the outputs of an `embed` or `score` job; its job axes stay wildcards."""
        if self.by_generator:
            return self._rewritten(pattern, self.embed_axes, {"embedder": self.plan.config.embedders})
        return self._expand(self.path(pattern), self.plan.variants, self.embed_axes)

    def originals(self, pattern: str) -> list[str]:
        """Return the outputs of a job for untransformed datasets alone; its job axes stay wildcards."""
        return self._expand(self.path(pattern), [Variant.parse(paths.ORIGINAL)], self.original_axes)

    def original_job(self, stage: str, folder: str = "jobs", suffix: str = "json") -> str:
        """Return the path of such a job's statistics or log."""
        generator = Variant.parse(paths.ORIGINAL).generator
        return self.job(stage, self.embed_axes, folder, suffix).replace("{generator}", generator)

    def rewrites(self, pattern: str) -> list[str]:
        """Return the outputs of a `generate` or `transform` job; its job axes stay wildcards."""
        return self._rewritten(pattern, self.generate_axes, {})

    def _rewritten(
        self, pattern: str, keep: Sequence[str], further: Mapping[str, Sequence[object]]
    ) -> list[str]:
        config = self.plan.config
        axes: dict[str, Sequence[object]] = {
            **further,
            "dataset": config.datasets,
            "generator": config.generator,
            "transformation": config.transformations,
            "seed": config.seeds,
        }
        text = self.path(pattern).replace("{variant}", paths.VARIANT)
        return fill(text, {k: v for k, v in axes.items() if k not in keep})

    def all_cells(self, pattern: str) -> list[str]:
        """Return the files of all cells of the run."""
        text = self.path(pattern)
        return [
            text.format(embedder=e, dataset=d, variant=v)
            for e, d in self.plan.pairs
            for v in self.plan.variants
        ]

    def all_rewrites(self, pattern: str) -> list[str]:
        """Return the files of all rewritten variants of all datasets of the run."""
        return self._expand(self.path(pattern), self.plan.rewrites, [])

    def present_transforms(self) -> list[Path]:
        """Return the files of rewritten texts that are there."""
        return [p for p in map(Path, self.all_rewrites(paths.TRANSFORM)) if p.exists()]

    def datasets(self, pattern: str, wildcards: Mapping[str, str] | None = None) -> list[str]:
        """Return a file of each dataset that a job needs."""
        chosen = self._chosen("dataset", self.plan.config.datasets, wildcards)
        return [self.path(pattern).format(dataset=d) for d in chosen]

    def transforms_for(self, wildcards: Mapping[str, str]) -> list[str]:
        """Return the rewritten texts that an `embed` or `score` job needs."""
        return [p for p in self._needed(paths.TRANSFORM, wildcards) if f"/{paths.ORIGINAL}." not in p]

    def embeddings_for(self, wildcards: Mapping[str, str]) -> list[str]:
        """Return the embeddings that a `score` job needs."""
        return self._needed(paths.EMBEDDING, wildcards)

    def transform_inputs(self, wildcards: Mapping[str, str]) -> list[str]:
        """Return the completions that a `transform` job reads."""
        return [p.format(**wildcards) for p in self.rewrites(paths.COMPLETIONS)]

    def dataset_inputs(self, wildcards: Mapping[str, str]) -> dict[str, list[str]]:
        """Return what a dataset is frozen from: local files, or its source and the translated texts."""
        made = self.plan.translation(wildcards["dataset"])
        if made is None:
            return {"files": [str(p) for p in self.plan.local_files(wildcards["dataset"])]}
        at = {"dataset": made.source, "variant": str(made.variant)}
        patterns = {
            "manifest": paths.MANIFEST,
            "data": paths.DATA_FOLDER,
            "texts": paths.TEXTS,
            "rewrites": paths.TRANSLATION_TRANSFORM,
        }
        return {name: [self.path(p).format(**at)] for name, p in patterns.items()}

    def inputs(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return what a job reads, of the stages that keep statistics; other variants' files may be among it.

        Args:
            stage: Its stage.
            wildcards: Its dataset, generator and embedder, as far as they are given; all of the run else.
        """
        if stage == "dataset":
            return [p for listed in self.dataset_inputs(wildcards).values() for p in listed]
        found = self.datasets(paths.MANIFEST, wildcards)
        if stage == "texts":
            return [*found, *self.datasets(paths.DATA_FOLDER, wildcards)]
        found += self.datasets(paths.TEXTS, wildcards)
        if stage == "transform":
            return [*found, *self.outputs("generate", wildcards)]
        if stage == "embed":
            found += self.datasets(paths.INPUTS, wildcards)
        if stage in {"embed", "score"}:
            found += self.outputs("transform", wildcards)
        return [*found, *self.outputs("embed", wildcards)] if stage == "score" else found

    def outputs(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return what a job makes beside its statistics, of the stages that keep some (see `inputs`)."""
        if stage in {"dataset", "texts"}:
            return [p for pattern in OUTPUTS[stage] for p in self.datasets(pattern, wildcards)]
        text = self.path(OUTPUTS[stage][0])
        generators = self._chosen("generator", self.plan.config.generator, wildcards)
        variants = [v for v in self.plan.rewrites if v.generator in generators]
        if stage in {"embed", "score"}:
            variants = [v for v in self.plan.variants if v.is_original or v in variants]
        return [
            path.replace("{variant}", str(v))
            for path in fill(
                text,
                {
                    "embedder": self._chosen("embedder", self.plan.config.embedders, wildcards),
                    "dataset": self._chosen("dataset", self.plan.config.datasets, wildcards),
                },
            )
            for v in variants
        ]

    def why(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return why files of a stage are not current, in words; missing ones are passed over.

        Args:
            stage: One that keeps statistics.
            wildcards: Dataset, generator and embedder of the files, as far as they have them.
        """
        return self.current.why(
            self.outputs(stage, wildcards), self.decides(stage, wildcards), self.inputs(stage, wildcards)
        )

    def decides_summary(self) -> list[str]:
        """Return what decides the summary: also how many jobs were done for the run, which it sums up."""
        config = self.plan.config
        done = {f"run {config.run}: jobs done": str(self.current.made.executions)}
        return [*self.decides("report", {}), *as_text(done)]

    @cached_property
    def current(self) -> Current:
        """What says whether the run's files are current."""
        return Current(Made(self.plan.results, self.plan.config.run))

    def job(self, stage: str, axes: Sequence[str], folder: str = "jobs", suffix: str = "json") -> str:
        """Return the path of a job's statistics or log, with its axes as wildcards."""
        return self.path("/".join([folder, stage, *(f"{{{a}}}" for a in axes)]) + f".{suffix}")

    def all_jobs(self) -> list[str]:
        """Return the statistics files of all jobs of the run."""
        config = self.plan.config
        values: dict[str, Sequence[object]] = {
            "dataset": config.datasets,
            "embedder": config.embedders,
            "generator": config.generator,
            "variant": self.plan.variants,
        }
        found: list[str] = []
        for stage, axes in self.job_axes.items():
            found += self._jobs(self.job(stage, axes), {a: values[a] for a in axes})
        if self.by_generator:
            for stage in ("embed", "score"):
                axes = self.original_axes
                found += self._jobs(self.original_job(stage), {a: values[a] for a in axes})
        return found

    def _jobs(self, text: str, values: Mapping[str, Sequence[object]]) -> list[str]:
        """Return a path for every combination of the axes; only pairs of embedder and dataset with cells."""
        if not {"embedder", "dataset"} <= set(values):
            return fill(text, values)
        rest = {a: v for a, v in values.items() if a not in {"embedder", "dataset"}}
        return [
            path for e, d in self.plan.pairs for path in fill(text, {"embedder": [e], "dataset": [d], **rest})
        ]

    @property
    def job_axes(self) -> dict[str, list[str]]:
        """Wildcards of each stage that keeps statistics."""
        return {
            "dataset": ["dataset"],
            "texts": ["dataset"],
            "generate": self.generate_axes,
            "transform": self.generate_axes,
            "embed": self.embed_axes,
            "score": self.embed_axes,
        }

    def decides(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return what decides a job's outputs beside its inputs: strings that name themselves."""
        names = self._deciding(stage, wildcards)
        key = (stage, *names)
        if key not in self._decided:
            self._decided[key] = decided(self.plan, stage, names)
        return list(self._decided[key])

    def _deciding(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        """Return the datasets, generators or embedders of a job; a dataset's job is always of one alone."""
        config, axis = self.plan.config, AXES.get(stage)
        if axis is None:
            return []
        if axis == "dataset":
            return [wildcards["dataset"]]
        every = {"generator": config.generator, "embedder": config.embedders}
        return self._chosen(axis, every[axis], wildcards)

    def spec(self, *kinds: str) -> str:
        """Return the catalogue entries of the run's kinds as JSON, for a script."""
        if kinds not in self._specs:
            self._specs[kinds] = spec(self.plan, kinds)
        return self._specs[kinds]

    def resolved_config(self) -> str:
        """Return the run's config with every default filled in, as YAML."""
        return resolved_config(self.plan)

    def plan_text(self) -> str:
        """Return the run with the catalogue's entries that it uses, for a script."""
        if () not in self._specs:
            self._specs[()] = self.plan.of_used_entries().dump()
        return self._specs[()]

    def _chosen(self, axis: str, all_values: list[str], wildcards: Mapping[str, str] | None) -> list[str]:
        if wildcards is not None and axis in dict(wildcards.items()):
            return [wildcards[axis]]
        return all_values

    def _needed(self, pattern: str, wildcards: Mapping[str, str]) -> list[str]:
        given = dict(wildcards.items())
        alone = self.by_generator and "generator" not in given
        return [p.format(**given) for p in (self.originals(pattern) if alone else self.cells(pattern))]

    def _expand(self, text: str, variants: Iterable[Variant], keep: Sequence[str]) -> list[str]:
        axes: dict[str, Sequence[object]] = {
            "embedder": self.plan.config.embedders,
            "dataset": self.plan.config.datasets,
            "variant": list(variants),
        }
        return fill(text, {k: v for k, v in axes.items() if k not in keep})
