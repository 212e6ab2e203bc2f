"""Analysed tables as figures read them: values, the notes below them, and one part per panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.read import read_table, text_columns

PANELS = ("generator", "setting")
"""Columns that a table has where a run has several of them; they become panels."""


@dataclass(frozen=True)
class Source:
    """One analysed table.

    Attributes:
        frame: Its rows: ids and numbers.
        notes: Sentences below it; they say why there are no rows.
    """

    frame: pd.DataFrame
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Panel:
    """The rows of a table that one panel shows.

    Attributes:
        generator: Whose rewrites; empty if the run has one generator.
        setting: Which part of the run; empty if it has one.
        frame: The rows without those two columns.
    """

    generator: str
    setting: str
    frame: pd.DataFrame

    def title(self, names: Names) -> str:
        """Return what tells the panel from the others; nothing if there is one."""
        parts = [shown(self.setting, names), names.label(self.generator)]
        return ", ".join(p for p in parts if p)


def shown(name: str, names: Names) -> str:
    """Return the label of an id or, where it has none, the id as a word that begins a line."""
    label = names.label(name)
    return label if label != name else name[:1].upper() + name[1:].replace("_", " ")


def read_source(folder: Path, table: str) -> Source:
    """Return a table from its CSV, with the notes of its Markdown; no rows if the run has no such table.

    Args:
        folder: Folder of the analysed tables.
        table: Name of the table.
    """
    path = folder / f"{table}.csv"
    if not path.is_file():
        return Source(pd.DataFrame(), (f"This run has no table {table}.",))
    frame = read_table(path)
    for column in frame.columns:
        if column in text_columns(table):
            frame[column] = frame[column].fillna("")
        elif frame[column].isna().all():
            frame[column] = frame[column].astype(float)
    words = path.with_suffix(".md")
    return Source(frame, _notes(words.read_text(encoding="utf-8")) if words.is_file() else ())


def _notes(markdown: str) -> tuple[str, ...]:
    lines = (line.strip() for line in markdown.splitlines())
    return tuple(line for line in lines if line and line[0] not in "#|")


def panels(frame: pd.DataFrame, names: Names) -> list[Panel]:
    """Return one panel per generator and setting that the table tells apart, in the run's order."""
    keys = [k for k in PANELS if k in frame.columns]
    if not keys or frame.empty:
        return [Panel("", "", frame.drop(columns=keys))]
    # Settings stand as the table has them; generators as the run has them.
    order: Mapping[str, int] = {g: i for i, g in enumerate(names.generators)}
    found = []
    for key, part in frame.groupby(keys, sort=False):
        at = dict(zip(keys, map(str, key if isinstance(key, tuple) else (key,)), strict=True))
        rest = part.drop(columns=keys).reset_index(drop=True)
        found.append(Panel(at.get("generator", ""), at.get("setting", ""), rest))
    return sorted(found, key=lambda p: order.get(p.generator, len(order)))


def of_panel(source: Source, panel: Panel) -> pd.DataFrame:
    """Return the rows of another table that belong to a panel; all of them where it tells nothing apart."""
    frame = source.frame
    for key in PANELS:
        value = getattr(panel, key)
        if value and key in frame.columns:
            frame = frame[frame[key] == value]
    return frame.drop(columns=[k for k in PANELS if k in frame.columns]).reset_index(drop=True)


def together(parts: Sequence[tuple[Panel, pd.DataFrame]]) -> pd.DataFrame:
    """Return what all panels show as one table, with the columns that tell them apart."""
    frames = []
    for panel, frame in parts:
        keys = {k: getattr(panel, k) for k in PANELS if getattr(panel, k)}
        frames.append(frame.assign(**keys)[[*keys, *frame.columns]])
    return pd.concat(frames, ignore_index=True)
