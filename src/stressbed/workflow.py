"""What the rules ask for: paths, inputs and params of a run, as plain functions of a plan.

Everything here is cheap and imports no model library: it runs whenever the DAG is built.

Two kinds of params: those that *decide* a result name themselves (``"embedder=ab12"``; Snakemake
compares params as a set of values, so a value must say what it is), and the *spec* that a script
needs to do its work (JSON; its functions take `output`, which keeps Snakemake from comparing it,
so that a changed label or batch size does not rerun a job).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from stressbed import (
    analyse,
    collect,
    dataset,
    embed,
    generate,
    human,
    paths,
    plot,
    report,
    score,
    select,
    transform,
)  # fmt: skip
from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.config.entries import TransformationEntry
from stressbed.errors import StoreError
from stressbed.fingerprint import digest
from stressbed.paths import Cell, Variant
from stressbed.report import page
from stressbed.select.winner import outcome, resolved
from stressbed.store import read_json

VERSIONS: dict[str, str] = {
    "dataset": dataset.VERSION,
    "texts": dataset.VERSION,
    "generate": generate.VERSION,
    "transform": transform.VERSION,
    "embed": embed.VERSION,
    "score": score.VERSION,
    "collect": collect.VERSION,
    "analyse": analyse.VERSION,
    "plot": plot.VERSION,
    "report": report.VERSION,
    "page": report.VERSION,
    "select": select.VERSION,
    "human": human.VERSION,
}
"""Version of each stage: part of its rule's params."""


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
    _made: dict[tuple[str, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        if self.plan.only_selects:
            return [self.run_path("config.yaml")]
        names = [*self.tables, *self.item_tables, *self.conclusions]
        tables = expand_names(self.run_path("tables"), names, analyse.SUFFIXES)
        figures = expand_names(self.run_path("figures"), [*self.figures, *self.cards], plot.SUFFIXES)
        summary = ("summary.json", "summary.csv", "summary.md")
        tidy = ("scores.parquet", "items.parquet", "item_texts.parquet", "item_drift.parquet")
        own = (*tidy, *summary, "findings.md", page.FILE, "config.yaml")
        return [
            *self.datasets(paths.MANIFEST), *self.datasets(paths.TEXTS), *self.datasets(paths.INPUTS),
            *self.all_rewrites(paths.COMPLETIONS), *self.all_rewrites(paths.TRANSFORM),
            *self.all_cells(paths.EMBEDDING), *self.all_cells(paths.SCORE),
            *tables, *figures, *map(self.run_path, own),
        ]  # fmt: skip

    def path(self, pattern: str) -> str:
        """Return a pattern of the path grammar below the results folder."""
        return f"{self.plan.results}/{pattern}"

    def run_path(self, name: str) -> str:
        """Return a path in the run's own folder."""
        return f"{self.plan.run_folder}/{name}"

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
        return _fill(text, {k: v for k, v in axes.items() if k not in keep})

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
            return _fill(text, values)
        rest = {a: v for a, v in values.items() if a not in {"embedder", "dataset"}}
        return [
            path
            for e, d in self.plan.pairs
            for path in _fill(text, {"embedder": [e], "dataset": [d], **rest})
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
        return [f"{stage}-version={VERSIONS[stage]}", *self._decides(stage, wildcards)]

    def _decides(self, stage: str, wildcards: Mapping[str, str]) -> list[str]:
        plan, config = self.plan, self.plan.config
        if stage == "dataset":
            name = wildcards["dataset"]
            made = plan.translation(name)
            by = [] if made is None else decided_by_generator(plan, made.generator)
            return [f"dataset:{name}={plan.dataset_identity(name)}", *by]
        if stage in {"generate", "transform"}:
            generators = self._chosen("generator", config.generator, wildcards)
            key = ("decides", stage, *generators)
            if key not in self._made:
                self._made[key] = self._decided_by_rewriting(stage, generators)
            return list(self._made[key])
        if stage in {"embed", "score"}:
            embedders = self._chosen("embedder", config.embedders, wildcards)
            return [f"embedder:{e}={plan.embedder_identity(e)}" for e in embedders]
        return self._decides_for_reader(stage)

    def _decided_by_rewriting(self, stage: str, generators: Sequence[str]) -> list[str]:
        plan, names = self.plan, self.plan.config.transformations
        return [
            *(f"transformation:{t}={plan.catalogue.transformation_identity(t)}" for t in names),
            *(line for g in generators for line in decided_by_generator(plan, g)),
            *(decided_by_flags(plan, names) if stage == "transform" else []),
        ]

    def _decides_for_reader(self, stage: str) -> list[str]:
        """Return what decides the tables, figures and summary beside their inputs."""
        config = self.plan.config
        if stage == "collect":
            return [f"fallback_mark={config.fallback_mark}"]
        if stage == "page":
            return [*self._decides_for_reader("report"), *self._decides_for_reader("plot")]
        if stage == "report":
            return [f"words={digest([config.description, config.notice])}"]
        if stage not in {"analyse", "plot"}:
            return []
        names = f"names={Names.of(self.plan).fingerprint()}"
        colours = f"colours={json.dumps(config.colours, sort_keys=True)}"
        if stage == "plot":
            return [names, colours]
        kinds = {"embedders": config.embedders, "datasets": config.datasets, "generators": config.generator}
        entries = {
            kind: {n: getattr(self.plan.catalogue, kind)[n].model_dump(mode="json") for n in chosen}
            for kind, chosen in kinds.items()
        }
        return [
            names,
            f"analysis={config.analysis.model_dump_json()}",
            f"catalogue={digest(entries)}",
            f"pairs={digest(self.plan.pairs)}",
        ]

    def spec(self, *kinds: str) -> str:
        """Return the catalogue entries of the run's kinds as JSON, for a script."""
        key = ("spec", *kinds)
        if key not in self._made:
            self._made[key] = self._spec(kinds)
        return str(self._made[key])

    def _spec(self, kinds: Sequence[str]) -> str:
        plan, c = self.plan, self.plan.config
        steps = [s for t in plan.transformations for s in plan.catalogue.transformations[t].steps]
        names = {
            "datasets": plan.datasets,
            "embedders": c.embedders,
            "generators": plan.generators,
            "transformations": plan.transformations,
            "prompts": sorted({s.prompt for s in steps}),
            "markers": sorted(plan.catalogue.markers),
        }
        out: dict[str, object] = {}
        for kind in kinds:
            entries = getattr(self.plan.catalogue, kind)
            out[kind] = {n: entries[n].model_dump(mode="json") for n in names[kind]}
            out[f"{kind}_folders"] = {n: str(self.plan.catalogue.origin[kind, n].parent) for n in names[kind]}
        chosen = plan.selection
        out["seeds"] = [*c.seeds, *([] if chosen is None else [chosen.seed])]
        out["identities"] = {
            **{f"generator:{g}": plan.generator_identity(g) for g in plan.generators},
            **{f"embedder:{e}": plan.embedder_identity(e) for e in c.embedders},
        }
        return json.dumps(out, sort_keys=True)

    @property
    def tables(self) -> list[str]:
        """Names of the result tables."""
        return [*analyse.TABLES, *(analyse.CROSSCHECK_TABLES if self._several else ())]

    @property
    def item_tables(self) -> list[str]:
        """Names of the tables that are made of single items."""
        return list(analyse.ITEM_TABLES)

    @property
    def conclusions(self) -> list[str]:
        """Names of the tables that are made of other tables."""
        return list(analyse.CONCLUSIONS)

    @property
    def analysed_tables(self) -> list[str]:
        """Names of the tables that conclusions are drawn from."""
        return [*(t for t in self.tables if t not in analyse.CONCLUSIONS), *self.item_tables]

    def caption(self, table: str) -> str:
        """Return the name of a table's caption; the tables of flag rates share one."""
        return next((c for c in ("flag_rates", "crosscheck", "catalogue") if table.startswith(c)), table)

    def category(self, table: str) -> str:
        """Return where a table stands in the report: scores first, then the rewrites behind them."""
        scores = (*analyse.SCORE_TABLES, *analyse.ITEM_TABLES, *analyse.CROSSCHECK_TABLES)
        if table in {*analyse.STATISTIC_TABLES, *analyse.CONCLUSIONS}:
            return "3. Statistics"
        return "2. Scores" if table in scores else "4. Rewrites and models"

    @property
    def figures(self) -> list[str]:
        """Names of the figures."""
        return [*plot.FIGURES, *([plot.CROSSCHECK] if self._several else [])]

    @property
    def cards(self) -> list[str]:
        """Names of the embedders' cards, beside the figures."""
        return [f"{plot.CARDS}/{e}" for e in self.plan.config.embedders]

    @property
    def figure_tables(self) -> list[str]:
        """Names of the run's tables that figures are drawn from."""
        tables = [*self.tables, *self.item_tables, *self.conclusions]
        wanted = [*plot.INPUTS, *([f"{plot.CROSSCHECK}_cells"] if self._several else [])]
        return [t for t in wanted if t in tables]

    @property
    def page_inputs(self) -> list[str]:
        """Tables and findings that the interactive page is made of."""
        tables = [*self.tables, *self.item_tables, *self.conclusions]
        shown = [t for t in tables if t in {*page.TABLES, *page.FURTHER}]
        return [*expand_names(self.run_path("tables"), shown, ("csv", "md")), self.run_path("findings.md")]

    @property
    def _several(self) -> bool:
        """Whether generators can be compared with each other."""
        return len(self.plan.config.generator) > 1

    def resolved_config(self) -> str:
        """Return the run's config with every default filled in, as YAML."""
        return yaml.safe_dump(self.plan.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)

    def stale(self, outputs: Sequence[str]) -> str:
        """Return the cells among a score job's outputs that it would compute, for its message.

        Cheap enough for a dry run: it compares what decided the files that are there with what
        decides them now, and asks the store; no model library is imported.
        """
        by_pair: dict[tuple[str, str], list[Cell]] = {}
        for out in outputs:
            cell = Cell.of_path(out)
            by_pair.setdefault((cell.embedder, cell.dataset), []).append(cell)
        names = [name for cells in by_pair.values() for name in self._stale(cells)]
        return ", ".join(names) or "none"

    def _stale(self, cells: Sequence[Cell]) -> list[str]:
        from stressbed.score.run import CellJob, stale_cells

        embedder, name = cells[0].embedder, cells[0].dataset
        changed = {g: self._changed_since(name, g) for g in {c.variant.generator for c in cells}}
        held = [c for c in cells if not _concerned(c.variant, changed[c.variant.generator])]
        manifest = Path(self.path(paths.MANIFEST).format(dataset=name))
        stale = stale_cells(
            manifest=_readable(manifest),
            embedder_identity=self.plan.embedder_identity(embedder),
            cells=[CellJob(c, *self._files(c)) for c in held],
            store_root=Path(self.path(paths.STORE)),
        )
        current = {str(c.variant) for c in held} - set(stale)
        return [v for v in (str(c.variant) for c in cells) if v not in current]

    def _files(self, cell: Cell) -> tuple[Path, Path | None, Path]:
        """Return a cell's embedding, rewritten texts (None for the original) and score."""
        at = {"embedder": cell.embedder, "dataset": cell.dataset, "variant": str(cell.variant)}
        embedding, transform, out = (
            Path(self.path(p).format(**at)) for p in (paths.EMBEDDING, paths.TRANSFORM, paths.SCORE)
        )
        return embedding, None if cell.variant.is_original else transform, out

    def _changed_since(self, dataset: str, generator: str) -> set[str]:
        """Return what decides the jobs before `embed` now and did not when they last ran.

        Args:
            dataset: Catalogue id.
            generator: Catalogue id, or that of the original, which has no rewriting.
        """
        at = {"dataset": dataset, "generator": generator}
        original = generator == Variant.parse(paths.ORIGINAL).generator
        stages = ["dataset", "texts"] if original else ["dataset", "texts", "generate", "transform"]
        changed: set[str] = set()
        for stage in stages:
            path = Path(self.job(stage, self.job_axes[stage]).format(**at))
            if path.exists():
                changed |= set(self.decides(stage, at)) - set((_readable(path) or {}).get("decides", []))
        return changed

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
        return _fill(text, {k: v for k, v in axes.items() if k not in keep})


def expand_names(folder: str, names: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files of some tables or figures."""
    return [f"{folder}/{name}.{suffix}" for name in names for suffix in suffixes]


def decided_by_generator(plan: Plan, name: str) -> list[str]:
    """Return what a generator decides of a job's outputs: strings that name themselves."""
    entry = plan.catalogue.generators[name]
    rules = {"limits": entry.limits, "retry": entry.retry}
    return [
        f"generator:{name}={plan.generator_identity(name)}",
        *(f"{key}:{name}={rule.model_dump_json()}" for key, rule in rules.items()),
        f"context:{name}={entry.context}",
    ]


def decided_by_flags(plan: Plan, transformations: Iterable[str]) -> list[str]:
    """Return what decides the error flags beside the texts: strings that name themselves."""
    return decided_by_flags_of(plan, [plan.catalogue.transformations[t] for t in transformations])


def decided_by_flags_of(plan: Plan, transformations: Iterable[TransformationEntry]) -> list[str]:
    """Return `decided_by_flags` of entries that need not be part of the catalogue."""
    lists = {name: e.model_dump(exclude={"id", "source"}) for name, e in plan.catalogue.markers.items()}
    return [
        f"markers={digest(lists)}",
        *(f"flag_thresholds:{t.id}={t.flag_thresholds.model_dump_json()}" for t in transformations),
    ]


def _concerned(variant: Variant, changed: Iterable[str]) -> bool:
    """Return whether one of the changed lines decides the variant's texts.

    Other transformations do not, nor do markers and thresholds: they decide flags, which no cell hangs on.
    """
    own = f"transformation:{variant.transformation}="
    flags = ("markers=", "flag_thresholds:")
    return any(line.startswith(own) or not line.startswith(("transformation:", *flags)) for line in changed)


def _readable(path: Path) -> dict[str, Any] | None:
    """Return what a JSON file of the results holds; None if it is missing or damaged.

    That a file is damaged is for the job to say that needs it: the DAG must be built nevertheless.
    """
    try:
        return read_json(path)
    except (FileNotFoundError, StoreError):
        return None


def _fill(text: str, axes: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the text for every combination of the axes it names; other wildcards stay."""
    names = [a for a in axes if f"{{{a}}}" in text]
    found = []
    for values in product(*(axes[a] for a in names)):
        filled = text
        for name, value in zip(names, values, strict=True):
            filled = filled.replace(f"{{{name}}}", str(value))
        found.append(filled)
    return found


def where_results_are(grid: Grid) -> list[str]:
    """Return one line per stage that says where its results lie, for the end of a run."""
    plan, r, run = grid.plan, grid.plan.results, grid.plan.run_folder
    chosen = outcome(plan)
    lines = [
        ("selection", f"{plan.selection_folder}/winner.json, tables/, figures/" if chosen else ""),
        ("people", f"{r}/{paths.HUMAN_FOLDER.format(run=plan.config.run)}/" if plan.config.human else ""),
    ]
    if plan.only_selects:
        lines += [("report", f"{run}/report.html")]
    else:
        lines += _places(r, run)
    said = [str(chosen["sentence"])] if chosen else []
    return [*(f"  {name:<11}{place}" for name, place in lines if place and _exists(place)), *said]


def _places(r: Path, run: Path) -> list[tuple[str, str]]:
    return [
        ("datasets", f"{r}/datasets/"),
        ("rewrites", f"{r}/transforms/"),
        ("cells", f"{r}/scores/"),
        ("all scores", f"{run}/scores.parquet, items.parquet"),
        ("tables", f"{run}/tables/"),
        ("figures", f"{run}/figures/"),
        ("summary", f"{run}/summary.json"),
        ("page", f"{run}/{page.FILE}"),
        ("report", f"{run}/report.html"),
    ]


def _exists(place: str) -> bool:
    return Path(place.split(",", maxsplit=1)[0]).exists()
