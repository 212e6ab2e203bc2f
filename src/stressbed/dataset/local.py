"""Local files to standard tables: CSV, TSV, JSON lines, Parquet, and two formats of public data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.dataset.content import LANGUAGES, TABLES, label_set, optional, own_tag
from stressbed.dataset.tables import read_table
from stressbed.errors import DataError, suggest
from stressbed.sources import resolve
from stressbed.visible import shows

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import DatasetEntry

LISTS = frozenset({"labels", "human_summaries", "machine_summaries", "relevance"})
NUMBERS = frozenset({"score"})


def read_tables(entry: DatasetEntry, folder: Path) -> dict[str, pd.DataFrame]:
    """Return a local dataset's tables with the standard columns.

    Args:
        entry: Catalogue entry with `files` (and `format`, `columns`).
        folder: Folder that relative paths start from.

    Returns:
        Table by name (`train`, `test`, or `corpus`, `queries`, `qrels`, `top_ranked`).

    Raises:
        DataError: A file, column or value is missing or of the wrong kind.
    """
    from stressbed.dataset import formats

    paths = {name: resolve(file, folder) for name, file in entry.files.items()}
    for name, path in paths.items():
        if not path.is_file():
            raise DataError(f"no such file (table {name!r})", where=f"dataset {entry.id!r}: {path}")
    kind = getattr(entry, "format", "table")
    if kind == "lee":
        return {"test": formats.lee(entry, paths)}
    if kind == "fasttext":
        return formats.fasttext(entry, paths)
    wanted = TABLES[entry.task_type]
    if missing := [t for t in wanted if t not in paths]:
        raise DataError(
            f"the tables {', '.join(missing)} are missing",
            where=f"dataset {entry.id!r}, key 'files'",
            allowed=f"{entry.task_type} needs {', '.join(wanted)}",
        )
    if unknown := [t for t in paths if t not in wanted]:
        raise DataError(
            f"the table {unknown[0]!r} is not one of this task type",
            where=f"dataset {entry.id!r}, key 'files'",
            allowed=", ".join(wanted),
            do=suggest(unknown[0], wanted),
        )
    return {t: _standard(entry, t, paths[t], wanted[t]) for t in wanted}


def read_file(path: Path, encoding: str = "utf-8") -> pd.DataFrame:
    """Return a file as a table; in CSV and TSV files every value is a string and empty is "".

    It is read as the checks before a run read it, so that what they saw is what is frozen.

    Raises:
        DataError: The file type is not known or the file is not readable as its type.
    """
    import pandas as pd

    table = read_table(path, encoding)
    return pd.DataFrame({c: pd.Series(table.column(c), dtype=object) for c in table.columns})


def _standard(entry: DatasetEntry, table: str, path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    raw = read_file(path, entry.encoding)
    if not len(raw):
        raise DataError("the table is empty", where=f"dataset {entry.id!r}, table {table!r}: {path}")
    columns: dict[str, Any] = {}
    known = [tag for tags in entry.languages.values() for tag in tags]
    for name in (*needed, *optional(entry.task_type, table)):
        source = entry.column(table, name)
        if source in raw.columns:
            values = raw[source].tolist()
            columns[name] = [own_tag(v, known) for v in values] if name in LANGUAGES else values
        elif name in needed:
            raise DataError(
                f"the column {source!r} is missing",
                where=f"dataset {entry.id!r}, table {table!r}: {path}",
                allowed=", ".join(map(str, raw.columns)),
                do=suggest(source, map(str, raw.columns)) or f"name your column under `columns: {name}:`",
            )
    import pandas as pd

    where = f"dataset {entry.id!r}, table {table!r}: {path}"
    return pd.DataFrame(
        {n: [_value(n, v, f"{where}, row {i}") for i, v in enumerate(c)] for n, c in columns.items()}
    )


def _value(name: str, value: Any, where: str) -> Any:
    """Return a cell as its standard type: list, number, or string.

    Raises:
        DataError: The value is missing or of another kind.
    """
    if name in LISTS:
        return _list(name, value, where)
    if name == "title" and (value is None or value != value or not shows(str(value))):  # noqa: PLR0124
        return ""
    if value is None or value != value:  # noqa: PLR0124  # NaN differs from itself
        raise DataError(f"a value is missing (column {name!r})", where=where)
    if name in NUMBERS:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise DataError(f"{value!r} is not a number (column {name!r})", where=where) from None
    if name == "label":
        return value if isinstance(value, int) and not isinstance(value, bool) else str(value)
    if isinstance(value, list | dict):
        raise DataError(f"a text was expected, not {type(value).__name__} (column {name!r})", where=where)
    return str(value)


def _list(name: str, value: Any, where: str) -> list[Any]:
    if name == "labels" and (found := label_set(value)) is not None:
        return found
    if not hasattr(value, "__iter__") or isinstance(value, str | Mapping):
        raise DataError(
            f"a list was expected, not {value!r:.60} (column {name!r})",
            where=where,
            do="keep such tables as JSON lines or Parquet",
        )
    try:
        return [float(v) if name == "relevance" else str(v) for v in value]
    except (TypeError, ValueError):
        raise DataError(f"a list of numbers was expected (column {name!r})", where=where) from None
