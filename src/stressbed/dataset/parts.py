"""The tables of a dataset between loading and writing, whatever they came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stressbed.dataset.layout import columns_of, is_parallel, is_retrieval, owner_of, splits_of, subsets_of
from stressbed.errors import DataError, suggest

QRELS = ("query-id", "corpus-id", "score")


@dataclass
class Part:
    """The tables of one subset and split.

    Attributes:
        subset: Subset.
        split: Split.
        tables: `rows`, or `corpus`, `queries`, `qrels` and perhaps `top_ranked`; each a
            `datasets.Dataset` (or a mapping from column to list in one older bitext format).
        notes: What was found and left as it is, counted (`empty_texts`, `queries_without_qrels` ...).
    """

    subset: str
    split: str
    tables: dict[str, Any]
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, what: str, n: int) -> None:
        """Count something that was found."""
        if n:
            self.notes[what] = self.notes.get(what, 0) + n

    def where(self, dataset: str, table: str, row: object = None) -> str:
        """Return the place for an error message."""
        place = f"dataset {dataset!r}, subset {self.subset!r}, split {self.split!r}, table {table!r}"
        return place if row is None else f"{place}, row {row}"


def parts_of(task: Any, dataset: str) -> list[Part]:
    """Return the tables of a task that has loaded its data.

    Older formats become the current ones where mteb does the same when it evaluates: pairs stored
    as one row of lists, and retrieval data in attributes of their own.

    Raises:
        DataError: A subset or split that the catalogue names is not in the data.
    """
    if is_retrieval(task):
        task.convert_v1_dataset_format_to_v2(num_proc=None)
        return [
            _retrieval_part(_item(task.dataset, subset, "subset", dataset), subset, split, dataset)
            for subset in task.hf_subsets
            for split in task.eval_splits
        ]
    parts = []
    for subset in subsets_of(task):
        owner = owner_of(task, subset)
        for split in splits_of(task):
            table = _item(owner, split, "split", f"{dataset}, subset {subset}")
            if is_parallel(task):
                table = table.select_columns([c for c in columns_of(task) if c in table.column_names])
            parts.append(Part(subset, split, {"rows": _as_rows(task, table)}))
    return parts


def _item(owner: Mapping[str, Any], key: str, kind: str, dataset: str) -> Any:
    if key not in owner:
        raise DataError(
            f"the data have no {kind} {key!r}",
            where=f"dataset {dataset}",
            allowed=", ".join(map(str, owner)),
            do=suggest(key, map(str, owner)) or f"correct the {kind}s of the dataset's catalogue entry",
        )
    return owner[key]


def _as_rows(task: Any, table: Any) -> Any:
    from datasets import Dataset
    from mteb.abstasks import AbsTaskPairClassification

    if isinstance(task, AbsTaskPairClassification) and len(table) == 1:
        row = table[0]
        if isinstance(row[task.input1_column_name], list):
            return Dataset.from_dict(row)
    return table


def _retrieval_part(splits: Mapping[str, Any], subset: str, split: str, dataset: str) -> Part:
    """Return corpus, queries, qrels and candidates, the latter two as tables in a fixed order."""
    from datasets import Dataset

    data = _item(splits, split, "split", f"{dataset}, subset {subset}")
    qrels, order = data["relevant_docs"], {q: i for i, q in enumerate(data["queries"]["id"][:])}
    known = sorted(qrels, key=lambda q: (order.get(q, len(order)), q))
    rows = [(q, d, int(s)) for q in known for d, s in sorted(qrels[q].items())]
    tables = {
        "corpus": data["corpus"],
        "queries": data["queries"],
        "qrels": Dataset.from_dict({n: [r[i] for r in rows] for i, n in enumerate(QRELS)}),
    }
    top = data["top_ranked"]
    if top:
        ranked = [q for q in order if q in top]
        columns = {"query-id": ranked, "corpus-ids": [list(top[q]) for q in ranked]}
        tables["top_ranked"] = Dataset.from_dict(columns)
    return Part(subset, split, tables)


def contents(table: Any) -> str:
    """Return the hash of a table's names, order and values; not of how a file happens to encode them."""
    import hashlib

    h = hashlib.sha256()
    columns = list(table) if isinstance(table, dict) else table.column_names
    for name in columns:
        h.update(json.dumps(name).encode() + b"\n")
        for value in _chunks(table, name):
            h.update(json.dumps(value, ensure_ascii=True, sort_keys=True, default=str).encode())
    return h.hexdigest()[:32]


def _chunks(table: Any, name: str, size: int = 10_000) -> Any:
    values = table[name]
    for start in range(0, len(values), size):
        yield list(values[start : start + size])
