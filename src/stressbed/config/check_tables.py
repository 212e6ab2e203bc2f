"""Checks of what local tables hold, by task type, before any job."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stressbed.config.entries import DatasetEntry
from stressbed.config.tables import Table
from stressbed.errors import DataError, StressbedError, suggest

Problem = Iterator[StressbedError]

TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "Classification": {"train": ("text", "label"), "test": ("text", "label")},
    "MultilabelClassification": {"train": ("text", "labels"), "test": ("text", "labels")},
    "Clustering": {"test": ("text", "label")},
    "PairClassification": {"test": ("sentence1", "sentence2", "label")},
    "STS": {"test": ("sentence1", "sentence2", "score")},
    "STR": {"test": ("sentence1", "sentence2", "score")},
    "Summarization": {"test": ("text", "human_summaries", "machine_summaries", "relevance")},
    "BitextMining": {"test": ("sentence1", "sentence2")},
    "Retrieval": {
        "corpus": ("id", "text"),
        "queries": ("id", "text"),
        "qrels": ("query_id", "corpus_id", "score"),
    },
    "Reranking": {
        "corpus": ("id", "text"),
        "queries": ("id", "text"),
        "qrels": ("query_id", "corpus_id", "score"),
        "top_ranked": ("query_id", "corpus_id"),
    },
}
"""Tables of each task type and the columns that they must have (format `table`)."""

OPTIONAL: dict[str, tuple[str, ...]] = {"corpus": ("title",), "queries": ("instruction",)}
"""Columns that a table may have beside the required ones."""


@dataclass(frozen=True)
class Content:
    """A table seen through the standard names of its columns."""

    entry: DatasetEntry
    name: str
    table: Table

    def own(self, column: str) -> str:
        """Return the user's name of a standard column."""
        return self.entry.columns.get(column, column)

    def values(self, column: str) -> list[Any]:
        """Return the values of a standard column."""
        return self.table.column(self.own(column))

    def has(self, column: str) -> bool:
        """Return whether the table has a standard column."""
        return self.own(column) in self.table.columns

    def error(self, what: str, rows: Sequence[int] = (), *, allowed: str = "", do: str = "") -> DataError:
        """Return an error that names dataset, table, file and rows."""
        place = self.table.at(rows) if rows else str(self.table.path)
        return DataError(
            what, where=f"dataset {self.entry.id!r}, table {self.name!r}, {place}", allowed=allowed, do=do
        )


def check(entry: DatasetEntry, tables: Mapping[str, Table]) -> Problem:
    """Yield what is wrong with the tables of a local dataset (all of them could be read)."""
    contents = {name: Content(entry, name, table) for name, table in tables.items()}
    complete = True
    for name, content in contents.items():
        found = list(_columns(content, TABLES[entry.task_type][name]))
        if not content.table.rows:
            found = [content.error("the table is empty", do="add rows, or take the dataset out of the run")]
        complete = complete and not found
        yield from found
    if complete:
        yield from _CHECKS[entry.task_type](contents)


def _columns(content: Content, required: Sequence[str]) -> Problem:
    for column in required:
        own = content.own(column)
        if own in content.table.columns:
            continue
        named = f"{own!r} (for {column!r})" if own != column else repr(column)
        near = suggest(own, content.table.columns)
        yield content.error(
            f"the column {named} is missing",
            allowed=f"the columns found are {', '.join(content.table.columns) or 'none'}",
            do=near or f"name yours in the catalogue entry: `columns: {{{column}: YOUR_COLUMN}}`",
        )


def _rows(values: Sequence[Any], wrong: Callable[[Any], bool]) -> list[int]:
    return [i for i, value in enumerate(values) if wrong(value)]


def texts(content: Content, column: str) -> Problem:
    """Yield null, non-text and empty values of a column of texts."""
    values = content.values(column)
    own = content.own(column)
    for what, wrong in (
        ("is null", lambda v: v is None),
        ("is not text", lambda v: v is not None and not isinstance(v, str)),
        ("is an empty text", lambda v: isinstance(v, str) and not v.strip()),
        ("holds half a surrogate pair, which is no character", _halved),
    ):
        if rows := _rows(values, wrong):
            yield content.error(f"a value of column {own!r} {what}", rows, do="fill it in or remove the row")


def _halved(value: Any) -> bool:
    """Return whether a text holds a lone surrogate: JSON can write one, no table can hold it."""
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)


def optional_texts(content: Content, column: str) -> Problem:
    """Yield values of a column that are no text, where a value may be empty or missing."""
    wrong = content.has(column) and _rows(
        content.values(column), lambda v: not isinstance(v, str | None) or _halved(v)
    )
    if rows := wrong or []:
        yield content.error(
            f"a value of column {content.own(column)!r} is not text", rows, do="use an empty text instead"
        )


def number(value: Any) -> float:
    """Return a number, or NaN for what is none."""
    if isinstance(value, bool) or value is None:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def ratings(content: Content, column: str) -> Problem:
    """Yield ratings that are no numbers, lie outside the scale, or are all the same."""
    values = [number(v) for v in content.values(column)]
    own = content.own(column)
    if rows := _rows(values, lambda v: not math.isfinite(v)):
        yield content.error(f"a rating in column {own!r} is not a number", rows)
        return
    yield from _scale(content, own, values)
    if len(set(values)) == 1:
        yield content.error(
            f"all ratings in column {own!r} are equal", do="a correlation needs at least two values"
        )


def _scale(content: Content, own: str, values: Sequence[float]) -> Problem:
    low = -math.inf if content.entry.min_score is None else content.entry.min_score
    high = math.inf if content.entry.max_score is None else content.entry.max_score
    if low < high and (rows := _rows(values, lambda v: not low <= v <= high)):
        yield content.error(
            f"a rating in column {own!r} lies outside the scale: {values[rows[0]]:g}",
            rows,
            allowed=f"{low:g} to {high:g} (`min_score` and `max_score` of the entry)",
            do="correct the rating or the scale",
        )


def _no_label(value: Any) -> bool:
    return isinstance(value, bool) or not isinstance(value, str | int) or value == "" or _halved(value)


def labels(content: Content, column: str, *, classes: int = 2) -> Problem:
    """Yield labels that are no names or whole numbers, and tables with too few classes."""
    values = content.values(column)
    own = content.own(column)
    if rows := _rows(values, _no_label):
        yield content.error(
            f"a label in column {own!r} is missing or of a wrong type", rows,
            allowed="a name or a whole number",
        )  # fmt: skip
    elif (n := len(set(values))) < classes:
        yield content.error(
            f"column {own!r} holds {n} class{'es' if n > 1 else ''}",
            allowed=f"at least {classes}",
            do="add rows of another class",
        )


def _classification(contents: Mapping[str, Content]) -> Problem:
    wrong = False
    for content in contents.values():
        found = [*texts(content, "text"), *labels(content, "label")]
        wrong = wrong or bool(found)
        yield from found
    if not wrong:
        train, test = (list(map(str, contents[t].values("label"))) for t in ("train", "test"))
        if rows := _rows(test, lambda v: v not in set(train)):
            yield contents["test"].error(
                f"the label {test[rows[0]]!r} does not occur in table 'train'",
                rows,
                allowed=", ".join(sorted(set(train))),
                do=suggest(test[rows[0]], set(train)) or "add training rows of this class",
            )


def label_set(value: Any) -> list[str] | None:
    """Return the labels of a row: a list, or names separated by `;`; None for anything else."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(";") if part.strip()]
    if isinstance(value, list | tuple) and all(isinstance(v, str | int) for v in value):
        return [str(v) for v in value]
    return None


def _multilabel(contents: Mapping[str, Content]) -> Problem:
    for name, content in contents.items():
        yield from texts(content, "text")
        sets = [label_set(v) for v in content.values("labels")]
        if rows := _rows(sets, lambda v: v is None):
            yield content.error(
                "a value of the labels' column is not a list of labels",
                rows,
                allowed="a list, or names separated by `;`",
            )
        elif name == "train" and len({label for s in sets if s for label in s}) < 2:
            yield content.error("the training rows hold fewer than two labels", allowed="at least 2")


def _clustering(contents: Mapping[str, Content]) -> Problem:
    yield from texts(contents["test"], "text")
    yield from labels(contents["test"], "label")


def _sentences(content: Content) -> Problem:
    yield from texts(content, "sentence1")
    yield from texts(content, "sentence2")
    if len(content.table.rows) < 2:
        yield content.error("the table holds one pair", allowed="at least 2")


def _pairs(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from _sentences(content)
    values = [str(v) for v in content.values("label")]
    if rows := _rows(values, lambda v: v not in {"0", "1"}):
        yield content.error(
            f"a label in column {content.own('label')!r} is {values[rows[0]]!r}",
            rows,
            allowed="1 for a pair that matches, 0 for one that does not",
        )
    else:
        yield from labels(content, "label")


def _rated(contents: Mapping[str, Content]) -> Problem:
    yield from _sentences(contents["test"])
    yield from ratings(contents["test"], "score")


def _bitext(contents: Mapping[str, Content]) -> Problem:
    yield from _sentences(contents["test"])


def _summaries(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from texts(content, "text")
    for column in ("human_summaries", "machine_summaries"):
        if rows := _rows(content.values(column), lambda v: not _texts_list(v)):
            yield content.error(
                f"a value of column {content.own(column)!r} is not a list of texts",
                rows,
                allowed="a list of at least one text, none of them empty (JSON lines or Parquet)",
            )
            return
    own = content.own("relevance")
    machine = content.values("machine_summaries")
    rated = [[number(r) for r in v] if isinstance(v, list) else [] for v in content.values("relevance")]
    if rows := [i for i, r in enumerate(rated) if len(r) != len(machine[i])]:
        yield content.error(f"column {own!r} needs one rating for each machine summary", rows)
    elif rows := _rows(rated, lambda v: not all(map(math.isfinite, v))):
        yield content.error(f"a rating in column {own!r} is not a number", rows)
    elif all(len(set(r)) == 1 for r in rated):
        yield content.error(f"all ratings in column {own!r} are equal within their row")
    else:
        worst = [max(r, key=lambda v: abs(v - _middle(content.entry))) for r in rated]
        yield from _scale(content, own, worst)


def _middle(entry: DatasetEntry) -> float:
    """Return the middle of the rating scale, or 0 where it has no ends."""
    return ((entry.min_score or 0) + (entry.max_score or 0)) / 2


def _texts_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(v, str) and bool(v.strip()) and not _halved(v) for v in value)
    )


def _ids(content: Content) -> Problem:
    values = content.values("id")
    if rows := _rows(values, lambda v: not isinstance(v, str | int) or not str(v).strip() or _halved(v)):
        yield content.error("an id is missing or of a wrong type", rows, allowed="text or a whole number")
        return
    first: dict[str, int] = {}
    for i, value in enumerate(map(str, values)):
        if value in first:
            yield content.error(
                f"the id {value!r} stands twice", [first[value], i], do="give each row its own id"
            )
        first.setdefault(value, i)


def _known(content: Content, column: str, known: set[str], other: str) -> Problem:
    values = [str(v) for v in content.values(column)]
    if rows := _rows(values, lambda v: v not in known):
        yield content.error(
            f"column {content.own(column)!r} names {values[rows[0]]!r}, which table {other!r} does not hold",
            rows,
            do=suggest(values[rows[0]], known) or f"add it to {other!r} or remove the row",
        )


def _retrieval(contents: Mapping[str, Content]) -> Problem:
    corpus, queries, qrels = (contents[t] for t in ("corpus", "queries", "qrels"))
    for content in (corpus, queries):
        yield from _ids(content)
        yield from texts(content, "text")
    yield from optional_texts(corpus, "title")
    if queries.has("instruction"):
        yield from texts(queries, "instruction")
    known = {c.name: {str(v) for v in c.values("id")} for c in (corpus, queries)}
    for name in ("qrels", "top_ranked"):
        if name in contents:
            yield from _known(contents[name], "query_id", known["queries"], "queries")
            yield from _known(contents[name], "corpus_id", known["corpus"], "corpus")
            yield from _covered(contents[name], queries)
    scores = [number(v) for v in qrels.values("score")]
    if rows := _rows(scores, lambda v: not (v >= 0 and v == int(v)) if math.isfinite(v) else True):
        yield qrels.error(
            f"a score in column {qrels.own('score')!r} is not a whole number of 0 or more", rows,
            allowed="0 for not relevant, 1 or more for relevant",
        )  # fmt: skip
    yield from _judged_once(qrels, scores)


def _judged_once(qrels: Content, scores: Sequence[float]) -> Problem:
    """Yield pairs that are judged twice, and differently: which judgement would count is chance."""
    first: dict[tuple[str, str], int] = {}
    pairs = zip(map(str, qrels.values("query_id")), map(str, qrels.values("corpus_id")), strict=True)
    for i, pair in enumerate(pairs):
        j = first.setdefault(pair, i)
        if scores[i] != scores[j] and math.isfinite(scores[i] - scores[j]):
            yield qrels.error(
                f"query {pair[0]!r} and document {pair[1]!r} are judged twice, and differently", [j, i],
                do="keep one of the two rows",
            )  # fmt: skip


def _covered(content: Content, queries: Content) -> Problem:
    """Yield queries without a relevant document or a candidate: they would be dropped silently."""
    given = content.values("query_id")
    if content.name == "qrels":
        given = [q for q, s in zip(given, content.values("score"), strict=True) if number(s) > 0]
    there = set(map(str, given))
    if rows := _rows(queries.values("id"), lambda v: str(v) not in there):
        what = "relevant document" if content.name == "qrels" else "candidate"
        yield queries.error(
            f"a query has no {what} in table {content.name!r}", rows, do="add one or remove the query"
        )


_CHECKS: dict[str, Callable[[Mapping[str, Content]], Problem]] = {
    "Classification": _classification,
    "MultilabelClassification": _multilabel,
    "Clustering": _clustering,
    "PairClassification": _pairs,
    "STS": _rated,
    "STR": _rated,
    "Summarization": _summaries,
    "BitextMining": _bitext,
    "Retrieval": _retrieval,
    "Reranking": _retrieval,
}
