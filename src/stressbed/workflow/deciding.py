"""What decides a job's outputs beside its inputs: a job runs again when one of these lines is new."""

from __future__ import annotations

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
from stressbed.config import Plan
from stressbed.workflow import lines
from stressbed.workflow.lines import Lines, as_text

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
    "config": report.VERSION,
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
    """Return what decides a job's outputs beside its inputs: lines that name themselves.

    Args:
        plan: The run.
        stage: The job's stage, one of `VERSIONS`.
        names: Catalogue ids of the job's datasets, generators or embedders, whichever `AXES` names.
    """
    found = _LINES.get(stage)
    return as_text(version(stage) | ({} if found is None else found(plan, names)))


def version(stage: str) -> Lines:
    """Return the line that says which version of a stage's code made an output."""
    return {f"stage {stage}: version": VERSIONS[stage]}


def _datasets(plan: Plan, names: Sequence[str]) -> Lines:
    return _joined(lines.of_dataset(plan, name) for name in names)


def _answers(plan: Plan, names: Sequence[str]) -> Lines:
    entries = [plan.catalogue.transformations[t] for t in plan.config.transformations]
    return _joined([lines.of_transformation(plan, e) for e in entries]) | _joined(
        lines.of_generator(plan, g) for g in names
    )


def _rewrites(plan: Plan, names: Sequence[str]) -> Lines:
    entries = [plan.catalogue.transformations[t] for t in plan.config.transformations]
    return _answers(plan, names) | lines.of_flags(plan, entries)


def _vectors(plan: Plan, names: Sequence[str]) -> Lines:
    return _joined(lines.of_embedder(plan, e) for e in names)


def _joined(parts: Iterable[Lines]) -> Lines:
    return {key: value for part in parts for key, value in part.items()}


SHOWN = ("description", "notice")
"""Keys of the config that the summary and the page show, and nothing else reads."""


def _of_run(*config: str, label: bool = True) -> Callable[[Plan, Sequence[str]], Lines]:
    return lambda plan, _: lines.of_run(plan, config=config, label=label)


_LINES: Mapping[str, Callable[[Plan, Sequence[str]], Lines]] = {
    "dataset": _datasets,
    "generate": _answers,
    "transform": _rewrites,
    "embed": _vectors,
    "score": _vectors,
    "collect": _of_run(*SHOWN, "analysis", "colours", "labels", "human", label=False),
    "analyse": _of_run(*SHOWN, "colours", "human"),
    "plot": _of_run(*SHOWN, "analysis", "human"),
    "report": _of_run("analysis", "colours", "labels", "human"),
    "page": _of_run("analysis", "human"),
    "config": lambda plan, _: lines.of_fields(
        "config", plan.config.model_dump(mode="json", exclude={"results"})
    ),
}
"""What decides a stage's outputs beside its version; `texts` hangs on its inputs alone."""
