"""Screening: how often each candidate's rewrites are faulty, and who makes the shortlist (HTEB, table 9)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import write_table
from stressbed.errors import DataError
from stressbed.paths import variant_of_path
from stressbed.stats.proportion import wilson
from stressbed.store import read_parquet, write_text
from stressbed.transform.flags import FLAGS

EXTRACTED = frozenset({"think", "envelope"})
"""Post-processing steps that take an answer out of what a thinking model wrote around it."""

RATES = (*FLAGS, "total", "fallback", "retried", "extracted")
"""What is counted of a candidate's rewrites."""

_KEYS = ["generator", "transformation"]


def screening_counts(files: Sequence[Path]) -> pd.DataFrame:
    """Return counts by generator and transformation.

    Columns: generator, transformation, n_texts, then one count for each of `RATES`; `total` counts
    texts with at least one flag, `fallback` those that a fallback rule replaced, kept or dropped,
    `retried` those that took more than one attempt, `extracted` those whose (last) answer stood
    behind a think block or in an envelope.

    Args:
        files: Transform tables of the candidates.
    """
    rows = []
    for path in files:
        frame = read_parquet(path, columns=[*FLAGS, "outcome", "attempts", "cleaned"]).to_pandas()
        _, variant = variant_of_path(path)
        extracted = [not EXTRACTED.isdisjoint(steps.split(",")) for steps in frame["cleaned"]]
        rows.append(
            {
                "generator": variant.generator,
                "transformation": variant.transformation,
                "n_texts": len(frame),
                **{name: int(frame[name].sum()) for name in FLAGS},
                "total": int(frame[list(FLAGS)].any(axis=1).sum()),
                "fallback": int(frame["outcome"].isin(["fallback", "dropped"]).sum()),
                "retried": int((frame["attempts"] > 1).sum()),
                "extracted": sum(extracted),
            }
        )
    counts = pd.DataFrame(rows, columns=[*_KEYS, "n_texts", *RATES])
    return counts.groupby(_KEYS, sort=False).sum().reset_index()


def by_transformation(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the rates in per cent by generator and transformation; NaN where there are no texts."""
    shares = {name: 100.0 * counts[name] / counts["n_texts"].where(counts["n_texts"] > 0) for name in RATES}
    return counts[[*_KEYS, "n_texts"]].assign(**shares)


def screening(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the rates in per cent by generator: means over its transformations, as in the paper.

    Each transformation weighs the same, however many texts it has; one without texts does not count.

    Args:
        counts: Rows of `screening_counts`.
    """
    rates = by_transformation(counts)
    means = rates.groupby("generator", sort=False)[list(RATES)].mean()
    texts = rates.groupby("generator", sort=False)[["n_texts"]].sum()
    return texts.join(means).reset_index()


def intervals(counts: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Return Wilson's interval of every rate, of all texts of a generator together (long table).

    Columns: generator, rate, events, n_texts, estimate, low, high (per cent). With as many texts in
    each transformation, the estimate is the mean of `screening`.

    Args:
        counts: Rows of `screening_counts`.
        level: Coverage.
    """
    pooled = counts.groupby("generator", sort=False)[["n_texts", *RATES]].sum()
    rows = []
    for generator, sums in pooled.iterrows():
        for name in RATES:
            found = wilson(int(sums[name]), int(sums["n_texts"]), level=level)
            ends = {"estimate": found.estimate, "low": found.low, "high": found.high}
            rows.append(
                {
                    "generator": generator,
                    "rate": name,
                    "events": int(sums[name]),
                    "n_texts": int(sums["n_texts"]),
                    **{key: 100.0 * value for key, value in ends.items()},
                }
            )
    return pd.DataFrame(rows)


def shortlist(rates: pd.DataFrame, k: int) -> tuple[str, ...]:
    """Return the k generators with the lowest total, the lowest first; all if there are no more than k.

    Equal totals stay in the order of the rows; a generator without a total comes last.

    Args:
        rates: Columns generator and total, in the order of the candidates.
        k: How many.

    Raises:
        ValueError: k is not positive.
    """
    if k < 1:
        raise ValueError(f"a shortlist needs at least one generator, got {k}")
    # Means of the same rates in another order may differ in their last bits.
    best = rates.assign(total=rates["total"].round(9)).sort_values("total", kind="stable")
    return tuple(best["generator"].head(k))


def screen(
    *,
    transforms: Mapping[str, Sequence[Path]],
    shortlist: int,
    names: Names,
    folder: Path,
    out: Path,
) -> list[str]:
    """Write the tables of the screening and the shortlist; return the shortlist.

    Args:
        transforms: Transform tables of each candidate, in the order of the candidates.
        shortlist: How many candidates go on.
        names: Labels and orders.
        folder: Where the tables go.
        out: Where the shortlist goes (JSON).

    Raises:
        DataError: A candidate has no rewrites: there is nothing to judge it by.
        StoreError: A transform table is damaged.
    """
    counts = screening_counts([path for files in transforms.values() for path in files])
    rates = screening(counts)
    known = dict(zip(rates["generator"], rates["total"], strict=True))
    for generator in transforms:
        if pd.isna(known.get(generator)):
            raise DataError(
                f"the candidate {generator!r} has rewritten no text",
                where="screening",
                do="let the screening dataset have texts, or take the candidate out of the selection",
            )
    chosen = list(_lowest(rates, shortlist))
    for table in tables(counts, chosen, names):
        write_table(table, folder, names)
    content = {
        "shortlist": chosen,
        "candidates": list(transforms),
        "rates": {
            row["generator"]: {name: round(float(row[name]), 6) for name in RATES}
            for row in rates.to_dict("records")
        },
    }
    write_text(out, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return chosen


_lowest = shortlist  # `screen` has a parameter of that name


def tables(counts: pd.DataFrame, chosen: Sequence[str], names: Names) -> list[Table]:
    """Return the tables of the screening: rates, their intervals, and rates by transformation.

    Args:
        counts: Rows of `screening_counts`.
        chosen: The shortlist.
        names: Order of transformations.
    """
    rates = screening(counts)
    rates.insert(1, "shortlist", ["yes" if g in chosen else "" for g in rates["generator"]])
    detail = by_transformation(counts)
    place = {t: i for i, t in enumerate(names.transformations)}
    order = {g: i for i, g in enumerate(rates["generator"])}
    detail = detail.sort_values(
        _KEYS, key=lambda c: c.map(place if c.name == "transformation" else order), ignore_index=True
    )
    flags = "total: texts with at least one of the ten flags."
    others = (
        "fallback: texts without a usable answer after all attempts; retried: more than one attempt; "
        "extracted: the answer was taken out of a think block or an envelope, before the rules were applied."
    )
    means = (
        "Per cent of rewritten texts, mean over transformations; the lowest in bold. n_texts: of all "
        f"transformations. {flags}"
    )
    ties = (
        f"On the shortlist are the {len(chosen)} with the lowest total; equal ones in the order of the "
        "candidates."
    )
    pooled = (
        "Per cent, Wilson's intervals (95 %) of all transformations' texts together. A text counts once per "
        "transformation; that its rewrites may share their faults is not accounted for."
    )
    best: dict[str, Literal["max", "min"]] = dict.fromkeys((*FLAGS, "total"), "min")
    return [
        Table("screening", "Error rates of the candidates", rates, [means, others, ties], best=best),
        Table("screening_intervals", "Intervals of the error rates", intervals(counts), [pooled]),
        Table(
            "screening_by_transformation",
            "Error rates of the candidates by transformation",
            detail,
            [f"Per cent of rewritten texts. {flags}", others],
        ),
    ]
