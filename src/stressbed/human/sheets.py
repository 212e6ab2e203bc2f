"""Sheets for raters: the order of their items, the sentences they read, CSV that spreadsheets open."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from stressbed.config.entries import TransformationEntry
from stressbed.fingerprint import digest
from stressbed.languages import english_name

BOM = "\ufeff"
SIMILARITY_TASK = "How similar in meaning are the two texts?"
RATINGS = {"quality": ("quality", "fluency"), "similarity": ("similarity",)}
"""Columns that raters fill, by kind of sheet."""

SCALES = {"quality": (1, 5), "similarity": (0, 5)}
"""Lowest and highest rating, by kind of sheet."""

_FORMULA = re.compile(r"(^\s*|[\n\r\t;]\s*)(?=[=@\uff1d\uff20\uff0b\uff0d]|[+-]\S|[+-]$)")
"""Where a spreadsheet may take what follows for a formula: also behind another locale's separators."""

_NUMBER = re.compile(r"\s*(?=.*\d)[\d\s.,:/%eE-]+|true|false", re.IGNORECASE)
"""What a spreadsheet shows as another number, date or truth value: `001` as 1, `1e5` as 100000."""


@dataclass(frozen=True)
class Sheet:
    """One sheet: items of one kind for raters of the same languages.

    Attributes:
        name: File name without its ending.
        kind: `quality` or `similarity`.
        languages: Tags of the languages that a rater must know.
        items: Dictionaries with `item_id`, `task` and the texts, in the order they are shown.
    """

    name: str
    kind: str
    languages: tuple[str, ...]
    items: tuple[dict[str, str], ...]

    @property
    def texts(self) -> tuple[str, str]:
        """Return the names of the two texts of an item."""
        return ("original", "rewrite") if self.kind == "quality" else ("text1", "text2")

    def csv(self) -> str:
        """Return the sheet as CSV: byte order mark, CRLF, RFC 4180 quotes, empty rating columns."""
        task = ("task",) if self.kind == "quality" else ()
        rated = (*RATINGS[self.kind], "comment")
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
        writer.writerow(["item_id", *task, *self.texts, *rated])
        for item in self.items:
            shown = [as_text(item[c]) for c in (*task, *self.texts)]
            writer.writerow([item["item_id"], *shown, *("" for _ in rated)])
        return BOM + out.getvalue()


def as_text(text: str) -> str:
    """Return the text for a cell; an apostrophe keeps a spreadsheet from running or changing it.

    NUL and other control characters, which XLSX cannot hold, become the replacement character.
    """
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text)
    if _NUMBER.fullmatch(text):
        return f"'{text}"
    return _FORMULA.sub(lambda m: m[1] + "'", text)


def make_sheets(
    items: pd.DataFrame, *, seed: int, transformations: Mapping[str, TransformationEntry]
) -> list[Sheet]:
    """Return the sheets of drawn items, by kind, group and languages; each in a seeded random order.

    Args:
        items: Rows of `draw_items` and `draw_pairs`.
        seed: Seed of the order.
        transformations: Catalogue entries by id, for the sentence that raters read.
    """
    sheets = []
    keys = ["kind", "group", "source_language", "target_language"]
    for key, part in items.groupby(keys, sort=True):
        kind, group, source, target = map(str, key)
        languages = tuple(dict.fromkeys([source, target or source]))
        order = [digest(["order", seed, name]) for name in part["item_id"]]
        rows = part.assign(order=order).sort_values("order").to_dict("records")
        name = "_".join([kind, group, *languages])
        columns = ("original", "rewrite") if kind == "quality" else ("text1", "text2")
        shown = tuple(
            {
                "item_id": str(row["item_id"]),
                "task": SIMILARITY_TASK
                if kind == "similarity"
                else task_sentence(transformations[row["transformation"]], source, target or source),
                **{c: str(row[c]) for c in columns},
            }
            for row in rows
        )
        sheets.append(Sheet(name, kind, languages, shown))
    return sheets


def task_sentence(entry: TransformationEntry, source: str, target: str) -> str:
    """Return what the rater is told that was to be done."""
    sentence = entry.task or entry.label
    for slot, tag in (("{source_language}", source), ("{target_language}", target)):
        sentence = sentence.replace(slot, english_name(tag))
    return sentence.strip()


def language_names(tags: Sequence[str]) -> str:
    """Return the languages' English names as a reader lists them."""
    return " and ".join(english_name(t) for t in tags)
