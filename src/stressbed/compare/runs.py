"""A finished run as it lies on disk: its scores, its items, and what decided them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed import paths
from stressbed.check import load_run
from stressbed.collect import schema
from stressbed.config import Plan
from stressbed.config.load import read_config
from stressbed.config.yamlfile import read_mapping
from stressbed.errors import ConfigError, StressbedError, suggest
from stressbed.score.kept import head_of
from stressbed.select.winner import resolved
from stressbed.store import Store, read_json, read_parquet, reading

CELLS = "cells"
"""Folder of the cells in the store."""

SCORES, ITEMS, CONFIG = "scores.parquet", "items.parquet", "config.yaml"

RUNS = Path(paths.RUN_FOLDER).parent.name
"""Folder that the runs' own folders lie in."""

PARTIAL = "partial"
"""Folder, within a run's own, of what `snakemake partial` makes of a run that is not finished."""


@dataclass(frozen=True)
class Facts:
    """What decided a cell.

    Attributes:
        dataset: Hash of the frozen dataset.
        texts: Hash of the rewritten texts; empty for the original.
        embedder: Hash of what decides the embedder's vectors.
        versions: Versions of the packages that scored it.
    """

    dataset: str
    texts: str
    embedder: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        folder: Folder of its scores: `<results>/runs/<run>`, or `partial` in there.
        config: Its resolved config; empty if there is none.
        scores: Rows of its `scores.parquet`.
        plan: Its plan, if its config still fits the catalogue.
        called: What sentences call it, where its own name would not tell which run is meant.
    """

    folder: Path
    config: Mapping[str, Any]
    scores: pd.DataFrame
    plan: Plan | None = None
    called: str = ""

    @property
    def name(self) -> str:
        """Name of the run."""
        partly = f" ({PARTIAL})" if self.home != self.folder.resolve() else ""
        return self.called or f"{self.home.name}{partly}"

    @property
    def home(self) -> Path:
        """Its own folder, also where `folder` is that of its unfinished results."""
        return home_of(self.folder)

    @property
    def results(self) -> Path:
        """Folder of all results that its cells lie in."""
        return self.home.parents[1]

    @property
    def embedders(self) -> list[str]:
        """Its embedders, in its order."""
        return [str(e) for e in self.scores["embedder"].unique()]

    @property
    def datasets(self) -> list[str]:
        """Its datasets, in its order."""
        return [str(d) for d in self.scores["dataset"].unique()]

    @property
    def generators(self) -> list[str]:
        """Its generators, in its order."""
        rewritten = self.scores[self.scores["transformation"] != "original"]
        return [str(g) for g in rewritten["generator"].unique()]

    @cached_property
    def _store(self) -> Store:
        return Store(self.results / paths.STORE)

    def facts(self, fingerprint: str, cell_path: str) -> Facts | None:
        """Return what decided a cell; None if neither its file nor the store knows.

        A cell's file may be that of a later run by now, with another fingerprint: the store keeps both.

        Raises:
            StoreError: The cell's file or its entry in the store is damaged.
        """
        if not fingerprint:
            return None
        try:
            record = read_json(self.results / cell_path)
        except FileNotFoundError:
            record = {}
        if record.get("fingerprint") != fingerprint:
            stored = self._store.get(CELLS, fingerprint)
            if stored is None:
                return None
            record = head_of(stored)
        keys = ("dataset_hash", "texts_hash", "embedder_identity")
        dataset, texts, embedder = (str(record.get(k) or "") for k in keys)
        return Facts(dataset, texts, embedder, dict(record.get("versions") or {})) if dataset else None

    def items(self, embedder: str, dataset: str) -> pd.DataFrame:
        """Return the rows of `items.parquet` of one embedder on one dataset; none if there is no such file.

        Raises:
            StoreError: The file is damaged.
        """
        import pyarrow.compute as pc

        path = self.folder / ITEMS
        try:
            table = read_parquet(path)
        except FileNotFoundError:
            return pd.DataFrame()
        with reading(path):
            chosen = pc.and_(pc.equal(table["embedder"], embedder), pc.equal(table["dataset"], dataset))
        found: pd.DataFrame = table.filter(chosen).to_pandas()
        return found


def home_of(folder: Path) -> Path:
    """Return a run's own folder, given that or the folder of its unfinished results."""
    folder = folder.resolve()
    home = folder.parent
    within = folder.name == PARTIAL and home.name != RUNS and home.parent.name == RUNS
    return home if within else folder


def read_run(source: str) -> Run:
    """Return a run, given its config or its folder.

    Raises:
        ConfigError: There is no such file or folder, the run has not been made, or its config is damaged.
        StoreError: Its scores are damaged.
    """
    path = Path(source)
    try:
        is_file = path.is_file()
    except OSError as e:  # such as a name that is too long
        raise ConfigError(f"this is no path: {e.strerror}", where=f"{source:.80}") from e
    if is_file and path.name == SCORES:
        path = path.parent  # the file in the run's folder was named
    elif is_file:
        plan = resolved(load_run(read_config(path)))
        return _read(plan.run_folder, plan, f"make it first: `snakemake --configfile {source}`")
    if not path.is_dir():
        near = suggest(path.name, [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else [])
        raise ConfigError(
            "no such run", where=source,
            allowed="a run config, or a run's folder such as results/runs/quickstart",
            do=near or "check the path",
        )  # fmt: skip
    return _read(
        path, _plan_of(path),
        "name the folder of a finished run, results/runs/NAME, or of what `snakemake partial` made: "
        "results/runs/NAME/partial",
    )  # fmt: skip


def told_apart(before: Run, after: Run) -> tuple[Run, Run]:
    """Return two runs with names that tell which is meant; a run beside itself keeps its name."""
    if before.name != after.name or before.folder.resolve() == after.folder.resolve():
        return before, after
    return replace(before, called=f"{before.name} (before)"), replace(after, called=f"{after.name} (after)")


def _read(folder: Path, plan: Plan | None, remedy: str) -> Run:
    try:
        scores = read_parquet(folder / SCORES, schema.SCORES.names).to_pandas()
    except FileNotFoundError as e:
        raise ConfigError("the run has no scores yet", where=str(folder / SCORES), do=remedy) from e
    if scores.empty:
        raise ConfigError("the run has no cells", where=str(folder / SCORES), do=remedy)
    config = home_of(folder) / CONFIG
    held = read_mapping(config, "run's config") if config.is_file() else {}
    return Run(folder, held, scores, plan)


def _plan_of(folder: Path) -> Plan | None:
    """Return the plan of a run's own config, or None: its catalogue may be gone or elsewhere."""
    try:
        return resolved(load_run(read_config(home_of(folder) / CONFIG)))
    except StressbedError:
        return None
