"""A frozen dataset back to an mteb task, without a network."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from typing import Any

from stressbed.dataset.layout import PARALLEL, is_parallel, is_retrieval
from stressbed.dataset.quiet import quiet
from stressbed.errors import DataError

TASK_SEED = 42
"""mteb's task seed of every variant: a run's seeds drive the rewriting only, so that cells stay paired."""


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of a frozen dataset.

    Raises:
        DataError: There is none, or it is not readable.
    """
    path = Path(folder) / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            "the dataset is not frozen", where=str(path), do="run the dataset stage first"
        ) from None
    except json.JSONDecodeError as e:
        raise DataError(f"the manifest is not readable: {e}", where=str(path), do="freeze it anew") from e
    return manifest


def thaw(folder: str | Path) -> Any:
    """Return a fresh mteb task (seed 42) whose data are in memory; subsets and splits are set.

    Raises:
        DataError: The manifest or a table is missing, or mteb does not know the task.
    """
    quiet()
    folder = Path(folder)
    manifest = read_manifest(folder)
    task = fresh_task(manifest)
    parts: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in manifest["tables"]:
        table = read_table(folder / entry["path"])
        parts.setdefault((entry["subset"], entry["split"]), {})[entry["table"]] = table
    install(task, parts)
    return task


def fresh_task(manifest: dict[str, Any]) -> Any:
    """Return the manifest's task, not yet loaded, with its subsets, splits and main score."""
    if manifest["source"] == "local":
        from stressbed.dataset.localtask import local_task

        task = local_task(manifest)
    else:
        task = mteb_task(manifest["task"], manifest["revision"])
    task.hf_subsets = list(manifest["subsets"])
    task._eval_splits = list(manifest["splits"])
    if task.metadata.main_score != manifest["main_score"]:
        task.metadata = task.metadata.model_copy(update={"main_score": manifest["main_score"]})
    if (manifest.get("evaluation") or {}).get("training_rows") == "all":
        task.n_experiments, task.samples_per_label = 1, sys.maxsize
    return task


def mteb_task(name: str, revision: str | None) -> Any:
    """Return a fresh task of mteb by its name, with its data's revision set.

    Raises:
        DataError: mteb has no task of this name.
    """
    quiet()
    import mteb

    from stressbed.errors import suggest

    try:
        found = mteb.get_task(name)
    except KeyError:
        known = [t.metadata.name for t in mteb.get_tasks()]
        raise DataError(
            f"mteb {mteb.__version__} has no task {name!r}", where=f"task: {name}", do=suggest(name, known)
        ) from None
    task = type(found)(seed=TASK_SEED)
    if revision and revision != task.metadata.dataset["revision"]:
        data = {**task.metadata.dataset, "revision": revision}
        task.metadata = task.metadata.model_copy(update={"dataset": data})
    return task


def read_table(path: Path) -> Any:
    """Return a table as a `datasets.Dataset` in memory, or a mapping if it is a JSON file.

    Raises:
        DataError: The file is missing or damaged.
    """
    import pyarrow.parquet as pq
    from datasets import Dataset

    try:
        if path.suffix == ".json":
            return json.loads(path.read_text(encoding="utf-8"))
        # By default the fingerprint is a hash of all rows. It names caches, and tables in memory have none.
        return Dataset(pq.read_table(path), fingerprint=secrets.token_hex(8))
    except (OSError, ValueError) as e:  # Arrow's and JSON's errors are among them
        raise DataError(
            f"a table of the frozen dataset is not readable: {e}",
            where=str(path),
            do="delete the dataset's folder; it is then frozen anew",
        ) from e


def install(task: Any, parts: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Put tables into a task as if it had loaded them: `(subset, split) -> {table: data}`."""
    from datasets import Dataset, DatasetDict

    data: dict[str, Any] = {}
    for (subset, split), tables in parts.items():
        value = _retrieval_part(tables) if is_retrieval(task) else tables["rows"]
        data.setdefault(subset, {})[split] = value
    if not is_retrieval(task):
        for subset, splits in data.items():
            if all(isinstance(t, Dataset) for t in splits.values()):
                data[subset] = DatasetDict(splits)
        if is_parallel(task):
            data = data[PARALLEL]
        elif not task.metadata.is_multilingual:
            data = data["default"]
    task.dataset = data
    task.data_loaded = True


def _retrieval_part(tables: dict[str, Any]) -> dict[str, Any]:
    qrels: dict[str, dict[str, int]] = {}
    q = tables["qrels"]
    for query, document, score in zip(q["query-id"][:], q["corpus-id"][:], q["score"][:], strict=True):
        qrels.setdefault(query, {})[document] = score
    top = tables.get("top_ranked")
    ranked = None if top is None else dict(zip(top["query-id"][:], top["corpus-ids"][:], strict=True))
    return {
        "corpus": tables["corpus"],
        "queries": tables["queries"],
        "relevant_docs": qrels,
        "top_ranked": ranked,
    }
