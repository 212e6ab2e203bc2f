"""What the HTEB paper reports, beside a run's own numbers where the run has the very grid they are over.

`paper.yaml` holds the numbers and their grids. What a run has is told by its entries' content (mteb's tasks,
models and their revisions, prompts' words), so that neither a run's name nor an entry's decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import Field

from stressbed.config.entries import DatasetEntry, EmbedderEntry, GeneratorEntry, TransformationEntry
from stressbed.config.load import Plan
from stressbed.config.model import Strict
from stressbed.embed.embedders.registered import LOADERS_OWN
from stressbed.fingerprint import text_digest

FILE = Path(__file__).with_name("paper.yaml")

Pairs = Collection[tuple[str, str]]
"""Pairs of a dataset's id and an embedder's id."""


class Task(Strict):
    """A dataset of the paper: mteb's task, as a whole or in translation."""

    task: str
    revision: str
    subsets: list[str]
    split: str
    metric: str
    into: str = ""

    @property
    def key(self) -> str:
        """What it is, in a form that can be compared."""
        said = (self.task, self.revision, "+".join(sorted(self.subsets)), self.split, self.metric, self.into)
        return "|".join(said)


class Transformed(Strict):
    """A transformation of the paper."""

    axis: str
    prompts: list[str]
    draw: str = "none"
    pool: tuple[str, ...] = Field(default=(), strict=False)


class Embedders(Strict):
    """Embedders of the paper: their number, if it is known, and those that its text names, with revisions."""

    count: int | None
    models: dict[str, str]

    @property
    def whole(self) -> bool:
        """Whether every one of them is named."""
        return len(self.models) == self.count


class Number(Strict):
    """What the paper prints, and the datasets and embedders that it is over, by their names in the file."""

    grid: list[list[str]]
    says: str


class Paper(Strict):
    """The file."""

    source: str
    generators: dict[str, str]
    seeds: list[int]
    prompts: dict[str, str]
    transformations: list[Transformed]
    datasets: dict[str, list[Task]]
    embedders: dict[str, Embedders]
    numbers: dict[str, list[Number]]

    def pairs(self, number: Number) -> set[tuple[str, str]] | None:
        """Return the pairs of task and model that a number is over; None where they are not all known."""
        if not all(self.embedders[e].whole for _, e in number.grid):
            return None
        return {
            (task.key, f"{model}@{revision}")
            for datasets, embedders in number.grid
            for task in self.datasets[datasets]
            for model, revision in self.embedders[embedders].models.items()
        }


@lru_cache(maxsize=1)
def paper() -> Paper:
    """Return the paper's numbers and grids."""
    return Paper.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Beside:
    """Which of the paper's numbers may stand beside a run's own.

    Attributes:
        source: The paper's numbers; None: none may.
        generators: Those of the run that are the paper's, where transformations and seeds are too.
        tasks: By dataset of the run what it is, as `Task.key`; empty if it is none of mteb's as a whole.
        models: By embedder of the run its model and revision; empty if the entry changes what mteb loads.
    """

    source: Paper | None = None
    generators: frozenset[str] = frozenset()
    tasks: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, source: Paper | None = None) -> Beside:
        """Return what of a run is on the paper's grid."""
        source, c = source or paper(), plan.catalogue
        chosen = [c.transformations[t] for t in plan.config.transformations]
        alike = set(plan.config.seeds) == set(source.seeds) and _same_transformations(plan, chosen, source)
        generators = {g for g in plan.config.generator if alike and _is_papers(c.generators[g], source)}
        return cls(
            source,
            frozenset(generators),
            {d: _task(plan, c.datasets[d], source) for d in plan.config.datasets},
            {e: _model(c.embedders[e]) for e in plan.config.embedders},
        )

    def number(self, claim: str, *, generator: str, pairs: Pairs) -> str:
        """Return what the paper prints on a claim over exactly these pairs; empty where there is nothing.

        Args:
            claim: Key of `numbers`.
            generator: The run's generator that the claim is about.
            pairs: Dataset and embedder of every cell that the run's own number rests on.
        """
        if self.source is None or generator not in self.generators:
            return ""
        mine = {(self.tasks.get(d, ""), self.models.get(e, "")) for d, e in pairs}
        if len(mine) < len(set(pairs)) or any(not (task and model) for task, model in mine):
            return ""
        return next((n.says for n in self.source.numbers[claim] if self.source.pairs(n) == mine), "")


def _is_papers(entry: GeneratorEntry, source: Paper) -> bool:
    as_it_is = entry.quantization is None and entry.chat_template and entry.engine not in {"fake", "planted"}
    if entry.sampling.temperature > 0 or not as_it_is or entry.revision is None:
        return False
    return source.generators.get(entry.model) == entry.revision


def _same_transformations(plan: Plan, chosen: Iterable[TransformationEntry], source: Paper) -> bool:
    """Return whether a run's transformations are the paper's, by what they ask for and draw."""
    words = plan.catalogue.prompts

    def of_entry(e: TransformationEntry) -> tuple[object, ...]:
        prompts = tuple(text_digest(words[s.prompt].template) for s in e.steps)
        return e.axis, e.fields, prompts, e.draw, _codes(e.pool)

    def of_paper(t: Transformed) -> tuple[object, ...]:
        return t.axis, "all", tuple(source.prompts[p] for p in t.prompts), t.draw, _codes(t.pool)

    # Counted: two entries of one transformation weigh twice in an axis score.
    return Counter(map(of_entry, chosen)) == Counter(map(of_paper, source.transformations))


def _codes(tags: Iterable[str]) -> frozenset[str]:
    return frozenset(t.partition("-")[0] for t in tags)


def _task(plan: Plan, entry: DatasetEntry, source: Paper) -> str:
    """Return what a dataset is; empty where it is none of mteb's tasks, or a part of one."""
    made, into = entry.translate_dataset, ""
    if made is not None:
        if not _is_papers(plan.catalogue.generators[made.generator], source):
            return ""
        (into,) = _codes(t for tags in entry.languages.values() for t in tags) or {""}
        entry = plan.catalogue.datasets[made.source]
    limited = entry.row_limit is not None or entry.corpus_sample is not None or entry.max_words is not None
    if entry.task is None or entry.revision is None or limited or entry.evaluation is not None:
        return ""
    return Task(
        task=entry.task, revision=entry.revision, subsets=entry.subsets, split="+".join(entry.splits),
        metric=entry.main_score, into=into,
    ).key  # fmt: skip


def _model(entry: EmbedderEntry) -> str:
    """Return an embedder's model and revision; empty where the entry changes what mteb would load."""
    own = (entry.max_length, entry.pooling, entry.dimensions, entry.planted, entry.gguf_file)
    if entry.backend != "mteb" or entry.normalise or entry.instructions or any(v is not None for v in own):
        return ""
    if entry.dtype not in LOADERS_OWN or entry.similarity == "dot":
        return ""
    return f"{entry.model}@{entry.revision}"
