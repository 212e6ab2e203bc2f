"""The paper's headline claims, each computed for this run, in sentences with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pandas as pd

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.conclusions.across import gap, relative, sizes, translated
from stressbed.analyse.conclusions.lacking import dropped, no_rewrites, noun, of_rewrites, unscored
from stressbed.analyse.conclusions.paper import Beside
from stressbed.analyse.conclusions.part import Finding, Part, Tables
from stressbed.analyse.conclusions.preference import listed
from stressbed.analyse.names import ALL_DATASETS, AXIS_LABELS, Names
from stressbed.analyse.words import amount, counted, lose, shown
from stressbed.analyse.write import escape_markdown
from stressbed.stats.coverage import interval_words
from stressbed.stats.interval import enough

ALPHA = 0.05
SAME = 1e-6
"""Points within which scores are the same."""
NAMED = 3
"""Most pairs of embedder and dataset that a sentence names."""
WEIGHTY = 0.05
"""Share of fallbacks from which they are said to weigh on everything else."""


def findings(tables: Tables, names: Names, *, run: str, beside: Beside | None = None) -> str:
    """Return `findings.md`: per generator and setting the claims that the run has data for.

    Args:
        tables: Analysed tables by name, with the columns of their CSV files.
        names: Labels, orders and settings.
        run: Name of the run, for the title.
        beside: Which of the paper's numbers may stand beside the run's own; none by default.
    """
    beside = beside or Beside()
    lines = [f"# Findings of the run {escape_markdown(run)}", ""]
    for generator in names.generators:
        for setting in names.setting_order:
            part = Part(tables, names, generator, setting, beside)
            lines += _section(part, _title(part), _CLAIMS)
        part = Part(tables, names, generator, ALL_DATASETS, beside)
        title = part.label(generator) if len(names.generators) > 1 else "Across languages"
        lines += _section(part, title, _ACROSS)
    lines += ["Tables behind these sentences: `tables/`. How each number is made: `docs/statistics.md`."]
    return "\n".join(lines) + "\n"


def _title(part: Part) -> str:
    parts = [
        *([part.label(part.setting)] if part.setting != ALL_DATASETS else []),
        *([part.label(part.generator)] if len(part.names.generators) > 1 else []),
    ]
    return ", ".join(parts) or "All datasets"


def _section(part: Part, title: str, claims: tuple[Callable[[Part], Iterator[Finding]], ...]) -> list[str]:
    found = [str(f) for claim in claims for f in claim(part)]
    return [f"## {title}", "", *found, ""] if found else []


def _rewrites(part: Part) -> Iterator[Finding]:
    """How many rewrites are none: what the reader must know of every sentence that follows."""
    frame = part.rows("fallbacks")
    if frame.empty:
        return
    frame = frame[_own_datasets(frame, part)]
    lost, n, repeats = of_rewrites(frame, "fallbacks")
    if lost:
        more = " What follows says as much about the generator as about the embedders." * (
            lost / n >= WEIGHTY
        )
        of = f"{lost:,} of {counted(n, noun(repeats))} ({_per_cent(lost / n)})"
        why = "no answer was usable, so that a cut one or the original was embedded."
        yield Finding(f"{of} {'is a fallback' if lost == 1 else 'are fallbacks'}: {why}{repeats}{more}")


def _lacking(part: Part) -> Iterator[Finding]:
    """What the rest does not rest on, or should not: dropped rewrites, such as are none, unscored cells."""
    rewrites, cells = part.rows("fallbacks"), part.tables.get("incomplete_cells", pd.DataFrame())
    if len(rewrites):
        yield from map(Finding, dropped(rewrites[_own_datasets(rewrites, part)]))
    if len(outcomes := part.rows("outcomes")):
        yield from map(Finding, no_rewrites(outcomes[_own_datasets(outcomes, part)]))
    if cells.empty:
        return
    cells = cells[_own_datasets(cells, part)]
    if "generator" in cells.columns:  # the originals have none and belong to all
        cells = cells[(cells["generator"] == part.generator) | (cells["transformation"] == "original")]
    names, ranks = part.names, part.rows("hteb_ranks")
    mine = [d for d in names.datasets if names.settings.get(d, ALL_DATASETS) == part.setting]
    found = unscored(
        cells.assign(dataset=cells["dataset"].map(part.label)),
        datasets=[part.label(d) for d in mine],
        compared=int(ranks["n_datasets"].min()) if len(ranks) else 0,
        n_embedders=len(names.members.get(part.setting, names.embedders)),
    )
    yield from map(Finding, found)


def _zero_vectors(part: Part) -> Iterator[Finding]:
    """Where scores rest on vectors without a direction, and whose they are."""
    frame = part.rows("by_dataset")
    if "zero_vectors" not in frame.columns:
        return
    frame = frame[_own_datasets(frame, part)]
    has = frame[frame["zero_vectors"] > 0].sort_values("zero_vectors", ascending=False, kind="stable")
    if has.empty:
        return
    named = [
        f"{part.label(r['embedder'])} on {part.label(r['dataset'])} (up to {r['zero_vectors']:,} in a cell)"
        for r in has.head(NAMED).to_dict("records")
    ]
    left = len(has) - len(named)
    more = [f"{left} more"] if left else []
    pairs = counted(len(frame), "pair")
    verb = "has" if len(has) == 1 else "have"
    yield Finding(
        f"{len(has)} of {pairs} of embedder and dataset {verb} texts whose vector is zero: "
        f"{listed([*named, *more])}. mteb's numbers stand, but there they say nothing of a text's meaning."
    )


def _own_datasets(frame: pd.DataFrame, part: Part) -> pd.Series[bool]:
    return frame["dataset"].map(lambda d: part.names.settings.get(d, ALL_DATASETS)) == part.setting


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _drops(part: Part) -> Iterator[Finding]:
    frame = (
        part.rows("hteb_scores").dropna(subset=["drop"]) if len(part.rows("hteb_scores")) else pd.DataFrame()
    )
    if frame.empty:
        return
    n, worse = len(frame), int((frame["drop"] > 0).sum())
    # Whose drops these are must be said where an embedder lacks a cell.
    every = len(part.rows("hteb_scores"))
    of, whole = (f" of {every}", " that have every cell") if n < every else ("", "")
    mean = float(frame["drop"].mean())
    yield Finding(
        f"The {n}{of} embedders{whole} {lose(mean, 2)} on average under HTEB."
        if n > 1
        else f"The {'one' + of + ' embedders that has every cell' if of else 'embedder'} "
        f"{lose(mean, 2, plural=False)} under HTEB.",
        part.paper("drop"),
    )
    verb = "scores" if worse == 1 else "score"
    yield Finding(f"{worse} of {n} {verb} lower than on the original texts.", part.paper("losers"))
    ranks = part.rows("hteb_ranks")
    if len(ranks):
        unsure = int(((ranks["drop_low"] <= 0) & (ranks["drop_high"] >= 0)).sum())
        interval = interval_words(int(ranks["n_datasets"].min()))
        if ranks["drop_low"].notna().all() and interval:
            yield Finding(
                f"For {unsure} of {len(ranks)} the {interval} of the drop over datasets includes zero."
            )
        moved = int((ranks["rank_hteb"] != ranks["rank_original"]).sum())
        first, after = (_best(ranks, c) for c in ("rank_original", "rank_hteb"))
        top = f"{part.label(first)} leads" + (
            " before and after" if first == after else f" on the originals, {part.label(after)} under HTEB"
        )
        if len(ranks) > 1:
            change = "changes its rank" if moved == 1 else "change their ranks"
            yield Finding(f"{moved} of {len(ranks)} {change}; {top}.")


def _alike(part: Part) -> Iterator[Finding]:
    """Datasets on which embedders are alike to begin with: who seems robust may have learnt nothing."""
    frame = part.rows("by_dataset")
    if frame.empty:
        return
    frame = frame[_own_datasets(frame, part)].dropna(subset=["original"])
    scores = frame.groupby("dataset", sort=False)["original"]
    alike = [str(d) for d, s in scores if len(s) > 1 and s.max() - s.min() < SAME]
    if alike:
        yield Finding(
            f"On {listed([part.label(d) for d in alike])} all embedders have the same score on the original "
            "texts: nothing there tells them apart."
        )


def _best(ranks: pd.DataFrame, column: str) -> str:
    return str(ranks.sort_values(column, kind="stable")["embedder"].iloc[0])


def _axes(part: Part) -> Iterator[Finding]:
    frame = part.rows("axis_profiles")
    if frame.empty or frame["most_disruptive"].isna().all():
        return
    counts = Counter(frame["most_disruptive"].dropna())
    said = [
        f"{AXIS_LABELS[a]} for {counts[a]} of {len(frame)}"
        for a in sorted(AXES, key=lambda a: -counts[a])
        if counts[a]
    ]
    sure = int((frame["certainty"] >= 95).sum())
    more = (
        f"; for {sure} in at least 95 % of resampled dataset collections"
        if enough(int(frame["n_datasets"].min())) and frame["certainty"].notna().any()
        else ""
    )
    yield Finding(f"Most disruptive axis: {listed(said)}{more}.", part.paper("most_disruptive"))


def _shifts(part: Part) -> Iterator[Finding]:
    frame = part.rows("shifts")
    if frame.empty:
        return
    n, observations = len(frame), int(frame["n"].min())
    if n * 2 * 0.5**observations > ALPHA:
        few = "one observation is" if observations == 1 else f"{observations} observations are"
        yield Finding(
            f"Whether {counted(n, 'transformation')} {'shifts' if n == 1 else 'shift'} the scores cannot be "
            f"tested: {few} too few for any "
            "p-value to survive Holm's correction."
        )
    else:
        significant = frame[frame["p_holm"] < ALPHA]
        down = int((significant["shift"] < 0).sum())
        yield Finding(
            f"{len(significant)} of {counted(n, 'transformation')} "
            f"{'shifts' if len(significant) == 1 else 'shift'} the scores significantly (Wilcoxon, Holm), "
            f"{down} of them downwards; n = {counted(observations, 'observation')}.",
            part.paper("significant"),
        )
    low, high = (frame["median_abs"].agg(f) for f in ("min", "max"))
    yield Finding(
        f"The median absolute delta of a transformation runs from {low:.1f} to {high:.1f} points.",
        part.paper("median_abs"),
    )


def _translations(part: Part) -> Iterator[Finding]:
    """A language drawn for each text against one for many, with the same steps and languages."""
    frame = part.rows("delta_by_transformation")
    for single, cross in part.names.crossings:
        if frame.empty or not {single, cross} <= set(frame.columns):
            continue
        both = frame.dropna(subset=[single, cross])
        worse = int((both[cross] < both[single]).sum())
        if len(both):
            of = counted(len(both), "embedder")
            yield Finding(
                f"{part.label(cross)} costs more than {part.label(single).lower()} for {worse} of {of}."
            )


def _ranking(part: Part) -> Iterator[Finding]:
    frame = (
        part.rows("rank_stability").dropna(subset=["tau_mean"]) if len(part.rows("rank_stability")) else None
    )
    if frame is None or frame.empty:
        return
    for row in (r for r in part.records("rank_stability") if r["level"] == "overall"):
        sd = f" (SD {row['tau_sd']:.3f})" if pd.notna(row["tau_sd"]) else ""
        few = (
            f"; with {counted(row['n_embedders'], 'embedder')} it says little"
            if row["n_embedders"] < 4
            else ""
        )
        yield Finding(
            f"The embedders' ranking under HTEB agrees with the original one at Kendall's tau "
            f"{_tau(row['tau_mean'])}{sd}, mean over {counted(row['n_datasets'], 'dataset')}{few}.",
            part.paper("tau"),
        )
    for level, claim in (("axis", "tau_axes"), ("transformation", "tau_transformations")):
        mine = frame[frame["level"] == level].sort_values("tau_mean", ascending=False)
        if len(mine) > 1:
            kept = mine if level == "axis" else mine.iloc[[0, -1]]
            said = [
                f"{part.label(str(r))} {_tau(tau)}"
                for r, tau in zip(kept["row"], kept["tau_mean"], strict=True)
            ]
            lead = "Tau by axis" if level == "axis" else "Highest and lowest tau by transformation"
            yield Finding(f"{lead}: {', '.join(said)}.", part.paper(claim))
    both = frame[(frame["level"] == "transformation") & frame["within_mean"].notna()]
    if len(both):
        above = int((both["within_mean"] > both["tau_there"]).sum())
        yield Finding(
            f"Two seeds agree more with each other than with the original for {above} of "
            f"{counted(len(both), 'transformation')} in which seeds can differ.",
            part.paper("within"),
        )


def _tau(value: float) -> str:
    return shown(value, 3)


def _halves(part: Part) -> Iterator[Finding]:
    frame = part.rows("split_half")
    mine = frame[(frame["measure"] == "delta") & frame["row"].isin(AXES)] if len(frame) else frame
    if len(mine) and enough(int(mine["n_datasets"].min())):
        low, high = (shown(v, 2) for v in (mine["median"].min(), mine["median"].max()))
        yield Finding(
            "Random halves of the datasets rank the embedders by axis delta alike at a median Spearman's rho "
            f"of {low if low == high else f'{low} to {high}'}, by axis.",
            part.paper("split_half"),
        )


def _zero_shot(part: Part) -> Iterator[Finding]:
    for row in part.records("zero_shot"):
        if pd.notna(row["drop_zero_shot"]):
            yield Finding(
                f"On the {row['zero_shot_pairs']} of {counted(row['pairs'], 'pair')} without known training "
                f"overlap the mean is {amount(row['drop_zero_shot'], 2)}; over all pairs "
                f"{amount(row['drop_all'], 2)}.",
                part.paper("zero_shot"),
            )


_CLAIMS = (
    _rewrites,
    _lacking,
    _zero_vectors,
    _drops,
    relative,
    _alike,
    _axes,
    _translations,
    _shifts,
    _ranking,
    _halves,
    _zero_shot,
    sizes,
)
"""Claims about each setting."""
_ACROSS = (gap, translated)
"""Claims across languages."""
