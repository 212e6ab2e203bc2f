"""The catalogue: entries of all kinds, read from YAML files and checked against the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from stressbed.config import secrets
from stressbed.config.engine_options import deciding
from stressbed.config.entries import (
    IDENTITY_IF_SET,
    NOT_IDENTITY,
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    JudgePromptEntry,
    MarkersEntry,
    PromptEntry,
    SelectionEntry,
    TransformationEntry,
)
from stressbed.config.model import Strict
from stressbed.config.words import Place, remedy
from stressbed.config.yamlfile import read_mapping
from stressbed.errors import ConfigError, Problems, StressbedError, suggest
from stressbed.fingerprint import digest

KINDS: dict[str, type[Strict]] = {
    "datasets": DatasetEntry,
    "embedders": EmbedderEntry,
    "generators": GeneratorEntry,
    "transformations": TransformationEntry,
    "prompts": PromptEntry,
    "judge_prompts": JudgePromptEntry,
    "selections": SelectionEntry,
    "markers": MarkersEntry,
}


SCALARS = {"str": "a word", "int": "a whole number", "float": "a number", "bool": "true or false"}
"""pydantic's names of types in the complaints about a value that may have one of several."""

ANY = "*"
"""Stands for all ids of a kind."""


def problems_of(
    error: ValidationError, where: str, model: type[BaseModel], spelling: Mapping[Place, str] | None = None
) -> Iterator[ConfigError]:
    """Yield one error per complaint of pydantic, in words that name the key and how its value is written.

    Args:
        error: What pydantic found.
        where: The file and entry.
        model: The model that was to be filled.
        spelling: How values were written in the file, by their place in the entry.
    """
    found = error.errors()
    choices = Counter(e["loc"][:-1] for e in found if e["loc"] and e["loc"][-1] in SCALARS)
    for e in found:
        *parents, last = e["loc"] or ("",)
        if choices[tuple(parents)] > 1 and last in SCALARS:  # one complaint for each type that it may have
            if last == next(f["loc"][-1] for f in found if f["loc"][:-1] == tuple(parents)):
                yield ConfigError(
                    f"no value of this kind may stand here, got {e['input']!r:.80}",
                    where=f"{where}, key {'.'.join(map(str, parents))!r}",
                    allowed=" or ".join(
                        SCALARS[f["loc"][-1]] for f in found
                        if f["loc"][:-1] == tuple(parents) and f["loc"][-1] in SCALARS
                    ),
                    do=remedy(tuple(parents), e["input"], e["type"], spelling or {}),
                )  # fmt: skip
            continue
        if str(last).startswith("dict[") and not isinstance(e["input"], dict):
            continue  # the other choice beside a word, which has a complaint of its own
        loc = e["loc"][:-1] if e["loc"][:1] == ("columns",) and last == "str" else e["loc"]
        place = f"{where}, key {'.'.join(map(str, loc))!r}"
        if e["type"] == "extra_forbidden":
            known = _keys(model, parents)
            yield ConfigError(
                f"unknown key {last!r}", where=place, allowed=", ".join(known), do=suggest(str(last), known)
            )
        elif e["type"] == "missing":
            yield ConfigError(f"the key {last!r} is missing", where=place, do=f"add `{last}: ...`")
        else:
            expected = str(e.get("ctx", {}).get("expected", "")).replace("'", "")
            known = expected.replace(" or ", ", ").split(", ")
            yield ConfigError(
                f"{str(e['msg']).removeprefix('Value error, ')}, got {e['input']!r:.80}",
                where=place,
                allowed=expected,
                do=remedy(loc, e["input"], e["type"], spelling or {})
                or (suggest(str(e["input"]), known) if expected else ""),
            )


def _keys(model: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """Return the keys of the model that lies at a path inside another."""
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            inner = _model_in(model.model_fields[part].annotation)
            if inner is None:
                return []
            model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


@dataclass(frozen=True)
class Catalogue:
    """All entries by kind and id, each with the file that it came from."""

    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    embedders: Mapping[str, EmbedderEntry] = field(default_factory=dict)
    generators: Mapping[str, GeneratorEntry] = field(default_factory=dict)
    transformations: Mapping[str, TransformationEntry] = field(default_factory=dict)
    prompts: Mapping[str, PromptEntry] = field(default_factory=dict)
    judge_prompts: Mapping[str, JudgePromptEntry] = field(default_factory=dict)
    selections: Mapping[str, SelectionEntry] = field(default_factory=dict)
    markers: Mapping[str, MarkersEntry] = field(default_factory=dict)
    origin: Mapping[tuple[str, str], Path] = field(default_factory=dict)
    wrong: frozenset[tuple[str, str]] = frozenset()
    """Kind and id of entries that are there, but not sound; `ANY` where a file or kind could not be read."""

    @classmethod
    def read(cls, sources: list[Path]) -> Catalogue:
        """Return the catalogue in files and folders, later ones may add but not redefine.

        A file is a mapping from a kind (`datasets`, `embedders`, ...) to a list of entries.

        Raises:
            Problems: Every file that is missing, unreadable or holds a wrong entry.
        """
        problems: list[StressbedError] = []
        catalogue = cls.read_what_can_be(sources, problems)
        if problems:
            raise Problems(problems)
        return catalogue

    @classmethod
    def read_what_can_be(cls, sources: list[Path], problems: list[StressbedError]) -> Catalogue:
        """Return the catalogue of the entries that are sound; what is wrong with others joins `problems`."""
        found: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        origin: dict[tuple[str, str], Path] = {}
        wrong: set[tuple[str, str]] = set()
        for path in _files(sources, problems):
            for kind, raw, spelling in _entries(path, problems, wrong):
                where = f"{path}, {kind}, id {raw.get('id', '?')!r}"
                try:
                    entry = KINDS[kind].model_validate(raw)
                except ValidationError as e:
                    problems.extend(problems_of(e, where, KINDS[kind], spelling))
                    named = raw.get("id")
                    wrong.add((kind, named if isinstance(named, str) else ANY))
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
                    wrong.add((kind, ANY))
                    continue
                found[kind][name] = entry
                origin[kind, name] = path
        if any(not source.exists() for source in sources):
            wrong |= {(kind, ANY) for kind in KINDS}
        return cls(**found, origin=origin, wrong=frozenset(wrong))

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
        return self.identity_of(self.transformations[name])

    def identity_of(self, entry: TransformationEntry) -> str:
        """Return `transformation_identity` of an entry that need not be part of the catalogue."""
        prompts = [self.prompts[s.prompt] for s in entry.steps]
        return digest(
            [identity("transformation", entry)] + [[p.template, p.role, p.separator] for p in prompts]
        )


def identity(kind: str, entry: Strict, files: Mapping[str, str] | None = None) -> str:
    """Return the hash of what decides a value (see `deciding_fields`)."""
    return digest(deciding_fields(kind, entry, files))


def deciding_fields(kind: str, entry: Strict, files: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return an entry's fields that decide a value, by name (see `NOT_IDENTITY`).

    Args:
        kind: `dataset`, `generator`, `transformation` or `embedder`.
        entry: The entry.
        files: Hash of each file that a model on this machine is read from: they stand for its name.
    """
    unset = {name for name in IDENTITY_IF_SET.get(kind, ()) if getattr(entry, name) is None}
    named = set() if files is None else {"model", "revision"}
    fields = entry.model_dump(mode="json", exclude={*NOT_IDENTITY[kind], *unset, *named})
    if isinstance(entry, GeneratorEntry):
        fields["engine_options"] = deciding(entry.engine, fields["engine_options"])
    return fields if files is None else {**fields, "files": dict(files)}


def _files(sources: list[Path], problems: list[StressbedError]) -> Iterator[Path]:
    """Yield the files of a catalogue, each once: a folder may be named beside a file in it."""
    seen: set[Path] = set()
    for source in sources:
        if source.is_dir():
            found = sorted(p for p in source.rglob("*") if p.suffix in {".yaml", ".yml"} and p.is_file())
        elif source.is_file():
            found = [source]
        else:
            problems.append(
                ConfigError("no such catalogue file or folder", where=str(source), do="check the path")
            )
            continue
        for path in found:
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def _entries(
    path: Path, problems: list[StressbedError], wrong: set[tuple[str, str]]
) -> Iterator[tuple[str, dict[str, Any], dict[Place, str]]]:
    """Yield kind, content and spelling of each entry in a file."""
    try:
        content = read_mapping(path, "catalogue file")
    except ConfigError as e:
        problems.append(e)
        wrong |= {(kind, ANY) for kind in KINDS}
        return
    problems.extend(secrets.find(content, str(path)))
    for kind, entries in content.items():
        if kind not in KINDS:
            problems.append(
                ConfigError(
                    f"unknown kind {kind!r}", where=str(path), allowed=", ".join(KINDS),
                    do=suggest(str(kind), KINDS),
                )
            )  # fmt: skip
            wrong |= {(known, ANY) for known in KINDS}
        elif not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            problems.append(ConfigError("must be a list of entries", where=f"{path}, {kind}"))
            wrong.add((kind, ANY))
        else:
            for i, entry in enumerate(entries):
                yield kind, entry, {k[2:]: raw for k, raw in content.spelling.items() if k[:2] == (kind, i)}
