"""Which cells a score job would compute, for its message.

Cheap enough for a dry run: it compares how the files that are there were made with how they would be made
now, and asks the store; no model library is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stressbed import paths
from stressbed.errors import StoreError
from stressbed.paths import Cell
from stressbed.store import read_json
from stressbed.workflow.grid import Grid


def cells_to_compute(grid: Grid, outputs: Sequence[str]) -> str:
    """Return the variants among a score job's cells that it would compute, joined; `none` if there are none.

    Args:
        grid: The run's.
        outputs: Paths of the job's cells.
    """
    by_pair: dict[tuple[str, str], list[Cell]] = {}
    for out in outputs:
        cell = Cell.of_path(out)
        by_pair.setdefault((cell.embedder, cell.dataset), []).append(cell)
    names = [name for cells in by_pair.values() for name in _variants(grid, cells)]
    return ", ".join(names) or "none"


def _variants(grid: Grid, cells: Sequence[Cell]) -> list[str]:
    """Return the variants to compute of one embedder on one dataset."""
    from stressbed.score.run import CellJob, stale_cells

    embedder, name = cells[0].embedder, cells[0].dataset
    changed = {v for g in {c.variant.generator for c in cells} for v in changed_variants(grid, name, g)}
    held = [c for c in cells if str(c.variant) not in changed]
    manifest = Path(grid.path(paths.MANIFEST).format(dataset=name))
    found = stale_cells(
        manifest=_readable(manifest),
        embedder_identity=grid.plan.embedder_identity(embedder),
        cells=[CellJob(c, *_files(grid, c)) for c in held],
        store_root=Path(grid.path(paths.STORE)),
    )
    current = {str(c.variant) for c in held} - set(found)
    return [v for v in (str(c.variant) for c in cells) if v not in current]


def _files(grid: Grid, cell: Cell) -> tuple[Path, Path | None, Path]:
    """Return a cell's embedding, rewritten texts (None for the original) and score."""
    at = {"embedder": cell.embedder, "dataset": cell.dataset, "variant": str(cell.variant)}
    embedding, transform, out = (
        Path(grid.path(p).format(**at)) for p in (paths.EMBEDDING, paths.TRANSFORM, paths.SCORE)
    )
    return embedding, None if cell.variant.is_original else transform, out


def changed_variants(grid: Grid, dataset: str, generator: str) -> set[str]:
    """Return the variants of a dataset whose texts would be others now than those that are there.

    Args:
        grid: The run's.
        dataset: Catalogue id.
        generator: Catalogue id, or that of the original, which has no rewriting.
    """
    at = {"dataset": dataset, "generator": generator}
    variants = [v for v in grid.plan.variants if v.generator == generator]
    for stage, pattern in (("dataset", paths.MANIFEST), ("texts", paths.TEXTS)):
        if _changed(grid, stage, at, [pattern.format(dataset=dataset)]):
            return set(map(str, variants))
    found: set[str] = set()
    for stage, pattern in (("generate", paths.COMPLETIONS), ("transform", paths.TRANSFORM)):
        files = {pattern.format(dataset=dataset, variant=v): str(v) for v in variants if not v.is_original}
        found |= {files[name] for name in _changed(grid, stage, at, list(files))}
    return found


def _changed(grid: Grid, stage: str, at: Mapping[str, str], names: Sequence[str]) -> set[str]:
    """Return the files among `names` that are there and not current; what decides flags does not count."""
    if not names:
        return set()
    outputs = {grid.path(name): name for name in names}
    found = grid.current.why_each(outputs, grid.decides(stage, at), grid.inputs(stage, at), _of_flags)
    return {outputs[path] for path in found}


def _of_flags(key: str) -> bool:
    """Return whether a line decides flags only, which no cell hangs on; refused texts are the originals."""
    return (key.startswith("markers ") and ": refusals" not in key) or ": flag_thresholds." in key


def _readable(path: Path) -> dict[str, Any] | None:
    """Return what a JSON file of the results holds; None if it is missing or damaged.

    That a file is damaged is for the job to say that needs it: the DAG must be built nevertheless.
    """
    try:
        return read_json(path)
    except (FileNotFoundError, StoreError):
        return None
