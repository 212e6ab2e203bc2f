"""Checks of a study with human raters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stressbed.check.datasets import invalid_tags
from stressbed.config.entries import FITTED
from stressbed.config.model import HumanStudy, LabelPreservation
from stressbed.errors import ConfigError, StressbedError, suggest

if TYPE_CHECKING:
    from stressbed.config.load import Plan

Problem = Iterator[StressbedError]

RATED_PAIRS = ("STS", "STR")
"""Task types whose pairs carry a similarity."""


def check_human(plan: Plan) -> Problem:
    """Yield what is wrong with a run's study."""
    study = plan.config.human
    if study is None:
        return
    where = "run config, key 'human"
    if plan.only_selects:
        yield ConfigError(
            "a study with people needs rewrites, but this run only makes a selection",
            where=f"{where}'",
            do="name datasets, embedders, transformations and seeds",
        )
        return
    yield from invalid_tags(study.source_languages, f"{where}.source_languages'")
    yield from _tasks(plan)
    yield from _embedder(plan, study, where)
    if study.label_preservation is not None:
        yield from _preservation(plan, study.label_preservation, f"{where}.label_preservation'")
    for name in study.ratings:
        path = plan.base / name
        if not path.exists():
            yield ConfigError(
                f"no such file or folder of ratings: {name}",
                where=f"{where}.ratings'",
                do="check the path, or leave the key out to make the sheets first",
            )
        elif path.is_dir() and not [p for p in plan.rating_files() if p.parent == path]:
            yield ConfigError(
                f"the folder holds no ratings: {name}",
                where=f"{where}.ratings'",
                allowed="files that end in .csv, .tsv, .txt or .xlsx",
                do="put the filled sheets there",
            )


def _tasks(plan: Plan) -> Problem:
    c = plan.catalogue
    for name in plan.config.transformations:
        if name in c.transformations and not c.transformations[name].task:
            yield ConfigError(
                f"the transformation {name!r} does not say what raters are told",
                where=f"{c.origin['transformations', name]}, transformation {name!r}, key 'task'",
                do="add `task: ...`, one sentence",
            )


def _embedder(plan: Plan, study: HumanStudy, where: str) -> Problem:
    name = study.drift_embedder
    if name is not None and name not in plan.config.embedders:
        yield ConfigError(
            f"{name!r} is no embedder of this run",
            where=f"{where}.drift_embedder'",
            allowed=", ".join(plan.config.embedders),
            do=suggest(name, plan.config.embedders) or "add it to `embedders`",
        )
        return
    names = [e for e in plan.config.embedders if e in plan.catalogue.embedders]
    able = [e for e in names if plan.catalogue.embedders[e].backend not in FITTED]
    if plan.rating_files() and (name not in able if name else not able):
        yield ConfigError(
            "the drift needs an embedder that is not fitted on each dataset",
            where=f"{where}.drift_embedder'",
            allowed=", ".join(able) or "none of this run's embedders",
            do="name one of them, or add one to `embedders`",
        )


def _preservation(plan: Plan, study: LabelPreservation, where: str) -> Problem:
    c = plan.config
    if study.dataset not in c.datasets:
        yield ConfigError(
            f"{study.dataset!r} is no dataset of this run",
            where=f"{where}, key 'dataset'",
            allowed=", ".join(c.datasets),
            do=suggest(study.dataset, c.datasets) or "add it to `datasets`",
        )
    elif (entry := plan.catalogue.datasets.get(study.dataset)) and entry.task_type not in RATED_PAIRS:
        yield ConfigError(
            f"{study.dataset!r} has no rated pairs: it is {entry.task_type}",
            where=f"{where}, key 'dataset'",
            allowed=" or ".join(RATED_PAIRS),
        )
    for name in study.transformations:
        if name not in c.transformations:
            yield ConfigError(
                f"{name!r} is no transformation of this run",
                where=f"{where}, key 'transformations'",
                allowed=", ".join(c.transformations),
                do=suggest(name, c.transformations),
            )
