"""Checks of selections: who is chosen among, by what, and whether `generator: auto` has one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stressbed.check.transformations import check_pair
from stressbed.config.entries import JudgePromptEntry, SelectionEntry
from stressbed.config.model import AUTO
from stressbed.errors import ConfigError, StressbedError, suggest

if TYPE_CHECKING:
    from stressbed.config.load import Plan

Problem = Iterator[StressbedError]

REQUIRED = ("task", "original", "rewrite")
SLOTS = (*REQUIRED, "source_language", "target_language")
"""What a judge's prompt must and may name."""


def check_selection(plan: Plan) -> Problem:
    """Yield what is wrong with a run's selection and with its use of `auto`."""
    yield from _auto(plan)
    name = plan.config.selection
    if name is None:
        return
    try:
        entry = plan.catalogue.get("selections", name, "run config, key 'selection'")
    except ConfigError as e:
        yield e
        return
    where = f"{plan.catalogue.origin['selections', name]}, selection {name!r}"
    yield from _names(plan, entry, where)
    yield from _lists(entry, where)
    yield from _pairs(plan, entry)
    prompt = plan.catalogue.judge_prompts.get(entry.judge_prompt)
    if prompt is not None:
        yield from _prompt(prompt, where)


def _auto(plan: Plan) -> Problem:
    c = plan.config
    where = "run config, key 'generator'"
    if AUTO in plan.catalogue.generators:
        yield ConfigError(
            f"no generator may be called {AUTO!r}: it stands for the winner of a selection",
            where=f"{plan.catalogue.origin['generators', AUTO]}, generator {AUTO!r}",
            do="give it another id",
        )
    if AUTO in c.generator and len(c.generator) > 1:
        yield ConfigError(
            f"{AUTO!r} stands beside other generators",
            where=where,
            allowed=f"`{AUTO}` alone, or a list of ids",
            do=f"make a run with `{AUTO}` and another with the ids: they share their results",
        )
    if AUTO in c.generator and c.selection is None:
        yield ConfigError(
            f"`generator: {AUTO}` needs a selection",
            where=where,
            allowed=", ".join(sorted(plan.catalogue.selections)) or "the catalogue holds no selections",
            do="name one under `selection`",
        )
    if AUTO in c.generator and "generator" not in c.generate_job_axes:
        yield ConfigError(
            f"with `generator: {AUTO}` the jobs of a generator must be its own",
            where="run config, key 'generate_job_axes'",
            allowed="[generator] or [dataset, generator]",
            do="add `generator`",
        )


def _names(plan: Plan, entry: SelectionEntry, where: str) -> Problem:
    wanted = {
        "candidates": ("generators", entry.candidates),
        "judges": ("generators", entry.judges),
        "dataset": ("datasets", [entry.dataset]),
        "transformations": ("transformations", entry.transformations),
        "judge_prompt": ("judge_prompts", [entry.judge_prompt]),
    }
    for key, (kind, names) in wanted.items():
        for name in dict.fromkeys(names):
            try:
                plan.catalogue.get(kind, name, f"{where}, key {key!r}")
            except ConfigError as e:
                yield e


def _lists(entry: SelectionEntry, where: str) -> Problem:
    for key in ("candidates", "judges", "transformations"):
        values: list[str] = getattr(entry, key)
        for value in dict.fromkeys(v for v in values if values.count(v) > 1):
            yield ConfigError(
                f"{value!r} stands twice", where=f"{where}, key {key!r}", do="remove one of them"
            )


def _pairs(plan: Plan, entry: SelectionEntry) -> Problem:
    c = plan.catalogue
    if entry.dataset not in c.datasets:
        return
    for name in entry.transformations:
        if name not in c.transformations:
            continue
        yield from check_pair(c.transformations[name], c.datasets[entry.dataset])
        if not c.transformations[name].task:
            yield ConfigError(
                f"the transformation {name!r} does not say what raters are told",
                where=f"{c.origin['transformations', name]}, transformation {name!r}, key 'task'",
                do="add `task: ...`, one sentence",
            )


def _prompt(prompt: JudgePromptEntry, where: str) -> Problem:
    place = f"{where}, judge prompt {prompt.id!r}"
    found = re.findall(r"\{(\w+)\}", prompt.template)
    for word in dict.fromkeys(found):
        if word not in SLOTS:
            yield ConfigError(
                f"the prompt has an unknown placeholder {{{word}}}",
                where=place,
                allowed=", ".join(f"{{{s}}}" for s in SLOTS),
                do=suggest(word, SLOTS),
            )
    for word in REQUIRED:
        if word not in found:
            yield ConfigError(
                f"the prompt does not say {{{word}}}", where=place, do="put it into the template"
            )
    if sorted(set(prompt.scale)) != prompt.scale:
        yield ConfigError(
            f"the scale {prompt.scale} is not in order, or names a rating twice",
            where=f"{place}, key 'scale'",
            allowed="rising numbers, the worst first",
        )
