"""New texts put in place of the old in a thawed task; rows of dropped texts taken out."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from stressbed.dataset.layout import (
    Slot,
    is_retrieval,
    label_of,
    slots,
    train_split,
    with_column,
)
from stressbed.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("stressbed")

Place = tuple[str, str, str, str, int]
"""Subset, split, field, row, position."""


class NothingLeft(DataError):  # noqa: N818  # it says what is the matter with the data
    """Too little is left of a dataset after rows were taken out: a fact about the variant, no mishap."""


def rewrite(
    task: Any, texts: pd.DataFrame, replacements: Mapping[int, str], dropped: Collection[int] = ()
) -> None:
    """Put new texts in place in a thawed task and take out the rows that dropped texts belong to.

    A dropped text takes out its row: the pair, the test row, the summarised document, the element
    of a clustering set, the query with its qrels, the document with its qrels (and queries that
    are left without any). Where mteb samples rows by their number (training rows, clusterings that
    embed a part, multilabel tests over 3,000 rows) taking one out would change the sample, so
    such a row stays with its original text.

    Args:
        task: A task of `thaw`, not yet rewritten.
        texts: Content of the dataset's `texts.parquet`.
        replacements: New text by text id.
        dropped: Text ids without a new text whose rows are taken out.

    Raises:
        DataError: An id is unknown, a text is not where `texts` says, or no row would be left.
    """
    place_of = _places(texts, {*replacements, *dropped})
    new = {place_of[i]: text for i, text in replacements.items() if i not in set(dropped)}
    by_slot: dict[tuple[str, str, str], dict[tuple[str, int], str]] = defaultdict(dict)
    for (subset, split, field, row, position), text in new.items():
        by_slot[subset, split, field][row, position] = text
    gone: dict[tuple[str, str, str], set[tuple[str, int]]] = defaultdict(set)
    for i in dropped:
        subset, split, field, row, position = place_of[i]
        gone[subset, split, field].add((row, position))
    _replace(task, by_slot)
    _drop(task, gone)


def _places(texts: pd.DataFrame, wanted: set[int]) -> dict[int, Place]:
    rows = texts[texts["text_id"].isin(list(wanted))] if wanted else texts.iloc[:0]
    names = ("text_id", "subset", "split", "field", "row", "position")
    found = {i: tuple(place) for i, *place in zip(*(rows[n].tolist() for n in names), strict=True)}
    if missing := wanted - set(found):
        raise DataError(
            f"{len(missing)} text ids are not in the dataset's texts",
            where=f"text_id {min(missing)}",
            do="the rewrites belong to another version of this dataset: run the transform stage again",
        )
    return found


def _replace(task: Any, by_slot: Mapping[tuple[str, str, str], dict[tuple[str, int], str]]) -> None:
    todo = dict(by_slot)
    for slot in slots(task):
        new = dict(todo.pop((slot.subset, slot.split, slot.field), {}))
        if not new:
            continue
        slot.substitute(lambda row, position, text, new=new: new.pop((row, position), text))  # type: ignore[misc]
        if new:
            raise _nowhere(slot.subset, slot.split, slot.field, *min(new))
    for (subset, split, field), new in todo.items():
        raise _nowhere(subset, split, field, *min(new))


def _nowhere(subset: str, split: str, field: str, row: str, position: int) -> DataError:
    return DataError(
        "a text is not where the dataset's list of texts says",
        where=f"subset {subset!r}, split {split!r}, field {field!r}, row {row}, position {position}",
        do="delete the dataset's folder; it is then frozen anew",
    )


def _drop(task: Any, gone: Mapping[tuple[str, str, str], set[tuple[str, int]]]) -> None:
    if not gone:
        return
    if is_retrieval(task):
        _drop_retrieval(task, gone)
        return
    rows_of: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    slot_of: dict[tuple[str, str], Slot] = {}
    for slot in slots(task):
        slot_of.setdefault((slot.subset, slot.split), slot)
        rows_of[slot.subset, slot.split] |= gone.get((slot.subset, slot.split, slot.field), set())
    for key, rows in rows_of.items():
        if not rows:
            continue
        if is_sampled(task, slot_of[key]):
            log.warning("%s: %d texts without a rewrite keep their original: mteb samples these rows",
                        task.metadata.name, len(rows))  # fmt: skip
        else:
            _drop_rows(task, slot_of[key], rows)


def is_sampled(task: Any, slot: Slot) -> bool:
    """Return whether mteb samples the slot's rows by number, so that none can be taken out."""
    from mteb import abstasks as a

    if slot.split == train_split(task):
        return True
    if isinstance(task, a.AbsTaskClustering):
        whole = task.max_fraction_of_documents_to_embed is None and task.max_document_to_embed is None
        return not whole
    if isinstance(task, a.AbsTaskMultilabelClassification):
        return task.max_eval_samples is not None and len(slot.table) > task.max_eval_samples
    return False


def _drop_rows(task: Any, slot: Slot, rows: set[tuple[str, int]]) -> None:
    from mteb.abstasks import AbsTaskClusteringLegacy

    if isinstance(task, AbsTaskClusteringLegacy):
        _drop_elements(task, slot, rows)
        return
    numbers = {int(row) for row, _ in rows}
    if isinstance(slot.table, dict):
        raise DataError(
            "rows of this older format cannot be taken out",
            where=f"task {task.metadata.name}, subset {slot.subset!r}",
            do="use a transformation whose `on_empty` and `on_cut` are not `drop`",
        )
    keep = [i for i in range(len(slot.table)) if i not in numbers]
    if len(keep) < 2:
        raise NothingLeft(
            "too few rows are left after those without a rewrite were taken out",
            where=f"task {task.metadata.name}, subset {slot.subset!r}, split {slot.split!r}: {len(keep)}",
        )
    slot.owner[slot.key] = slot.table.select(keep).flatten_indices()


def _drop_elements(task: Any, slot: Slot, rows: set[tuple[str, int]]) -> None:
    for column in (slot.column, label_of(task)):
        values = [
            [v for p, v in enumerate(members) if (str(row), p) not in rows]
            for row, members in enumerate(slot.table[column][:])
        ]
        slot.owner[slot.key] = with_column(slot.table, str(column), values)


def _drop_retrieval(task: Any, gone: Mapping[tuple[str, str, str], set[tuple[str, int]]]) -> None:
    for subset in task.hf_subsets:
        for split in task.eval_splits:
            ids: dict[str, set[str]] = {"queries": set(), "corpus": set()}
            for (s, sp, field), rows in gone.items():
                if (s, sp) == (subset, split):
                    ids[field.partition(".")[0]] |= {row for row, _ in rows}
            if ids["queries"] or ids["corpus"]:
                _drop_ids(task, subset, split, ids["queries"], ids["corpus"])


def _drop_ids(task: Any, subset: str, split: str, queries: set[str], documents: set[str]) -> None:
    data = task.dataset[subset][split]
    qrels = {
        q: {d: s for d, s in docs.items() if d not in documents}
        for q, docs in data["relevant_docs"].items()
        if q not in queries
    }
    data["relevant_docs"] = {q: docs for q, docs in qrels.items() if docs}
    if data["top_ranked"] is not None:
        data["top_ranked"] = {
            q: [d for d in docs if d not in documents]
            for q, docs in data["top_ranked"].items()
            if q in data["relevant_docs"]
        }
    if not data["relevant_docs"]:
        raise NothingLeft(
            "no query is left after those without a rewrite were taken out",
            where=f"task {task.metadata.name}, subset {subset!r}, split {split!r}",
        )
    for key, keep in (
        ("queries", set(data["relevant_docs"]).__contains__),
        ("corpus", lambda d: d not in documents),
    ):
        table = data[key]
        data[key] = table.select([i for i, d in enumerate(table["id"][:]) if keep(d)]).flatten_indices()
