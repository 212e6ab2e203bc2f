"""What decides outputs, in words: `embedder minilm: max_length = 128`, one line per field.

A line names itself, so that a dry run can say what changed, from what to what. Fields are listed by leaving
out those that are known not to matter: a new field of an entry or of the config is in from the start.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import version as version_of
from pathlib import Path

from stressbed.config import Plan
from stressbed.config.catalogue import deciding_fields
from stressbed.config.entries import TransformationEntry

Lines = dict[str, str]
"""What decides an output: key in words -> value as JSON."""

EFFORT = frozenset(
    {
        "id", "description", "source", "batch_size", "gpus_per_job", "attention", "concurrency", "base_url",
        "api_key_env", "spending_cap", "price_in", "price_out", "engine_options", "limits", "retry",
        "flag_thresholds",
    }
)  # fmt: skip
"""Fields of entries that tables and figures do not read: how work is done, and what acts through texts."""

LABELS = frozenset({"label", "licence", "family", "parameters", "gated"})
"""Fields of entries that are read only where results are shown."""

PLACES = frozenset({"results", "catalogue", "job_axes", "generate_job_axes"})
"""Keys of the config that say where things lie and how they are cut into jobs."""


KINDS = ("dataset", "generator", "transformation", "embedder")
"""Kinds of entries that stand in paths: a line of another entry than a file's own says nothing of it."""


class Deciding:
    """What decided some outputs, held so that the part that concerns one file is found at once.

    Args:
        lines: All lines of a job.
    """

    def __init__(self, lines: Mapping[str, str]) -> None:
        self.lines = dict(lines)
        self._of_all: Lines = {}
        self._of_one: dict[tuple[str, str], Lines] = {}
        self._found: dict[tuple[str | None, ...], Lines] = {}
        for key, value in lines.items():
            kind, _, rest = key.partition(" ")
            name, colon, _ = rest.partition(": ")
            if kind in KINDS and colon:
                self._of_one.setdefault((kind, name), {})[key] = value
            else:
                self._of_all[key] = value

    @classmethod
    def of(cls, lines: Iterable[str]) -> Deciding:
        """Return what `as_text` was made of."""
        return _deciding(tuple(lines))

    def concerning(self, place: Mapping[str, str]) -> Lines:
        """Return the lines of a file: all but those of other entries of the kinds that its place names."""
        wanted = tuple(map(place.get, KINDS))
        if wanted not in self._found:
            found = dict(self._of_all)
            for (kind, name), lines in self._of_one.items():
                if place.get(kind, name) == name:
                    found |= lines
            self._found[wanted] = found
        return self._found[wanted]


@lru_cache(maxsize=4096)
def _deciding(lines: tuple[str, ...]) -> Deciding:
    return Deciding(from_text(lines))


def as_text(lines: Mapping[str, str]) -> list[str]:
    """Return lines as strings, for records and params."""
    return [f"{key} = {value}" for key, value in lines.items()]


def from_text(lines: Iterable[object]) -> Lines:
    """Return what `as_text` was made of."""
    found = (str(line).partition(" = ") for line in lines)
    return {key: value for key, _, value in found}


def of_embedder(plan: Plan, name: str) -> Lines:
    """Return what an embedder decides of its vectors.

    The prompts of a registered loader, and how it chooses among them, come with mteb: another version
    makes the job look at them again. What is sent unchanged is not encoded again.
    """
    entry = plan.catalogue.embedders[name]
    fields = deciding_fields("embedder", entry, plan.files("embedders", name))
    loader = {"loader": f"mteb {version_of('mteb')}"} if entry.backend == "mteb" else {}
    return _flat(f"embedder {name}", {**fields, **loader})


def of_generator(plan: Plan, name: str) -> Lines:
    """Return what a generator decides of the answers, and of which requests are made."""
    entry = plan.catalogue.generators[name]
    fields = deciding_fields("generator", entry, plan.files("generators", name))
    read = {"thinking_marks", "answer_marks"}
    asked = entry.model_dump(mode="json", include={"limits", "retry", "context", *read})
    return _flat(f"generator {name}", {**fields, **asked})


def of_transformation(plan: Plan, entry: TransformationEntry) -> Lines:
    """Return what a transformation decides of its texts, its prompts' words included."""
    prompts = {
        s.prompt: plan.catalogue.prompts[s.prompt].model_dump(
            mode="json", include={"template", "role", "separator"}
        )
        for s in entry.steps
    }
    fields = {**deciding_fields("transformation", entry), "prompt": prompts}
    return _flat(f"transformation {entry.id}", fields)


def of_flags(plan: Plan, entries: Iterable[TransformationEntry]) -> Lines:
    """Return what decides, beside the answers, error flags and which answers are refusals."""
    found: Lines = {}
    for name, marked in sorted(plan.catalogue.markers.items()):
        found |= _flat(f"markers {name}", marked.model_dump(mode="json", exclude={"id", "source"}))
    for entry in entries:
        thresholds = entry.flag_thresholds.model_dump(mode="json")
        found |= _flat(f"transformation {entry.id}", {"flag_thresholds": thresholds})
    return found


def of_dataset(plan: Plan, name: str) -> Lines:
    """Return what decides a frozen dataset beside its files; of a translated one also all that made it."""
    fields = deciding_fields("dataset", plan.catalogue.datasets[name])
    fields["files"] = {part: Path(file).name for part, file in fields.get("files", {}).items()}
    found = _flat(f"dataset {name}", fields)
    made = plan.translation(name)
    if made is not None:
        found |= {f"dataset {name}: source": _value(made.source)}
        found |= of_dataset(plan, made.source)
        found |= of_generator(plan, made.generator) | of_transformation(plan, made.entry)
    return found


def of_run(
    plan: Plan, *, config: Collection[str] = (), entries: Collection[str] = (), label: bool = True
) -> Lines:
    """Return a whole run, its config and the catalogue's entries, without what is known not to matter.

    Args:
        plan: The run, with its generator if a selection has chosen one.
        config: Keys of the config that are left out, beside `PLACES`.
        entries: Fields of entries that are left out, beside `EFFORT`.
        label: Whether fields that are only shown count.
    """
    c, catalogue = plan.config, plan.catalogue
    kept = c.model_dump(mode="json", exclude={*PLACES, *config})
    if "human" in kept and kept["human"] is not None:
        kept["human"].pop("ratings")  # their contents decide
    found = _flat("config", kept)
    steps = [s.prompt for t in plan.transformations for s in catalogue.transformations[t].steps]
    chosen = plan.selection
    used = {
        "dataset": (catalogue.datasets, plan.datasets),
        "embedder": (catalogue.embedders, c.embedders),
        "generator": (catalogue.generators, plan.generators),
        "transformation": (catalogue.transformations, plan.transformations),
        "prompt": (catalogue.prompts, sorted({*steps})),
        "selection": (catalogue.selections, [] if chosen is None else [chosen.id]),
    }
    left_out = {*EFFORT, *entries, *(() if label else LABELS)}
    for kind, (held, names) in used.items():
        for name in names:
            found |= _flat(f"{kind} {name}", held[name].model_dump(mode="json", exclude=left_out))
    return found


def of_fields(title: str, fields: Mapping[str, object]) -> Lines:
    """Return a line per field; mappings become a line per key."""
    return _flat(title, fields)


def _flat(title: str, fields: Mapping[str, object]) -> Lines:
    return {f"{title}: {name}": _value(value) for name, value in _leaves(fields)}


def _leaves(fields: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
