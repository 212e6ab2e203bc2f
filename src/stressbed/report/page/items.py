"""Which items the page shows: the worst ones first, until a budget of bytes is spent."""

from __future__ import annotations

from dataclasses import dataclass, field

import langcodes
import pandas as pd

BUDGET = 4_000_000
"""Bytes of texts in a page; a page with its charts then stays below 10 MB."""

LONGEST = 1_500
"""Characters of a text that the page shows."""

CUT = " […]"


@dataclass
class Pool:
    """Texts that the page holds once, however many rows show them."""

    texts: list[str] = field(default_factory=list)
    size: int = 0
    _known: dict[str, int] = field(default_factory=dict)

    def cost(self, text: str) -> int:
        """Return the bytes that a text would add."""
        return 0 if text in self._known else len(text.encode()) + 4

    def add(self, text: str) -> int:
        """Return the number of a text, which is added if it is new."""
        if text not in self._known:
            self.size += self.cost(text)
            self._known[text] = len(self.texts)
            self.texts.append(text)
        return self._known[text]


def keep_worst(frame: pd.DataFrame, pool: Pool, *, budget: int = BUDGET) -> tuple[pd.DataFrame, int]:
    """Return the rows of `worst_items` that fit, their texts as numbers in the pool, and how many do not fit.

    Every embedder and transformation has its worst item before any has its second, so that a page
    with little room shows something of everything.

    Args:
        frame: Rows of `worst_items`; the smaller `delta`, the worse the item.
        pool: Where the texts go.
        budget: Bytes that the texts may take.
    """
    keys = [k for k in ("generator", "setting", "embedder", "transformation") if k in frame.columns]
    worst = frame.sort_values([*keys, "delta"], kind="stable")
    depth = worst.groupby(keys, sort=False).cumcount()
    order = worst.assign(_depth=depth).sort_values(["_depth", "delta"], kind="stable")
    kept, originals, rewrites = [], [], []
    for at, original, rewritten in zip(
        order.index, order["original_text"], order["rewritten_text"], strict=True
    ):
        pair = shortened(original), shortened(rewritten)
        if pool.size + sum(map(pool.cost, pair)) > budget:
            continue
        kept.append(at)
        originals.append(pool.add(pair[0]))
        rewrites.append(pool.add(pair[1]))
    shown = frame.loc[kept].assign(original_text=originals, rewritten_text=rewrites)
    if "language" in shown.columns:
        shown["lang"] = shown["language"].map(language_tag)
        shown["language"] = shown["language"].map(language_name)
    return shown.reset_index(drop=True), len(frame) - len(kept)


def shortened(text: str) -> str:
    """Return a text of at most `LONGEST` characters, with a mark where it was cut."""
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + CUT


def language_tag(code: object) -> str:
    """Return the HTML language tag of a code such as `fra-Latn`; empty where there is none."""
    if not isinstance(code, str) or not code:
        return ""
    try:
        return str(langcodes.standardize_tag(code))
    except ValueError:
        return ""


def language_name(code: object) -> str:
    """Return the English name of a language code; the code itself where there is no name."""
    tag = language_tag(code)
    return langcodes.Language.get(tag).language_name() if tag else str(code) if isinstance(code, str) else ""
