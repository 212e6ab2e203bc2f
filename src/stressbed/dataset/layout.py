"""Where the texts of a loaded mteb task lie: one slot per text column of each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from stressbed.errors import DataError
from stressbed.visible import shows

PARALLEL = "parallel"
"""Subset of bitext tasks whose languages are columns of one table (mteb's `parallel_subsets`)."""


@dataclass(frozen=True)
class Slot:
    """A column of texts.

    Attributes:
        subset: mteb's subset.
        split: Split.
        field: Name in `texts.parquet`: the column, with `corpus.` or `queries.` in front for retrieval.
        side: `query`, `document` or `both`.
        owner: The mapping that holds the table.
        key: The table's key in `owner`.
        column: The column's name in the table.
        rank: 0 for the first column of a pair of texts, 1 for the second; None where texts are not paired.
    """

    subset: str
    split: str
    field: str
    side: str
    owner: Any
    key: str
    column: str
    rank: int | None = None

    @property
    def table(self) -> Any:
        """The table: a `datasets.Dataset`, or a mapping from column to list."""
        return self.owner[self.key]

    def rows(self) -> list[str]:
        """Return the name of each row: a document's or query's id, else its number."""
        if self.key in {"corpus", "queries"}:
            return [str(i) for i in self.table["id"][:]]
        return [str(i) for i in range(len(self.values()))]

    def values(self) -> list[Any]:
        """Return the column's values."""
        return list(self.table[self.column][:])

    def texts(self) -> Iterator[tuple[str, int, str]]:
        """Yield (row, position, text) of each text that shows something."""
        for row, value in zip(self.rows(), self.values(), strict=True):
            for position, text in _pieces(value):
                if shows(text):
                    yield row, position, text

    def substitute(self, new: Callable[[str, int, str], str]) -> None:
        """Put `new(row, position, text)` in place of each text that shows something."""
        values = [
            _replaced(value, lambda p, t, row=row: new(row, p, t))  # type: ignore[misc]
            for row, value in zip(self.rows(), self.values(), strict=True)
        ]
        self.owner[self.key] = with_column(self.table, self.column, values)


def _pieces(value: Any) -> Iterator[tuple[int, str]]:
    """Yield the texts of a cell: a string, a list of strings, or a list of conversation turns."""
    if isinstance(value, str):
        yield 0, value
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            if isinstance(item, str):
                yield position, item
            elif isinstance(item, dict):
                yield position, item["content"]


def _replaced(value: Any, new: Callable[[int, str], str]) -> Any:
    """Return a cell with `new(position, text)` in place of each text that shows something."""

    def one(position: int, text: str) -> str:
        """Return what stands for a text."""
        return new(position, text) if shows(text) else text

    if isinstance(value, str):
        return one(0, value)
    if isinstance(value, list | tuple):
        return [
            one(i, v) if isinstance(v, str) else {**v, "content": one(i, v["content"])}
            for i, v in enumerate(value)
        ]
    return value


def with_column(table: Any, column: str, values: list[Any]) -> Any:
    """Return the table with a column's values replaced; type, order and other columns are kept."""
    if isinstance(table, dict):
        return {**table, column: values}
    order, feature = table.column_names, table.features[column]
    changed = table.remove_columns(column).add_column(column, values, feature=feature)
    return changed.select_columns(order)


def is_retrieval(task: Any) -> bool:
    """Return whether the task has corpus, queries and qrels (retrieval and reranking)."""
    from mteb.abstasks import AbsTaskRetrieval

    # Not isinstance: for each new class of a local task it would look through all of mteb's classes.
    return AbsTaskRetrieval in type(task).__mro__


def is_parallel(task: Any) -> bool:
    """Return whether the task's subsets are pairs of columns of one table."""
    return bool(getattr(task, "parallel_subsets", False))


def subsets_of(task: Any) -> list[str]:
    """Return the subsets that have tables of their own."""
    return [PARALLEL] if is_parallel(task) else list(task.hf_subsets)


def splits_of(task: Any) -> list[str]:
    """Return the splits that are read: those that are evaluated, and the one that trains."""
    splits = list(task.eval_splits)
    train = train_split(task)
    return splits if train is None or train in splits else [train, *splits]


def train_split(task: Any) -> str | None:
    """Return the split that classifiers are fitted on, or None for other task types."""
    from mteb.abstasks import AbsTaskClassification

    return str(task.train_split) if isinstance(task, AbsTaskClassification) else None


def owner_of(task: Any, subset: str) -> Any:
    """Return the mapping from split to table of a subset."""
    return task.dataset.get(subset, task.dataset)


def columns_of(task: Any) -> list[str]:
    """Return the columns of texts that are embedded; a pair's first column first.

    Raises:
        TypeError: The task is of a type that stressbed does not know.
    """
    from mteb import abstasks

    a: Any = abstasks
    if isinstance(task, a.AbsTaskSummarization):
        return [task.human_summaries_column_name, task.machine_summaries_column_name]
    if isinstance(task, a.AbsTaskSTS):
        return list(task.column_names)
    if isinstance(task, a.AbsTaskPairClassification):
        return [task.input1_column_name, task.input2_column_name]
    if isinstance(task, a.AbsTaskBitextMining):
        pairs = task._get_pairs(is_parallel(task))
        return list(dict.fromkeys(c for pair in pairs for c in pair))
    if isinstance(task, a.AbsTaskClassification | a.AbsTaskClustering | a.AbsTaskClusteringLegacy):
        return [task.input_column_name]
    raise TypeError(f"no text columns are known for {type(task).__name__}")


def is_paired(task: Any) -> bool:
    """Return whether a row is a pair of texts in two columns."""
    from mteb import abstasks as a

    kinds = (a.AbsTaskSTS, a.AbsTaskPairClassification, a.AbsTaskBitextMining)
    return isinstance(task, kinds) and not is_parallel(task)


def language_of(manifest: dict[str, Any], slot: Slot) -> str:
    """Return the language of a column of texts.

    `field_languages` decides (by field, column or table, `corpus` say). Else a subset with two
    languages has the first in the first column of its pairs and the second in the second.

    Raises:
        DataError: Several languages are named and nothing says which one these texts are in.
    """
    named = manifest["field_languages"].get(slot.subset, {})
    for field in (slot.field, slot.column, slot.key):
        if field in named:
            return str(named[field])
    languages: list[str] = manifest["languages"][slot.subset]
    if len(languages) == 1:
        return languages[0]
    if len(languages) == 2 and slot.rank is not None:
        return languages[slot.rank]
    raise DataError(
        f"the subset has {len(languages)} languages ({', '.join(languages)}): which is {slot.field!r} in?",
        where=f"dataset {manifest['dataset']!r}, subset {slot.subset!r}",
        do=f"add `field_languages: {{{slot.subset}: {{{slot.field}: ...}}}}` to the catalogue entry",
    )


def label_of(task: Any) -> str | None:
    """Return the column of labels (classification, clustering, pair classification), else None."""
    return getattr(task, "label_column_name", None)


def slots(task: Any) -> Iterator[Slot]:
    """Yield every column of texts of a loaded task, in a fixed order.

    Tables that several subsets or splits share are yielded once.
    """
    seen: set[tuple[int, str, str]] = set()
    for slot in _all_slots(task):
        mark = (id(slot.owner), slot.key, slot.column)
        if mark not in seen:
            seen.add(mark)
            yield slot


def _all_slots(task: Any) -> Iterator[Slot]:
    if is_retrieval(task):
        for subset in task.hf_subsets:
            for split in task.eval_splits:
                yield from _retrieval_slots(task.dataset[subset][split], subset, split)
        return
    columns, paired = columns_of(task), is_paired(task)
    for subset in subsets_of(task):
        owner = owner_of(task, subset)
        for split in splits_of(task):
            for rank, column in enumerate(columns):
                side = side_of(task, split, column)
                yield Slot(subset, split, column, side, owner, split, column, rank if paired else None)


def _retrieval_slots(data: Any, subset: str, split: str) -> Iterator[Slot]:
    for key, column, side in (
        ("queries", "text", "query"),
        ("queries", "instruction", "query"),
        ("corpus", "title", "document"),
        ("corpus", "text", "document"),
    ):
        if column in data[key].column_names:
            yield Slot(subset, split, f"{key}.{column}", side, data, key, column)


def side_of(task: Any, split: str, column: str) -> str:
    """Return which side the texts of a column are on: `query`, `document` or `both`."""
    from mteb import abstasks as a

    if isinstance(task, a.AbsTaskClassification):
        if split in task.eval_splits:
            return "both" if split == task.train_split else "query"
        return "document"
    if isinstance(task, a.AbsTaskClustering | a.AbsTaskClusteringLegacy):
        return "both"
    first, second = {columns_of(task)[0]}, set(columns_of(task)[1:])
    if isinstance(task, a.AbsTaskSummarization):
        first, second = second, first
    if isinstance(task, a.AbsTaskBitextMining):
        first, second = ({p[i] for p in task._get_pairs(is_parallel(task))} for i in (0, 1))
    if column in first and column in second:
        return "both"
    return "query" if column in first else "document"
