"""The catalogue: entries of all kinds, read from YAML files and checked against the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from stressbed.config.entries import (
    NOT_IDENTITY,
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    PromptEntry,
    TransformationEntry,
)
from stressbed.config.model import Strict
from stressbed.errors import ConfigError, Problems, StressbedError, suggest
from stressbed.fingerprint import digest

KINDS: dict[str, type[Strict]] = {
    "datasets": DatasetEntry,
    "embedders": EmbedderEntry,
    "generators": GeneratorEntry,
    "transformations": TransformationEntry,
    "prompts": PromptEntry,
}


def problems_of(error: ValidationError, where: str) -> Iterator[ConfigError]:
    """Yield one error per complaint of pydantic, in words that name the key."""
    for e in error.errors():
        key = ".".join(str(p) for p in e["loc"])
        shown = "" if e["type"] == "missing" else f", got {e['input']!r:.80}"
        yield ConfigError(f"{e['msg']}{shown}", where=f"{where}, key {key!r}")


@dataclass(frozen=True)
class Catalogue:
    """All entries by kind and id, each with the file that it came from."""

    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    embedders: Mapping[str, EmbedderEntry] = field(default_factory=dict)
    generators: Mapping[str, GeneratorEntry] = field(default_factory=dict)
    transformations: Mapping[str, TransformationEntry] = field(default_factory=dict)
    prompts: Mapping[str, PromptEntry] = field(default_factory=dict)
    origin: Mapping[tuple[str, str], Path] = field(default_factory=dict)

    @classmethod
    def read(cls, sources: list[Path]) -> Catalogue:
        """Return the catalogue in files and folders, later ones may add but not redefine.

        A file is a mapping from a kind (`datasets`, `embedders`, ...) to a list of entries.

        Raises:
            Problems: Every file that is missing, unreadable or holds a wrong entry.
        """
        found: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        origin: dict[tuple[str, str], Path] = {}
        problems: list[StressbedError] = []
        for path in _files(sources, problems):
            for kind, raw in _entries(path, problems):
                where = f"{path}, {kind}, id {raw.get('id', '?')!r}"
                try:
                    entry = KINDS[kind].model_validate(raw)
                except ValidationError as e:
                    problems.extend(problems_of(e, where))
                    continue
                name: str = entry.id  # type: ignore[attr-defined]
                if (kind, name) in origin:
                    problems.append(
                        ConfigError(
                            f"the id {name!r} is defined twice",
                            where=f"{origin[kind, name]} and {path}, {kind}",
                            do="give one of the entries another id",
                        )
                    )
                    continue
                found[kind][name] = entry
                origin[kind, name] = path
        if problems:
            raise Problems(problems)
        return cls(**found, origin=origin)

    def get(self, kind: str, name: str, where: str) -> Any:  # one entry of five types
        """Return an entry.

        Raises:
            ConfigError: Nothing of this kind has this id; the nearest id is suggested.
        """
        entries: Mapping[str, Strict] = getattr(self, kind)
        if name not in entries:
            raise ConfigError(
                f"no {kind[:-1]} is called {name!r}",
                where=where,
                allowed=", ".join(sorted(entries)) or f"the catalogue holds no {kind}",
                do=suggest(name, entries) or "add an entry to a catalogue file",
            )
        return entries[name]

    def transformation_identity(self, name: str) -> str:
        """Return the hash of all that decides a transformation's texts, its prompts' words included."""
        entry = self.transformations[name]
        prompts = [self.prompts[s.prompt] for s in entry.steps]
        return digest(
            [identity("transformation", entry)] + [[p.template, p.role, p.separator] for p in prompts]
        )


def identity(kind: str, entry: Strict) -> str:
    """Return the hash of an entry's fields that decide a value (see `NOT_IDENTITY`)."""
    return digest(entry.model_dump(mode="json", exclude=set(NOT_IDENTITY[kind])))


def _files(sources: list[Path], problems: list[StressbedError]) -> Iterator[Path]:
    for source in sources:
        if source.is_dir():
            yield from sorted(p for p in source.rglob("*.y*ml") if p.suffix in {".yaml", ".yml"})
        elif source.is_file():
            yield source
        else:
            problems.append(ConfigError("no such catalogue file or folder", where=str(source)))


def _entries(path: Path, problems: list[StressbedError]) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        problems.append(ConfigError(f"not readable as YAML: {e}", where=str(path)))
        return
    if not isinstance(content, dict):
        problems.append(
            ConfigError("a catalogue file must be a mapping", where=str(path), allowed=", ".join(KINDS))
        )
        return
    for kind, entries in content.items():
        if kind not in KINDS:
            problems.append(
                ConfigError(
                    f"unknown kind {kind!r}", where=str(path), allowed=", ".join(KINDS),
                    do=suggest(str(kind), KINDS),
                )
            )  # fmt: skip
        elif not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            problems.append(ConfigError("must be a list of entries", where=f"{path}, {kind}"))
        else:
            for entry in entries:
                yield kind, entry
