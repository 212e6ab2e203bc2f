"""CSV, Markdown and LaTeX of one table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.store import write_text

DAGGER = "†"
DOUBLE_DAGGER = "‡"
DASH = "–"
LONGEST = 300
"""Characters of a text that Markdown and LaTeX show; the CSV holds all of it."""

LABELLED = frozenset(
    {
        "embedder",
        "became",
        "dataset",
        "generator",
        "transformation",
        "judge",
        "first",
        "second",
        "group",
        "axis",
        "row",
        "setting",
        "most_disruptive",
        "source",
        "translated",
    }
)
"""Columns whose values are catalogue ids: Markdown and LaTeX show their labels."""

Escape = Callable[[str], str]


def write_table(table: Table, folder: Path, names: Names) -> list[Path]:
    """Write `{name}.csv`, `.md` and `.tex` and return their paths.

    The CSV holds ids and unrounded values (six decimals) and nothing else; Markdown and LaTeX hold
    labels, rounded values, the best ones bold, daggers where cells are marked, and the notes.
    """
    texts = {"csv": to_csv(table.frame), "md": to_markdown(table, names), "tex": to_latex(table, names)}
    found = []
    for suffix, text in texts.items():
        path = folder / f"{table.name}.{suffix}"
        write_text(path, text)
        found.append(path)
    return found


def to_csv(frame: pd.DataFrame) -> str:
    """Return a table as CSV: empty where there is no value, six decimals, which hides the last bits."""
    numbers = frame.select_dtypes("float").columns
    # Adding zero turns -0.0 into 0.0.
    rounded = frame.assign(**{c: frame[c].round(6) + 0.0 for c in numbers})
    return rounded.to_csv(index=False, lineterminator="\n", na_rep="")


def to_markdown(table: Table, names: Names) -> str:
    """Return a table as Markdown with its title and notes."""
    rows = _cells(table, names, escape_markdown, "**{}**".format)
    header = [escape_markdown(_header(str(c), names)) for c in table.frame.columns]
    rule = ["---:" if _is_number(table.frame[c]) else "---" for c in table.frame.columns]
    lines = [f"# {table.title}", "", *(f"| {' | '.join(r)} |" for r in [header, rule, *rows]), ""]
    lines += [f"{note}  " for note in _notes(table)]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table, names: Names) -> str:
    """Return a table as LaTeX with its title as caption and its notes below.

    It needs booktabs, and longtable where the rows do not fit on a page. Many columns are set smaller,
    and columns of sentences are wrapped.
    """
    rows = _cells(table, names, _escape_latex, r"\textbf{{{}}}".format)
    header = [_escape_latex(_header(str(c), names)) for c in table.frame.columns]
    spec = _latex_columns(table, rows)
    top = [rf"\toprule {' & '.join(header)} \\ \midrule"]
    caption = rf"\caption{{{_escape_latex(table.title)}}}\label{{tab:{table.name}}}"
    body = [" & ".join(r) + r" \\" for r in rows]
    notes = [rf"\par\footnotesize {_escape_latex(note)}" for note in _notes(table)]
    small = r"\scriptsize" if len(header) > 10 else r"\footnotesize" if len(header) > 7 else r"\normalsize"
    spacing = rf"\setlength{{\tabcolsep}}{{{3 if len(header) > 7 else 6}pt}}"
    if len(rows) > ROWS_OF_A_PAGE:
        lines = [
            rf"{{{small}{spacing}",
            rf"\begin{{longtable}}{{{spec}}}",
            rf"{caption}\\",
            *top,
            r"\endhead",
        ]
        return "\n".join([*lines, *body, r"\bottomrule", r"\end{longtable}", *notes, "}"]) + "\n"
    lines = [r"\begin{table}", r"\centering", rf"{small}{spacing}", caption, rf"\begin{{tabular}}{{{spec}}}"]
    return "\n".join([*lines, *top, *body, r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}"]) + "\n"


ROWS_OF_A_PAGE = 40
WRAPPED_FROM = 40
"""Characters from which on a column is wrapped in LaTeX."""


def _latex_columns(table: Table, rows: list[list[str]]) -> str:
    """Return the column specification: numbers right, sentences wrapped, else left."""
    widest = [max((len(r[i]) for r in rows), default=0) for i in range(len(table.frame.columns))]
    wrapped = sum(w > WRAPPED_FROM for w in widest)
    width = 0.7 / wrapped if wrapped else 0.0
    return "".join(
        "r" if _is_number(table.frame[c]) else rf"p{{{width:.2f}\linewidth}}" if w > WRAPPED_FROM else "l"
        for c, w in zip(table.frame.columns, widest, strict=True)
    )


def _header(column: str, names: Names) -> str:
    label = names.label(column)
    if label != column:
        return label
    words = [_WORDS.get(w, w) for w in column.replace("non_english", "non-english").split("_")]
    return " ".join([words[0] if words[0] in _WORDS.values() else words[0].capitalize(), *words[1:]])


_WORDS = {"hteb": "HTEB", "sd": "SD", "n": "n", "p": "p", "holm": "(Holm)", "tau": "tau", "rho": "rho",
          "english": "English", "non-english": "non-English"}  # fmt: skip
"""Words of column names that are written in their own way."""


def _notes(table: Table) -> list[str]:
    left = len(table.frame) - table.rows
    more = [f"The first {table.rows} rows; {table.name}.csv has {left} more."] if left > 0 else []
    return [*table.notes, *more]


def _cells(table: Table, names: Names, escape: Escape, bold: Escape) -> list[list[str]]:
    """Return the shown text of every cell, row by row."""
    shown = table.frame.head(table.rows)
    columns = []
    for name in shown.columns:
        decimals = table.digits.get(str(name), table.decimals)
        texts = [_show(v, str(name), decimals, names, escape) for v in shown[name]]
        for i in _best_rows(table, str(name), decimals):
            texts[i] = bold(texts[i])
        for sign, marks in ((DAGGER, table.marks), (DOUBLE_DAGGER, table.zeros)):
            if marks is not None:
                marked = marks[name].to_numpy()[: len(texts)]
                texts = [f"{t}{escape(sign)}" if m else t for t, m in zip(texts, marked, strict=True)]
        columns.append(texts)
    return [list(row) for row in zip(*columns, strict=True)]


def _best_rows(table: Table, name: str, decimals: int) -> list[int]:
    """Return the rows with the best value of a column in their part, to the digits that are shown.

    A marked value may be good because rewrites failed, so none is ever the best.
    """
    if name not in table.best:
        return []
    values = table.frame[name].astype(float).round(decimals)
    if table.marks is not None:
        values = values.mask(table.marks[name].to_numpy(dtype=bool))
    by = [table.frame[c] for c in table.parts if c in table.frame.columns] or (lambda _: 0)
    groups = values.groupby(by, dropna=False)
    best = (values == groups.transform(table.best[name])) & (groups.transform("size") > 1)
    return [i for i, is_best in enumerate(best.head(table.rows)) if is_best]


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Characters that LaTeX refuses and no reader sees; the CSV tables keep them."""


def _show(value: object, name: str, decimals: int, names: Names, escape: Escape) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return escape(DASH)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # Adding zero turns -0.0 into 0.0.
        return escape(f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−"))
    # Transformations that are rated together stand as one group, joined by a plus.
    text = " + ".join(map(names.label, str(value).split("+"))) if name in LABELLED else str(value)
    text = " ".join(_CONTROL.sub(" ", text).split())
    return escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column)) and not pd.api.types.is_bool_dtype(column)


def escape_markdown(text: str) -> str:
    """Return a text in which Markdown finds no marks and no HTML."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\textsuperscript{\dag}",
    "‡": r"\textsuperscript{\ddag}",
    "−": "$-$",
    "–": "--",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)
