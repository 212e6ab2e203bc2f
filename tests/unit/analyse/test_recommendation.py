"""Verdicts: what they say follows from the interval."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fabricate import make_plan
from verdict_cells import QUESTIONS, analysed, items_of

from stressbed.analyse.conclusions.preference import bootstrapped
from stressbed.analyse.conclusions.recommendation import COLUMNS, recommendation
from stressbed.analyse.conclusions.verdicts import Loss, level, sentence
from stressbed.analyse.names import Names, question_of
from stressbed.check import load_run
from stressbed.check.transformations import check_transformation
from stressbed.config.entries import TransformationEntry
from stressbed.config.load import read_config
from stressbed.stats.location import hodges_lehmann

ROOT = Path(__file__).parents[3]
LEVELS = [
    ((-0.4, 0.9), "negligible"),
    ((0.1, 0.9), "negligible"),
    ((-0.9, -0.1), "negligible"),
    ((-0.5, 4.0), "cannot be told apart from no loss; it may be as much as 4.0 points"),
    ((-9.0, 0.5), "cannot be told apart from no loss; it may be as much as 0.5 points"),
    ((1.0, 4.9), "noticeable"),
    ((0.2, 3.0), "a loss, negligible to noticeable"),
    ((2.0, 7.0), "noticeable to large"),
    ((0.2, 9.0), "a loss, negligible to large"),
    ((5.0, 9.0), "large"),
    ((-7.0, -2.0), "a gain, noticeable to large"),
]


@pytest.mark.parametrize(("ends", "words"), LEVELS)
def test_the_interval_decides_the_level(ends, words):
    assert level(Loss(sum(ends) / 2, *ends)) == words


def test_sentences_read_as_sentences():
    assert sentence("Rewording", Loss(3.1, 1.0, 5.2, "12 datasets")) == (
        "Rewording costs 3.1 points (95 % interval 1.0 to 5.2 over 12 datasets): noticeable to large."
    )
    assert sentence("Longer texts", Loss(1.0, -0.2, 2.2, "7 datasets"), plural=True) == (
        "Longer texts cost 1.0 point (95 % interval from a gain of 0.2 to a loss of 2.2 over 7 datasets): "
        "cannot be told apart from no loss; it may be as much as 2.2 points."
    )
    assert sentence("Rewording", Loss(-2.0, -3.0, -1.5, "7 datasets")).startswith(
        "Rewording gains 2.0 points (95 % interval 1.5 to 3.0 over 7 datasets): a gain, noticeable"
    )
    assert sentence("Rewording", Loss(2.0, remark="Too few.")) == "Rewording costs 2.0 points. Too few."


def verdicts(table, question):
    frame = table.frame[table.frame["question"] == question]
    return frame.set_index("embedder")


def test_many_datasets_have_the_exact_interval_between_them():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=12)
    data = analysed(lambda e, d, t, s: -3.0 + noise[d] if e == "a" else noise[d] / 50)
    found = verdicts(recommendation(data, questions=QUESTIONS), "rewording")
    theirs = hodges_lehmann(-3.0 + noise)
    assert found.loc["a", ["delta", "low", "high"]].tolist() == pytest.approx(
        [theirs.estimate, theirs.low, theirs.high]
    )
    assert "over 12 datasets): noticeable." in found.loc["a", "verdict"]
    assert found.loc["b", "verdict"].endswith("over 12 datasets): negligible.")


def test_a_few_datasets_have_no_interval_and_no_level():
    table = recommendation(analysed(lambda e, d, t, s: -1.0 - d, datasets=3), questions=QUESTIONS)
    row = verdicts(table, "longer").loc["a"]
    assert row["delta"] == pytest.approx(-2.0)
    assert np.isnan(row["low"])
    assert row["verdict"] == (
        "Longer texts cost 2.0 points. By dataset 1.0 to 3.0; 3 datasets are too few for an interval, so "
        "whether this holds for others is open."
    )


def intervals(seeds=(1,), **more):
    rows = [
        {
            "embedder": "a", "dataset": "d0", "transformation": "paraphrasing", "seed": s, "unit": "query",
            "n": 24, "resampled": "query", "n_resampled": 24, "drop": 3.0, "note": "",
            "low": 1.5 - s / 10, "high": 4.0 + s / 10, "method": "bootstrap", **more,
        }
        for s in seeds
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_one_dataset_has_the_interval_within_it():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1, seeds=(1, 2))
    table = recommendation(data, questions=QUESTIONS, item_intervals=intervals(seeds=(1, 2)))
    row = verdicts(table, "rewording").loc["a"]
    assert row[["delta", "low", "high"]].tolist() == pytest.approx([-3.0, -4.2, -1.3])
    assert row["verdict"] == (
        "Rewording costs 3.0 points (95 % interval 1.3 to 4.2 over 24 queries of this dataset): noticeable. "
        "One dataset: nothing is said of others. The interval is the widest over 2 seeds."
    )


def test_the_interval_within_a_dataset_is_that_of_its_own_generator_embedder_and_transformation():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1)
    others = (
        {"generator": "other"}, {"embedder": "b"}, {"dataset": "d1"}, {"transformation": "expansion"},
    )  # fmt: skip
    wide = [intervals(**({"generator": "llm"} | o)).assign(low=-40.0, high=40.0, n=7) for o in others]
    frame = pd.concat([intervals(generator="llm"), *wide], ignore_index=True)
    row = verdicts(recommendation(data, questions=QUESTIONS, item_intervals=frame), "rewording").loc["a"]
    assert row[["low", "high"]].tolist() == pytest.approx([-4.1, -1.4])
    assert "over 24 queries of this dataset" in row["verdict"]


def test_what_limits_the_intervals_is_said_once():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1, seeds=(1, 2))
    noted = intervals(seeds=(1, 2), note="experiments share their data; 3 samples have no score")
    table = recommendation(data, questions=QUESTIONS, item_intervals=noted)
    assert table.notes[-2:] == ["Experiments share their data.", "3 samples have no score."]


def test_what_was_drawn_and_how_little_it_covers_stand_beside_the_interval():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1)
    shared = intervals(resampled="shared text of queries", n_resampled=8, note="aimed at 95 %, covers 88 %")
    found = verdicts(recommendation(data, questions=QUESTIONS, item_intervals=shared), "rewording")
    assert (
        "(interval, aimed at 95 %, 1.4 to 4.1 over 24 queries of this dataset, drawn by 8 shared texts of "
        "queries)"
    ) in found.loc["a", "verdict"]


def test_of_seeds_with_unequal_items_the_fewest_are_said():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1, seeds=(1, 2, 3))
    frame = intervals(seeds=(1, 2, 3), resampled="shared text of queries").assign(
        n=[24, 21, 23], n_resampled=[8, 9, 7]
    )
    found = verdicts(recommendation(data, questions=QUESTIONS, item_intervals=frame), "rewording")
    assert "over 21 queries of this dataset, drawn by 7 shared texts of queries" in found.loc["a", "verdict"]


def test_one_dataset_without_an_interval_says_why():
    data = analysed(lambda e, d, t, s: -3.0, datasets=1)
    nothing = intervals(low=np.nan, high=np.nan, note="The score cannot be made again.")
    found = verdicts(recommendation(data, questions=QUESTIONS, item_intervals=nothing), "rewording")
    assert found.loc["a", "verdict"].endswith("there is no interval: The score cannot be made again.")
    assert found.loc["b", "verdict"].endswith("there is no interval: no items were compared.")


def test_a_missing_cell_is_said_and_a_missing_embedder_has_no_number():
    data = analysed(lambda e, d, t, s: np.nan if e == "b" or d == 0 else -2.0, datasets=8)
    found = verdicts(recommendation(data, questions=QUESTIONS), "rewording")
    assert found.loc["a", "verdict"].endswith("1 of 8 datasets has no score and is left out.")
    assert found.loc["b", "verdict"] == "Rewording: no score; incomplete_cells.csv says why."


def test_a_clear_winner_is_said_and_a_close_second_is_not_beaten():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(3, 12))
    mean = {"a": -1.0, "b": -1.2, "c": -9.0}
    data = analysed(
        lambda e, d, t, s: mean[e] + noise["abc".index(e), d], embedders=("c", "a", "b"), datasets=12
    )
    found = verdicts(recommendation(data, questions=QUESTIONS), "preference")
    assert list(found.index)[-1] == "c"
    best, second = found.index[0].upper(), found.index[1].upper()
    assert f"Better than C. Not told apart from {second}" in found.iloc[0]["verdict"]
    assert found.iloc[1]["verdict"].endswith("the data do not decide between the two.")
    assert found.loc["c", "verdict"].endswith(f"{best} is better.")
    assert found.loc["c", "high"] < -5


def test_six_datasets_cannot_decide_between_three_embedders():
    """The smallest p is 2 / 64; three pairs make it 0.094."""
    mean = {"a": 0.0, "b": -5.0, "c": -10.0}
    data = analysed(lambda e, d, t, s: mean[e] + d / 9, embedders=("a", "b", "c"), datasets=6)
    found = verdicts(recommendation(data, questions=QUESTIONS), "preference")
    assert found["verdict"].str.contains("do not decide").all()


def in_points(data, values):
    """Return the run with scores that are the means of its items."""
    scores = data.scores.assign(
        score=[100 * np.mean(values(r.embedder, r.transformation, r.seed)) for r in data.scores.itertuples()]
    )
    original = scores[scores["transformation"] == "original"].set_index("embedder")["score"]
    scores["original"] = scores["embedder"].map(original)
    scores["delta"] = (scores["score"] - scores["original"]).where(scores["transformation"] != "original")
    return type(data)(scores, data.names, data.options)


def test_within_one_dataset_items_decide_between_embedders():
    rng = np.random.default_rng(2)
    shared = rng.uniform(0.3, 0.9, size=60)
    own = {e: rng.normal(scale=0.02, size=60) for e in "abc"}
    shift = {"a": 0.05, "b": 0.05, "c": -0.1}

    def values(e, t, s):
        return shared + own[e] + shift[e] - 0.02 * (t != "original") * s

    data = in_points(analysed(lambda *_: 0.0, embedders=("a", "b", "c"), datasets=1, seeds=(1, 2)), values)
    found = verdicts(recommendation(data, questions=QUESTIONS, items=items_of(data, values)), "preference")
    assert "Better than C." in found.iloc[0]["verdict"]
    assert "over 60 items of this dataset" in found.loc["c", "verdict"]
    assert found.iloc[1]["verdict"].endswith("the data do not decide between the two.")
    # The difference is paired: the shared part, which varies most, cancels.
    assert found.loc["c", "high"] - found.loc["c", "low"] < 3
    assert found.loc["c", "delta"] == pytest.approx(
        100 * (own["c"] + shift["c"] - own[found.index[0]] - shift[found.index[0]]).mean()
    )


def test_few_items_are_not_called_95_per_cent_and_equal_differences_decide_nothing():
    rng = np.random.default_rng(2)
    own = {"a": rng.normal(scale=0.02, size=8), "b": rng.normal(scale=0.02, size=8)}

    def said(values):
        data = in_points(analysed(lambda *_: 0.0, embedders=("a", "b"), datasets=1), values)
        found = recommendation(data, questions=QUESTIONS, items=items_of(data, values))
        return verdicts(found, "preference").iloc[1]["verdict"]

    assert "(interval, aimed at 95 %, of the difference" in said(lambda e, *_: 0.5 + own[e])
    assert said(lambda e, *_: own["a"] + (e == "a") * 0.1).endswith("is open: all items differ alike.")


def test_items_that_do_not_give_the_score_decide_nothing():
    data = analysed(lambda *_: -1.0, datasets=1)
    items = items_of(data, lambda *_: np.full(9, 0.1))
    found = verdicts(recommendation(data, questions=QUESTIONS, items=items), "preference")
    assert "chance is open: one dataset, and its scores cannot be made again" in found.iloc[0]["verdict"]


@pytest.mark.parametrize(
    ("observed", "samples", "p"),
    [
        # Centred at 2, as far from it as it is from 0: 0 and 4.5 of five that have a value.
        (2.0, [0.0, 1.0, 2.5, np.nan, 3.0, 4.5], 3 / 6),
        (-2.0, [0.5, -1.0, -2.0, -2.5, -3.0], 2 / 6),
        (0.0, [0.0, 0.0, 0.0], 4 / 4),
    ],
)
def test_a_p_value_is_the_share_of_samples_as_far_from_the_difference_as_that_is_from_zero(
    observed, samples, p
):
    found = bootstrapped(observed, np.array(samples))
    assert found.p == pytest.approx(p)
    known = sorted(s for s in samples if s == s)
    first, last = 0.025 * (len(known) - 1), known[-2:]
    assert found.low == pytest.approx(known[0] + first * (known[1] - known[0]))
    assert found.high == pytest.approx(last[1] - first * (last[1] - last[0]))


def test_embedders_that_are_one_on_every_item_are_not_told_apart():
    values = np.linspace(0.2, 0.9, 60)
    data = in_points(
        analysed(lambda *_: 0.0, embedders=("a", "b"), datasets=1),
        lambda e, t, s: values * (1 - 0.1 * (t != "original")),
    )
    items = items_of(data, lambda e, t, s: values * (1 - 0.1 * (t != "original")))
    found = verdicts(recommendation(data, questions=QUESTIONS, items=items), "preference")
    assert (
        found["verdict"]
        .tolist()[1]
        .endswith("0.0 to 0.0 over 60 items of this dataset): the data do not decide between the two.")
    )


@pytest.mark.parametrize(
    ("datasets", "lacking", "words"),
    [(3, 0, "3 datasets are"), (2, 1, "one dataset with all cells is")],
)
def test_few_datasets_decide_nothing_between_embedders(datasets, lacking, words):
    data = analysed(lambda e, d, t, s: np.nan if d < lacking else -1.0 - (e == "b"), datasets=datasets)
    found = verdicts(recommendation(data, questions=QUESTIONS), "preference")
    assert found["verdict"].str.endswith(f"is open: {words} too few for a comparison.").all()
    assert ", 1.0 fewer than A; " in found.loc["b", "verdict"]


def test_where_no_dataset_has_every_cell_nobody_is_preferred():
    data = analysed(lambda e, d, t, s: np.nan if (e == "a") == d % 2 else -1.0, datasets=2)
    table = recommendation(data, questions=QUESTIONS)
    assert table.notes[-1] == "No embedder is preferred: no dataset has every cell of every embedder."
    assert "Left out: Translation, which answers no question" in " ".join(
        recommendation(data, questions={k: v for k, v in QUESTIONS.items() if v != "language"}).notes
    )


def test_a_run_without_these_questions_has_an_empty_table_that_says_so():
    table = recommendation(analysed(lambda *_: -1.0), questions={})
    assert table.frame.empty
    assert list(table.frame.columns) == list(COLUMNS)
    assert "minimal check" in table.notes[0]


def test_transformations_without_a_question_are_named():
    found = recommendation(analysed(lambda *_: -1.0), questions={"expansion": "longer"})
    assert (
        "Left out: Paraphrasing, Translation, which answer no question (`question` of a transformation's "
        "entry)." in found.notes
    )
    assert not any(
        "no question" in n for n in recommendation(analysed(lambda *_: -1.0), questions=QUESTIONS).notes
    )


def test_one_embedder_has_no_preference():
    table = recommendation(analysed(lambda *_: -1.0, embedders=("a",)), questions=QUESTIONS)
    assert set(table.frame["question"]) == {"rewording", "longer", "language"}
    assert "one embedder" in table.notes[-1]


def test_variants_answer_the_same_question(tmp_path):
    plan = load_run(read_config(ROOT / "config" / "quickstart.yaml"), base=ROOT)
    assert Names.of(plan).questions == {
        "paraphrasing": "rewording", "expansion": "longer", "summarisation": "shorter",
        "translation-es-fr": "language", "cross_translation-es-fr": "mixed",
    }  # fmt: skip
    assert Names.of(plan).crossings == (("translation-es-fr", "cross_translation-es-fr"),)


def transformation(**changes):
    entry = {"id": "x", "label": "X", "axis": "lexical_stylistic", "steps": [("source", False)], **changes}
    steps = [{"prompt": "p", "language": where, "expands": more} for where, more in entry.pop("steps")]
    return TransformationEntry.model_validate({**entry, "steps": steps})


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        # Words in a name decide nothing.
        ({"id": "paraphrasing-x", "label": "Paraphrasing", "task": "paraphrase, reword"}, None),
        ({"id": "noise", "question": "rewording"}, "rewording"),
        ({"axis": "length", "kind": "summarise"}, "shorter"),
        ({"axis": "length", "kind": "summarise", "question": "none"}, None),
        ({"axis": "length", "steps": [("source", True)]}, "longer"),
        ({"axis": "length", "steps": [("source", True), ("source", False)]}, None),
        ({"axis": "language", "draw": "text", "steps": [("target", False)]}, "mixed"),
        ({"axis": "language", "draw": "subset", "steps": [("target", False)]}, "language"),
    ],
)
def test_the_question_is_told_by_the_entry_and_never_by_its_name(entry, question):
    assert question_of(transformation(**entry)) == question


def test_a_question_that_another_axis_answers_is_refused(tmp_path):
    plan = make_plan(tmp_path)
    entry = plan.catalogue.transformations["paraphrasing"].model_copy(update={"question": "longer"})
    origin = {**plan.catalogue.origin, ("transformations", "paraphrasing"): tmp_path / "own.yaml"}
    catalogue = replace(plan.catalogue, transformations={"paraphrasing": entry}, origin=origin)
    said = [str(e) for e in check_transformation("paraphrasing", catalogue)]
    found = [s for s in said if "key 'question'" in s]
    assert len(found) == 1
    assert "`question: longer` is answered on the axis 'length'" in found[0]
    assert "rewording, none" in found[0]
