"""Which cells a score job would compute, for its message.

Cheap enough for a dry run: it compares what decided the files that are there with what decides them
now, and asks the store; no model library is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stressbed import paths
from stressbed.errors import StoreError
from stressbed.paths import Cell, Variant
from stressbed.store import read_json
from stressbed.workflow.deciding import decides_cells
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
    changed = {g: _changed_since(grid, name, g) for g in {c.variant.generator for c in cells}}
    held = [c for c in cells if not _concerned(c.variant, changed[c.variant.generator])]
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


def _changed_since(grid: Grid, dataset: str, generator: str) -> set[str]:
    """Return what decides the jobs before `embed` now and did not when they last ran.

    Args:
        grid: The run's.
        dataset: Catalogue id.
        generator: Catalogue id, or that of the original, which has no rewriting.
    """
    at = {"dataset": dataset, "generator": generator}
    original = generator == Variant.parse(paths.ORIGINAL).generator
    stages = ["dataset", "texts"] if original else ["dataset", "texts", "generate", "transform"]
    changed: set[str] = set()
    for stage in stages:
        path = Path(grid.job(stage, grid.job_axes[stage]).format(**at))
        if path.exists():
            changed |= set(grid.decides(stage, at)) - set((_readable(path) or {}).get("decides", []))
    return changed


def _concerned(variant: Variant, changed: Iterable[str]) -> bool:
    return any(decides_cells(line, variant.transformation) for line in changed)


def _readable(path: Path) -> dict[str, Any] | None:
    """Return what a JSON file of the results holds; None if it is missing or damaged.

    That a file is damaged is for the job to say that needs it: the DAG must be built nevertheless.
    """
    try:
        return read_json(path)
    except (FileNotFoundError, StoreError):
        return None
