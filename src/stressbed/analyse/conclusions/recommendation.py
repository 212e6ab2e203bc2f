"""A verdict per embedder and question: does it stand what users do to texts (HTEB, section 6)?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from stressbed.analyse.conclusions.preference import preferences
from stressbed.analyse.conclusions.verdicts import LARGE, NOTICEABLE, Loss, sentence
from stressbed.analyse.study import Analysed, Study, per_study
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted, plural, span
from stressbed.config.entries import Question
from stressbed.stats.coverage import words_beside
from stressbed.stats.interval import DegenerateWarning, enough
from stressbed.stats.location import hodges_lehmann

SUBJECTS: Mapping[Question, tuple[str, bool]] = {
    "rewording": ("Rewording", False),
    "shorter": ("Shorter texts", True),
    "longer": ("Longer texts", True),
    "language": ("Another language", False),
    "mixed": ("Mixed languages", True),
}
"""What each question is about, in the order of the table, and whether that is a plural."""

COLUMNS = ("embedder", "question", "transformation", "delta", "low", "high", "verdict")


def recommendation(
    data: Analysed,
    *,
    questions: Mapping[str, Question],
    item_intervals: pd.DataFrame | None = None,
    items: pd.DataFrame | None = None,
) -> Table:
    """Return a verdict in words per embedder and question, and which embedder to prefer.

    Intervals: with six datasets or more Hodges-Lehmann over datasets; with one dataset the bootstrap over
    its items, if there is one; otherwise none, and the verdict says so. The column `delta` is
    transformed minus original, so that a loss is negative; verdicts speak of losses.

    Args:
        data: The run.
        questions: Question that each transformation answers; see `Names.questions`.
        item_intervals: The table of that name, for runs of one dataset.
        items: Rows of `items.parquet`, to compare embedders within one dataset.
    """

    def rows(study: Study) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
        """Return a row for each embedder and question of a study, and notes."""
        if not questions:
            return [], [NO_QUESTION]
        found = [
            row
            for embedder in study.embedders
            for row in _verdicts(study, embedder, questions, item_intervals)
        ]
        rng = data.rng("recommendation", study.generator, study.setting)
        mine = preferences(study, items=items, resamples=data.options.resamples, rng=rng)
        said = [*_unasked(study, questions), *_notes(study, questions, item_intervals)]
        return [*found, *mine], said if mine else [*said, _no_preference(study)]

    notes = [
        f"negligible: less than {NOTICEABLE:g} point; noticeable: from {NOTICEABLE:g}; large: from {LARGE:g} "
        "points, as far as the interval decides it. Both limits are conventions: what a point is worth "
        "depends on what the scores are used for.",
        "delta, low, high: transformed minus original in points; for `preference` the embedder's HTEB total "
        "minus the best one's. Intervals aim at 95 %, not corrected for the number of rows.",
    ]
    return per_study(data, "recommendation", "What the embedders stand", COLUMNS, rows, notes=notes)


NO_QUESTION = (
    "This run has none of the transformations that the minimal check asks for: Paraphrasing, Expansion or "
    "Summarisation, Translation, Cross-Translation."
)


def _unasked(study: Study, questions: Mapping[str, Question]) -> list[str]:
    """Return which transformations have no row, and why."""
    rest = [study.names.label(t) for t in study.names.transformations if t not in questions]
    if not rest:
        return []
    verb = "answers" if len(rest) == 1 else "answer"
    return [
        f"Left out: {', '.join(rest)}, which {verb} no question (`question` of a transformation's entry)."
    ]


def _notes(study: Study, questions: Mapping[str, Question], item_intervals: pd.DataFrame | None) -> list[str]:
    """Return what a reader must know of the intervals within the only dataset, once each."""
    if item_intervals is None or len(study.datasets) != 1 or item_intervals.empty:
        return []
    mine = item_intervals["dataset"].isin(study.datasets) & item_intervals["transformation"].isin(questions)
    used = item_intervals[mine & item_intervals["low"].notna()]
    found = dict.fromkeys(part.strip() for n in used["note"].dropna() for part in str(n).split(";"))
    return [f"{n[0].upper()}{n[1:].rstrip('.')}." for n in found if n]


def _no_preference(study: Study) -> str:
    why = "one embedder" if len(study.embedders) < 2 else "no dataset has every cell of every embedder"
    return f"No embedder is preferred{study.label}: {why}."


def _verdicts(
    study: Study, embedder: str, questions: Mapping[str, Question], item_intervals: pd.DataFrame | None
) -> Iterator[dict[str, object]]:
    """Yield an embedder's rows, in the order of the questions."""
    order = list(SUBJECTS)
    for name in sorted(questions, key=lambda t: order.index(questions[t])):
        deltas = study.deltas.loc[[embedder], name].droplevel("embedder")
        loss = _loss(study, embedder, name, deltas, item_intervals)
        subject, plural = SUBJECTS[questions[name]]
        yield {
            "embedder": embedder,
            "question": questions[name],
            "transformation": name,
            "delta": _negated(loss.points),
            "low": _negated(loss.high),
            "high": _negated(loss.low),
            "verdict": sentence(subject, loss, plural=plural),
        }


def _loss(
    study: Study, embedder: str, transformation: str, deltas: pd.Series, item_intervals: pd.DataFrame | None
) -> Loss:
    """Return what a transformation costs an embedder, with the interval that the data give."""
    losses = -deltas.dropna().round(9)  # rounding errors of sums are no losses
    n, lacking = len(losses), len(deltas) - len(losses)
    words = "has no score and is left out" if lacking == 1 else "have no score and are left out"
    left_out = f"{lacking} of {counted(len(deltas), 'dataset')} {words}." if lacking else ""
    if n == 0:
        return Loss(math.nan, remark="no score; incomplete_cells.csv says why.")
    if enough(n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)
            place = hodges_lehmann(losses.to_numpy(dtype=float))
        return Loss(place.estimate, place.low, place.high, f"{n} datasets", left_out)
    mean = float(losses.mean())
    if len(study.datasets) == 1:
        return _within(study, embedder, transformation, mean, item_intervals)
    few = "One dataset has a score"
    if n > 1:
        ends = span(float(losses.min()), float(losses.max()))
        few = f"By dataset {ends}; {n} datasets are too few for an interval"
    return Loss(mean, remark=f"{few}, so whether this holds for others is open. {left_out}".strip())


def _within(
    study: Study, embedder: str, transformation: str, mean: float, item_intervals: pd.DataFrame | None
) -> Loss:
    """Return the loss on a run's only dataset with the interval over its items.

    Seeds rewrite the same items, so their intervals are not independent: the loss over seeds has the widest
    span that they cover, which errs on the safe side.
    """
    (dataset,) = study.datasets
    alone = "One dataset: nothing is said of others."
    rows = _rows_of(item_intervals, study, embedder, dataset, transformation)
    missing = f"{alone} Within it there is no interval"
    if rows is None or rows.empty:
        return Loss(mean, remark=f"{missing}: no items were compared.")
    notes = [str(n).rstrip(".") for n in rows["note"].dropna().unique() if str(n)]
    if rows[["low", "high"]].isna().any(axis=None):
        return Loss(mean, remark=f"{missing}{': ' + notes[0] if notes else ''}.")
    n, unit = int(rows["n"].min()), str(rows["unit"].iloc[0])
    basis = f"{counted(n, unit, plural(unit))} of this dataset"
    if (what := str(rows["resampled"].iloc[0])) != unit:
        basis += f", drawn by {counted(int(rows['n_resampled'].min()), what, plural(what))}"
    first = study.seeds.first(study.generator, dataset, transformation, map(int, rows["seed"]))
    several = len(set(first.values()))
    seeds = f" The interval is the widest over {several} seeds." if several > 1 else ""
    return Loss(
        mean,
        float(rows["low"].min()),
        float(rows["high"].max()),
        basis,
        f"{alone}{seeds}",
        words_beside("; ".join(notes)),
    )


def _rows_of(
    frame: pd.DataFrame | None, study: Study, embedder: str, dataset: str, transformation: str
) -> pd.DataFrame | None:
    if frame is None:
        return None
    chosen = (
        (frame["embedder"] == embedder)
        & (frame["dataset"] == dataset)
        & (frame["transformation"] == transformation)
    )
    if "generator" in frame.columns:
        chosen &= frame["generator"] == study.generator
    return frame[chosen]


def _negated(value: float) -> float:
    return 0.0 - value
