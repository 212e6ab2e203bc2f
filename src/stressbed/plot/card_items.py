"""The lower part of a card: the items on which an embedder loses most, as texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from stressbed.analyse.names import Names
from stressbed.plot.script import breadth, drawable, lines_of, right_to_left
from stressbed.plot.style import INK, MUTED, SMALL, number, shortened

EMS = 74.0
"""Width of a line of text on a card, in ems of its type."""
TITLE_EMS = 70.0
"""The same of the line above an item's texts, which is set in bold and thus wider."""
SHORTEST = 12
"""Characters that every part of that line keeps."""
MOST = 2
"""Lines of a text that a card shows."""
LEFT = "(left as it is)"
UNREADABLE = "(in a script that the figures' font lacks; worst_items.csv has the text)"


@dataclass(frozen=True)
class Line:
    """One line of text: what stands in front of it, itself, and how it looks."""

    head: str
    text: str
    kind: str


def item_lines(data: pd.DataFrame, names: Names) -> list[Line]:
    """Return the lines that show the worst items of a card's data; none if it has none.

    Each item has a line that says which it is and what its value was and became, and a few lines
    of both texts, shortened; below them stands where the rewrite is a fallback or has error flags.
    """
    before, after = (data[data["part"] == f"item_{k}"] for k in ("original", "rewritten"))
    remarks = data[data["part"] == "item_remark"]
    remark_of = dict(
        zip(zip(remarks["generator"], remarks["name"], strict=True), remarks["note"], strict=True)
    )
    lines: list[Line] = []
    said = ""
    for (_, old), (_, new) in zip(before.iterrows(), after.iterrows(), strict=True):
        dataset, transformation, seed, subset, item, field = _split(str(old["name"]))
        about = ", ".join((dataset, transformation, seed, subset, item))
        if about != said:
            own = [subset] if subset not in {"", "default"} else []
            parts = [names.label(dataset), names.label(transformation), f"seed {seed}", *own, f"item {item}"]
            values = f"{number(old['value'], 3)} → {number(new['value'], 3)}"
            lines.append(Line("", _title(parts, values), "title"))
            said = about
        lines += _text_lines(field or "original", str(old["note"]), "original")
        # An empty text says that this one was left as it is: another text of the item was rewritten.
        lines += _text_lines("rewritten", str(new["note"]) or LEFT, "rewritten")
        if (new["generator"], new["name"]) in remark_of:
            lines.append(Line("", f"({remark_of[new['generator'], new['name']]})", "remark"))
    return lines


def _title(parts: Sequence[str], values: str) -> str:
    """Return the line above an item's texts, its longest parts shortened until it fits."""
    for most in range(max(map(len, parts)), SHORTEST, -1):
        line = f"{', '.join(shortened(p, most) for p in parts)}: {values}"
        if breadth(line) <= TITLE_EMS:
            return line
    return f"{', '.join(shortened(p, SHORTEST) for p in parts)}: {values}"


def _split(name: str) -> tuple[str, str, str, str, str, str]:
    """Return dataset, transformation, seed, subset, item and field; an item's id may hold slashes."""
    dataset, transformation, seed, subset, rest = name.split("/", 4)
    item, _, field = rest.rpartition("/")
    return dataset, transformation, seed, subset, item, field


def _text_lines(head: str, text: str, kind: str) -> Iterator[Line]:
    shown = lines_of(text, width=EMS, most=MOST) if drawable(text) else [UNREADABLE]
    for i, line in enumerate(shown):
        yield Line(head if i == 0 else "", line, kind)


def items_text(ax: Axes, lines: Sequence[Line]) -> Axes:
    """Write the lines of the worst items, one below the other; texts from right to left end at the right."""
    ax.axis("off")
    ax.set_xlim(0, 1)
    ax.set_ylim(len(lines), -1)
    ax.text(
        0, -1, "Worst items (value before and after rewriting)", fontsize=SMALL + 0.5, va="center", color=INK
    )
    for y, line in enumerate(lines):
        if line.kind == "title":
            ax.text(0, y, line.text, fontsize=SMALL, weight="bold", va="center", parse_math=False)
            continue
        hue = INK if line.kind == "rewritten" else MUTED
        ax.text(0.01, y, line.head, fontsize=SMALL, color=MUTED, va="center", parse_math=False)
        end = right_to_left(line.text)
        ax.text(
            0.995 if end else 0.11, y, line.text, fontsize=SMALL, color=hue, va="center",
            ha="right" if end else "left", parse_math=False,
        )  # fmt: skip
    # Lines are as long as the page is wide; they must not make the panel narrower.
    for text in ax.texts:
        text.set_in_layout(False)
    return ax
