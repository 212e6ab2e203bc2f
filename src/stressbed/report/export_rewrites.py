"""Export of rewritten texts as a folder, and import of such a folder on another machine.

What an import puts into the store are the LLM's answers, each under the hash of its request. A run with
the same datasets, generator, transformations and seeds then asks nothing; one that differs in part asks
for that part.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow.parquet as pq

import stressbed
from stressbed import paths
from stressbed.config.load import Plan
from stressbed.errors import DataError
from stressbed.fingerprint import file_digest
from stressbed.generate.completions import CompletionStore
from stressbed.generate.request import Completion
from stressbed.store import write_atomic, write_text

logger = logging.getLogger("stressbed")

FORMAT = "stressbed-rewrites-1"
MANIFEST = "manifest.json"
COMPLETIONS, TRANSFORMS, TOKENS = "completions", "transforms", "tokens"
KEYS = ["key", "text", "finish", "tokens_in", "tokens_out"]
BATCH = 1024
"""Completions per file that an import writes."""


@dataclass(frozen=True)
class RewriteExport:
    """What was exported: files, bytes, and variants of datasets that were not there."""

    files: int
    size: int
    missing: int


@dataclass(frozen=True)
class RewriteImport:
    """What was imported: answers in the folder, and those that the store did not have."""

    completions: int
    new: int


def export_rewrites(*, plan: Plan, out: Path) -> RewriteExport:
    """Write a run's rewritten texts and the LLM's answers behind them to a folder, and return counts.

    The folder holds `transforms/` and `completions/` as Parquet, token counts, and `manifest.json`
    with the hash of every file, the generators, the datasets' hashes and licences.

    Args:
        plan: The run.
        out: The folder; it must be empty or not exist.

    Raises:
        DataError: The folder holds files already, or the run has no rewritten texts yet.
    """
    if out.exists() and any(out.iterdir()):
        raise DataError("the export folder is not empty", where=str(out), do="name a new folder")
    files: dict[str, dict[str, Any]] = {}
    missing = 0
    for source, name in _sources(plan):
        if not source.is_file():
            missing += 1
            continue
        target = out / name
        _copy(source, target)
        files[name] = {"digest": file_digest(target), "bytes": target.stat().st_size}
    if not any(name.startswith(f"{COMPLETIONS}/") for name in files):
        raise DataError(
            "the run has no rewritten texts yet", where=str(plan.results), do="run the workflow first"
        )
    write_text(out / MANIFEST, json.dumps(_manifest(plan, files), indent=1, ensure_ascii=False) + "\n")
    stats = RewriteExport(len(files), sum(f["bytes"] for f in files.values()), missing)
    logger.info("exported %d files (%d bytes) to %s; %d are missing", stats.files, stats.size, out, missing)
    return stats


def import_rewrites(*, folder: Path, results: Path) -> RewriteImport:
    """Put an exported folder's answers into a results folder's store, and return counts.

    Nothing that the store has already is replaced.

    Args:
        folder: A folder that `export_rewrites` wrote.
        results: The results folder of the run that is to reuse them.

    Raises:
        DataError: The folder is not such an export, or one of its files is missing or changed.
    """
    manifest = _checked(folder)
    total = new = 0
    for generator, entry in manifest["generators"].items():
        identity = entry["identity"]
        store = CompletionStore(results / paths.STORE / COMPLETIONS / identity)
        names = [n for n in manifest["files"] if n.startswith(f"{COMPLETIONS}/")]
        mine = [folder / n for n in sorted(names) if PurePosixPath(n).parts[2] == generator]
        answers = {c.key: c for path in mine for c in _completions(path)}
        known = store.get_many(answers)
        lacking = [c for key, c in sorted(answers.items()) if key not in known]
        for start in range(0, len(lacking), BATCH):
            store.put_batch(lacking[start : start + BATCH])
        total, new = total + len(answers), new + len(lacking)
    for name in manifest["files"]:
        target = results / paths.STORE / name
        if name.startswith(f"{TOKENS}/") and not target.exists():
            _copy(folder / name, target)
    logger.info("imported %d answers, %d of them new, into %s", total, new, results)
    return RewriteImport(total, new)


def _sources(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield (file in the results, name in the export)."""
    for dataset in plan.config.datasets:
        for variant in plan.rewrites:
            for pattern in (paths.COMPLETIONS, paths.TRANSFORM):
                name = pattern.format(dataset=dataset, variant=str(variant))
                yield plan.results / name, name
    for made in plan.translations:
        for pattern, stored in (
            (paths.COMPLETIONS, paths.TRANSLATION_COMPLETIONS),
            (paths.TRANSFORM, paths.TRANSLATION_TRANSFORM),
        ):
            at = {"dataset": made.source, "variant": str(made.variant)}
            yield plan.results / stored.format(**at), pattern.format(**at)
    for generator in _generators(plan):
        tokens = plan.results / paths.STORE / TOKENS / plan.generator_identity(generator)
        for path in sorted(tokens.glob("[0-9a-f]*")):
            yield path, f"{TOKENS}/{tokens.name}/{path.name}"


def _manifest(plan: Plan, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    c, catalogue = plan.config, plan.catalogue
    return {
        "format": FORMAT,
        "stressbed": stressbed.__version__,
        "run": c.run,
        "seeds": list(c.seeds),
        "generators": {
            g: {
                "identity": plan.generator_identity(g),
                "model": catalogue.generators[g].model,
                "revision": catalogue.generators[g].revision,
                "licence": catalogue.generators[g].licence,
            }
            for g in _generators(plan)
        },
        "transformations": {t: catalogue.transformation_identity(t) for t in c.transformations},
        "datasets": {
            d: _dataset(plan, d) for d in dict.fromkeys([*c.datasets, *(t.source for t in plan.translations)])
        },
        "files": files,
    }


def _generators(plan: Plan) -> list[str]:
    """Return the generators of the run and those that translated its datasets."""
    return list(dict.fromkeys([*plan.config.generator, *(t.generator for t in plan.translations)]))


def _dataset(plan: Plan, dataset: str) -> dict[str, Any]:
    entry = plan.catalogue.datasets[dataset]
    path = plan.results / paths.MANIFEST.format(dataset=dataset)
    frozen = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {
        "identity": plan.dataset_identity(dataset),
        "content_hash": frozen.get("content_hash"),
        "task": entry.task,
        "revision": entry.revision,
        "licence": entry.licence,
    }


def _checked(folder: Path) -> dict[str, Any]:
    """Return an export's manifest once every file has the hash that it states."""
    path = folder / MANIFEST
    again = "export again, or copy the whole folder again"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise DataError(f"not an export of rewritten texts: {e}", where=str(path), do=again) from e
    if manifest.get("format") != FORMAT:
        raise DataError(
            f"unknown format {manifest.get('format')!r}", where=str(path), allowed=FORMAT, do=again
        )
    for name, stated in manifest["files"].items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise DataError("a file lies outside the export", where=f"{path}, {name}", do=again)
        file = folder / name
        if not file.is_file():
            raise DataError("a file of the export is missing", where=str(file), do=again)
        if file_digest(file) != stated["digest"]:
            raise DataError("a file of the export was changed", where=str(file), do=again)
    return manifest


def _completions(path: Path) -> Iterator[Completion]:
    for row in pq.read_table(path, columns=KEYS).to_pylist():
        yield Completion(**row)


def _copy(source: Path, target: Path) -> None:
    write_atomic(target, lambda tmp: shutil.copyfile(source, tmp))
