"""Filled sheets as programs save them: CSV of any locale, tab-separated text, Excel workbooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from stressbed.errors import DataError

ENCODINGS = ("utf-8-sig", "cp1252")
DELIMITERS = (",", ";", "\t")
EXCEL = ".xlsx"


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a filled sheet, each with its line number under the key `""`.

    A delimiter is believed if it finds the column `item_id`; the encoding is UTF-8 (with or without a
    byte order mark), UTF-16 with one, or else cp1252, in which Excel saves plain CSV.

    Raises:
        DataError: The file is empty, no table, or has no column `item_id`.
    """
    if path.suffix.lower() == EXCEL:
        table = _excel(path)
    else:
        text = _decoded(path)
        tables = [list(csv.reader(io.StringIO(text, newline=""), delimiter=d)) for d in DELIMITERS]
        table = next((t for t in tables if t and "item_id" in _header(t[0])), tables[0])
    if not table:
        raise DataError(
            "the file of ratings is empty", where=str(path), do="take it out, or save the sheet anew"
        )
    header = _header(table[0])
    if "item_id" not in header:
        raise DataError(
            "the file has no column 'item_id'",
            where=f"{path}, first line: {', '.join(header)[:120]}",
            allowed="a sheet as it was exported, filled: item_id, ..., quality, fluency (or similarity)",
            do="do not rename or remove columns; take other files out of the folder",
        )
    rows = []
    for number, row in enumerate(table[1:], 2):
        if any(cell.strip() for cell in row):
            cells = dict(zip(header, row, strict=False))
            rows.append({**dict.fromkeys(header, ""), **cells, "": str(number)})
    return rows


def _header(row: Sequence[str]) -> list[str]:
    return [cell.strip().lstrip("\ufeff").lower() for cell in row]


def _decoded(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", errors="replace")
    for encoding in ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _excel(path: Path) -> list[list[str]]:
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        sheet = load_workbook(path, read_only=True, data_only=True).worksheets[0]
        return [["" if v is None else str(v) for v in row] for row in sheet.iter_rows(values_only=True)]
    except (BadZipFile, InvalidFileException, KeyError, OSError) as e:
        raise DataError(
            f"the workbook cannot be read: {e}",
            where=str(path),
            do="open it, save it anew, or save it as CSV",
        ) from e
