"""What the page is made of: analysed tables and names as one mapping that JSON can hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed.analyse.names import ALL_DATASETS, AXES, AXIS_LABELS, ENGLISH, Names
from stressbed.analyse.read import read_table
from stressbed.errors import DataError
from stressbed.plot.style import SHAPES, colour
from stressbed.report.page import FURTHER, TABLES
from stressbed.report.page.heads import HEADS, readable, spaced
from stressbed.report.page.items import Pool, keep_worst
from stressbed.stats.coverage import interval_words
from stressbed.stats.interval import FEWEST

NOT_COMPUTED = "Not computed: this run has no table {name}."
EMPTY = "Nothing to show: the table {name} has no rows."

Json = dict[str, Any]


def page_data(*, tables: Path, names: Names, description: str = "", notice: str = "", run: str = "") -> Json:
    """Return everything that the page shows.

    A table that is missing or has no rows is left out with a sentence: its own notes, where it has some.

    Args:
        tables: Folder of the analysed tables: CSV for the values, Markdown for titles and notes.
        names: Labels, order and colours.
        description: A sentence about the run.
        notice: What a reader must know first.
        run: Name of the run.
    """
    pool = Pool()
    sized = distinct({e: names.sized(e) for e in names.embedders})
    found = {name: _table(tables, name, pool, names) for name in (*TABLES, *FURTHER)}
    return {
        "run": run,
        "notice": " ".join(notice.split()),
        "description": " ".join(description.split()),
        "axes": [_axis(a, names) for a in AXES if a in names.axes.values()],
        "original": {"colour": colour("original", names.colours), "shape": SHAPES["original"]},
        "embedders": [
            {"id": e, "label": label, "sized": sized[e]} for e, label in distinct(names.embedders).items()
        ],
        "datasets": [
            {
                "id": d,
                "label": label,
                "setting": names.settings.get(d, ALL_DATASETS),
                "lang": "en" if names.language_groups.get(d) == ENGLISH else "",
            }
            for d, label in distinct(names.datasets).items()
        ],
        "transformations": [
            {"id": t, "label": label, "axis": names.axes[t]}
            for t, label in distinct(names.transformations).items()
        ],
        "generators": [{"id": g, "label": label} for g, label in distinct(names.generators).items()],
        "settings": [{"id": s, "label": names.label(s)} for s in names.setting_order],
        "labels": {**AXIS_LABELS},
        "fewest": FEWEST,
        "intervals": {str(n): interval_words(n) for n in range(FEWEST, len(names.datasets) + 1)},
        "heads": {**HEADS},
        "tables": found,
        "further": [name for name in FURTHER if found[name]["columns"]],
        "texts": pool.texts,
        "findings": _findings(tables.parent / "findings.md", tables / "findings.md"),
    }


def distinct(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels by id, with the id where another has the same: charts and lists tell them apart by it."""
    count = Counter(labels.values())
    return {i: label if count[label] == 1 else f"{label} [{i}]" for i, label in labels.items()}


def _axis(axis: str, names: Names) -> Json:
    return {
        "id": axis,
        "label": AXIS_LABELS[axis],
        "colour": colour(axis, names.colours),
        "shape": SHAPES[axis],
    }


def _table(folder: Path, name: str, pool: Pool, names: Names) -> Json:
    """Return a table's title, notes and columns; no columns and a sentence where there is nothing."""
    title, notes = _words(folder / f"{name}.md")
    path = folder / f"{name}.csv"
    base: Json = {"title": title or name.replace("_", " ").capitalize(), "notes": notes, "columns": {}}
    if not path.is_file():
        return {**base, "missing": " ".join(notes) or NOT_COMPUTED.format(name=name)}
    frame = _read(path)
    notes = base["notes"] = readable(notes, [str(c) for c in frame.columns], names)
    words = [*TABLES, *FURTHER]
    if "cause" in frame.columns:
        words += [str(c) for c in frame["cause"].dropna().unique()]
        frame = frame.assign(cause=frame["cause"].str.replace("_", " "))
    notes = base["notes"] = spaced(notes, words)
    if not len(frame):
        return {**base, "missing": " ".join(notes) or EMPTY.format(name=name)}
    if name == "worst_items":
        frame, base["left_out"] = keep_worst(frame, pool)
    decimals = 3 if name == "item_intervals" else 6
    return {
        **base,
        "n": len(frame),
        "columns": {str(c): encode(frame[c], decimals=decimals) for c in frame.columns},
    }


TEXTS = (
    "item",
    "original_text",
    "rewritten_text",
    "outcome",
    "flags",
    "note",
    "within",
    "method",
    "error",
    "reason",
)
"""Columns in which no text is an empty one."""


def _read(path: Path) -> pd.DataFrame:
    try:
        frame = read_table(path)
    except (ValueError, OSError) as e:
        again = "remove the file and run again: it is made anew"
        raise DataError(f"the table cannot be read: {e}", where=str(path), do=again) from e
    texts = [c for c in TEXTS if c in frame.columns]
    return frame.assign(**{c: frame[c].fillna("") for c in texts})


def encode(column: pd.Series[Any], *, decimals: int = 6) -> Json:
    """Return a column as `{"values": [...]}`, or `{"codes": [...], "levels": [...]}` where few texts repeat.

    Numbers are rounded; what has no value is None, also as a code.
    """
    if pd.api.types.is_bool_dtype(column):
        return {"values": [bool(v) for v in column]}
    if pd.api.types.is_numeric_dtype(column):
        return {"values": [_number(v, decimals) for v in column]}
    values = [None if pd.isna(v) else str(v) for v in column]
    levels = list(dict.fromkeys(v for v in values if v is not None))
    if 2 * len(levels) > len(values):
        return {"values": values}
    codes = {v: i for i, v in enumerate(levels)}
    return {"codes": [None if v is None else codes[v] for v in values], "levels": levels}


def _number(value: Any, decimals: int) -> float | int | None:
    number = float(value)
    if not math.isfinite(number):
        return None
    # Adding zero turns -0.0 into 0.0.
    rounded = round(number, decimals) + 0.0
    return int(rounded) if rounded == int(rounded) else rounded


def _words(path: Path) -> tuple[str, list[str]]:
    """Return the title and the notes of a table's Markdown; nothing if there is no file."""
    if not path.is_file():
        return "", []
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    title = next((line[2:] for line in lines if line.startswith("# ")), "")
    # Daggers stand in the Markdown alone: numbers of the page have none that a note could explain.
    notes = [line for line in lines if line and not line.startswith(("#", "|", "†", "‡"))]
    return title, [n for n in notes if not _SHORTENED.match(n)]


_SHORTENED = re.compile(r"The first \d+ rows; \S+ has \d+ more\.$")
"""A note about the Markdown table alone; the page is made of the CSV."""


_MARKUP = re.compile(r"(?<!\\)\*{1,2}|`|\\(?=[\\`*_{}\[\]<>|#])")


def _findings(*places: Path) -> list[Json]:
    """Return the lines of `findings.md` as headings, points and paragraphs; none if there is no file."""
    path = next((p for p in places if p.is_file()), None)
    if path is None:
        return []
    return list(_blocks(path.read_text(encoding="utf-8").split("\n")))


def _blocks(lines: Sequence[str]) -> list[Json]:
    kinds: Mapping[str, str] = {"## ": "heading", "### ": "heading", "- ": "point", "* ": "point"}
    found: list[Json] = []
    for raw in lines:
        line = raw.strip()
        if not line or line.startswith("# "):
            continue
        mark = next((m for m in kinds if line.startswith(m)), "")
        text = _MARKUP.sub("", line.removeprefix(mark))
        continues = raw.startswith("  ") and not mark and found
        if continues:
            found[-1]["text"] += f" {text}"
        else:
            found.append({"kind": kinds.get(mark, "paragraph"), "text": text})
    return found
