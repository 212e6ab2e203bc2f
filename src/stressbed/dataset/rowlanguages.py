"""Languages of single rows: a table beside the others, so that mteb sees none of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stressbed.dataset.content import LANGUAGES
from stressbed.dataset.layout import Slot
from stressbed.dataset.parts import Part

TABLE = "languages"
"""Name of the table in a part; its columns are `table`, `column` (empty for all), `row` and `language`."""

_COLUMN = dict(zip(LANGUAGES, ("", "sentence1", "sentence2"), strict=True))

Spoken = Mapping[tuple[str, str, str], str]
"""(table, column or "", row) -> language."""


def split_off(part: Part) -> Spoken:
    """Return the languages that a local part's rows name, and take their columns out of its tables."""
    found: dict[tuple[str, str, str], str] = {}
    for name, table in list(part.tables.items()):
        named = [c for c in LANGUAGES if c in table.column_names]
        if not named:
            continue
        rows = list(map(str, table["id"][:] if "id" in table.column_names else range(len(table))))
        for column in named:
            for row, language in zip(rows, table[column][:], strict=True):
                found[name, _COLUMN[column], row] = language
        part.tables[name] = table.remove_columns(named)
    return found


def add(part: Part, spoken: Spoken) -> None:
    """Put the languages of a part's rows beside its tables, if there are any."""
    from datasets import Dataset

    if spoken:
        rows = [(*place, language) for place, language in spoken.items()]
        names = ("table", "column", "row", "language")
        part.tables[TABLE] = Dataset.from_dict({n: [r[i] for r in rows] for i, n in enumerate(names)})


def read(folder: Path, manifest: Mapping[str, Any]) -> dict[tuple[str, str], Spoken]:
    """Return the languages of rows of a frozen dataset by (subset, split), where it has any."""
    from stressbed.dataset.thaw import read_table

    found: dict[tuple[str, str], Spoken] = {}
    for entry in manifest["tables"]:
        if entry["table"] == TABLE:
            table = read_table(folder / entry["path"])
            columns = (table[c][:] for c in ("table", "column", "row", "language"))
            found[entry["subset"], entry["split"]] = {
                (name, column, row): language for name, column, row, language in zip(*columns, strict=True)
            }
    return found


def spoken_in(slot: Slot, row: str, spoken: Mapping[tuple[str, str], Spoken]) -> str | None:
    """Return the language that a row names for its text in a slot, or None."""
    of_part = spoken.get((slot.subset, slot.split))
    if of_part is None:
        return None
    table = slot.key if slot.key in {"corpus", "queries"} else "rows"
    return of_part.get((table, slot.column, row)) or of_part.get((table, "", row))


def covers(slot: Slot, spoken: Mapping[tuple[str, str], Spoken]) -> bool:
    """Return whether all rows of a slot name their language."""
    return all(spoken_in(slot, row, spoken) is not None for row in slot.rows())
