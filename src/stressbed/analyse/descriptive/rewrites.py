"""The result tables that are made of counts of rewritten texts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import DISTINCT_NOTE, FALLBACK_NOTE, Table, finish, ordered
from stressbed.collect.rewrites import NO_REWRITES
from stressbed.transform.flags import FLAGS
from stressbed.transform.outcome import OUTCOMES

RATE_NOTE = (
    "Per cent of rewritten texts, all seeds together. total: texts with at least one flag, so it is at "
    "most the sum of the ten."
)


def flag_rates(counts: pd.DataFrame, names: Names, *, by: str) -> Table:
    """Return the ten flag rates and the total, in per cent, per generator and one more coordinate.

    Args:
        counts: Rows of `rewrite_counts`.
        names: Order of rows.
        by: `generator`, `transformation`, `dataset`, `source_language` or `target_language`.
    """
    keys = list(dict.fromkeys(["generator", by]))
    sums = counts.groupby(keys, dropna=False)[["n_distinct", "n_texts", *FLAGS, "any"]].sum().reset_index()
    rates = sums[[*keys, "n_distinct", "n_texts"]].copy()
    for column in (*FLAGS, "any"):
        rates["total" if column == "any" else column] = 100.0 * sums[column] / sums["n_texts"]
    name = {"source_language": "language"}.get(by, by)
    title = f"Error flags by {name.replace('_', ' ')}"
    rates = _in_order(rates.rename(columns={"source_language": "language"}), names)
    return finish(Table(f"flag_rates_by_{name}", title, rates, [RATE_NOTE, DISTINCT_NOTE]), names)


def outcomes(counts: pd.DataFrame, names: Names) -> Table:
    """Return per generator, dataset and transformation how many texts had which outcome, and tokens."""
    keys = ["generator", "dataset", "transformation"]
    wide = counts.pivot_table(index=keys, columns="outcome", values="n_texts", aggfunc="sum", fill_value=0)
    wide = wide.reindex(columns=list(OUTCOMES), fill_value=0).astype(int)
    wide.columns.name = None
    after = ["any", *NO_REWRITES, "tokens_in", "tokens_out"]
    sums = counts.groupby(keys)[["n_distinct", "n_texts", *after]].sum()
    frame = sums[["n_distinct", "n_texts"]].join(wide).join(sums[after])
    frame = _in_order(frame.rename(columns={"any": "with_flags"}).reset_index(), names)
    notes = [
        "All seeds together; each text has one outcome, the gravest that applies. with_flags: at least one "
        "error flag, whatever the outcome.",
        DISTINCT_NOTE,
        "Of the distinct ones: refused: the answer says that there will be none; echo: it repeats the "
        "instruction; answered: a question got an answer; repeated: many different texts got the same.",
        FALLBACK_NOTE,
    ]
    return finish(Table("outcomes", "Outcomes of rewriting", frame, notes), names)


def examples(found: pd.DataFrame, names: Names) -> Table:
    """Return the table of examples: one drawn text per generator, transformation and target language."""
    notes = ["Drawn by a seeded hash, not picked; language is the one asked for.", FALLBACK_NOTE]
    frame = _in_order(found, names)
    return finish(
        Table("examples", "One rewritten text per transformation and language", frame, notes), names
    )


def _in_order(frame: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Return the rows in the order of the run: generators, datasets, transformations, then languages."""
    if "transformation" not in frame.columns:
        return ordered(frame, names)
    ranks = {t: i for i, t in enumerate(names.transformations)}
    keys: Sequence[str] = [k for k in frame.columns if k in {"dataset", "transformation", "language"}]
    sorted_frame = frame.sort_values(
        list(keys),
        key=lambda c: c.map(ranks) if c.name == "transformation" else c,
        ignore_index=True,
    )
    place = {g: i for i, g in enumerate(names.generators)}
    return sorted_frame.sort_values("generator", key=lambda c: c.map(place), kind="stable", ignore_index=True)
