"""Checks of the files behind local datasets: what is read here is what a job would freeze."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.check import tables as check_tables
from stressbed.config.entries import DatasetEntry
from stressbed.dataset.content import TABLES, number, optional
from stressbed.dataset.tables import Table, lines_of, read_table
from stressbed.errors import ConfigError, DataError, StressbedError, suggest
from stressbed.sources import resolve

if TYPE_CHECKING:
    import pandas as pd

Problem = Iterator[StressbedError]

FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lee": (("STS", "STR"), ("corpus", "ratings")),
    "fasttext": (("Classification",), ("all",)),
}
"""Task types and files of each format that is no table."""

STRATIFIED = ("Classification", "PairClassification", "Clustering")
"""Task types of which a row limit keeps the classes' shares."""


def check_local(entry: DatasetEntry, folder: Path, where: str) -> Problem:
    """Yield what is wrong with a local dataset's keys and files; warn of what is sound but may mislead."""
    if entry.subsets != ["default"] or entry.splits != ["test"]:
        yield ConfigError(
            "local files have one subset, 'default', and one evaluated split, 'test'",
            where=f"{where}, keys 'subsets' and 'splits'",
            do="remove both keys; write an entry for each of your subsets",
        )
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=entry.encoding)  # which refuses codecs of no text
    except (LookupError, ValueError):
        yield ConfigError(
            f"no encoding is called {entry.encoding!r}", where=f"{where}, key 'encoding'",
            allowed="Python's names: utf-8, latin-1, cp1252, shift_jis ...",
        )  # fmt: skip
        return
    if entry.format != "table" and entry.task_type not in FILES[entry.format][0]:
        yield ConfigError(
            f"the format {entry.format!r} does not hold a {entry.task_type} dataset",
            where=f"{where}, key 'format'",
            allowed=f"task_type {', '.join(FILES[entry.format][0])}",
        )
        return
    needed = tuple(TABLES[entry.task_type]) if entry.format == "table" else FILES[entry.format][1]
    yield from _names(entry, needed, where)
    yield from _columns(entry, where)
    paths: dict[str, Path] = {}
    for name in (n for n in needed if n in entry.files):
        try:
            paths[name] = resolve(entry.files[name], folder)
        except ConfigError as e:
            yield ConfigError(e.what, where=f"{where}, files.{name}: {e.where}", do=e.do)
    if entry.format == "table":
        yield from _tables(entry, paths, where)
    elif len(paths) == len(needed):
        yield from {"lee": _lee, "fasttext": _fasttext}[entry.format](entry, paths, where)


def _names(entry: DatasetEntry, needed: tuple[str, ...], where: str) -> Problem:
    for name in needed:
        if name not in entry.files:
            yield ConfigError(
                f"the file of table {name!r} is not given",
                where=f"{where}, key 'files'",
                allowed=f"{entry.task_type} needs {', '.join(needed)}",
                do=f"add `{name}: FILE`",
            )
    for name in entry.files:
        if name not in needed:
            yield ConfigError(
                f"unknown table {name!r}",
                where=f"{where}, key 'files'",
                allowed=", ".join(needed),
                do=suggest(name, needed),
            )


def _columns(entry: DatasetEntry, where: str) -> Problem:
    if entry.columns and entry.format != "table":
        yield ConfigError(
            f"'columns' has no effect on the format {entry.format!r}",
            where=f"{where}, key 'columns'",
            do="remove it",
        )
        return
    kind = entry.task_type
    of_table = {t: {*names, *optional(kind, t)} for t, names in TABLES[kind].items()}
    every = {c for names in of_table.values() for c in names}
    for key, value in entry.columns.items():
        if isinstance(value, dict) and key in of_table:
            for column in (c for c in value if c not in of_table[key]):
                yield _no_column(column, kind, of_table[key], f"{where}, key 'columns.{key}'")
        elif isinstance(value, dict):
            yield ConfigError(
                f"{key!r} is no table of {kind}",
                where=f"{where}, key 'columns'",
                allowed=f"columns ({', '.join(sorted(every))}), or tables ({', '.join(of_table)})",
                do=suggest(key, of_table) or "write TABLE: {STANDARD_COLUMN: YOUR_COLUMN}",
            )
        elif key not in every:
            yield _no_column(key, kind, every, f"{where}, key 'columns'")


def _no_column(column: str, kind: str, known: set[str], where: str) -> ConfigError:
    return ConfigError(
        f"{column!r} is not a standard column of {kind}",
        where=where,
        allowed=", ".join(sorted(known)),
        do=suggest(column, known) or "write STANDARD_COLUMN: YOUR_COLUMN",
    )


def _tables(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    tables: dict[str, Table] = {}
    for name, path in paths.items():
        try:
            tables[name] = read_table(path, entry.encoding)
        except DataError as e:
            yield _placed(e, f"{where}, files.{name}")
    found = list(check_tables.check(entry, tables))
    yield from found
    if not found and len(tables) == len(TABLES[entry.task_type]):
        yield from _limited(entry, tables, where)


def _limited(entry: DatasetEntry, tables: Mapping[str, Table], where: str) -> Problem:
    """Yield what is wrong with the rows that a row limit keeps, where all rows together are sound."""
    if entry.row_limit is None or "corpus" in tables:
        check_tables.warn(entry, tables)
        return
    place = f"{where}, key 'row_limit'"
    try:
        kept = {name: _cut(entry, name, table, entry.row_limit) for name, table in tables.items()}
    except ValueError as e:
        yield DataError(f"row_limit is too small: {e}", where=place)
        return
    found = list(check_tables.check(entry, kept))
    for p in found:
        yield DataError(
            f"of the rows that row_limit keeps: {p.what}", where=f"{place}, {p.where}", allowed=p.allowed,
            do="raise it",
        )  # fmt: skip
    if not found:
        check_tables.warn(entry, kept)


def _cut(entry: DatasetEntry, name: str, table: Table, limit: int) -> Table:
    """Return a table with the rows that the freezing will keep.

    Raises:
        ValueError: There are more classes than rows to keep.
    """
    from stressbed.dataset.limit import draw, draw_stratified, generator

    rng = generator(entry.subsets[0], name)
    if entry.task_type in STRATIFIED:
        kept = draw_stratified(list(map(str, table.column(entry.column(name, "label")))), limit, rng)
    else:
        kept = draw(len(table.rows), limit, rng)
    return table.select(kept)


def _as_tables(frames: Mapping[str, pd.DataFrame], path: Path, unit: str) -> dict[str, Table]:
    """Return what a format gave as tables, whose rows are counted in the order in which they were made."""
    return {
        name: Table(
            path, list(frame.columns),
            [dict(zip(frame.columns, r, strict=True)) for r in frame.values.tolist()],
            range(1, len(frame) + 1), f"{name} {unit}",
        )
        for name, frame in frames.items()
    }  # fmt: skip


def _placed(error: DataError, where: str) -> DataError:
    return DataError(error.what, where=f"{where}: {error.where}", allowed=error.allowed, do=error.do)


def _lines(path: Path, encoding: str, where: str) -> list[tuple[int, str]]:
    """Return the lines of a text file that are not blank, with their numbers from 1."""
    try:
        return [(i, line) for i, line in enumerate(lines_of(path, encoding), 1) if line.strip()]
    except DataError as e:
        raise _placed(e, where) from e


def _lee(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    try:
        documents = _lines(paths["corpus"], entry.encoding, f"{where}, files.corpus")
        ratings = [
            (i, line.split())
            for i, line in _lines(paths["ratings"], entry.encoding, f"{where}, files.ratings")
        ]
    except DataError as e:
        yield e
        return
    short = sum(entry.max_words is None or len(text.split()) <= entry.max_words for _, text in documents)
    n = short if entry.row_limit is None else min(entry.row_limit, short)
    few = n < 3
    if few:
        yield DataError(
            f"{n} documents give too few pairs",
            where=f"{where}, keys 'row_limit' and 'max_words'",
            allowed="at least 3",
        )
    wrong = list(_matrix(entry, len(documents), ratings, f"{where}, files.ratings: {paths['ratings']}"))
    yield from wrong
    if not few and not wrong:
        yield from _made(entry, paths, paths["corpus"], where)


def _matrix(entry: DatasetEntry, n: int, ratings: list[tuple[int, list[str]]], place: str) -> Problem:
    if len(ratings) != n or any(len(row) != n for _, row in ratings):
        yield DataError(
            f"the ratings are no {n} x {n} matrix", where=place,
            allowed="one line per document, one rating per document",
        )  # fmt: skip
        return
    low = 0.0 if entry.min_score is None else entry.min_score
    high = math.inf if entry.max_score is None else entry.max_score
    for i, (line, row) in enumerate(ratings):
        for j in range(i + 1, n):
            if not low <= number(row[j]) <= high:
                yield DataError(
                    f"the rating {row[j]!r} is not a number from {low:g} to {high:g}",
                    where=f"{place}, line {line}, column {j + 1}",
                )


def _made(entry: DatasetEntry, paths: dict[str, Path], path: Path, where: str) -> Problem:
    """Yield what is wrong with the tables that a format gives, made as they are when they are frozen."""
    from stressbed.dataset import formats

    try:
        if entry.format == "lee":
            tables = _as_tables({"test": formats.lee(entry, paths)}, path, "pair")
        else:
            tables = _as_tables(formats.fasttext(entry, paths), path, "row")
    except DataError as e:
        yield _placed(e, where)
        return
    found = list(check_tables.check(entry, tables))
    yield from found
    if not found:
        check_tables.warn(entry, tables)


def _fasttext(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    from stressbed.dataset.formats import FASTTEXT

    try:
        lines = _lines(paths["all"], entry.encoding, f"{where}, files.all")
    except DataError as e:
        yield e
        return
    place = f"{where}, files.all: {paths['all']}"
    found = [(i, FASTTEXT.fullmatch(line.strip())) for i, line in lines]
    problems: list[StressbedError] = [
        DataError("a line has no label or no text", where=f"{place}, line {i}", allowed="__label__NAME text")
        for i, match in found
        if match is None
    ]
    labels = {match["label"] for _, match in found if match is not None}
    if len(labels) < 2:
        problems.append(DataError(f"the file holds {len(labels)} classes", where=place, allowed="at least 2"))
    if entry.row_limit is not None and entry.row_limit < 2 * len(labels):
        problems.append(
            DataError(
                f"{entry.row_limit} rows cannot hold each of {len(labels)} classes in train and test",
                where=f"{where}, key 'row_limit'",
                allowed=f"at least {2 * len(labels)}",
            )
        )
    yield from problems or _made(entry, paths, paths["all"], where)
