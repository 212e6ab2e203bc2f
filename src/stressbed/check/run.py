"""Checks of a run before any job: names, entries, files, languages, the results folder."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.check.datasets import check_dataset
from stressbed.check.human import check_human
from stressbed.check.markers import check_markers
from stressbed.check.models import check_ability, check_embedder, check_generator
from stressbed.check.names import check_names
from stressbed.check.selection import check_selection
from stressbed.check.settings import check_settings
from stressbed.check.transformations import check_pair, check_transformation
from stressbed.check.translated import check_translated
from stressbed.config.catalogue import ANY
from stressbed.config.model import AUTO
from stressbed.errors import ConfigError, Problems, StressbedError, suggest

if TYPE_CHECKING:
    from stressbed.config.load import Plan

Problem = Iterator[StressbedError]


def check(plan: Plan, before: Sequence[StressbedError] = ()) -> None:
    """Refuse a run that cannot work.

    Args:
        plan: The plan; of its catalogue only the entries that are sound.
        before: What was found while it was read.

    Raises:
        Problems: Everything that was found, in one go.
    """
    problems = [
        *before,
        *lacking(plan),
        *names(plan),
        *check_names(plan),
        *check_selection(plan),
        *check_settings(plan),
        *check_human(plan),
        *check_markers(plan.catalogue),
        *entries(plan),
        *together(plan),
        *shown(plan),
        *writable(plan.results),
    ]
    problems = [p for p in problems if not _follows(p, plan.catalogue.wrong)]
    if problems:
        raise Problems(problems)


def _follows(problem: StressbedError, wrong: Collection[tuple[str, str]]) -> bool:
    """Return whether a problem is that an entry is missing which is there, but could not be read."""
    return any(
        problem.what.startswith(f"no {kind[:-1]} is called ") and name in {ANY, problem.what.split("'")[1]}
        for kind, name in wrong
    )


def lacking(plan: Plan) -> Problem:
    """Yield keys without which a run has no cells; one that only makes a selection has none."""
    if plan.only_selects:
        return
    for key in (*_KEYS.values(), "seeds"):
        if not getattr(plan.config, key):
            yield ConfigError(
                f"the key {key!r} is missing or empty",
                where=f"run config, key {key!r}",
                do=f"add `{key}: [...]`",
            )


def names(plan: Plan) -> Problem:
    """Yield ids that the catalogue does not hold, and values that stand twice in a list."""
    for kind, key in _KEYS.items():
        for name in dict.fromkeys(getattr(plan.config, key)):
            if key == "generator" and name == AUTO:
                continue
            try:
                plan.catalogue.get(kind, name, f"run config, key {key!r}")
            except ConfigError as e:
                yield e
    for key in (*_KEYS.values(), "seeds", "job_axes", "generate_job_axes"):
        values = list(getattr(plan.config, key))
        for value in dict.fromkeys(v for v in values if values.count(v) > 1):
            yield ConfigError(
                f"{value!r} stands twice", where=f"run config, key {key!r}", do="remove one of them"
            )


_KEYS = {
    "datasets": "datasets",
    "embedders": "embedders",
    "generators": "generator",
    "transformations": "transformations",
}
"""Kind of entry -> key of the run config that chooses among them."""


def _chosen(plan: Plan, kind: str) -> list[str]:
    """Return the ids of a kind that the run or its selection names and the catalogue holds."""
    known = getattr(plan.catalogue, kind)
    named = plan.config.embedders if kind == "embedders" else _all_named(plan)[kind]
    return [name for name in dict.fromkeys(named) if name in known]


def _all_named(plan: Plan) -> dict[str, list[str]]:
    if plan.config.selection is not None and plan.config.selection not in plan.catalogue.selections:
        c = plan.config
        return {"datasets": c.datasets, "generators": c.generator, "transformations": c.transformations}
    return {
        "datasets": plan.datasets,
        "generators": plan.generators,
        "transformations": plan.transformations,
    }


def entries(plan: Plan) -> Problem:
    """Yield what is wrong with the entries that the run names, files of local datasets included."""
    c = plan.catalogue
    for name in _chosen(plan, "datasets"):
        yield from check_dataset(c.datasets[name], c.origin["datasets", name])
        yield from check_translated(name, c)
    for name in _chosen(plan, "embedders"):
        yield from check_embedder(c.embedders[name], c.origin["embedders", name])
    for name in _chosen(plan, "generators"):
        yield from check_generator(c.generators[name], c.origin["generators", name])
    for name in _chosen(plan, "transformations"):
        yield from check_transformation(name, c)


def together(plan: Plan) -> Problem:
    """Yield pairs of entries that do not go together."""
    c = plan.catalogue
    for dataset in (d for d in plan.config.datasets if d in c.datasets):
        for name in (t for t in plan.config.transformations if t in c.transformations):
            yield from check_pair(c.transformations[name], c.datasets[dataset])
        for name in (e for e, d in plan.pairs if d == dataset and e in c.embedders):
            yield from check_ability(c.embedders[name], c.datasets[dataset])


def shown(plan: Plan) -> Problem:
    """Yield labels and colours of ids that the run does not have."""
    c = plan.config
    known = {*c.embedders, *(name for named in _all_named(plan).values() for name in named)}
    for key in ("labels", "colours"):
        for name in getattr(c, key):
            if name not in known:
                yield ConfigError(
                    f"{name!r} is not part of this run",
                    where=f"run config, key {key!r}",
                    allowed=", ".join(sorted(known)),
                    do=suggest(name, known) or "remove it",
                )


def writable(results: Path) -> Problem:
    """Yield an error if the results folder cannot be written, or made."""
    problem = unusable(results)
    if problem:
        yield ConfigError(
            f"the results folder cannot be used: {problem}",
            where="run config, key 'results'",
            do="choose another folder",
        )


def unusable(folder: Path) -> str:
    """Return why a folder cannot be written, or made where it is not there; nothing if it can."""
    there = folder.absolute()
    try:
        if "\0" in str(folder):
            return f"{str(folder)!r} has a null character"
        while not there.exists() and there != there.parent:
            there = there.parent
        if not there.is_dir():
            return f"{there} is not a folder"
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as e:
        return f"{str(there)[:200]} cannot be written: {e.strerror}"
    return ""
