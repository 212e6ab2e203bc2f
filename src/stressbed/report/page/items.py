"""Which items the page shows: the worst ones first, until a budget of bytes is spent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import langcodes
import pandas as pd

from stressbed.analyse.remarks import remarks

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


ITEM = ("generator", "setting", "embedder", "dataset", "transformation", "seed", "subset", "item")
"""What an item is known by; each of its texts is a row."""

TEXT_COLUMNS = ("original_text", "rewritten_text")


def keep_worst(frame: pd.DataFrame, pool: Pool, *, budget: int = BUDGET) -> tuple[pd.DataFrame, int]:
    """Return the rows of `worst_items` that fit, texts as numbers in the pool, and how many items do not.

    Every embedder and transformation has its worst item before any has its second, so that a page
    with little room shows something of everything. An item is shown with all of its texts or not at all.

    Args:
        frame: Rows of `worst_items`; the smaller `delta`, the worse the item.
        pool: Where the texts go.
        budget: Bytes that the texts may take.
    """
    rows = frame.reset_index(drop=True)
    known_by = [c for c in ITEM if c in rows.columns]
    number = rows.groupby(known_by, sort=False, dropna=False).ngroup()
    places: dict[int, list[int]] = defaultdict(list)
    for place, item in enumerate(number):
        places[item].append(place)
    originals, rewrites = ([shortened(t) for t in rows[c]] for c in TEXT_COLUMNS)
    kept: list[int] = []
    left = 0
    for item in _by_depth(rows, number):
        new = dict.fromkeys(t for i in places[item] for t in (originals[i], rewrites[i]))
        if pool.size + sum(map(pool.cost, new)) > budget:
            left += 1
            continue
        for text in new:
            pool.add(text)
        kept.extend(places[item])
    shown = rows.loc[kept].assign(
        original_text=[pool.add(originals[i]) for i in kept],
        rewritten_text=[pool.add(rewrites[i]) for i in kept],
    )
    blank = [""] * len(shown)
    shown["remarks"] = [
        remarks(o, f) for o, f in zip(shown.get("outcome", blank), shown.get("flags", blank), strict=True)
    ]
    shown = shown.drop(columns=["outcome", "flags"], errors="ignore")  # the page says them in words
    if "language" in shown.columns:
        shown["lang"] = shown["language"].map(language_tag)
        shown["language"] = shown["language"].map(language_name)
    return shown.reset_index(drop=True), left


def _by_depth(rows: pd.DataFrame, number: pd.Series[int]) -> list[int]:
    """Return the items' numbers: the worst of each embedder and transformation, then the second of each."""
    groups = [c for c in ("generator", "setting", "embedder", "transformation") if c in rows.columns]
    items = rows.assign(_number=number).drop_duplicates("_number")
    worst = items.sort_values([*groups, "delta"], kind="stable")
    depth = worst.groupby(groups, sort=False).cumcount()
    return list(worst.assign(_depth=depth).sort_values(["_depth", "delta"], kind="stable")["_number"])


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
