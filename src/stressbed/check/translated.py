"""Checks of translated datasets against the entries that they name."""

from __future__ import annotations

from collections.abc import Iterator

from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import DatasetEntry, TransformationEntry, TranslateDataset
from stressbed.config.model import AUTO
from stressbed.errors import ConfigError, StressbedError
from stressbed.languages import is_valid, language_of

Problem = Iterator[StressbedError]

AGREEING = ("task_type", "main_score", "subsets", "splits")
"""Keys that must be the same as the source's."""

UNKNOWN = frozenset({"und", "mul", "mis", "zxx"})
"""ISO 639 codes that name no one language: nothing can be translated into them."""


def check_translated(name: str, catalogue: Catalogue) -> Problem:
    """Yield what is wrong with what a dataset is translated from and by; nothing for other datasets."""
    entry = catalogue.datasets[name]
    rule = entry.translate_dataset
    if rule is None:
        return
    where = f"{catalogue.origin['datasets', name]}, dataset {name!r}"
    yield from _generator(rule, catalogue, f"{where}, key 'translate_dataset.generator'")
    yield from _transformation(rule, catalogue, f"{where}, key 'translate_dataset.transformation'")
    place = f"{where}, key 'translate_dataset.source'"
    try:
        source: DatasetEntry = catalogue.get("datasets", rule.source, place)
    except ConfigError as e:
        yield e
        return
    if source.translate_dataset is not None:
        yield ConfigError(
            f"{rule.source!r} is itself a translation",
            where=place,
            do=f"translate {source.translate_dataset.source!r} instead",
        )
        return
    yield from _agreement(entry, source, where)
    yield from _language(entry, source, where)


def _generator(rule: TranslateDataset, catalogue: Catalogue, where: str) -> Problem:
    if rule.generator == AUTO:
        yield ConfigError(
            "a dataset cannot be translated by `auto`: it must be the same dataset in every run",
            where=where,
            allowed=", ".join(sorted(catalogue.generators)),
            do="name a generator",
        )
        return
    try:
        catalogue.get("generators", rule.generator, where)
    except ConfigError as e:
        yield e


def _transformation(rule: TranslateDataset, catalogue: Catalogue, where: str) -> Problem:
    able = [t.id for t in catalogue.transformations.values() if _translates(t)]
    try:
        entry: TransformationEntry = catalogue.get("transformations", rule.transformation, where)
    except ConfigError as e:
        yield e
        return
    if not _translates(entry):
        yield ConfigError(
            f"{rule.transformation!r} is no translation of all texts", where=where,
            allowed=f"one step in the target language, `fields: all`: {', '.join(sorted(able))}",
        )  # fmt: skip
    for key in ("on_empty", "on_cut", "on_too_long"):
        if getattr(entry, key) == "drop":
            yield ConfigError(
                f"{rule.transformation!r} drops rows (`{key}`), but a translated dataset keeps them all",
                where=where,
                do="write a transformation that keeps the original text instead",
            )


def _translates(entry: TransformationEntry) -> bool:
    return [s.language for s in entry.steps] == ["target"] and entry.fields == "all"


def _agreement(entry: DatasetEntry, source: DatasetEntry, where: str) -> Problem:
    if source.task_type == "BitextMining":
        yield ConfigError(
            "a BitextMining dataset cannot be translated: both texts of a pair would be in one language",
            where=f"{where}, key 'translate_dataset.source'",
        )
        return
    for key in AGREEING:
        own, its = getattr(entry, key), getattr(source, key)
        if own != its:
            yield ConfigError(
                f"`{key}` is {_said(own)}, but that of the source {source.id!r} is {_said(its)}",
                where=f"{where}, key {key!r}",
                do=f"write `{key}: {_said(its)}`",
            )


def _said(value: str | list[str]) -> str:
    return value if isinstance(value, str) else f"[{', '.join(value)}]"


def _language(entry: DatasetEntry, source: DatasetEntry, where: str) -> Problem:
    own = dict.fromkeys(tag for tags in entry.languages.values() for tag in tags if is_valid(tag))
    spoken = [tag for tags in source.languages.values() for tag in tags if is_valid(tag)]
    for tag in own:
        if language_of(tag) in UNKNOWN:
            yield ConfigError(
                f"nothing can be translated into {tag!r}", where=f"{where}, key 'languages'",
                allowed="one known language",
            )  # fmt: skip
        elif language_of(tag) in set(map(language_of, spoken)):
            yield ConfigError(
                f"texts of the source {source.id!r} are in {tag!r} already",
                where=f"{where}, key 'languages'",
                allowed=f"a language other than {', '.join(dict.fromkeys(spoken))}",
                do="choose another language, or a source without these subsets",
            )
