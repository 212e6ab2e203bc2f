"""From a run config to its forecast: every dataset, generator, embedder and cell looked at once."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from stressbed import paths
from stressbed.config import Plan
from stressbed.config.entries import GeneratorEntry, TransformationEntry
from stressbed.config.translations import Translation
from stressbed.paths import Variant
from stressbed.plan.assumptions import Assumptions, Device, assumptions
from stressbed.plan.forecast import Forecast, Jobs, Progress
from stressbed.plan.models import Model, models_of
from stressbed.plan.records import Records, read_records
from stressbed.plan.requests import Answers, Asked, asked
from stressbed.plan.sample import Sample, sample_of
from stressbed.plan.strings import Strings, encoded, shared_strings, strings_of
from stressbed.plan.tokens import Tokens
from stressbed.select.winner import outcome, resolved
from stressbed.workflow import Grid, TranslationGrid, cells_to_compute
from stressbed.workflow.current import UNKNOWN


@dataclass
class Encoding:
    """What an embedder encodes of one dataset: strings that differ, and of these those of an earlier one."""

    strings: float
    shared: float
    done: float
    tokens: float
    exact: bool

    @property
    def to_encode(self) -> float:
        """Return the strings that are this dataset's own."""
        return self.strings - self.shared


@dataclass
class Facts:
    """Everything that was counted or estimated for a run, before it becomes hours and bytes."""

    plan: Plan
    grid: Grid
    assumed: Assumptions
    device: Device
    records: Records
    models: dict[str, Model]
    samples: dict[str, Sample] = field(default_factory=dict)
    asked: dict[tuple[str, str], Asked] = field(default_factory=dict)
    strings: dict[str, Strings] = field(default_factory=dict)
    encodings: dict[tuple[str, str], Encoding] = field(default_factory=dict)
    cells_done: int = 0
    translated: dict[tuple[str, str], Asked] = field(default_factory=dict)
    screened: dict[str, Asked] = field(default_factory=dict)
    screened_texts: float = 0.0
    jobs: dict[str, Jobs] = field(default_factory=dict)
    prepared: set[str] = field(default_factory=set)
    refrozen: set[str] = field(default_factory=set)
    rewritten: set[tuple[str, str]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    keys: dict[str, set[str]] = field(default_factory=dict)
    vectors: dict[str, set[int]] = field(default_factory=dict)

    @cached_property
    def store(self) -> Path:
        """Root of the store."""
        return self.plan.results / paths.STORE

    def job(self, stage: str) -> Jobs:
        """Return the jobs of a stage."""
        return self.jobs.setdefault(stage, Jobs())


def forecast(plan: Plan, *, device: str | None = None, progress: Progress | None = None) -> Forecast:
    """Return what a run takes and what of it is done; nothing is written, fetched or loaded onto a GPU.

    Args:
        plan: The run.
        device: Device class that models with weights run on (an id of `assumptions.yaml`); a GPU by
            default, and the CPU for runs with small models only.
        progress: Called with the dataset that is being looked at.

    Raises:
        ConfigError: There is no such device.
        DataError: Local files of a dataset cannot be read.
    """
    from stressbed.plan.totals import totals

    return totals(gather(plan, device=device, progress=progress))


def gather(plan: Plan, *, device: str | None = None, progress: Progress | None = None) -> Facts:
    """Return what was counted or estimated for a run (see `forecast`)."""
    assumed = assumptions()
    chosen, notes = _with_generator(plan)
    models = models_of(chosen, device)
    on_gpu = any(m.place == "gpu" for m in models.values())
    kind = assumed.device(device or (assumed.default_device if on_gpu else "cpu"))
    facts = Facts(
        chosen, Grid(chosen, plan.auto), assumed, kind, read_records(plan.results), models, notes=notes
    )
    say = progress or (lambda _: None)
    for dataset in sorted(chosen.datasets, key=lambda d: chosen.translation(d) is not None):  # sources first
        say(dataset)
        _prepared(facts, dataset)
        frozen = dataset not in facts.refrozen
        facts.samples[dataset] = sample_of(chosen, dataset, assumed, frozen=frozen)
    _translations(facts)
    for dataset in chosen.config.datasets:
        say(dataset)
        _dataset(facts, dataset)
    _screening(facts)
    return facts


def _with_generator(plan: Plan) -> tuple[Plan, list[str]]:
    """Return the plan with a generator: before a selection has chosen, its largest candidate stands in."""
    if not plan.auto:
        return plan, []
    if outcome(plan) is not None:
        return resolved(plan), []
    candidates = [] if plan.selection is None else plan.selection.candidates
    models = models_of(plan, None)
    largest = max(candidates, key=lambda c: models[f"generator:{c}"].parameters or 0.0)
    note = f"No generator is chosen yet: {largest}, the largest candidate, stands in for the winner."
    return plan.with_winner(largest), [note]


def _prepared(facts: Facts, dataset: str) -> None:
    """Note the jobs that freeze a dataset and list its texts, and whether what they made is current."""
    made = facts.plan.translation(dataset)
    current = made is None or (made.source in facts.prepared and _is_translated(facts, made))
    for stage, pattern in (("dataset", paths.MANIFEST), ("texts", paths.TEXTS)):
        there = Path(facts.grid.path(pattern).format(dataset=dataset)).is_file()
        why = facts.grid.why(stage, {"dataset": dataset})
        current = current and there and not why
        if any(not reason.startswith(UNKNOWN) for reason in why):
            facts.refrozen.add(
                dataset
            )  # its texts would be others; that nobody knows how they were made is no sign
        facts.job(stage).add(facts.grid.job(stage, ["dataset"]).format(dataset=dataset), left=not current)
    if current:
        facts.prepared.add(dataset)


def _is_translated(facts: Facts, made: Translation) -> bool:
    """Return whether the translations that a dataset is made of are there and current."""
    grid = TranslationGrid(facts.plan)
    at = grid.at(made)
    files = {s: [p.format(**at) for p in grid.outputs(s)] for s in ("generate", "transform")}
    return all(
        all(Path(p).is_file() for p in files[stage])
        and not facts.grid.current.why(files[stage], grid.decides(stage, at), grid.inputs(stage, at))
        for stage in files
    )


def _dataset(facts: Facts, dataset: str) -> None:
    plan, sample = facts.plan, facts.samples[dataset]
    rewrites: dict[Variant, dict[int, str]] = {}
    given: dict[str, int] = {}
    for generator in plan.config.generator:
        found = _asked_in_run(facts, sample, generator)
        facts.asked[dataset, generator] = replace(found, rewrites={}, tokens={})
        rewrites |= found.rewrites
        given |= found.tokens
    transforms = {v: _path(facts, paths.TRANSFORM, dataset, v) for v in rewrites}
    strings = strings_of(sample, rewrites, given, transforms, facts.assumed)
    facts.strings[dataset] = strings
    for embedder in [e for e, d in plan.pairs if d == dataset]:
        _pair(facts, embedder, sample, strings)


def _asked_in_run(facts: Facts, sample: Sample, generator: str) -> Asked:
    plan, grid = facts.plan, facts.grid
    variants = [v for v in plan.rewrites if v.generator == generator]
    files = {v: _path(facts, paths.COMPLETIONS, sample.dataset, v) for v in variants}
    transformations = [plan.catalogue.transformations[t] for t in plan.config.transformations]
    readable = files.values() if sample.how == "counted" else ()
    found = _asked(facts, sample, generator, transformations, seeds=plan.config.seeds, files=list(readable))
    at = {"dataset": sample.dataset, "generator": generator}
    there = all(f.is_file() for f in files.values())
    current = sample.dataset in facts.prepared and there and not grid.why("generate", at)
    if sample.folder and current:
        found = replace(found, done=found.to_send, left_in=0.0, left_text=0.0, left_out=0.0)
    job = grid.job("generate", grid.generate_axes).format(**at)
    facts.job("generate").add(job, left=not (current and found.finished))
    outputs = [_path(facts, paths.TRANSFORM, sample.dataset, v) for v in variants]
    finished = current and found.finished and all(p.is_file() for p in outputs)
    finished = finished and not grid.why("transform", at)
    if finished:
        facts.rewritten.add((sample.dataset, generator))
    facts.job("transform").add(grid.job("transform", grid.generate_axes).format(**at), left=not finished)
    return found


def _asked(
    facts: Facts,
    sample: Sample,
    generator: str,
    transformations: Sequence[TransformationEntry],
    *,
    seeds: Sequence[int],
    files: Sequence[Path] = (),
) -> Asked:
    plan, store = facts.plan, facts.store
    entry: GeneratorEntry = plan.catalogue.generators[generator]
    identity = plan.generator_identity(generator)
    origin = plan.catalogue.origin["generators", generator].parent
    folder = store / "tokens" / identity
    tokens = Tokens(entry, folder=folder, cache=store, origin=origin, assumed=facts.assumed)
    return asked(
        sample=sample,
        generator=entry,
        identity=identity,
        transformations=transformations,
        seeds=seeds,
        prompts=plan.catalogue.prompts,
        tokens=tokens,
        answers=Answers(store / "completions" / identity, files),
        assumed=facts.assumed,
        earlier=facts.keys.setdefault(generator, set()),
    )


def _pair(facts: Facts, embedder: str, sample: Sample, strings: Strings) -> None:
    plan, grid, dataset = facts.plan, facts.grid, sample.dataset
    entry = plan.catalogue.embedders[embedder]
    at = {"dataset": dataset, "embedder": embedder}
    manifests = [_path(facts, paths.EMBEDDING, dataset, v, embedder) for v in plan.variants]
    there = all(p.is_file() for p in manifests)
    rewritten = all((dataset, g) in facts.rewritten for g in plan.config.generator)
    current = dataset in facts.prepared and there and rewritten and not grid.why("embed", at)
    origin = plan.catalogue.origin["embedders", embedder].parent
    shared = shared_strings(
        strings, sample, entry, origin=origin, earlier=facts.vectors.setdefault(embedder, set())
    )
    if current:
        done = strings.unique - shared
    else:
        identity = plan.embedder_identity(embedder)
        done = encoded(strings, sample, entry, identity=identity, origin=origin, store_root=facts.store)
    most = facts.models[f"embedder:{embedder}"].most_tokens
    tokens = strings.all_tokens(most) * (1 - shared / strings.unique if strings.unique else 1)
    done = min(done, strings.unique - shared)
    facts.encodings[embedder, dataset] = Encoding(strings.unique, shared, done, tokens, strings.exact)
    stale = _stale(facts, embedder, dataset)
    facts.cells_done += len(plan.variants) - len(stale)
    rescored = grid.why("score", at)
    for variant in plan.variants:
        of = {**at, "variant": str(variant), "generator": variant.generator}
        alone = grid.by_generator and variant.is_original
        for stage, left in (
            ("embed", not current),
            ("score", not current or str(variant) in stale or bool(rescored)),
        ):
            path = grid.original_job(stage) if alone else grid.job(stage, grid.embed_axes)
            facts.job(stage).add(path.format(**of), left=left)


def _stale(facts: Facts, embedder: str, dataset: str) -> set[str]:
    """Return the variants of a pair whose cells are to be computed."""
    variants = {str(v): _path(facts, paths.SCORE, dataset, v, embedder) for v in facts.plan.variants}
    if not any(p.is_file() for p in variants.values()):
        return set(variants)
    named = cells_to_compute(facts.grid, [str(p) for p in variants.values()])
    missing = {v for v, p in variants.items() if not p.is_file()}
    return (set(named.split(", ")) & set(variants)) | missing


def _path(facts: Facts, pattern: str, dataset: str, variant: Variant, embedder: str = "") -> Path:
    return Path(facts.grid.path(pattern).format(dataset=dataset, variant=str(variant), embedder=embedder))


def _translations(facts: Facts) -> None:
    for made in facts.plan.translations:
        sample = facts.samples[made.source]
        file = _path(facts, paths.TRANSLATION_COMPLETIONS, made.source, made.variant)
        found = _asked(facts, sample, made.generator, [made.entry], seeds=[made.seed], files=[file])
        facts.translated[made.dataset, made.generator] = replace(found, rewrites={}, tokens={})
        path = facts.grid.path(f"jobs/translate/generate/{made.source}/{made.variant}.json")
        facts.job("translate").add(path, left=not found.finished)


def _screening(facts: Facts) -> None:
    """Count what the candidates of a selection are asked."""
    chosen = facts.plan.selection
    if chosen is None:
        return
    from stressbed.select.sample import sample_texts

    whole = facts.samples[chosen.dataset]
    texts = sample_texts(whole.texts, rows=None, seed=chosen.sample_seed)
    rows = float(texts.groupby(["subset", "split", "row"], sort=False)["weight"].max().sum())
    if whole.how == "counted":
        texts = sample_texts(whole.texts, rows=chosen.rows, seed=chosen.sample_seed)
    elif chosen.rows is not None and chosen.rows < rows:
        texts = texts.assign(weight=texts["weight"] * chosen.rows / rows)
    n = float(texts["weight"].sum()) if whole.how != "counted" else float(len(texts))
    sample = replace(whole, texts=texts, occurrences=n)
    facts.screened_texts = float(texts.drop_duplicates("text")["weight"].sum())
    transformations = [facts.plan.catalogue.transformations[t] for t in chosen.transformations]
    for candidate in chosen.candidates:
        found = _asked(facts, sample, candidate, transformations, seeds=[chosen.seed])
        facts.screened[candidate] = replace(found, rewrites={}, tokens={})
        path = facts.grid.path(f"jobs/select/{chosen.id}/generate/{candidate}.json")
        facts.job("screen").add(path, left=not found.finished)


def free_bytes(folder: Path) -> float:
    """Return the bytes that are free where a folder lies or will lie."""
    there = next((p for p in [folder, *folder.resolve().parents] if p.exists()), Path())
    return float(shutil.disk_usage(there).free)


def cell_count(facts: Facts) -> int:
    """Return the number of cells of a run."""
    return len(facts.plan.pairs) * len(facts.plan.variants)
