"""What decides a job's outputs beside its inputs: a job runs again when one of these lines is new."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from stressbed import (
    analyse,
    collect,
    dataset,
    embed,
    generate,
    human,
    plot,
    report,
    score,
    select,
    transform,
)  # fmt: skip
from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.config.entries import TransformationEntry
from stressbed.fingerprint import digest

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

AXES: Mapping[str, str] = {
    "dataset": "dataset",
    "generate": "generator",
    "transform": "generator",
    "embed": "embedder",
    "score": "embedder",
}
"""The wildcard whose entries decide a stage's outputs; the run as a whole decides those of other stages."""


def decided(plan: Plan, stage: str, names: Sequence[str] = ()) -> list[str]:
    """Return what decides a job's outputs beside its inputs: strings that name themselves.

    Args:
        plan: The run.
        stage: The job's stage, one of `VERSIONS`.
        names: Catalogue ids of the job's datasets, generators or embedders, whichever `AXES` names.
    """
    lines = _LINES.get(stage)
    return [version_line(stage), *([] if lines is None else lines(plan, names))]


def version_line(stage: str) -> str:
    """Return the line that says which version of a stage's code made an output."""
    return f"{stage}-version={VERSIONS[stage]}"


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


def decides_cells(line: str, transformation: str) -> bool:
    """Return whether a line decides the texts that the cells of a transformation are made of.

    Other transformations do not, nor do markers and thresholds: they decide flags, which no cell hangs on.
    """
    if line.startswith(f"transformation:{transformation}="):
        return True
    return not line.startswith(("transformation:", "markers=", "flag_thresholds:"))


def _datasets(plan: Plan, names: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for name in names:
        lines.append(f"dataset:{name}={plan.dataset_identity(name)}")
        made = plan.translation(name)
        lines += [] if made is None else decided_by_generator(plan, made.generator)
    return lines


def _answers(plan: Plan, names: Sequence[str]) -> list[str]:
    transformations = plan.config.transformations
    return [
        *(f"transformation:{t}={plan.catalogue.transformation_identity(t)}" for t in transformations),
        *(line for g in names for line in decided_by_generator(plan, g)),
    ]


def _rewrites(plan: Plan, names: Sequence[str]) -> list[str]:
    return [*_answers(plan, names), *decided_by_flags(plan, plan.config.transformations)]


def _embedders(plan: Plan, names: Sequence[str]) -> list[str]:
    return [f"embedder:{e}={plan.embedder_identity(e)}" for e in names]


def _tidy_tables(plan: Plan, _: Sequence[str]) -> list[str]:
    return [f"fallback_mark={plan.config.fallback_mark}"]


def _tables(plan: Plan, _: Sequence[str]) -> list[str]:
    config = plan.config
    kinds = {"embedders": config.embedders, "datasets": config.datasets, "generators": config.generator}
    entries = {
        kind: {n: getattr(plan.catalogue, kind)[n].model_dump(mode="json") for n in chosen}
        for kind, chosen in kinds.items()
    }
    return [
        _names(plan),
        f"analysis={config.analysis.model_dump_json()}",
        f"catalogue={digest(entries)}",
        f"pairs={digest(plan.pairs)}",
    ]


def _figures(plan: Plan, _: Sequence[str]) -> list[str]:
    return [_names(plan), f"colours={json.dumps(plan.config.colours, sort_keys=True)}"]


def _words(plan: Plan, _: Sequence[str]) -> list[str]:
    return [f"words={digest([plan.config.description, plan.config.notice])}"]


def _page(plan: Plan, names: Sequence[str]) -> list[str]:
    return [*_words(plan, names), *_figures(plan, names)]


def _names(plan: Plan) -> str:
    return f"names={Names.of(plan).fingerprint()}"


_LINES: Mapping[str, Callable[[Plan, Sequence[str]], list[str]]] = {
    "dataset": _datasets,
    "generate": _answers,
    "transform": _rewrites,
    "embed": _embedders,
    "score": _embedders,
    "collect": _tidy_tables,
    "analyse": _tables,
    "plot": _figures,
    "report": _words,
    "page": _page,
}
"""What decides a stage's outputs beside its version; `texts` hangs on its inputs alone."""
