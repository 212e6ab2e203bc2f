"""Contents decide what is done anew: what changed, however results were moved, copied or touched since.

Each row of the table in docs/reliability.md is one of `CHANGES`, each of its columns one of `KEPT`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from staged import AT, ROOT, STAGES, Run

from stressbed.workflow import Grid, deciding

DOCS = ROOT / "docs" / "reliability.md"
FIRST = 1_000_000_000
REWRITES = {"generate", "transform"}
CELLS = {"embed", "score"}


def in_place(run: Run, _: Path) -> Run:
    return run


def copied(run: Run, folder: Path) -> Run:
    """Copy everything to another folder, with new times, as `cp -r` and a clone do."""
    shutil.copytree(run.folder, folder, copy_function=shutil.copy)
    return Run(folder, dict(run.changes))


def touched(run: Run, _: Path) -> Run:
    """Give all files new times: inputs later than what is made of them."""
    for i, stage in enumerate(("scores", "embeddings", "transforms", "completions", "datasets")):
        for path in (run.results / stage).rglob("*"):
            os.utime(path, (FIRST + i, FIRST + i))
    return run


KEPT: dict[str, Callable[[Run, Path], Run]] = {
    "in place": in_place, "copied or cloned": copied, "touched": touched,
}  # fmt: skip


def entry(kind: str, **values: Any) -> Callable[[Run], None]:
    return lambda run: run.catalogue(kind, **values)


def data(run: Run) -> None:
    """Replace the data by others of the same length and an older time, as `cp -p` does."""
    path = run.folder / "pairs.jsonl"
    path.write_text(path.read_text().replace("money", "honey"))
    os.utime(path, (FIRST, FIRST))


def data_elsewhere(run: Run) -> None:
    """Move the data."""
    (run.folder / "further").mkdir()
    (run.folder / "pairs.jsonl").rename(run.folder / "further" / "pairs.jsonl")
    run.catalogue("datasets", files={"test": "further/pairs.jsonl"})


def weights(run: Run) -> None:
    """Train a model further in its folder; file size and time stay."""
    path = run.folder / "model" / "weights.bin"
    before = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def other_rewrites(run: Run) -> None:
    """Put other rewrites there, as a backup of an older state does."""
    (path,) = (run.results / "transforms").rglob("paraphrasing/1.parquet")
    other = path.parents[1] / "translation" / "1.parquet"
    path.write_bytes(other.read_bytes())


@dataclass(frozen=True)
class Change:
    """What is changed, the stages that are to be done anew, and what a dry run says of it.

    Of each stage only what the change itself touches: what comes after it is done anew by Snakemake.
    """

    do: Callable[[Run], None] = lambda _: None
    stale: frozenset[str] | set[str] = frozenset()
    said: str = ""
    model: str = ""
    version: str = ""
    plan: Callable[[Grid], Grid] = lambda grid: grid


def transformation(name: str, **values: Any) -> Callable[[Grid], Grid]:
    def changed(grid: Grid) -> Grid:
        catalogue = grid.plan.catalogue
        entries = {**catalogue.transformations}
        entries[name] = entries[name].model_copy(update=values)
        return Grid.of(replace(grid.plan, catalogue=replace(catalogue, transformations=entries)))

    return changed


def prompt(grid: Grid) -> Grid:
    catalogue = grid.plan.catalogue
    name = catalogue.transformations["paraphrasing"].steps[0].prompt
    entries = {**catalogue.prompts, name: catalogue.prompts[name].model_copy(update={"template": "Anew."})}
    return Grid.of(replace(grid.plan, catalogue=replace(catalogue, prompts=entries)))


def markers(grid: Grid) -> Grid:
    catalogue = grid.plan.catalogue
    entries = {n: e.model_copy(update={"prefixes": ["hm"]}) for n, e in catalogue.markers.items()}
    return Grid.of(replace(grid.plan, catalogue=replace(catalogue, markers=entries)))


CHANGES: dict[str, Change] = {
    "nothing": Change(),
    "a metric": Change(
        entry("datasets", main_score="cosine_pearson"), {"dataset"},
        "dataset pairs: main_score: cosine_spearman -> cosine_pearson",
    ),
    "a row limit": Change(entry("datasets", row_limit=4), {"dataset"}, "dataset pairs: row_limit: null -> 4"),
    "a data file, by one of the same size and an older time": Change(
        data, {"dataset"}, "other contents in pairs.jsonl"
    ),
    "the place of a data file": Change(data_elsewhere),
    "a field of an embedder": Change(
        entry("embedders", dimensions=8), CELLS, "embedder vectors: dimensions: null -> 8"
    ),
    "the files of an embedder, in place": Change(
        weights, CELLS, "embedder vectors: its file weights.bin has other contents", "embedders"
    ),
    "the files of a generator, in place": Change(
        weights, REWRITES, "generator llm: its file weights.bin has other contents", "generators"
    ),
    "a field of a generator": Change(
        entry("generators", sampling={"temperature": 0.7}), REWRITES,
        "generator llm: sampling.temperature: 0.0 -> 0.7",
    ),
    "how fast a model works": Change(entry("embedders", batch_size=8)),
    "a label": Change(entry("embedders", label="Vectors")),
    "a prompt": Change(stale=REWRITES, plan=prompt, said=".template: "),
    "a transformation's axis": Change(plan=transformation("paraphrasing", axis="length")),
    "a list of markers": Change(stale={"transform"}, plan=markers, said="markers "),
    "a version of stressbed": Change(
        stale={"embed"}, version="embed", said="stage embed: version: "
    ),
    "rewrites, by a copy of older ones": Change(
        other_rewrites, {"transform", *CELLS}, "transforms/pairs/llm/paraphrasing/1.parquet"
    ),
}  # fmt: skip


def with_model(run: Run, kind: str) -> None:
    """Let the run's embedder or generator be one that is read from a folder; what is there counts as its."""
    (run.folder / "model").mkdir()
    for name in ("config.json", "weights.bin"):
        (run.folder / "model" / name).write_bytes(b'{"a": 1}')
    how = {"backend": "sentence-transformers"} if kind == "embedders" else {"engine": "transformers"}
    run.catalogue(kind, model="./model", **how)
    for stage in STAGES:
        run.note(stage)


@pytest.mark.parametrize("kept", list(KEPT))
@pytest.mark.parametrize("change", list(CHANGES))
def test_what_changed_is_done_anew_and_nothing_else(
    finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, kept: str
) -> None:
    what = CHANGES[change]
    run = finished.copy(tmp_path / "run")
    if what.model:
        with_model(run, what.model)
    run = KEPT[kept](run, tmp_path / "elsewhere")
    what.do(run)
    if what.version:
        monkeypatch.setattr(deciding, "VERSIONS", {**deciding.VERSIONS, what.version: "another"})
    grid = what.plan(run.grid)
    why = {stage: grid.why(stage, AT) for stage in STAGES}
    assert {stage for stage, reasons in why.items() if reasons} == set(what.stale)
    assert what.said in "; ".join(reason for reasons in why.values() for reason in reasons)


def test_the_page_says_what_is_tested() -> None:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    start = lines.index("## What is done anew")
    table = [
        [c.strip() for c in line.strip("|").split("|")] for line in lines[start:] if line.startswith("|")
    ]
    assert table[0] == ["what changed", *KEPT]
    assert [row[0] for row in table[2:]] == list(CHANGES)
    for row in table[2:]:
        stale = [s for s in STAGES if s in CHANGES[row[0]].stale]
        assert set(row[1:]) == {", ".join(stale) or "nothing"}, row
