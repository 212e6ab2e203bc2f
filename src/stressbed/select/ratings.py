"""From the judges' ratings to observations: which count, and what each generator got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from stressbed.errors import DataError
from stressbed.stats.units import Units, shared_units
from stressbed.store import read_parquet

ROW = ["subset", "split", "row"]
"""What makes an observation: a row of the screening data, for STS a pair."""

CELL = ["judge", "transformation", "text_id"]
"""What a rating is of, beside the generator."""


@dataclass(frozen=True)
class Observed:
    """The ratings that count.

    Attributes:
        generators: The shortlist, in its order: the columns of tables.
        judges: The judges, the shortlist first.
        ratings: All ratings, one row each (`stressbed.select.judge.SCHEMA` without keys).
        complete: Those of (judge, transformation, text) for which every generator has a rating.
        pairs: Shape (rows of the screening data, generators): mean over judges, transformations and
            the row's texts. One row is one observation.
        units: What is resampled: the rows, or texts that they share with each other.
        excluded: Ratings that do not count since another generator's is missing.
    """

    generators: list[str]
    judges: list[str]
    ratings: pd.DataFrame
    complete: pd.DataFrame
    pairs: pd.DataFrame
    units: Units
    excluded: int


def observe(files: Sequence[Path], *, generators: Sequence[str], judges: Sequence[str]) -> Observed:
    """Return the ratings that count; a missing one is never filled in.

    A rating counts where the same judge has rated the same text's rewrite by every generator, so that
    all means are over the same cells: a generator gains nothing from texts that cannot be rated.

    Args:
        files: Ratings of every judge and generator.
        generators: The shortlist.
        judges: The judges.

    Raises:
        DataError: Nothing is left: a judge gave no rating at all, or there was nothing to rate.
        StoreError: A file is damaged.
    """
    columns = ["judge", "generator", "transformation", *ROW, "text_id", "original", "rating", "choice"]
    ratings = pd.concat(
        [read_parquet(f, columns=[*columns, "reason"]).to_pandas() for f in files], ignore_index=True
    )
    _every_judge_answers(ratings, judges)
    given = ratings.dropna(subset=["rating"])
    counts = given.groupby(CELL)["generator"].transform("nunique")
    complete = given[counts == len(generators)]
    if complete.empty:
        raise DataError(
            "no text has a rating of every generator by the same judge, so nothing can be compared",
            where="ratings of the selection",
            do="look at the reasons in the tables of ratings; use another judge, or guided answers",
        )
    if len(complete[ROW].drop_duplicates()) < 2:
        raise DataError(
            "only one row of the screening data is rated, so it cannot be said how sure a difference is",
            where="ratings of the selection",
            do="raise `rows` of the selection, or take a larger dataset",
        )
    pairs = complete.pivot_table(index=ROW, columns="generator", values="rating", aggfunc="mean", sort=False)
    return Observed(
        list(generators), list(judges), ratings, complete, pairs[list(generators)],
        units_of(pairs.index, complete), len(given) - len(complete),
    )  # fmt: skip


def units_of(rows: pd.Index, complete: pd.DataFrame) -> Units:
    """Return what is resampled where rows of the screening data share texts."""
    known = complete.dropna(subset=["original"]).groupby(ROW, sort=False)["original"].agg(list).to_dict()
    return Units.of(shared_units([known.get(row, []) for row in rows]))


def _every_judge_answers(ratings: pd.DataFrame, judges: Sequence[str]) -> None:
    answered = ratings.groupby("judge")["rating"].count()
    silent = [j for j in judges if answered.get(j, 0) == 0]
    if silent:
        reasons = ratings.loc[ratings["judge"] == silent[0], "reason"].value_counts()
        said = ", ".join(f"{n} {reason}" for reason, n in reasons.items()) or "nothing to rate"
        raise DataError(
            f"the judge {silent[0]!r} gave no rating that can be read ({said})",
            where="ratings of the selection",
            allowed="a number of the scale; engines `transformers` and `vllm` guide the answer to one",
            do="set `guided` for its endpoint, use another judge prompt, or take it out of the candidates",
        )
