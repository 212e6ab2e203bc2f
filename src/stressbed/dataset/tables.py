"""Local tables (CSV, TSV, JSON lines, Parquet) as rows, each with its place for messages."""

from __future__ import annotations

import codecs
import csv
import itertools
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stressbed.errors import DataError, suggest

log = logging.getLogger("stressbed")


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

    def select(self, rows: Sequence[int]) -> Table:
        """Return the table with the given rows (counted from 0) alone; they keep their numbers."""
        kept = [self.rows[i] for i in rows]
        return Table(self.path, self.columns, kept, [self.numbers[i] for i in rows], self.unit)


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
        return READERS[suffix](path, without_bom(path, encoding))


BOMS: dict[str, tuple[bytes, str]] = {
    "utf-8": (codecs.BOM_UTF8, "utf-8-sig"),
    "utf-16-le": (codecs.BOM_UTF16_LE, "utf-16"),
    "utf-16-be": (codecs.BOM_UTF16_BE, "utf-16"),
    "utf-32-le": (codecs.BOM_UTF32_LE, "utf-32"),
    "utf-32-be": (codecs.BOM_UTF32_BE, "utf-32"),
}
"""Encodings that keep a byte order mark as a character, the mark, and what drops it."""


def without_bom(path: Path, encoding: str) -> str:
    """Return the encoding that drops a file's byte order mark, if the file begins with one.

    A file that begins with that of UTF-8 is in UTF-8, whichever encoding of single bytes was named for it.
    """
    name = codecs.lookup(encoding).name
    with path.open("rb") as f:
        start = f.read(4)
    mark, dropping = BOMS.get(name, BOMS["utf-8"])
    return dropping if start.startswith(mark) and (name in BOMS or _of_single_bytes(name)) else encoding


def _of_single_bytes(name: str) -> bool:
    return name.startswith(("iso8859", "cp125", "ascii", "mac", "latin"))


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


def lines_of(path: Path, encoding: str) -> list[str]:
    """Return a file's lines; only line feeds part them, with or without a carriage return.

    Raises:
        DataError: The file is missing, unreadable, or not in this encoding.
    """
    with reading(path):
        text = path.read_bytes().decode(without_bom(path, encoding))
    return [line.removesuffix("\r") for line in text.split("\n")]


Rows = list[tuple[int, list[str]]]
"""Line and cells of each row, the header first."""


def _csv(path: Path, encoding: str) -> Table:
    start = 1
    try:
        rows: Rows = []
        for start, cells in _separated(path, encoding, ",", csv.QUOTE_MINIMAL):
            rows.append((start, cells))
    except csv.Error as e:
        # The reader counts from 1 when nothing was read; else the row after the last one is at fault.
        opens = _opening(path, encoding, start if rows else 1)
        raise DataError(
            f"the file is not valid CSV: {e}; a quotation mark opens on line {opens}",
            where=f"{path}, line {opens}",
            do="close it, or write each quotation mark of a text twice and put quotation marks around it",
        ) from e
    table = _table(path, rows, ",")
    for line, cells in rows[1:]:
        _look_swallowed(path, line, cells)
    return table


def _tsv(path: Path, encoding: str) -> Table:
    """Return a table of which tabs and line ends are the only marks: a quotation mark is a character.

    Few programs that write such files quote, and texts begin with quotation marks often; read as CSV is, such
    a text would swallow the rows up to the next mark. A file that is quoted throughout is read as such.
    """
    plain = list(_separated(path, encoding, "\t", csv.QUOTE_NONE))
    if not any('"' in cell for _, cells in plain for cell in cells):
        return _table(path, plain, "\t")
    try:
        quoted = list(_separated(path, encoding, "\t", csv.QUOTE_MINIMAL))
    except csv.Error:
        return _table(path, plain, "\t")
    fits = len(quoted) == len(plain) and _quoted_throughout(plain)
    return _table(path, quoted if _even(quoted) and (fits or not _even(plain)) else plain, "\t")


def _even(rows: Rows) -> bool:
    """Return whether all rows have as many cells as the header."""
    return len({len(cells) for _, cells in rows}) == 1


def _quoted_throughout(rows: Rows) -> bool:
    """Return whether a program quoted the file: its header, or just the cells that hold a mark, in twos."""
    if all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in rows[0][1]):
        return True
    marked = [cell for _, cells in rows for cell in cells if '"' in cell]
    return all(_QUOTED.fullmatch(cell) and '""' in cell[1:-1] for cell in marked)


def _separated(path: Path, encoding: str, delimiter: str, quoting: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not empty.

    Raises:
        csv.Error: Quotation marks do not fit together.
    """
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding=encoding, newline="") as f:
        reader = csv.reader(f, delimiter=delimiter, quoting=quoting, strict=True)
        start = 1
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1


def _table(path: Path, rows: Rows, delimiter: str) -> Table:
    """Return the table of rows that all have the header's width.

    Raises:
        DataError: The header or a row's width is wrong.
    """
    columns = rows[0][1] if rows else []
    _check_header(columns, path, delimiter)
    odd = [(line, len(cells)) for line, cells in rows[1:] if len(cells) != len(columns)]
    if odd:
        raise _ragged(path, odd, len(columns), delimiter)
    numbers = [line for line, _ in rows[1:]]
    return Table(path, columns, [dict(zip(columns, c, strict=True)) for _, c in rows[1:]], numbers, "line")


def _ragged(path: Path, odd: Sequence[tuple[int, int]], n: int, delimiter: str) -> DataError:
    """Return the error of rows (line, number of fields) that do not fit the header."""
    others = ", ".join(str(line) for line, _ in odd[1:6])
    more = f"; other rows do not fit either: lines {others}" if others else ""
    return DataError(
        f"a row has {odd[0][1]} fields, the header has {n}{more}{' ...' if len(odd) > 6 else ''}",
        where=f"{path}, line {odd[0][0]}",
        do="put fields that hold the separator in double quotes"
        if delimiter == ","
        else "take tabs and line ends out of the texts, or keep them as JSON lines",
    )


def _opening(path: Path, encoding: str, start: int) -> int:
    """Return the line, from `start` on, on which a quotation mark opens that is not closed rightly."""
    with path.open(encoding=encoding, newline="") as f:
        text = "".join(itertools.islice(f, start - 1, None))
    at = 0
    while at < len(text):
        quoted = text[at] == '"'
        field = (_QUOTED if quoted else _PLAIN).match(text, at)
        end = len(text) if field is None else field.end()
        if quoted and (field is None or text[end : end + 1] not in {",", "\r", "\n", ""}):
            break
        at = end + 1
    return start + text.count("\n", 0, at)


_QUOTED = re.compile('"[^"]*(?:""[^"]*)*"')
"""A field in quotation marks; two of them stand for one."""

_PLAIN = re.compile(r"[^,\r\n]*")


def _look_swallowed(path: Path, line: int, cells: Sequence[str]) -> None:
    """Warn where a field in quotation marks holds what looks like the end of one row and others after it."""
    for i, cell in enumerate(cells):
        first = cell.partition("\n")[0] if "\n" in cell else ""
        parts = first.split(",")
        if len(parts) == len(cells) - i > 1 and all(p and p == p.strip() for p in parts[1:]):
            log.warning(
                "%s, line %d: a text in quotation marks goes on over the line's end, and this line alone "
                "would be a row of %d fields; if it is one, write the quotation mark twice",
                path, line, len(cells),
            )  # fmt: skip


def _check_header(columns: list[str], path: Path, delimiter: str) -> None:
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise DataError(f"the column {twice[0]!r} stands twice in the header", where=f"{path}, line 1")
    name = {",": "commas", "\t": "tabs"}[delimiter]
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t,|" if mark != delimiter):
        raise DataError(
            f"the columns are not separated by {name}",
            where=f"{path}, line 1",
            allowed=f"values separated by {name}, with a header",
            do=f"save the file with {name}; tabs belong into .tsv, commas into .csv",
        )


def _jsonl(path: Path, encoding: str) -> Table:
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines_of(path, encoding), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_object)
        except json.JSONDecodeError as e:
            raise DataError(f"not valid JSON: {e.msg}", where=f"{path}, line {number}") from e
        except RecursionError as e:
            raise DataError("lists or objects lie too deep", where=f"{path}, line {number}") from e
        except _TwiceError as e:
            raise DataError(
                f"the key {e.args[0]!r} stands twice in an object",
                where=f"{path}, line {number}",
                do="keep one of them",
            ) from e
        except ValueError as e:  # Python reads no number of more than some thousand digits
            raise DataError("a number has too many digits", where=f"{path}, line {number}") from e
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


class _TwiceError(ValueError):
    """A key stands twice in a JSON object: the parser would keep the last one silently."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1))
    return found


def _parquet(path: Path, _encoding: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(path).names
        if twice := [n for n in names if names.count(n) > 1]:
            raise DataError(f"the column {twice[0]!r} stands twice", where=str(path), do="keep one of them")
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
