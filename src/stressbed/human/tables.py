"""Tables of people's ratings: means and agreement (HTEB, tables 2 and 3), label preservation (4 and 13)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.config.model import HumanStudy
from stressbed.fingerprint import text_digest
from stressbed.languages import english_name
from stressbed.stats.agreement import gwet_ac2
from stressbed.stats.bootstrap import mean_interval
from stressbed.stats.coverage import coverage_note
from stressbed.stats.interval import FEWEST, DegenerateWarning, Interval, enough
from stressbed.stats.units import Units, shared_units

CRITERIA = ("quality", "fluency")
SCALE = (1, 2, 3, 4, 5)
SHARED = (
    "Pairs that share texts are not independent: n_resampled counts what is drawn, pairs or the texts that "
    f"they share. None with fewer than {FEWEST}."
)
OVERALL, ALL = "overall", "all"


def human_ratings(ratings: pd.DataFrame, items: pd.DataFrame, names: Names, study: HumanStudy) -> Table:
    """Return mean, SD and agreement of quality and fluency per transformation, axis and overall.

    Rows of an axis and of all are over all ratings of their items. A transformation is accepted if both
    means reach the threshold. Where items come from several source languages, each has rows of its
    own after those of all.

    Args:
        ratings: Columns item_id, rater, criterion, rating.
        items: `items.parquet`.
        names: Labels and order.
        study: Threshold.
    """
    held = items[items["kind"] == "quality"]
    joined = ratings.merge(held[["item_id", "group", "transformation", "source_language"]], on="item_id")
    rows = []
    languages = sorted(set(held["source_language"]))
    for language in [ALL, *(languages if len(languages) > 1 else [])]:
        part = joined if language == ALL else joined[joined["source_language"] == language]
        for group, of_group in _groups(part, names):
            rows.append({"source_language": language, "group": group, **_row(of_group, study.threshold)})
    notes = [
        "Ratings from 1 to 5: mean and SD over all ratings, agreement as Gwet's AC2 with ordinal weights. "
        "Rows of an axis and overall are over all ratings of their transformations.",
        f"accepted: both means are at least {study.threshold:g}.",
        "Translation and Cross-Translation are rated together: the unit is a text and its translation.",
    ]
    frame = pd.DataFrame(rows)
    if len(languages) == 1:
        frame = frame.drop(columns="source_language")
        notes.append(f"All texts are in {languages[0]}.")
    return Table("human_ratings", "Human ratings of the rewrites", frame, notes, decimals=2)


def _groups(joined: pd.DataFrame, names: Names) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each axis with its groups of transformations, in the paper's order, then everything."""
    order = list(names.transformations)
    axis_of = {g: names.axes[t] for g, t in zip(joined["group"], joined["transformation"], strict=True)}
    place = {
        g: min(order.index(t) for t in part["transformation"])
        for g, part in joined.groupby("group", sort=False)
    }
    for axis in AXES:
        groups = sorted((g for g in axis_of if axis_of[g] == axis), key=place.__getitem__)
        if groups:
            yield axis, joined[joined["group"].isin(groups)]
        for group in groups:
            yield group, joined[joined["group"] == group]
    yield OVERALL, joined


def _row(part: pd.DataFrame, threshold: float) -> dict[str, object]:
    row: dict[str, object] = {"n_items": part["item_id"].nunique()}
    means = []
    for criterion in CRITERIA:
        of_it = part[part["criterion"] == criterion]
        found = _agreement(of_it)
        means.append(float(of_it["rating"].mean()))
        row |= {
            criterion: means[-1],
            f"{criterion}_sd": float(of_it["rating"].std(ddof=1)),
            f"{criterion}_ac2": found.estimate,
            f"{criterion}_ac2_low": found.low,
            f"{criterion}_ac2_high": found.high,
            f"{criterion}_ratings": len(of_it),
        }
    return {**row, "accepted": all(mean >= threshold for mean in means)}


def _agreement(ratings: pd.DataFrame) -> Interval:
    wide = ratings.pivot(index="item_id", columns="rater", values="rating")  # noqa: PD010
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
        found = gwet_ac2(wide.to_numpy(dtype=float), categories=SCALE)
    return Interval(found.coefficient, found.low, found.high)


def paired_ratings(ratings: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row per transformation, source pair and rater who rated both forms.

    Columns: transformation, target_language (empty where none is drawn), pair_id, rater, original, rewritten,
    gold (all 0 to 5), text1, text2 (of the original).
    """
    columns = ["item_id", "transformation", "target_language", "pair_id", "form", "gold"]
    similar = items[items["kind"] == "similarity"]
    held = similar.reindex(columns=columns).fillna({"target_language": ""})
    joined = ratings[ratings["criterion"] == "similarity"].merge(held, on="item_id")
    keys = ["transformation", "target_language", "pair_id", "rater", "gold"]
    wide = joined.set_index([*keys, "form"])["rating"].unstack("form")  # noqa: PD010  # repeats must raise
    found = wide.dropna(subset=["original", "rewritten"]).reset_index()[[*keys, "original", "rewritten"]]
    sources = similar.loc[similar["form"] == "original", ["pair_id", "text1", "text2"]]
    return found.merge(sources.drop_duplicates("pair_id"), on="pair_id", how="left")


def _units(part: pd.DataFrame, pairs: pd.Index) -> Units:
    """Return what is resampled: source pairs, or the texts that they share."""
    texts = part.drop_duplicates("pair_id").set_index("pair_id")[["text1", "text2"]]
    return Units.of(shared_units(texts.reindex(pairs).to_numpy().tolist()))


def label_preservation(paired: pd.DataFrame, names: Names, *, resamples: int) -> Table:
    """Return the paper's table 4: means, and differences between each rater's two ratings of a pair."""
    rows = []
    for transformation, language, part in _by_language(paired, names):
        apart = (part["rewritten"] - part["original"]).abs()
        by_pair = apart.groupby(part["pair_id"]).mean()
        units = _units(part, by_pair.index)
        rng = _rng("preservation", transformation, language)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
            found = mean_interval(by_pair.to_numpy(), resamples=resamples, rng=rng, units=units)
        rows.append(
            {
                "transformation": transformation, "target_language": language,
                "original": float(part["original"].mean()), "rewritten": float(part["rewritten"].mean()),
                "gold": float(part["gold"].mean()), "mad": float(apart.mean()),
                "mad_low": found.low, "mad_high": found.high,
                "within_one": 100.0 * float((apart <= 1).mean()), "n_ratings": len(part),
                "n_pairs": part["pair_id"].nunique(), "n_resampled": units.n,
            }
        )  # fmt: skip
    notes = [
        "Similarity from 0 to 5. mad: mean absolute difference between a rater's ratings of the original and "
        "the rewritten pair; within_one: per cent of them that differ by no more than one point; "
        f"bootstrap interval over source pairs, aimed at 95 %. {SHARED}",
        "Only raters who rated both forms of a pair count. gold: the dataset's label, scaled to 0 to 5.",
        *_languages(paired, names),
    ]
    frame = _told_apart(pd.DataFrame(rows))
    notes += _covered(frame)
    return Table("label_preservation", "Do rewritten pairs keep their similarity?", frame, notes, decimals=2,
                 digits={"within_one": 1})  # fmt: skip


def label_preservation_pairs(paired: pd.DataFrame, names: Names, *, resamples: int) -> Table:
    """Return the paper's table 13: consensus of each source pair, compared with each other and with gold."""
    rows = []
    for transformation, language, part in _by_language(paired, names):
        consensus = part.groupby("pair_id")[["rewritten", "original", "gold"]].mean()
        row: dict[str, object] = {"transformation": transformation, "target_language": language}
        row["n_pairs"] = len(consensus)
        row |= {c: float(consensus[c].mean()) for c in consensus.columns}
        units = _units(part, consensus.index)
        row["n_resampled"] = units.n
        for a, b in (("rewritten", "original"), ("rewritten", "gold"), ("original", "gold")):
            apart = (consensus[a] - consensus[b]).abs()
            rng = _rng("pairs", transformation, language, a, b)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
                found = mean_interval(apart.to_numpy(), resamples=resamples, rng=rng, units=units)
            # A consensus is a mean of whole numbers: thirds must not fall on the wrong side of one.
            row |= {
                f"{a}_{b}_mad": found.estimate, f"{a}_{b}_low": found.low, f"{a}_{b}_high": found.high,
                f"{a}_{b}_within_one": 100.0 * float((apart <= 1 + 1e-9).mean()),
            }  # fmt: skip
        rows.append(row)
    notes = [
        "Equal-weight means of source pairs' consensus ratings (0 to 5). mad: mean absolute difference "
        "between two columns over source pairs, with a bootstrap interval, aimed at 95 %; within_one: per "
        f"cent of source pairs. {SHARED}",
        *_languages(paired, names),
    ]
    frame = _told_apart(pd.DataFrame(rows))
    notes += _covered(frame)
    digits = {c: 1 for c in frame.columns if str(c).endswith("within_one")}
    return Table(
        "label_preservation_pairs",
        "Label preservation by source pair",
        frame,
        notes,
        decimals=2,
        digits=digits,
    )


def _covered(frame: pd.DataFrame) -> list[str]:
    """Return how well the intervals over the fewest units cover, where that is less than they aim at."""
    held = [int(n) for n in frame.get("n_resampled", ()) if enough(int(n))]
    note = coverage_note(min(held)) if held else ""
    return [f"{note[0].upper()}{note[1:]}."] if note else []


def _by_language(paired: pd.DataFrame, names: Names) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield each transformation's pairs: all, then those of each target language where there are several."""
    for transformation in names.transformations:
        part = paired[paired["transformation"] == transformation]
        if len(part):
            yield transformation, ALL, part
        for language in _spoken(part) if len(_spoken(part)) > 1 else ():
            yield transformation, language, part[part["target_language"] == language]


def _spoken(part: pd.DataFrame) -> list[str]:
    return sorted(set(part["target_language"]) - {""})


def _rng(what: str, transformation: str, language: str, *more: str) -> np.random.Generator:
    """Return a row's own source of chance; that of all languages does not hang on which there are."""
    parts = (what, transformation, *more, *(() if language == ALL else (language,)))
    return np.random.default_rng(int(text_digest(*parts)[:16], 16))


def _told_apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table without the column of languages where every row is over all of them."""
    several = len(frame) and (frame["target_language"] != ALL).any()
    return frame if several else frame.drop(columns="target_language", errors="ignore")


def _languages(paired: pd.DataFrame, names: Names) -> list[str]:
    """Return which target languages a transformation's pairs are in: both sentences of a pair are in one."""
    said = []
    for transformation in names.transformations:
        part = paired[paired["transformation"] == transformation]
        counts = part[part["target_language"] != ""].groupby("target_language")["pair_id"].nunique()
        if len(counts):
            parts = ", ".join(f"{english_name(str(tag))} {n}" for tag, n in counts.items())
            said.append(
                f"{names.label(transformation)}: pairs by target language (both sentences in it): {parts}."
            )
    return said
