"""Error rates of every candidate, and the shortlist of those with the fewest errors (HTEB, table 9)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import write_table
from stressbed.errors import DataError
from stressbed.paths import variant_of_path
from stressbed.stats.proportion import wilson
from stressbed.store import read_parquet, write_text
from stressbed.transform.flags import FLAGS

log = logging.getLogger("stressbed")

EXTRACTED = frozenset({"think", "envelope"})
"""Steps of post-processing that take a rewrite out of what a thinking model writes around it."""

SHARES = (*FLAGS, "total", "extracted", "fallback", "retried")
"""What is counted for each text."""

_READ = [*FLAGS, "outcome", "cleaned"]


def counts(transforms: Mapping[str, Sequence[Path]]) -> pd.DataFrame:
    """Return how many texts had which flag, by candidate and transformation.

    Columns: generator, transformation, n_texts, one count per flag, `total` (at least one flag),
    `extracted` (the rewrite had to be taken out of a think block or an envelope), `fallback`, `retried`.

    Args:
        transforms: Tables of rewrites by candidate.
    """
    rows = []
    for generator, files in transforms.items():
        for path in files:
            frame = read_parquet(path, columns=_READ).to_pandas()
            taken_out = [bool(EXTRACTED & set(c.split(","))) for c in frame["cleaned"]]
            rows.append(
                {
                    "generator": generator,
                    "transformation": variant_of_path(path)[1].transformation,
                    "n_texts": len(frame),
                    **{f: int(frame[f].sum()) for f in FLAGS},
                    "total": int(frame[list(FLAGS)].any(axis=1).sum()),
                    "extracted": sum(taken_out),
                    "fallback": int(frame["outcome"].isin(["fallback", "dropped"]).sum()),
                    "retried": int((frame["outcome"] == "retried").sum()),
                }
            )
    return pd.DataFrame(rows)


def rates(counted: pd.DataFrame) -> pd.DataFrame:
    """Return each candidate's rates in per cent, averaged over transformations as in the paper.

    Columns: generator, n_texts, the ten flags, total, extracted, fallback, retried; candidates in
    their order. A transformation without texts (no language to draw) does not count.
    """
    held = counted[counted["n_texts"] > 0]
    shares = held[["generator"]].assign(**{c: 100.0 * held[c] / held["n_texts"] for c in SHARES})
    means = shares.groupby("generator", sort=False)[list(SHARES)].mean()
    n_texts = counted.groupby("generator", sort=False)["n_texts"].sum()
    missing = [g for g in n_texts.index if g not in means.index]
    if missing:
        raise DataError(
            f"the candidate {missing[0]!r} has no rewrites to screen",
            where="screening",
            do="look at the screening dataset and the transformations of the selection",
        )
    means.insert(0, "n_texts", n_texts)
    return means.reset_index()


def intervals(counted: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Return every rate with its Wilson interval, in per cent, all transformations together.

    Columns: generator, rate, n_texts, per_cent, low, high. Texts count the same here; where all
    transformations have as many texts, `per_cent` is the mean over transformations.
    """
    sums = counted.groupby("generator", sort=False)[["n_texts", *SHARES]].sum()
    rows = []
    for generator, row in sums.iterrows():
        for share in SHARES:
            found = wilson(int(row[share]), int(row["n_texts"]), level=level)
            rows.append(
                {
                    "generator": generator, "rate": share, "n_texts": int(row["n_texts"]),
                    "per_cent": 100 * found.estimate, "low": 100 * found.low, "high": 100 * found.high,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def shortlist(totals: Mapping[str, float], k: int) -> tuple[str, ...]:
    """Return the k candidates with the lowest total error rate, the lowest first.

    Equal rates are ordered as the candidates are; k at or above their number keeps all.

    Args:
        totals: Total error rate by candidate, in the selection's order.
        k: Length of the shortlist.
    """
    order = list(totals)
    return tuple(sorted(order, key=lambda g: (round(totals[g], 9), order.index(g)))[:k])


def screen(
    *, transforms: Mapping[str, Sequence[Path]], k: int, names: Names, folder: Path, out: Path
) -> tuple[str, ...]:
    """Write the tables of error rates and the shortlist, and return the latter.

    Args:
        transforms: Tables of rewrites by candidate, in the selection's order.
        k: Length of the shortlist.
        names: Labels.
        folder: Where the tables go.
        out: Where the shortlist goes: `shortlist`, `candidates` and `totals` (per cent), as JSON.

    Raises:
        DataError: A candidate has no rewrites at all.
        StoreError: A table is damaged.
    """
    counted = counts(transforms)
    found = rates(counted)
    totals = dict(zip(found["generator"], found["total"], strict=True))
    chosen = shortlist(totals, k)
    for table in tables(counted, found, chosen):
        write_table(table, folder, names)
    content = {
        "shortlist": list(chosen),
        "candidates": list(totals),
        "totals": {g: round(t, 6) for g, t in totals.items()},
    }
    write_text(out, json.dumps(content, indent=2) + "\n")
    log.info("shortlist: %s", ", ".join(f"{g} ({totals[g]:.1f} %%)" for g in chosen))
    return chosen


def tables(counted: pd.DataFrame, found: pd.DataFrame, chosen: Sequence[str]) -> list[Table]:
    """Return the paper's table 9 with the shortlist marked, its intervals, and rates by transformation."""
    note = (
        "Per cent of rewrites. total: rewrites with at least one of the ten flags. extracted: a think block "
        "or an envelope was taken off before the flags were set. fallback: nothing usable came back, the original "
        "stays. retried: a second attempt gave a usable answer."
    )
    marked = found.assign(shortlist=found["generator"].isin(chosen))
    ranked = marked.sort_values("total", kind="stable", ignore_index=True)
    detail = counted[counted["n_texts"] > 0]
    by_transformation = detail[["generator", "transformation", "n_texts"]].assign(
        **{c: 100.0 * detail[c] / detail["n_texts"] for c in SHARES}
    )
    return [
        Table("screening", "Error rates of the candidates", ranked,
              [note, "Means over transformations. The candidates with the lowest totals make the shortlist."],
              best=dict.fromkeys([*FLAGS, "total"], "min")),
        Table("screening_intervals", "Error rates of the candidates with intervals", intervals(counted),
              [note, "Wilson intervals at 95 %, all transformations together."]),
        Table("screening_by_transformation", "Error rates by candidate and transformation",
              by_transformation.reset_index(drop=True), [note]),
    ]  # fmt: skip
