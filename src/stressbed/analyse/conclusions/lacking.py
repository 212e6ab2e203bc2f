"""What a run lacks, in sentences: cells without a score, and rewrites that took their items with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from stressbed.analyse.words import counted
from stressbed.collect.schema import ALL


def unscored(
    frame: pd.DataFrame, *, datasets: Sequence[str], compared: int, n_embedders: int
) -> Iterator[str]:
    """Yield a sentence on cells without a score, where there are any.

    Args:
        frame: Rows of `incomplete_cells`, with the labels of datasets in `dataset`.
        datasets: Labels of all datasets that the sentences after it speak of.
        compared: Of these, datasets on which every embedder has every cell.
        n_embedders: Of the run.
    """
    cells = frame[frame["subset"] == ALL]
    if cells.empty:
        return
    where = [d for d in datasets if d in set(cells["dataset"])]
    shown = ", ".join(where[:3]) + (f" and {len(where) - 3} more" if len(where) > 3 else "")
    basis = (
        "the rest rests on what is left"
        if n_embedders == 1
        else f"comparisons of embedders rest on {compared} of {counted(len(datasets), 'dataset')}"
        if compared
        else "embedders are not compared, since no dataset has every cell of every embedder"
    )
    verb, them = ("has", "it") if len(cells) == 1 else ("have", "them")
    yield (
        f"{counted(len(cells), 'cell')} of {shown} {verb} no score (`incomplete_cells` says why): what needs "
        f"{them} is blank, and {basis}."
    )


def of_rewrites(frame: pd.DataFrame, column: str) -> tuple[int, int, str]:
    """Return how many distinct rewrites a column counts, how many there are, and what to say of repeats.

    Without counts of distinct rewrites all are counted. The words are empty where nothing is repeated.

    Args:
        frame: Rows of `fallbacks`.
        column: `fallbacks`, `flagged` or `dropped`.
    """
    n, lost = int(frame["n_texts"].sum()), int(frame[column].sum()) if column in frame else 0
    distinct = int(frame["distinct"].sum()) if "distinct" in frame else 0
    if distinct in {0, n}:
        return lost, n, ""
    repeats = f" Equal texts and seeds that cannot differ counted again: {lost:,} of {n:,}."
    return int(frame[f"distinct_{column}"].sum()), distinct, repeats


def dropped(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on rewrites that were dropped, where there are any.

    Args:
        frame: Rows of `fallbacks`.
    """
    lost, n, repeats = of_rewrites(frame, "dropped")
    if not lost:
        return
    share = f"{100 * lost / n:.0f} %" if lost >= 0.01 * n else "under 1 %"
    verb, items, was = ("is", "its item", "was") if lost == 1 else ("are", "their items", "were")
    yield (
        f"{lost:,} of {counted(n, noun(repeats))} ({share}) {verb} dropped: no answer was usable, so that "
        f"{items} {was} left out, of the original too.{repeats}"
    )


def no_rewrites(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on answers that are no rewrites, where there are any.

    Args:
        frame: Rows of `outcomes`.
    """
    words = {
        "refused": "refused",
        "echo": "with words of the instruction",
        "answered": "with an answer to the question",
        "repeated": "with an answer that many different texts got",
    }
    found = {what: int(frame[name].sum()) for name, what in words.items() if name in frame}
    if not any(found.values()):
        return
    n = int(frame["n_distinct"].sum())
    said = ", ".join(f"{many:,} {what}" for what, many in found.items() if many)
    yield f"Of {counted(n, 'distinct rewrite')} some look like none (one may count twice): {said}."


def noun(repeats: str) -> str:
    """Return what is counted: distinct rewrites where some are repeated."""
    return "distinct rewrite" if repeats else "rewrite"
