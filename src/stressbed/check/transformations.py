"""Checks of transformations: prompts, steps, languages, and whether they suit the run's datasets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stressbed.check.datasets import invalid_tags
from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import DatasetEntry, PromptEntry, TransformationEntry
from stressbed.errors import ConfigError, StressbedError, suggest
from stressbed.languages import is_valid, remaining

Problem = Iterator[StressbedError]

PLACEHOLDER = "target_language"
_STEPS = {("source",), ("target",), ("source", "source"), ("intermediate", "source"), ("source", "target"),
          ("target", "target")}  # fmt: skip
"""Languages that the steps of a transformation may have, in order."""

ONE_SIDED = frozenset({"Clustering"})
"""Task types whose texts are not told apart into queries and documents."""


def check_transformation(name: str, catalogue: Catalogue) -> Problem:
    """Yield what is wrong with a transformation's entry and its prompts."""
    entry = catalogue.transformations[name]
    where = f"{catalogue.origin['transformations', name]}, transformation {name!r}"
    yield from _steps(entry, where)
    yield from _draw(entry, where)
    yield from _question(entry, where)
    for i, step in enumerate(entry.steps):
        place = f"{where}, step {i + 1}"
        if step.prompt not in catalogue.prompts:
            yield ConfigError(
                f"no prompt is called {step.prompt!r}",
                where=place,
                allowed=", ".join(sorted(catalogue.prompts)) or "the catalogue holds no prompts",
                do=suggest(step.prompt, catalogue.prompts) or "add it to a catalogue file",
            )
            continue
        # After a translation, `source` is a language that the model cannot see.
        named = step.language != "source" or entry.steps[0].language != "source"
        yield from _prompt(catalogue.prompts[step.prompt], named, place)


def _prompt(prompt: PromptEntry, needs_language: bool, where: str) -> Problem:
    if not prompt.template.strip():
        yield ConfigError(f"the prompt {prompt.id!r} is empty", where=where)
    found = re.findall(r"\{(\w+)\}", prompt.template)
    for word in found:
        if word != PLACEHOLDER:
            yield ConfigError(
                f"the prompt {prompt.id!r} has an unknown placeholder {{{word}}}",
                where=where,
                allowed=f"{{{PLACEHOLDER}}}; the text follows the prompt by itself",
                do=suggest(word, [PLACEHOLDER]),
            )
    if needs_language and PLACEHOLDER not in found:
        yield ConfigError(
            f"the prompt {prompt.id!r} does not say {{{PLACEHOLDER}}}, but this step needs a language",
            where=where,
            do=f"put {{{PLACEHOLDER}}} into the prompt, or use another one",
        )


def _steps(entry: TransformationEntry, where: str) -> Problem:
    languages = tuple(step.language for step in entry.steps)
    if languages not in _STEPS:
        yield ConfigError(
            f"the steps' languages ({', '.join(languages)}) do not fit together",
            where=f"{where}, key 'steps'",
            allowed="; ".join(sorted(", ".join(s) for s in _STEPS)),
            do="a first step that is translated back is `intermediate`, its second step `source`",
        )
    drawn = any(language != "source" for language in languages)
    if drawn and entry.draw == "none":
        yield ConfigError(
            "a step needs a drawn language, but `draw` is `none`",
            where=f"{where}, key 'draw'",
            allowed="dataset, subset, text",
        )
    if not drawn and entry.draw != "none":
        yield ConfigError(
            f"`draw` is {entry.draw!r}, but no step uses a drawn language",
            where=f"{where}, key 'draw'",
            do="remove `draw`, or let a step's language be `target` or `intermediate`",
        )


def _draw(entry: TransformationEntry, where: str) -> Problem:
    yield from invalid_tags(entry.pool, f"{where}, key 'pool'")
    if entry.draw == "none":
        if entry.pool or entry.exclude != "none":
            yield ConfigError(
                "`pool` and `exclude` have no effect without `draw`",
                where=where,
                do="remove them or set `draw`",
            )
    elif not entry.pool:
        yield ConfigError(
            "the language pool is empty", where=f"{where}, key 'pool'", do="name at least two languages"
        )
    if len(set(entry.pool)) < len(entry.pool):
        yield ConfigError("a language stands twice in the pool", where=f"{where}, key 'pool'")


AXIS_OF_QUESTION = {
    "rewording": "lexical_stylistic", "shorter": "length", "longer": "length", "language": "language",
    "mixed": "language",
}  # fmt: skip


def _question(entry: TransformationEntry, where: str) -> Problem:
    axis = AXIS_OF_QUESTION.get(entry.question or "", entry.axis)
    if axis != entry.axis:
        yield ConfigError(
            f"`question: {entry.question}` is answered on the axis {axis!r}, but this transformation is of "
            f"{entry.axis!r}",
            where=f"{where}, key 'question'",
            allowed=", ".join([*(q for q, a in AXIS_OF_QUESTION.items() if a == entry.axis), "none"]),
            do="change `question` or `axis`; without `question` its steps decide",
        )


def check_pair(entry: TransformationEntry, dataset: DatasetEntry) -> Problem:
    """Yield why a transformation cannot be applied to a dataset."""
    where = f"transformation {entry.id!r} on dataset {dataset.id!r}"
    if entry.fields != "all" and dataset.task_type in ONE_SIDED:
        yield ConfigError(
            f"`fields: {entry.fields}` selects nothing: texts of {dataset.task_type} are neither queries nor "
            "documents",
            where=where,
            allowed="fields: all",
            do="take the transformation or the dataset out of this run",
        )
    tags = [*entry.pool, *(t for ts in dataset.languages.values() for t in ts)]
    if entry.draw == "none" or not entry.pool or not all(map(is_valid, tags)):
        return
    if all(_nothing_left(entry, dataset, s) for s in dataset.subsets):
        spoken = dict.fromkeys(t for s in dataset.subsets for t in dataset.languages.get(s, []))
        yield ConfigError(
            "the language pool leaves nothing to draw, in any subset",
            where=where,
            allowed=f"the pool is {', '.join(entry.pool)}; the dataset's languages are {', '.join(spoken)}",
            do="write a transformation of your own with a larger pool",
        )


_PAIRS = frozenset({"STS", "STR", "PairClassification", "BitextMining"})
"""Task types whose rows hold one text of each of a subset's two languages."""


def _nothing_left(entry: TransformationEntry, dataset: DatasetEntry, subset: str) -> bool:
    """Return whether a subset is left without a choice; one text without one is enough."""
    languages = dataset.languages.get(subset, [])
    if entry.exclude == "none":
        return False
    if entry.exclude == "subset" or entry.draw == "subset":
        return not remaining(entry.pool, languages)
    if entry.exclude == "row" and dataset.task_type in _PAIRS and len(languages) == 2:
        return not remaining(entry.pool, languages)
    return any(not remaining(entry.pool, [language]) for language in languages)
