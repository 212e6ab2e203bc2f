"""What lies in the store, what no config names, and its removal."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stressbed import paths
from stressbed.config import Plan
from stressbed.config.entries import ModelSource
from stressbed.errors import StoreError
from stressbed.models import conversion_key
from stressbed.select.winner import outcome, resolved
from stressbed.sources import gguf_parts, resolve
from stressbed.store import read_json

LEFT_BEHIND = 24 * 3600
"""Seconds after which a temporary file is no longer that of a job at work, but what a killed one left."""


@dataclass(frozen=True)
class Entry:
    """One removable part of the store.

    Attributes:
        kind: `cells`, `completions`, `vectors` or `models`.
        name: What it belongs to.
        path: File or folder.
        size: Bytes on disk.
        named: Whether a config names it.
    """

    kind: str
    name: str
    path: Path
    size: int
    named: bool


def survey(store: Path, plans: Sequence[Plan]) -> list[Entry]:
    """Return the parts of a store and whether one of the plans names them.

    Completions are kept or removed by generator, vectors by embedder, models by model, cells one
    by one: a cell is named if it is the present result of one of the plans' cells. Temporary files of jobs
    that may be at work are left out.

    Raises:
        StoreError: A cell's file is damaged, so that it is not known which entry it names.
    """
    generators = {p.generator_identity(g): g for p in plans for g in p.generators}
    embedders = {p.embedder_identity(e): e for p in plans for e in p.config.embedders}
    models = {key: name for p in plans for key, name in _converted_models(p)}
    fingerprints = {f for p in plans for f in _present_cells(p)}
    found: list[Entry] = []
    for folder in _folders(store / "completions"):
        name = generators.get(folder.name)
        found.append(Entry("completions", name or folder.name, folder, _size(folder), name is not None))
    for folder in _folders(store / "vectors"):
        name = embedders.get(folder.name.split("-", 1)[0])
        found.append(Entry("vectors", name or folder.name, folder, _size(folder), name is not None))
    for folder in _folders(store / "models"):
        name = models.get(folder.name)
        found.append(Entry("models", name or folder.name, folder, _size(folder), name is not None))
    for path in sorted((store / "cells").glob("??/*")):
        size = _size(path)
        if path.name.startswith(".") and time.time() - _changed(path) < LEFT_BEHIND:
            continue
        found.append(Entry("cells", path.name, path, size, path.name in fingerprints))
    return found


def remove(entries: Sequence[Entry]) -> int:
    """Remove what no config names and return the number of bytes that were freed."""
    freed = 0
    for entry in entries:
        if entry.named:
            continue
        if entry.path.is_dir() and not entry.path.is_symlink():
            shutil.rmtree(entry.path)
        else:
            entry.path.unlink(missing_ok=True)
        freed += entry.size
    return freed


def report(entries: Sequence[Entry]) -> str:
    """Return a table of what is kept and what would go, by kind, with the larger parts by name."""
    lines = [f"{'kind':<12} {'named':>22} {'named by no config':>22}"]
    for kind in ("cells", "completions", "vectors", "models"):
        cells = []
        for named in (True, False):
            chosen = [e for e in entries if e.kind == kind and e.named == named]
            cells.append(f"{len(chosen)} ({readable(sum(e.size for e in chosen))})")
        lines.append(f"{kind:<12} {cells[0]:>22} {cells[1]:>22}")
    lines += [
        f"  {e.kind} of {e.name}: {readable(e.size)}" for e in entries if not e.named and e.kind != "cells"
    ]
    return "\n".join(lines)


def readable(size: float) -> str:
    """Return a number of bytes in the unit that a person would use."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _converted_models(plan: Plan) -> Iterator[tuple[str, str]]:
    c = plan.catalogue
    entries: list[tuple[str, ModelSource]] = [
        *(("generators", c.generators[g]) for g in plan.generators),
        *(("embedders", c.embedders[e]) for e in plan.config.embedders),
    ]
    for kind, entry in entries:
        if entry.gguf_file:
            folder = c.origin[kind, entry.id].parent  # type: ignore[attr-defined]
            gguf = resolve(entry.model, folder) / entry.gguf_file
            if gguf_parts(gguf):
                yield conversion_key(gguf), entry.model


def _present_cells(plan: Plan) -> Iterator[str]:
    if plan.auto:
        if outcome(plan) is None:
            return
        plan = resolved(plan)
    for embedder, dataset in plan.pairs:
        for variant in plan.variants:
            name = paths.SCORE.format(embedder=embedder, dataset=dataset, variant=str(variant))
            path = plan.results / name
            try:
                fingerprint = read_json(path).get("fingerprint")
            except FileNotFoundError:
                continue
            if not isinstance(fingerprint, str):
                raise StoreError(
                    "a cell does not say what it was made of", where=str(path),
                    do="delete this file and run again: it is made anew",
                )  # fmt: skip
            yield fingerprint


def _folders(root: Path) -> list[Path]:
    return sorted(p for p in root.iterdir() if p.is_dir()) if root.is_dir() else []


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; those that vanish meanwhile count nothing."""
    total = 0
    for each in [path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else ())]:
        try:
            total += each.lstat().st_size if not each.is_dir() or each.is_symlink() else 0
        except FileNotFoundError:
            continue
    return total


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return time.time()
