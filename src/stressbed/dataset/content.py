"""Columns of local tables and what may stand in them, whatever the task type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stressbed.config.entries import DatasetEntry
from stressbed.dataset.tables import Table
from stressbed.errors import DataError, StressbedError
from stressbed.languages import is_valid, language_of
from stressbed.visible import look, shows

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

PAIRED = ("STS", "STR", "PairClassification", "BitextMining")
"""Task types whose rows are pairs of texts."""


def optional(task_type: str, table: str) -> tuple[str, ...]:
    """Return the columns that a table may have beside the required ones.

    `language` is that of all texts of a row; a row of two texts may have one for each.
    """
    if table in {"qrels", "top_ranked"}:
        return ()
    own = {"corpus": ("title",), "queries": ("instruction",)}.get(table, ())
    both = () if task_type == "BitextMining" else ("language",)
    each = ("language1", "language2") if task_type in PAIRED else ()
    return (*own, *both, *each)


TEXTS = ("text", "sentence1", "sentence2", "human_summaries", "machine_summaries")
"""Columns with texts."""

LANGUAGES = ("language", "language1", "language2")
"""Columns with the language of a row's texts, of its first and of its second text."""


@dataclass(frozen=True)
class Content:
    """A table seen through the standard names of its columns."""

    entry: DatasetEntry
    name: str
    table: Table

    def own(self, column: str) -> str:
        """Return the user's name of a standard column."""
        return self.entry.column(self.name, column)

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


def rows_where(values: Sequence[Any], wrong: Callable[[Any], bool]) -> list[int]:
    """Return the numbers of the rows whose value is wrong."""
    return [i for i, value in enumerate(values) if wrong(value)]


def texts(content: Content, column: str) -> Problem:
    """Yield null, non-text and empty values of a column of texts."""
    values = content.values(column)
    own = content.own(column)
    for what, wrong in (
        ("is null", lambda v: v is None),
        ("is not text", lambda v: v is not None and not isinstance(v, str)),
        ("is an empty text", _hidden),
        ("holds half a surrogate pair, which is no character", halved),
    ):
        if rows := rows_where(values, wrong):
            yield content.error(f"a value of column {own!r} {what}", rows, do="fill it in or remove the row")


def _hidden(value: Any) -> bool:
    """Return whether a text shows nothing; half a surrogate pair has a message of its own."""
    return isinstance(value, str) and not shows(value) and not halved(value)


def halved(value: Any) -> bool:
    """Return whether a text holds a lone surrogate: JSON can write one, no table can hold it."""
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)


def optional_texts(content: Content, column: str) -> Problem:
    """Yield values of a column that are no text, where a value may be empty or missing."""
    wrong = content.has(column) and rows_where(
        content.values(column), lambda v: not isinstance(v, str | None) or halved(v)
    )
    if rows := wrong or []:
        yield content.error(
            f"a value of column {content.own(column)!r} is not text", rows, do="use an empty text instead"
        )


def number(value: Any) -> float:
    """Return a number, or NaN for what is none."""
    if isinstance(value, bool) or value is None or (isinstance(value, str) and "_" in value):
        return math.nan  # Python reads 1_000 as a number, no other program does
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def ratings(content: Content, column: str) -> Problem:
    """Yield ratings that are no numbers, lie outside the scale, or are all the same."""
    values = [number(v) for v in content.values(column)]
    own = content.own(column)
    if rows := rows_where(values, lambda v: not math.isfinite(v)):
        yield content.error(f"a rating in column {own!r} is not a number", rows)
        return
    yield from scale(content, own, values)
    if len(set(values)) == 1:
        yield content.error(
            f"all ratings in column {own!r} are equal", do="a correlation needs at least two values"
        )


def scale(content: Content, own: str, values: Sequence[float]) -> Problem:
    """Yield ratings outside the entry's scale, if it has one."""
    low = -math.inf if content.entry.min_score is None else content.entry.min_score
    high = math.inf if content.entry.max_score is None else content.entry.max_score
    if low < high and (rows := rows_where(values, lambda v: not low <= v <= high)):
        yield content.error(
            f"a rating in column {own!r} lies outside the scale: {values[rows[0]]:g}",
            rows,
            allowed=f"{low:g} to {high:g} (`min_score` and `max_score` of the entry)",
            do="correct the rating or the scale",
        )


def _no_label(value: Any) -> bool:
    named = isinstance(value, str) and shows(value) and not halved(value)
    return not named and (isinstance(value, bool) or not isinstance(value, int))


def labels(content: Content, column: str, *, classes: int = 2) -> Problem:
    """Yield labels that are no names or whole numbers, and tables with too few classes."""
    values = content.values(column)
    own = content.own(column)
    if rows := rows_where(values, _no_label):
        yield content.error(
            f"a label in column {own!r} is missing or of a wrong type", rows,
            allowed="a name or a whole number",
        )  # fmt: skip
    elif (n := len(set(map(str, values)))) < classes:
        yield content.error(
            f"column {own!r} holds {n} class{'es' if n > 1 else ''}",
            allowed=f"at least {classes}",
            do="add rows of another class",
        )


_WHOLE = re.compile(r"([-+\u2212]?)0*([0-9]+)(?:\.0*)?")
"""A whole number, as spreadsheets write it, too: `1.0`. Others may be names, such as 3.1 and 3.10."""


def _plain(name: str) -> str:
    """Return one way to write a whole number; other names as they are."""
    found = _WHOLE.fullmatch(name)
    if found is None:
        return name
    sign = "-" if found[1] in {"-", "\u2212"} and found[2] != "0" else ""
    return sign + found[2]


def alike(names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return pairs of different names that look the same, and in what they differ."""
    found, first = [], dict[str, str]()
    for name in dict.fromkeys(names):
        seen = look(name)
        key = _plain(seen)  # 01 would become 1 where all labels are whole numbers
        other = first.setdefault(key, name)
        if other != name:
            found.append((other, name, _difference(other, name)))
    return found


def _difference(one: str, other: str) -> str:
    if "".join(one.split()) == "".join(other.split()):
        return "blanks"
    if look(one) != look(other):
        return "how a number is written"
    return "characters that cannot be seen, or in Unicode's normal form"


def same_look(contents: Sequence[Content], names: Sequence[Sequence[tuple[int, str]]]) -> Problem:
    """Yield labels, of all tables together, that look the same but are different classes.

    Args:
        contents: The tables.
        names: Row and label, for each table.
    """
    places: dict[str, tuple[Content, list[int]]] = {}
    for content, of_rows in zip(contents, names, strict=True):
        for row, name in of_rows:
            place = places.setdefault(name, (content, []))
            if place[0] is content:
                place[1].append(row)
    for one, other, what in alike(list(places)):
        content, rows = places[other]
        yield content.error(
            f"labels that differ only in {what}: {one!r}, {other!r}", rows, do="write both the same way"
        )


def row_languages(content: Content) -> Problem:
    """Yield languages of rows that are no tags, or none of the entry's languages."""
    known = [tag for tags in content.entry.languages.values() for tag in tags]
    for column in LANGUAGES:
        if column not in optional(content.entry.task_type, content.name) or not content.has(column):
            continue
        values = content.values(column)
        wrong = rows_where(values, lambda v: own_tag(v, known) is None)
        if wrong:
            yield content.error(
                f"{values[wrong[0]]!r} in column {content.own(column)!r} is none of the dataset's languages",
                wrong,
                allowed=", ".join(known),
                do="write one of these tags, or add the language to `languages` of the entry; a column that "
                "says something else needs another name",
            )


def own_tag(value: Any, known: Sequence[str]) -> str | None:
    """Return the entry's tag that a row's language means: `en` is `eng-Latn`; None if none is, or several."""
    if not isinstance(value, str):
        return None
    tag = value.strip()
    if tag in known:
        return tag
    if not is_valid(tag):
        return None
    same = [k for k in known if is_valid(k) and language_of(k) == language_of(tag)]
    return same[0] if len(set(same)) == 1 and "-" not in tag else None


def undecided(content: Content) -> Problem:
    """Yield a table of texts in several languages of which nothing says which text is in which."""
    entry, name = content.entry, content.name
    spoken = entry.languages.get("default", [])
    columns = [c for c in TABLES[entry.task_type][name] if c in TEXTS]
    paired = entry.task_type in PAIRED
    if len(spoken) < 2 or not columns or (len(spoken) == 2 and paired):
        return
    if content.has("language") or (paired and content.has("language1") and content.has("language2")):
        return
    named = entry.field_languages.get("default", {})
    if name in {"corpus", "queries"}:
        columns = [name] if f"{name}.text" not in named and "text" not in named else []
    if open_ := [c for c in columns if c not in named]:
        yield content.error(
            f"the dataset has {len(spoken)} languages ({', '.join(spoken)}): which are the texts of "
            f"{open_[0]!r} in?",
            do=f"add a column `language`, or `field_languages: {{default: {{{open_[0]}: ...}}}}`",
        )


def label_set(value: Any) -> list[str] | None:
    """Return the labels of a row: a list, or names separated by `;`; None for anything else."""
    if isinstance(value, str):
        return list(dict.fromkeys(part.strip() for part in value.split(";") if shows(part)))
    if isinstance(value, list | tuple) and all(_is_label(v) for v in value):
        return list(dict.fromkeys(str(v) for v in value))
    return None


def _is_label(value: Any) -> bool:
    if isinstance(value, str):
        return shows(value) and not halved(value)
    return isinstance(value, int) and not isinstance(value, bool)
