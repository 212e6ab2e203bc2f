"""How sure a drop is within its dataset: a paired bootstrap over the items of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stressbed.analyse.items.panels import VARIANT, Panel, Variant, panels, resampled
from stressbed.analyse.items.scores import Statistic, statistic_of
from stressbed.analyse.items.weighted import draw_items
from stressbed.analyse.names import Names
from stressbed.analyse.seeds import Seeds
from stressbed.analyse.table import Table, finish
from stressbed.analyse.words import counted, plural
from stressbed.collect.schema import ALL, OK
from stressbed.fingerprint import text_digest
from stressbed.stats.coverage import AIMED, coverage_note
from stressbed.stats.interval import Floats, too_few
from stressbed.stats.units import Units

TOLERANCE = 0.01
"""Points by which a score that is made again from its items may differ from the cell's own."""

FLAT = 1e-9
"""Points between the samples' ends below which they are one value, and no interval."""

LEVEL = 0.95
HELD = 150_000
"""Weights held at once: as many as fit into a processor's cache, which decides the speed."""

COLUMNS = (
    "generator", "embedder", "dataset", "transformation", "seed", "unit", "n", "resampled",
    "n_resampled", "drop", "low", "high", "method", "note",
)  # fmt: skip
EXPERIMENTS = (
    "experiments share their test data: the interval covers the draw of the training data or of the "
    "clustered texts, not that of other texts"
)
SAME_SEEDS = "identical in all seeds by construction"
NOTES = (
    "drop: original minus transformed, points; low, high: percentile interval, aimed at 95 %, of a paired "
    "bootstrap over the items of the dataset. The same items are drawn for the original and the rewrite, "
    "within each subset, and both scores are computed anew.",
    "resampled: what is drawn, and n_resampled how many of these there are. Items that share texts are not "
    "independent: they are drawn together, or the texts are drawn and an item counts as often as its texts "
    "together.",
    "It covers other items of this dataset, not other datasets, rewrites or seeds. Experiments are not "
    "independent items: they share their test data.",
    "A dash and a note where the score cannot be made again from its items.",
)


@dataclass(frozen=True)
class CellFacts:
    """What `scores.parquet` says of a cell."""

    score: float
    original: float
    metric: str
    task_type: str


Facts = dict[tuple[str, str], dict[Variant, CellFacts]]
"""(embedder, dataset) -> variant -> what is known of the cell."""


@dataclass
class _Sum:
    """What is known of one cell while its subsets are gone through."""

    unit: str
    n: int
    units: list[Units]
    scores: list[float]
    originals: list[float]
    problems: list[str]
    changed: bool
    drops: Floats

    @property
    def fewest(self) -> int:
        """Units of the subset that has fewest."""
        return min(u.n for u in self.units)


def item_intervals(
    blocks: Iterable[pd.DataFrame], scores: pd.DataFrame, names: Names, *, resamples: int, seed: int
) -> Table:
    """Return the drop of every cell with per-item results, with its interval within the dataset.

    A cell's score is the mean over its subsets. Items are drawn within each subset, the same for all
    embedders and variants. There is an interval only where original and transformed score, made
    again from all items, are those of the cell.

    Args:
        blocks: Rows of `items.parquet`, one embedder on one dataset at a time (`read_blocks`).
        scores: `scores.parquet`.
        names: Order of rows.
        resamples: Bootstrap samples.
        seed: Seed of the draw.
    """
    facts = cell_facts(scores)
    rows = [row for block in blocks for row in block_intervals(block, facts, resamples=resamples, seed=seed)]
    _say_repeats(rows, Seeds.of(scores, names))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        {"seed": "int64", "n": "int64", "n_resampled": "int64"}
    )
    table = Table(
        "item_intervals", "Drops with their intervals over the items of each dataset",
        in_order(frame, names), list(NOTES), decimals=2,
    )  # fmt: skip
    return finish(table, names, dashes=False)


def _say_repeats(rows: Sequence[dict[str, Any]], seeds: Seeds) -> None:
    """Say in the note of each row whether its seed is the same as all or an earlier one by construction."""
    of: dict[tuple[str, str, str], set[int]] = {}
    for row in rows:
        of.setdefault((row["generator"], row["dataset"], row["transformation"]), set()).add(row["seed"])
    for row in rows:
        key = row["generator"], row["dataset"], row["transformation"]
        first = seeds.first(*key, of[key])
        alone = len(set(first.values())) == 1 and (len(first) > 1 or not seeds.varies(key[0], key[2]))
        again = first[row["seed"]] != row["seed"]
        said = (
            SAME_SEEDS
            if alone
            else f"identical to seed {first[row['seed']]} by construction"
            if again
            else ""
        )
        row["note"] = "; ".join(filter(None, [row["note"], said]))


def cell_facts(scores: pd.DataFrame) -> Facts:
    """Return what is known of each scored cell, by embedder and dataset, then by variant."""
    kept = scores[(scores["subset"] == ALL) & (scores["status"] == OK)]
    columns = ["embedder", "dataset", *VARIANT, "score", "original", "metric", "task_type"]
    found: Facts = {}
    for embedder, dataset, generator, transformation, seed, *fact in kept[columns].itertuples(index=False):
        found.setdefault((embedder, dataset), {})[generator, transformation, seed] = CellFacts(*fact)
    return found


def block_intervals(
    block: pd.DataFrame, facts: Facts, *, resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one embedder on one dataset."""
    embedder, dataset = str(block["embedder"].iloc[0]), str(block["dataset"].iloc[0])
    own = facts.get((embedder, dataset), {})
    sums: dict[Variant, _Sum] = {}
    usable: list[tuple[Panel, Statistic]] = []
    for panel in panels(block):
        statistic = _add_points(panel, own, sums, resamples)
        if statistic is not None:
            usable.append((panel, statistic))
    for variant, found in sums.items():
        found.problems += _mismatch(found, own.get(variant))
    for panel, statistic in usable:
        _add_samples(panel, statistic, sums, resamples=resamples, where=(str(seed), dataset))
    for variant, found in sums.items():
        at = {"embedder": embedder, "dataset": dataset, **dict(zip(VARIANT, variant, strict=True))}
        yield at | _row(found, own.get(variant), usable, resamples)


def _add_points(
    panel: Panel, facts: Mapping[Variant, CellFacts], sums: dict[Variant, _Sum], resamples: int
) -> Statistic | None:
    """Add a panel's scores, made of all its items, to those of its cells; return how they are made."""
    known = next((facts[v] for v in panel.variants if v in facts), None)
    statistic = None if known is None else statistic_of(panel, metric=known.metric, task_type=known.task_type)
    n, problem = len(panel.items), ""
    score = original = np.full(len(panel.variants), np.nan)
    if known is None:
        problem = "the cell has no score"
    elif statistic is None:
        problem = f"{known.metric} is not made of values per item"
    elif statistic.kind in {"spearman", "pearson", "average precision"} and np.isnan(panel.gold).any():
        problem = "what people said of the pairs is not known"
    elif n >= 1:
        ones = np.ones((n, 1))
        score, original = (statistic.of(v, panel.gold, ones)[:, 0] for v in (panel.values, panel.originals))
    for i, variant in enumerate(panel.variants):
        found = sums.setdefault(
            variant, _Sum(panel.unit, 0, [], [], [], [], changed=False, drops=np.zeros(resamples))
        )
        found.n += n
        found.units.append(panel.units)
        found.scores.append(100 * float(score[i]))
        found.originals.append(100 * float(original[i]))
        found.changed |= any((panel.values[m][:, i] != panel.originals[m][:, i]).any() for m in panel.values)
        unknown = any(np.isnan(panel.originals[m][:, i]).any() for m in panel.originals)
        found.problems += [problem] if problem else []
        found.problems += (
            ["the original's items are not known one by one: rows were dropped"] if unknown else []
        )
    return None if problem else statistic


def _mismatch(found: _Sum, fact: CellFacts | None) -> list[str]:
    """Return why a cell has no interval, beside what its panels said."""
    if found.problems:
        return []
    if fact is None:
        return ["the cell has no score"]
    what = resampled(found.units, found.unit)
    if why := too_few(found.fewest, what, plural(what)):
        return [why]
    if not found.changed:
        return ["no item changed"]
    for what, made, own in (
        ("score", found.scores, fact.score),
        ("original", found.originals, fact.original),
    ):
        again = float(np.mean(made))
        if not abs(again - own) <= TOLERANCE:
            why = ": it is the largest over several similarities" if fact.metric.startswith("max_") else ""
            return [f"the {what} made again from the items is {again:.2f}, not {own:.2f}{why}"]
    return []


def _add_samples(
    panel: Panel, statistic: Statistic, sums: Mapping[Variant, _Sum], *, resamples: int, where: Sequence[str]
) -> None:
    """Add a panel's resampled drops to those of its cells that have an interval."""
    chosen = [i for i, v in enumerate(panel.variants) if not sums[v].problems]
    if not chosen:
        return
    values = {m: panel.values[m][:, chosen] for m in statistic.metrics}
    originals = {m: panel.originals[m][:, chosen] for m in statistic.metrics}
    # The original is the same in all variants, unless rows were dropped in one of several splits.
    if all((o == o[:, :1]).all() for o in originals.values()):
        originals = {m: o[:, :1] for m, o in originals.items()}
    columns = {m: np.hstack([originals[m], values[m]]) for m in statistic.metrics}
    rng = np.random.default_rng(int(text_digest("items", *where, panel.subset, panel.split)[:16], 16))
    size = max(16, HELD // len(panel.items))
    for start in range(0, resamples, size):
        weights = draw_items(panel.units, min(size, resamples - start), rng)
        found = statistic.of(columns, panel.gold, weights)
        before, after = found[: -len(chosen)], found[-len(chosen) :]
        for row, i in zip(before - after, chosen, strict=True):  # one row of `before` fits all
            sums[panel.variants[i]].drops[start : start + weights.shape[1]] += 100 * row


def _row(
    found: _Sum, fact: CellFacts | None, usable: Sequence[tuple[Panel, Statistic]], resamples: int
) -> dict[str, Any]:
    """Return the columns of a cell that its items decide."""
    drop = fact.original - fact.score if fact else float("nan")
    row = {
        "unit": found.unit, "n": found.n, "resampled": resampled(found.units, found.unit),
        "n_resampled": sum(u.n for u in found.units), "drop": drop, "low": np.nan, "high": np.nan,
        "method": "",
    }  # fmt: skip
    if found.problems:
        return row | {"note": "; ".join(dict.fromkeys(found.problems))}
    drops = found.drops / len(found.scores)
    defined = drops[np.isfinite(drops)]
    left_out = resamples - len(defined)
    notes = [EXPERIMENTS] if found.unit == "experiment" else []
    if note := item_coverage_note(usable[0][1].kind, found.fewest):
        notes.append(note if len(found.scores) == 1 else f"in the smallest subset: {note}")
    if left_out:
        words = "has no score and is left out" if left_out == 1 else "have no score and are left out"
        notes.append(f"{counted(left_out, 'sample')} {words}")
    if len(defined) < resamples / 2:
        return row | {"note": "; ".join(notes)}
    if np.ptp(defined) < FLAT:
        return row | {"note": f"every {found.unit} changes alike: that is no spread to make an interval of"}
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    method = f"percentile bootstrap, {usable[0][1].kind} of {found.unit} values, {resamples} samples"
    return row | {"low": float(low), "high": float(high), "method": method, "note": "; ".join(notes)}


COVERED: Mapping[str, Mapping[int, int]] = {
    "spearman": {10: 82, 20: 95},
    "pearson": {10: 90, 20: 91, 40: 93, 200: 94},
    "average precision": {10: 63, 20: 86, 40: 91, 200: 92, 1000: 94},
}
"""Per cent of simulated data sets whose interval held the true drop, by number of pairs.

600 to 1,500 data sets each, a standard error of 1 or less; normal similarities, rounded gold scores, four
tenths of the labels positive. Between two numbers the smaller one speaks.
"""

ENOUGH = 94
"""Coverage from which an interval aimed at 95 % needs no note."""


def item_coverage_note(kind: str, n: int) -> str:
    """Return what to tell the reader of an interval of so many items, or nothing."""
    if kind == "mean":
        return coverage_note(n)
    covered = COVERED[kind]
    known = [m for m in covered if m <= n]
    said = f"about {covered[max(known)]} %" if known else f"less than {covered[min(covered)]} %"
    if known and covered[max(known)] >= ENOUGH:
        return ""
    return f"with n = {n} the interval, {AIMED}, covers {said} in simulations: it is too narrow"


def in_order(frame: pd.DataFrame, names: Names, *, then: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """Return rows in the run's order of generators, embedders, datasets and transformations, then others."""
    known = {
        "generator": names.generators, "embedder": names.embedders, "dataset": names.datasets,
        "transformation": names.transformations,
    }  # fmt: skip
    ranks = {c: {name: i for i, name in enumerate(order)} for c, order in known.items()}
    keys = [c for c in (*ranks, *then) if c in frame.columns]
    return frame.sort_values(
        keys,
        key=lambda c: c.map(ranks[str(c.name)]) if c.name in ranks else c,
        kind="stable",
        ignore_index=True,
    )
