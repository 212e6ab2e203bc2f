"""A tiny run whose jobs are run one by one in this process, by the workflow's own scripts, without Snakemake.

Around each script stands what Snakemake does: outputs are removed before a job, and after one that failed.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import runpy
import shutil
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from stressbed import paths
from stressbed.check import load_run
from stressbed.workflow import Grid

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("dataset", "texts", "generate", "transform", "embed", "score")
ROWS = [
    {
        "sentence1": f"How do I get {thing} back?",
        "sentence2": f"Is there a way to return {thing}?",
        "score": i % 5,
    }
    for i, thing in enumerate(("shoes", "a lamp", "money", "my ticket", "the second parcel", "bread"))
]
AT = {"dataset": "pairs", "generator": "llm", "embedder": "vectors"}
"""What the wildcards of its jobs stand for."""

CATALOGUE: dict[str, Any] = {
    "datasets": [
        {
            "id": "pairs", "task_type": "STS", "files": {"test": "pairs.jsonl"}, "min_score": 0,
            "max_score": 5, "languages": {"default": ["eng-Latn"]}, "main_score": "cosine_spearman",
            "description": "For tests.",
        }
    ],
    "generators": [
        {
            "id": "llm", "engine": "fake", "model": "fake", "batch_size": 4, "context": 2000,
            "description": "For tests.",
        }
    ],
    "embedders": [
        {
            "id": "vectors", "backend": "random", "model": "random", "batch_size": 4,
            "description": "For tests.",
        }
    ],
}  # fmt: skip


class Files(list[str]):
    """Files of a rule, by place and by name."""

    def __init__(self, files: Sequence[str], **named: object) -> None:
        super().__init__(files)
        self.__dict__.update(named)


@dataclass(frozen=True)
class Ended:
    """How a job ended: exit status, everything that it logged or wrote to standard error, its counters."""

    code: int
    said: str
    counters: dict[str, Any] = field(default_factory=dict)


@dataclass
class Run:
    """A run in a folder of its own, one dataset, one generator, one embedder."""

    folder: Path
    changes: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=lambda: dict(AT))

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def grid(self) -> Grid:
        config = {
            "run": "tiny", "results": str(self.results), "datasets": ["pairs"], "embedders": ["vectors"],
            "generator": "llm", "transformations": ["paraphrasing", "translation"], "seeds": [1],
            "catalogue": [str(self.folder / "catalogue.yaml")], **self.changes,
        }  # fmt: skip
        return Grid.of(load_run(config, base=ROOT))

    def catalogue(self, kind: str, **changes: Any) -> None:
        """Change the run's entry of a kind."""
        path = self.folder / "catalogue.yaml"
        content = yaml.safe_load(path.read_text())
        content[kind][0].update(changes)
        path.write_text(yaml.safe_dump(content))

    def job(self, stage: str) -> Ended:
        """Run the script of a stage and return how it ended."""
        snakemake = self._snakemake(stage)
        for output in snakemake.output:
            _remove(Path(output))
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        log = Path(snakemake.log[0])
        before = log.stat().st_size if log.is_file() else 0
        stderr = io.StringIO()
        code = 0
        with contextlib.redirect_stderr(stderr):
            try:
                runpy.run_path(str(ROOT / f"workflow/scripts/{stage}.py"), {"snakemake": snakemake})
            except SystemExit as e:
                code = e.code if isinstance(e.code, int) else 1
            except Exception:
                code = 1
                traceback.print_exc()
        logger = logging.getLogger("stressbed")
        logger.handlers.clear()
        logger.propagate = True
        logged = log.read_text()[before:] if log.is_file() else ""
        if code:
            for output in snakemake.output:
                _remove(Path(output))
            return Ended(code, stderr.getvalue() + logged)
        self.note(stage)
        return Ended(
            0, stderr.getvalue() + logged, json.loads(Path(snakemake.output.stats).read_text())["counters"]
        )

    def note(self, stage: str) -> None:
        """Keep how the files of a stage were made, as the workflow does when a job has ended."""
        grid, at = self.grid, self.names
        inputs = grid.current.contents_of(grid.inputs(stage, at))
        record = grid.current.record(stage, grid.outputs(stage, at), grid.decides(stage, at), inputs, {})
        grid.current.made.add(record)

    def until(self, stage: str) -> Ended:
        """Run all jobs up to a stage; each must succeed. Return how the last one ended."""
        for name in STAGES[: STAGES.index(stage) + 1]:
            ended = self.job(name)
            assert ended.code == 0, f"{name}: {ended.said}"
        return ended

    def scores(self) -> dict[str, dict[str, Any]]:
        """Return all cells by variant, without times."""
        root = self.results / "scores/vectors/pairs"
        found = {
            str(p.relative_to(root).with_suffix("")): json.loads(p.read_text()) for p in root.rglob("*.json")
        }
        timed = {"seconds", "created"}
        return {
            name: {k: v for k, v in cell.items() if k not in timed} for name, cell in sorted(found.items())
        }

    def files(self, *kinds: str) -> dict[str, bytes]:
        """Return the contents of all outputs of some kinds (folders of the results)."""
        found = [p for kind in kinds for p in sorted((self.results / kind).rglob("*")) if p.is_file()]
        return {str(p.relative_to(self.results)): p.read_bytes() for p in found}

    def copy(self, folder: Path) -> Run:
        """Return a copy with its results; its store knows everything that this one's knows."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Run(folder, dict(self.changes))

    def _snakemake(self, stage: str) -> SimpleNamespace:
        grid = self.grid
        wildcards = self.names
        at = {"dataset": wildcards["dataset"]}
        manifest, texts, inputs = (
            grid.path(p).format(**at) for p in (paths.MANIFEST, paths.TEXTS, paths.INPUTS)
        )
        datasets = {"manifests": [manifest], "texts": [texts], "inputs": [inputs]}
        stats = grid.job(stage, grid.job_axes[stage]).format(**wildcards)
        one_dataset = {
            "manifest": manifest,
            "data": grid.path(paths.DATA_FOLDER).format(**at),
            "stats": stats,
        }
        given: dict[str, Any] = {
            "dataset": {}, "texts": {"manifest": manifest}, "generate": datasets,
            "transform": {**datasets, "completions": _filled(grid.rewrites(paths.COMPLETIONS), wildcards)},
            "embed": {**datasets, "transforms": grid.transforms_for(wildcards)},
            "score": {
                **datasets, "transforms": grid.transforms_for(wildcards),
                "embeddings": grid.embeddings_for(wildcards),
            },
        }[stage]  # fmt: skip
        made = {
            "dataset": Files([manifest, one_dataset["data"], stats], **one_dataset),
            "texts": Files([texts, inputs, stats], texts=texts, inputs=inputs, stats=stats),
            "generate": _outputs(_filled(grid.rewrites(paths.COMPLETIONS), wildcards), stats),
            "transform": _outputs(_filled(grid.rewrites(paths.TRANSFORM), wildcards), stats),
            "embed": _outputs(_filled(grid.cells(paths.EMBEDDING), wildcards), stats),
            "score": _outputs(_filled(grid.cells(paths.SCORE), wildcards), stats),
        }[stage]
        kinds = ("datasets", "generators", "embedders", "transformations", "prompts", "markers")
        params = SimpleNamespace(
            decides=grid.decides(stage, wildcards), store=grid.path(paths.STORE), spec=grid.spec(*kinds)
        )
        log = grid.job(stage, grid.job_axes[stage], "logs", "log").format(**wildcards)
        names = Files(list(wildcards.values()), **wildcards)
        return SimpleNamespace(
            input=SimpleNamespace(**given), output=made, params=params, log=[log], wildcards=names
        )


def make_run(folder: Path, rows: Sequence[dict[str, Any]] = ROWS, **changes: Any) -> Run:
    """Return a fresh run over the given rows of sentence pairs."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row) for row in rows)  # ASCII: lone surrogates stay escapes
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "catalogue.yaml").write_text(yaml.safe_dump(CATALOGUE))
    return Run(folder, changes)


def _outputs(files: list[str], stats: str) -> Files:
    return Files([*files, stats], stats=stats)


def _filled(patterns: Sequence[str], wildcards: dict[str, str]) -> list[str]:
    return [p.format(**wildcards) for p in patterns]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
