"""Freeze a dataset: an mteb task or local files become plain tables, a manifest and a content hash."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stressbed.dataset import VERSION, rowlanguages
from stressbed.dataset.layout import PARALLEL, is_parallel, slots
from stressbed.dataset.parts import Part, contents, parts_of
from stressbed.dataset.quiet import quiet
from stressbed.dataset.tags import correct_scripts, differing
from stressbed.dataset.thaw import fresh_task, install, read_manifest
from stressbed.errors import DataError, StoreError, StressbedError, suggest
from stressbed.fingerprint import digest, file_digest
from stressbed.store import write_atomic, write_text

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import DatasetEntry

log = logging.getLogger("stressbed")

HASHED = (
    "source", "task", "task_type", "subsets", "splits", "languages", "field_languages",
    "min_score", "max_score", "sides", "evaluation",
)  # fmt: skip
"""Keys of the manifest that change a metric or a rewrite; the tables' contents come besides.

Which metric is the main score is none of them: cells keep all metrics.
"""


def freeze(
    entry: DatasetEntry, catalogue_folder: Path, out: Path, *, store: Path | None = None
) -> dict[str, Any]:
    """Write `out/data/**` and, last, `out/manifest.json`; return the manifest.

    A folder without a manifest is not frozen: an interrupted run leaves none behind.

    Args:
        entry: Catalogue entry.
        catalogue_folder: Folder that the entry's relative paths start from.
        out: The dataset's folder; an earlier `data` folder in it is replaced.
        store: Root of the store. An mteb task that was frozen into it before (by `prefetch`, say)
            is copied from there without asking the hub; a new one is kept there.

    Raises:
        DataError: The data cannot be had, or their contents are wrong (see `stressbed.dataset.check`).
        StoreError: The copy in the store is damaged.
    """
    if store is None or entry.task is None:
        return _freeze(entry, catalogue_folder, Path(out))
    return _copy(freeze_into_store(entry, store), entry, Path(out))


def freeze_into_store(entry: DatasetEntry, store: Path) -> Path:
    """Return the folder of a frozen mteb task in the store, freezing it first if it is not there."""
    from filelock import FileLock

    kept = kept_folder(entry, store)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(kept.with_name(f".{kept.name}.lock")):  # entries with two ids may share a folder
        if not (kept / "manifest.json").is_file():
            _freeze(entry, kept, kept)  # a task of mteb has no files of its own
    return kept


def kept_folder(entry: DatasetEntry, store: Path) -> Path:
    """Return where the store keeps a frozen mteb task, whatever the entry is called."""
    from stressbed.config.catalogue import identity

    data = entry.model_copy(update={"main_score": ""})  # it picks one of the metrics and changes no table
    return Path(store) / "frozen" / digest([identity("dataset", data), VERSION])


def _copy(kept: Path, entry: DatasetEntry, out: Path) -> dict[str, Any]:
    """Copy a frozen dataset, under the entry's own id, manifest last."""
    own = {"dataset": entry.id, "licence": entry.licence, "main_score": entry.main_score}
    manifest = read_manifest(kept) | own
    _clear(out)
    for table in manifest["tables"]:
        source, target = kept / table["path"], out / table["path"]
        if not source.is_file() or file_digest(source) != table["file"]:
            raise StoreError(
                "a frozen table in the store is missing or damaged",
                where=str(source),
                do=f"delete {kept} and run again with a network",
            )
        write_atomic(target, lambda tmp, source=source: shutil.copyfile(source, tmp))  # type: ignore[misc]
    _write_manifest(manifest, out)
    return manifest


def _freeze(entry: DatasetEntry, catalogue_folder: Path, out: Path) -> dict[str, Any]:
    quiet()
    from stressbed.dataset.check import check, count_repeats
    from stressbed.dataset.limit import limit_rows, sample_corpus
    from stressbed.dataset.pool import pool

    manifest = _head(entry)
    task = fresh_task(manifest)
    if entry.task:
        manifest |= _known_to_mteb(task, entry)
        parts = _load(task, entry)
    else:
        parts = _local_parts(entry, catalogue_folder)
    if entry.row_limit and getattr(entry, "format", "table") == "table":
        parts = limit_rows(task, parts, entry.row_limit, entry.id)
    if entry.corpus_sample is not None:
        parts = [sample_corpus(part, entry.corpus_sample) for part in parts]
    spoken = {(p.subset, p.split): rowlanguages.split_off(p) for p in parts if not entry.task}
    check(task, parts, entry.id, local=entry.task is None)
    count_repeats(task, parts, entry.task_type)
    install(task, {(p.subset, p.split): p.tables for p in parts})
    manifest["sides"] = {f"{s.split}.{s.field}": s.side for s in slots(task)}
    if is_parallel(task):
        _parallel_languages(manifest, task)
    # Raises where the catalogue leaves a language open.
    spoken = correct_scripts(manifest, list(slots(task)), spoken)
    if entry.evaluation is not None and entry.evaluation.pool_subsets:
        parts, spoken = pool(task, manifest, parts)
    for part in parts:
        rowlanguages.add(part, spoken.get((part.subset, part.split), {}))
    return write_frozen(manifest, parts, Path(out))


def declared(entry: DatasetEntry) -> dict[str, Any]:
    """Return what a manifest says of a dataset before anything of it is read."""
    return {
        "dataset": entry.id,
        "source": "mteb" if entry.task else "local",
        "task": entry.task or entry.id,
        "task_type": entry.task_type,
        "revision": entry.revision or ("" if entry.task else "local"),
        "subsets": list(entry.subsets),
        "splits": list(entry.splits),
    }


def _head(entry: DatasetEntry) -> dict[str, Any]:
    """Return the part of the manifest that the catalogue entry decides."""
    from stressbed.dataset.localtask import SCALES, mteb_type

    if missing := [s for s in entry.subsets if s not in entry.languages]:
        raise DataError(
            f"no languages are given for the subset {missing[0]!r}",
            where=f"dataset {entry.id!r}, key 'languages'",
            allowed=", ".join(entry.languages),
        )
    low, high = SCALES.get(mteb_type(entry.task_type), (None, None))
    return {
        **declared(entry),
        "languages": {s: list(entry.languages[s]) for s in entry.subsets},
        "field_languages": {s: dict(f) for s, f in entry.field_languages.items()},
        "main_score": entry.main_score,
        "min_score": low if entry.min_score is None else entry.min_score,
        "max_score": high if entry.max_score is None else entry.max_score,
        "row_limit": entry.row_limit,
        "evaluation": None if entry.evaluation is None else entry.evaluation.model_dump(mode="json"),
        "licence": entry.licence,
    }


def agreement(entry: DatasetEntry) -> Iterator[StressbedError]:
    """Yield where an entry of an mteb task disagrees with mteb's own description, without its data.

    mteb is imported for it, which takes seconds; freezing the dataset would find the same.
    """
    try:
        task = fresh_task(_head(entry))
        _known_to_mteb(task, entry)
    except DataError as e:
        yield e
        return
    for split in entry.splits:
        if split not in task.metadata.eval_splits:
            yield DataError(
                f"mteb does not evaluate the split {split!r}",
                where=f"dataset {entry.id!r}, task {entry.task}",
                allowed=", ".join(task.metadata.eval_splits),
                do=suggest(split, task.metadata.eval_splits),
            )


def _known_to_mteb(task: Any, entry: DatasetEntry) -> dict[str, Any]:
    """Return what mteb's own description adds; refuse what does not agree with it."""
    from stressbed.dataset.localtask import mteb_type

    where = f"dataset {entry.id!r}, task {entry.task}"
    if task.metadata.type != mteb_type(entry.task_type):
        raise DataError(
            f"the task type is {entry.task_type}, but mteb says {task.metadata.type}",
            where=where,
            do=f"write `task_type: {task.metadata.type}`",
        )
    known = task.metadata.hf_subsets
    for subset in entry.subsets:
        if subset not in known:
            raise DataError(
                f"the task has no subset {subset!r}",
                where=where,
                allowed=", ".join(known),
                do=suggest(subset, known),
            )
    scale = {k: getattr(task, k) for k in ("min_score", "max_score") if hasattr(task, k)}
    spoken = task.metadata.eval_langs
    theirs = spoken if isinstance(spoken, dict) else dict.fromkeys(known, spoken)
    notes = dict.fromkeys(differing({s: entry.languages[s] for s in entry.subsets}, theirs), 1)
    revision = task.metadata.dataset["revision"]
    return {"revision": revision, "min_score": None, "max_score": None, **scale, "notes": notes}


def _load(task: Any, entry: DatasetEntry) -> list[Part]:
    from stressbed.dataset.hub import hub_errors

    place = f"dataset {entry.id!r}, {task.metadata.dataset['path']} at {task.metadata.dataset['revision']}"
    with hub_errors(place):
        task.load_data()
    return parts_of(task, entry.id)


def _local_parts(entry: DatasetEntry, folder: Path) -> list[Part]:
    """Return the parts of a local dataset: one subset, one split that is evaluated."""
    from datasets import Dataset

    from stressbed.dataset.local import read_tables

    if len(entry.subsets) != 1 or len(entry.splits) != 1:
        raise DataError(
            "a local dataset has one subset and one split",
            where=f"dataset {entry.id!r}, keys 'subsets' and 'splits'",
            do="make one catalogue entry for each",
        )
    subset, split = entry.subsets[0], entry.splits[0]
    tables = read_tables(entry, folder)
    if "corpus" in tables:
        return [Part(subset, split, _retrieval_tables(tables))]
    tables = _label_numbers(tables)
    parts = []
    for name in ("train", "test"):
        if name in tables:
            data = Dataset.from_pandas(tables[name], preserve_index=False)
            parts.append(Part(subset, split if name == "test" else "train", {"rows": data}))
    return parts


def _retrieval_tables(tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    from datasets import Dataset

    names = {"query_id": "query-id", "corpus_id": "corpus-id"}
    qrels = tables["qrels"].astype({"score": "int64"}).rename(columns=names)
    found = {n: Dataset.from_pandas(tables[n], preserve_index=False) for n in ("corpus", "queries")}
    found["qrels"] = Dataset.from_pandas(qrels, preserve_index=False)
    if "top_ranked" in tables:
        grouped = tables["top_ranked"].groupby("query_id", sort=False)["corpus_id"].agg(list)
        columns = {"query-id": list(grouped.index), "corpus-ids": list(grouped)}
        found["top_ranked"] = Dataset.from_dict(columns)
    return found


_NUMBER = re.compile("-?[0-9]+")
LARGEST = 2**63
"""Labels that are larger numbers count as names: no table holds them."""


def _label_numbers(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return tables whose class names are numbers, in the order of their sorted names.

    mteb's binary metrics need numbers; labels that are numbers already stay as they are.
    """
    if not all("label" in t for t in tables.values()):
        return tables
    names = {v for t in tables.values() for v in t["label"]}
    if all(isinstance(v, int) and abs(v) < LARGEST for v in names):
        return tables
    if all(_NUMBER.fullmatch(str(v)) and abs(int(v)) < LARGEST for v in names):
        return {n: t.assign(label=[int(v) for v in t["label"]]) for n, t in tables.items()}
    number = {name: i for i, name in enumerate(sorted(map(str, names)))}
    return {n: t.assign(label=[number[str(v)] for v in t["label"]]) for n, t in tables.items()}


def _parallel_languages(manifest: dict[str, Any], task: Any) -> None:
    """Add the languages of the one table that holds all pairs of languages as columns."""
    of_column: dict[str, str] = {}
    for subset in task.hf_subsets:
        languages = manifest["languages"][subset]
        for i, column in enumerate(subset.split("-")):
            of_column.setdefault(column, languages[min(i, len(languages) - 1)])
    manifest["languages"][PARALLEL] = sorted(set(of_column.values()))
    manifest["field_languages"].setdefault(PARALLEL, of_column)


def write_frozen(manifest: dict[str, Any], parts: list[Part], out: Path) -> dict[str, Any]:
    """Write tables and, last, the manifest, completed by what they hold; return it."""
    _clear(out)
    manifest["tables"], hashes = [], []
    notes: dict[str, int] = dict(manifest.get("notes", {}))
    for part in parts:
        for name, table in part.tables.items():
            path = Path("data", quote(part.subset, safe=""), quote(part.split, safe=""), name)
            path = path.with_suffix(".json" if isinstance(table, dict) else ".parquet")
            if isinstance(table, dict):
                write_text(out / path, json.dumps(table, ensure_ascii=False))
            else:
                write_atomic(out / path, table.to_parquet)
            rows = len(next(iter(table.values()))) if isinstance(table, dict) else len(table)
            manifest["tables"].append(
                {
                    "subset": part.subset,
                    "split": part.split,
                    "table": name,
                    "path": path.as_posix(),
                    "rows": rows,
                    "file": file_digest(out / path),
                }
            )
            hashes.append([part.subset, part.split, name, contents(table)])
        for what, n in part.notes.items():
            notes[what] = notes.get(what, 0) + n
    manifest["notes"] = notes
    manifest["content_hash"] = digest([{k: manifest[k] for k in HASHED}, hashes])
    manifest["versions"] = {p: version(p) for p in ("mteb", "datasets")}
    manifest["stage_version"] = VERSION
    _write_manifest(manifest, out)
    log.info("%s: %d tables frozen to %s", manifest["dataset"], len(manifest["tables"]), out)
    return manifest


def _clear(out: Path) -> None:
    """Take away what an earlier run left, manifest first."""
    (out / "manifest.json").unlink(missing_ok=True)
    shutil.rmtree(out / "data", ignore_errors=True)


def _write_manifest(manifest: dict[str, Any], out: Path) -> None:
    write_text(out / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
