"""`config/schema.json` and `config/README.md`, made from the models and the catalogue.

`python -m stressbed.manual` writes both; with `--check` it says whether they are stale.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from stressbed.check.files import FILES
from stressbed.config.catalogue import KINDS, Catalogue
from stressbed.config.entries import (
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    SelectionEntry,
    TransformationEntry,
)
from stressbed.config.model import RunConfig
from stressbed.dataset.content import TABLES
from stressbed.store import write_text

log = logging.getLogger("stressbed")

REFERENCE = "#/$defs/"
CATALOGUE_FILE = "CatalogueFile"
FOLDERS = ("config/catalogue", "config/own-data/catalogue.yaml")
"""Catalogues whose entries the manual lists."""

HEAD = """# Configuration

This page is made by `python -m stressbed.manual` from the models in `src/stressbed/config`;
a test says when it is stale. Do not edit it by hand.

A **run config** chooses what a run does; a **catalogue** says what can be chosen. Whatever changes
a score is part of a catalogue entry, so two runs that name the same entries share their results.

| run config | what it is |
|---|---|
"""

AFTER = """
Start from one of them: copy it, change it, then

    snakemake -n --configfile config/mine.yaml    # what would be done; all checks are made
    snakemake --configfile config/mine.yaml

Single keys can be set on the command line: `--config "seeds=[1,2,3]" generator=fake`. Secrets never
stand in a file: an entry's `api_key_env` names the environment variable that holds the key.

`config/schema.json` is the same as a JSON schema. An editor that knows YAML schemas completes keys
and marks mistakes if a run config starts with `# yaml-language-server: $schema=schema.json`.

Your own entries go into a file of your own, named under `catalogue:`. How to write them:
docs/adding-a-dataset.md, docs/adding-an-embedder.md, docs/adding-a-transformation.md,
docs/own-data.md.
"""

LOCAL = """
### Local files

Tables by `files:`, with the columns that each must have. `columns:` maps these names to yours. CSV
and TSV files have a header; JSON lines (`.jsonl`) and Parquet files may hold lists. In TSV a quotation
mark is a character like any other. Optional: `title` of `corpus`, `instruction` of `queries`; in tables
with texts `language`, that of a row, or `language1` and `language2` where a row is a pair; each is one of
the entry's `languages`.

| task type | tables and columns |
|---|---|
{rows}

Other formats: {formats}.
"""


def schema() -> dict[str, Any]:
    """Return the JSON schema of run configs and catalogue files."""
    models: list[type[BaseModel]] = [RunConfig, *KINDS.values()]
    _, made = models_json_schema([(m, "validation") for m in models], ref_template=REFERENCE + "{model}")
    definitions: dict[str, Any] = made["$defs"]
    definitions[CATALOGUE_FILE] = {
        "type": "object",
        "title": CATALOGUE_FILE,
        "description": "A catalogue file: entries by kind.",
        "additionalProperties": False,
        "properties": {
            kind: {"type": "array", "items": {"$ref": REFERENCE + model.__name__}}
            for kind, model in KINDS.items()
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "stressbed: run configs and catalogue files",
        "anyOf": [{"$ref": REFERENCE + RunConfig.__name__}, {"$ref": REFERENCE + CATALOGUE_FILE}],
        "$defs": definitions,
    }


def type_of(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return a type in words, from its JSON schema."""
    kind = str(part.get("type"))
    if "$ref" in part:
        name = part["$ref"].removeprefix(REFERENCE)
        words = f"[{name}](#{name.lower()})"
    elif "enum" in part:
        words = " \\| ".join(f"`{v}`" for v in part["enum"])
    elif "anyOf" in part:
        kinds = [type_of(p, definitions) for p in part["anyOf"] if p.get("type") != "null"]
        words = " or ".join(dict.fromkeys(kinds))
    elif kind == "array":
        words = f"list of {type_of(part['items'], definitions)}"
    elif kind == "object":
        values = part.get("additionalProperties") or next(iter(part["patternProperties"].values()))
        words = f"map to {type_of(values, definitions)}"
    else:
        words = _WORDS[kind] + _range(part)
    return words


_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def _range(part: Mapping[str, Any]) -> str:
    words = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    found = [f"{sign} {part[key]:g}" for key, sign in words.items() if key in part]
    return f" {', '.join(found)}" if found else ""


def _default(part: Mapping[str, Any], required: bool) -> str:
    if required:
        return "**required**"
    value = part.get("default")
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, dict):
        return "see there"
    return f"`{json.dumps(value, ensure_ascii=False)}`".replace('`"', "`").replace('"`', "`")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def keys_of(name: str, definitions: Mapping[str, Any]) -> str:
    """Return the table of a model's keys: type, default, description."""
    model = definitions[name]
    rows = [
        (
            f"`{key}`",
            type_of(part, definitions),
            _default(part, key in model.get("required", ())),
            str(part.get("description", "")),
        )
        for key, part in model["properties"].items()
    ]
    return table(("key", "type", "default", "meaning"), rows)


def _first_sentence(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = []
    for line in lines:
        if not line.startswith("#") or line == "#":
            break
        comment.append(line.lstrip("# "))
    text = " ".join(comment)
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _local_files() -> str:
    rows = [
        f"| {kind} | {'; '.join(f'`{t}`: ' + ', '.join(c) for t, c in tables.items())} |"
        for kind, tables in TABLES.items()
    ]
    formats = ", ".join(f"`{f}` ({', '.join(kinds)})" for f, (kinds, _) in FILES.items())
    return LOCAL.format(rows="\n".join(rows), formats=formats)


def _dataset_row(e: DatasetEntry) -> tuple[str, ...]:
    languages = {t for tags in e.languages.values() for t in tags}
    spoken = ", ".join(sorted(languages)) if len(languages) <= 2 else f"{len(languages)} languages"
    size = "" if e.n_texts is None else f"{e.n_texts:,}"
    made = f"translation of `{e.translate_dataset.source}`" if e.translate_dataset else "local files"
    return f"`{e.id}`", e.task or made, e.task_type, spoken, size, e.licence


def _embedder_row(e: EmbedderEntry) -> tuple[str, ...]:
    size = "" if e.parameters is None else f"{e.parameters / 1e6:,.0f} M"
    return f"`{e.id}`", e.backend, e.model, size, _short(e.licence)


def _generator_row(e: GeneratorEntry) -> tuple[str, ...]:
    return f"`{e.id}`", e.engine, e.model, e.dtype, _short(e.licence), e.description


def _transformation_row(e: TransformationEntry) -> tuple[str, ...]:
    steps = ", then ".join(f"{s.prompt} ({s.language})" for s in e.steps)
    return f"`{e.id}`", e.axis, steps, ", ".join(e.pool), e.fields


def _short(licence: str) -> str:
    return f"[own]({licence})" if licence.startswith("http") else licence


def _listed(catalogue: Catalogue) -> str:
    prompts = [(f"`{p.id}`", p.source) for p in catalogue.prompts.values()]
    lists: list[tuple[str, Sequence[str], list[tuple[str, ...]]]] = [
        ("Datasets", ("id", "task", "type", "languages", "texts", "licence"),
         [_dataset_row(e) for e in catalogue.datasets.values()]),
        ("Embedders", ("id", "backend", "model", "size", "licence"),
         [_embedder_row(e) for e in catalogue.embedders.values()]),
        ("Generators", ("id", "engine", "model", "dtype", "licence", "what it is"),
         [_generator_row(e) for e in catalogue.generators.values()]),
        ("Transformations", ("id", "axis", "steps: prompt (language)", "pool", "fields"),
         [_transformation_row(e) for e in catalogue.transformations.values()]),
        ("Prompts", ("id", "source"), [*prompts]),
        ("Judge prompts", ("id", "version", "scale", "source"),
         [(f"`{e.id}`", str(e.version), f"{e.scale[0]} to {e.scale[-1]}", e.source)
          for e in catalogue.judge_prompts.values()]),
        ("Markers", ("id", "languages", "source"),
         [(f"`{e.id}`", ", ".join(e.languages), e.source) for e in catalogue.markers.values()]),
        ("Selections", ("id", "candidates", "data", "judges"),
         [_selection_row(e) for e in catalogue.selections.values()]),
    ]  # fmt: skip
    return "\n\n".join(f"### {title}\n\n{table(head, rows)}" for title, head, rows in lists)


def _selection_row(entry: SelectionEntry) -> tuple[str, ...]:
    rows = f"{entry.rows} rows of " if entry.rows else ""
    judges = f"the best {entry.shortlist}" + "".join(f", `{j}`" for j in entry.judges)
    return f"`{entry.id}`", ", ".join(f"`{c}`" for c in entry.candidates), f"{rows}`{entry.dataset}`", judges


def readme(root: Path) -> str:
    """Return the manual; `root` holds `config/`."""
    definitions = schema()["$defs"]
    runs = [
        f"| [{p.name}]({p.name}) | {_first_sentence(p)} |" for p in sorted((root / "config").glob("*.yaml"))
    ]
    parts = [HEAD + "\n".join(runs), AFTER, "## Run config", keys_of("RunConfig", definitions)]
    parts.append("## Catalogue entries\n\nA catalogue file maps kinds to lists of entries:\n"
                 f"{', '.join(f'`{k}`' for k in KINDS)}.")  # fmt: skip
    for kind, model in KINDS.items():
        parts += [f"### {model.__name__}", f"An entry under `{kind}`.", keys_of(model.__name__, definitions)]
        if model is DatasetEntry:
            parts.append(_local_files())
    for name in (
        "TranslateDataset",
        "Step",
        "FlagThresholds",
        "Sampling",
        "Limits",
        "RetryRule",
        "Setting",
        "Analysis",
        "HumanStudy",
        "LabelPreservation",
    ):
        parts += [f"### {name}", definitions[name]["description"], keys_of(name, definitions)]
    parts += ["## What the catalogue holds", _listed(Catalogue.read([root / f for f in FOLDERS]))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def products(root: Path) -> dict[Path, str]:
    """Return the content of each generated file."""
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    return {root / "config" / "schema.json": text, root / "config" / "README.md": readme(root)}


def stale(root: Path) -> list[Path]:
    """Return the generated files that are missing or differ from what would be written."""
    made = products(root)
    return [p for p, text in made.items() if not p.exists() or p.read_text(encoding="utf-8") != text]


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = log.info) -> int:
    """Write the generated files, or check them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write config/schema.json and config/README.md.")
    parser.add_argument("--check", action="store_true", help="only say whether they are stale")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="folder that holds config/")
    options = parser.parse_args(arguments)
    old = stale(options.root)
    if not options.check:
        for path in old:
            write_text(path, products(options.root)[path])
    for path in old:
        say(f"{path} {'is stale: run python -m stressbed.manual' if options.check else 'written'}")
    return 1 if old and options.check else 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    raise SystemExit(main())
