"""What a run is made of: its embedders, datasets and generators as the catalogue describes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.study import Pairs
from stressbed.analyse.table import Table
from stressbed.config.entries import DatasetEntry
from stressbed.config.load import Plan
from stressbed.sources import PACKAGE

EMBEDDERS = (
    "embedder", "family", "parameters", "model", "revision", "backend", "dtype", "dimensions", "max_length",
    "languages", "licence",
)  # fmt: skip
DATASETS = (
    "dataset", "task_type", "metric", "languages", "subsets", "splits", "n_texts", "row_limit", "source",
    "revision", "licence",
)  # fmt: skip
GENERATORS = (
    "generator", "role", "parameters", "model", "revision", "engine", "dtype", "quantization", "temperature",
    "top_p", "context", "licence",
)  # fmt: skip


def catalogue_embedders(plan: Plan, names: Names, *, zero_shot: Pairs | None = None) -> Table:
    """Return one row per embedder of the run: what it is, in which revision, under which licence.

    Args:
        plan: The run.
        names: Their order.
        zero_shot: Whether each embedder is zero-shot on each dataset; with it the table has a column
            `zero_shot` that counts them.
    """
    rows = []
    for name in names.embedders:
        entry = plan.catalogue.embedders[name]
        held = entry.model_dump(include={*EMBEDDERS} - {"embedder", "languages"})
        row = {"embedder": name, **held, "languages": _joined(entry.languages)}
        if zero_shot is not None:
            row["zero_shot"] = _counted(zero_shot.get(pair) for pair in plan.pairs if pair[0] == name)
        rows.append(row)
    columns = [*EMBEDDERS, *(["zero_shot"] if zero_shot is not None else [])]
    notes = ["Blank: the catalogue does not say."]
    if zero_shot is not None:
        notes.append(
            "zero_shot: datasets of the run that the embedder was not trained on, by mteb's metadata."
        )
    return Table("catalogue_embedders", "Embedders of this run", _frame(rows, columns), notes)


def catalogue_datasets(plan: Plan, names: Names) -> Table:
    """Return one row per dataset of the run: task, metric, languages, size, revision, licence.

    Args:
        plan: The run.
        names: Their order, and their settings if the run has several.
    """
    settings = {d: names.settings[d] for d in names.datasets if d in names.settings}
    several = len(set(settings.values())) > 1
    rows = []
    for name in names.datasets:
        entry = plan.catalogue.datasets[name]
        spoken = [tag for s in entry.subsets for tag in entry.languages.get(s, [])]
        held = entry.model_dump(include={"task_type", "n_texts", "row_limit", "revision", "licence"})
        rows.append(
            {
                "setting": settings.get(name, ""),
                "dataset": name,
                **held,
                "metric": entry.main_score,
                "languages": _joined(sorted(set(spoken))),
                "subsets": len(entry.subsets),
                "splits": _joined(entry.splits),
                "source": _source(entry),
            }
        )
    notes = [
        "n_texts: distinct texts of the evaluated splits where the catalogue knows it, before row_limit.",
        "row_limit: the run uses at most so many rows, so its scores are not those of the whole task.",
    ]
    columns = [*(["setting"] if several else []), *DATASETS]
    return Table("catalogue_datasets", "Datasets of this run", _frame(rows, columns), notes)


def catalogue_generators(plan: Plan, names: Names) -> Table:
    """Return one row per generator that the run uses: its own first, then a selection's and translators.

    Args:
        plan: The run; with `generator: auto` the winner is known once the plan is resolved.
        names: Order of the run's own generators.
    """
    chosen = plan.selection
    roles = {
        "rewrites": set(names.generators),
        "candidate": set(chosen.candidates if chosen else []),
        "judge": set(chosen.judges if chosen else []),
    }
    rows = []
    for name in dict.fromkeys([*names.generators, *plan.generators]):
        entry = plan.catalogue.generators[name]
        held = entry.model_dump(include={*GENERATORS} - {"generator", "role", "temperature", "top_p"})
        # All others make a translated dataset.
        role = _joined(r for r, members in roles.items() if name in members) or "translates datasets"
        sampling = {"temperature": entry.sampling.temperature, "top_p": entry.sampling.top_p}
        rows.append({"generator": name, "role": role, **held, **sampling})
    notes = [
        "Temperature 0: the most likely token each time, so that only a drawn language tells seeds apart."
    ]
    return Table("catalogue_generators", "Generators of this run", _frame(rows, list(GENERATORS)), notes)


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """Return the rows; numbers stay whole, and what is not known is None."""
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    floats = [c for c in ("temperature", "top_p") if c in columns]
    return frame.replace("", None).astype(dict.fromkeys(floats, float))


def _joined(parts: Iterable[str]) -> str:
    return "+".join(parts)


def _source(entry: DatasetEntry) -> str:
    """Return where a dataset's rows come from: an mteb task, files, or another dataset."""
    if entry.task is not None:
        return f"mteb {entry.task}"
    made = entry.translate_dataset
    if made is not None:
        return f"{made.source}, translated by {made.generator}"
    packages = {f.removeprefix(PACKAGE).partition("/")[0] for f in entry.files.values() if PACKAGE in f}
    return f"package {_joined(sorted(packages))}" if packages else "local files"


def _counted(known: Iterable[bool | None]) -> str:
    """Return `12 of 19`, and how many are not known."""
    values = list(known)
    unknown = values.count(None)
    return f"{values.count(True)} of {len(values)}" + (f", {unknown} not known" if unknown else "")
