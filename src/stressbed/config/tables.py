"""Local tables (CSV, TSV, JSON lines, Parquet) as rows, each with its place for messages."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stressbed.errors import DataError, suggest


@dataclass(frozen=True)
class Table:
    """A table of a local dataset.

    Attributes:
        path: Its file.
        columns: Names of its columns.
        rows: One mapping per row, from column to value; all values of a CSV file are strings.
        numbers: Line (CSV, JSON lines) or row (Parquet) of each row, from 1.
        unit: `line` or `row`.
    """

    path: Path
    columns: Sequence[str]
    rows: Sequence[dict[str, Any]]
    numbers: Sequence[int]
    unit: str

    def at(self, rows: Sequence[int]) -> str:
        """Return where rows (counted from 0) stand, such as `data.csv, lines 3, 8 and 5 more`."""
        shown = [str(self.numbers[i]) for i in rows[:5]]
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        return f"{self.path}, {self.unit}{'s' if len(rows) > 1 else ''} {', '.join(shown)}{more}"

    def column(self, name: str) -> list[Any]:
        """Return a column's values."""
        return [row[name] for row in self.rows]


def read_table(path: Path, encoding: str = "utf-8") -> Table:
    """Return the table in a file; its kind is told by the extension.

    Raises:
        DataError: The file is missing, of another kind, unreadable, in another encoding, or a row
            does not fit.
    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise DataError(
            f"no reader for the extension {path.suffix!r}",
            where=str(path),
            allowed=", ".join(READERS),
            do=suggest(suffix, READERS) or "convert the file",
        )
    with reading(path):
        return READERS[suffix](path, without_bom(encoding))


def without_bom(encoding: str) -> str:
    """Return the encoding that also drops a byte order mark, for UTF-8."""
    return "utf-8-sig" if encoding.lower() in {"utf-8", "utf8"} else encoding


class reading:  # noqa: N801  # reads like a verb where it is used
    """Context in which failures to read a file become errors that name it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        if not self.path.exists():
            near = suggest(self.path.name, [p.name for p in _siblings(self.path)])
            raise DataError("no such file", where=str(self.path), do=near or "check the path")
        if not self.path.is_file():
            raise DataError("not a file", where=str(self.path), do="name a file")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise DataError(
                f"the file is not {_named(error.encoding)}: byte {error.start} cannot be read",
                where=str(self.path),
                do="save it as UTF-8, or name its encoding in the entry: `encoding: cp1252`",
            ) from error
        if isinstance(error, OSError):
            raise DataError(f"the file cannot be read: {error.strerror}", where=str(self.path)) from error


def _named(encoding: str) -> str:
    return "UTF-8" if encoding in {"utf-8", "utf_8_sig"} else encoding


def _siblings(path: Path) -> Iterator[Path]:
    return path.parent.iterdir() if path.parent.is_dir() else iter(())


def _csv(path: Path, encoding: str, delimiter: str = ",") -> Table:
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding=encoding, newline="") as f:
        reader = csv.reader(f, delimiter=delimiter, strict=True)
        try:
            columns = next(reader, [])
            _check_header(columns, path, delimiter)
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(columns):
                    raise DataError(
                        f"a row has {len(cells)} fields, the header has {len(columns)}",
                        where=f"{path}, line {reader.line_num}",
                        do="put fields that hold the separator in double quotes",
                    )
                rows.append(dict(zip(columns, cells, strict=True)))
                numbers.append(reader.line_num)
        except csv.Error as e:
            raise DataError(f"the file is not valid CSV: {e}", where=f"{path}, line {reader.line_num}") from e
    return Table(path, columns, rows, numbers, "line")


def _tsv(path: Path, encoding: str) -> Table:
    return _csv(path, encoding, "\t")


def _check_header(columns: list[str], path: Path, delimiter: str) -> None:
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise DataError(f"the column {twice[0]!r} stands twice in the header", where=f"{path}, line 1")
    name = {",": "commas", "\t": "tabs"}[delimiter]
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t," if mark != delimiter):
        raise DataError(
            f"the columns are not separated by {name}",
            where=f"{path}, line 1",
            allowed=f"values separated by {name}, with a header",
            do=f"save the file with {name}; tabs belong into .tsv, commas into .csv",
        )


def _jsonl(path: Path, encoding: str) -> Table:
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    with path.open(encoding=encoding) as f:
        for number, line in enumerate(f, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as e:
                raise DataError(f"not valid JSON: {e.msg}", where=f"{path}, line {number}") from e
            if not isinstance(row, dict):
                raise DataError(
                    f"a line holds a {type(row).__name__}",
                    where=f"{path}, line {number}",
                    allowed="one JSON object per line",
                )
            rows.append(row)
            numbers.append(number)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return Table(path, columns, [{c: row.get(c) for c in columns} for row in rows], numbers, "line")


def _parquet(path: Path, _encoding: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowException as e:
        raise DataError(f"the file is not valid Parquet: {e}", where=str(path)) from e
    rows = table.to_pylist()
    return Table(path, table.column_names, rows, range(1, len(rows) + 1), "row")


READERS: dict[str, Callable[[Path, str], Table]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
"""Reader of each kind of file, by extension."""
