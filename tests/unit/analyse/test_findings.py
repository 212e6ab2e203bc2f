"""Findings: each sentence's numbers come from the tables; the paper's stand beside runs of its grid only."""

import pandas as pd
import pytest
from study_cases import analysed, made_names, made_scores, noisy

from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.conclusions.paper import Beside, Embedders, Number, Paper, Task, paper
from stressbed.analyse.descriptive.scores import delta_by_transformation, hteb_scores, incomplete_cells
from stressbed.analyse.statistics.registry import STATISTICS

E, D = tuple("abcde"), tuple(f"d{i}" for i in range(10))


def tables_of(names, scores, **more):
    data = analysed(names, scores, **more)
    found = [f(data) for f in STATISTICS.values()]
    found += [hteb_scores(scores, names), delta_by_transformation(scores, names)]
    return {t.name: t.frame for t in found}


def planted(names):
    base = noisy(1, spread=0.5)
    weak = {"a": "length"}
    return lambda e, d, t, s: (
        base(e, d, t, s)
        - (0 if t == "original" else 8.0 if names.axes[t] == weak.get(e, "language") else 1.0)
    )


def test_counts_are_those_of_the_planted_profiles():
    names = made_names(E, D)
    said = findings(tables_of(names, made_scores(names, planted(names))), names, run="mine")
    assert "Most disruptive axis: Language for 4 of 5 and Length for 1 of 5; for 5 in at least 95 %" in said
    assert "5 of 5 score lower than on the original texts." in said
    assert (
        "8 of 8 transformations shift the scores significantly (Wilcoxon, Holm), 8 of them downwards" in said
    )
    assert "paper" not in said


def on_the_papers_grid(names, **claims):
    """Return a paper with these numbers over all pairs of the names, or over those of a setting."""
    tasks = {
        d: Task(task=d, revision="r", subsets=["default"], split="test", metric="m") for d in names.datasets
    }
    grids = {g: [t for d, t in tasks.items() if names.language_groups[d] == g] for g in GROUPS}
    source = Paper(
        source="made", generators={}, seeds=[1], prompts={}, transformations=[],
        datasets={**grids, "all": list(tasks.values())},
        embedders={"all": Embedders(count=len(E), models=dict.fromkeys(E, "1"))},
        numbers={
            c: [Number(grid=[[g, "all"] for g in of], says=said) for of, said in numbers]
            for c, numbers in (dict.fromkeys(paper().numbers, ()) | claims).items()
        },
    )  # fmt: skip
    return Beside(
        source, frozenset(names.generators), {d: t.key for d, t in tasks.items()}, {e: f"{e}@1" for e in E}
    )


GROUPS = ("english", "non_english")


def test_the_papers_numbers_stand_beside_its_own_grid():
    names = made_names(E, D)
    tables = tables_of(names, made_scores(names, planted(names)))
    beside = on_the_papers_grid(names, drop=[(["all"], "8.41")], most_disruptive=[(["all"], "Language 8")])
    said = findings(tables, names, run="mine", beside=beside)
    assert "lose 3.40 points on average under HTEB. *(paper: 8.41)*" in said
    assert "*(paper: Language 8)*" in said
    assert said.count("paper") == 2
    assert "paper" not in findings(tables, names, run="hteb-english")


def test_a_run_with_both_settings_has_both_of_the_papers_numbers():
    groups = {d: "english" if i < 6 else "non_english" for i, d in enumerate(D)}
    names = made_names(E, D, settings=groups, language_groups=groups)
    beside = on_the_papers_grid(
        names, drop=[(["english"], "8.41"), (["non_english"], "2.04")],
        gap_with_language=[(["english", "non_english"], "6.37")], relative=[(["all"], "7.16 % and 2.30 %")],
    )  # fmt: skip
    said = findings(tables_of(names, made_scores(names, planted(names))), names, run="mine", beside=beside)
    assert said.index("## English") < said.index("8.41") < said.index("## Non-English") < said.index("2.04")
    assert "(all, with Language; 5 and 5 embedders). *(paper: 6.37)*" in said
    assert "(mean over the 5 embedders with all cells of both). *(paper: 7.16 % and 2.30 %)*" in said
    assert "without Language; 5 and 5 embedders).\n" in said
    # All five are shared: the same gap is not told again with the interval of another draw.
    assert said.count("a gap of") == 2
    assert "(shared" not in said


def test_the_gap_of_shared_embedders_is_told_where_they_are_others():
    columns = ["condition", "axes", "n_english", "n_non_english", "english", "non_english", "gap"]
    rows = [
        ("all", "with_language", 4, 3, -4.0, -1.0, 3.0),
        ("shared", "with_language", 2, 2, -2.0, -1.5, 0.5),
    ]
    frame = pd.DataFrame(rows, columns=columns).assign(
        gap_low=[1.0, None], gap_high=[5.0, None], datasets_english=7, datasets_non_english=8
    )
    said = findings({"setting_gap": frame}, made_names(E, D), run="mine")
    assert "(all, with Language; 4 and 3 embedders)" in said
    assert (
        "English datasets lose 2.00 points, non-English ones lose 1.50 points: a gap of 0.50 (shared, with"
        in said
    )


def test_few_datasets_make_no_claims_about_intervals_or_tests():
    names = made_names(E, D[:3])
    said = findings(tables_of(names, made_scores(names, planted(names))), names, run="mine")
    assert "interval of the drop" not in said
    assert "95 % of resampled" not in said
    assert "cannot be tested: 3 observations are too few" in said
    assert "Random halves" not in said


@pytest.mark.parametrize(
    ("lost", "words"), [((4, 0), "4 of 600 rewrites (under 1 %)"), ((300, 60), "360 of 600 rewrites (60 %)")]
)
def test_rewrites_that_failed_are_said_first(lost, words):
    names = made_names(E, D)
    tables = tables_of(names, made_scores(names, planted(names)))
    frame = pd.DataFrame({"dataset": ["d0", "d1"], "n_texts": 300, "fallbacks": list(lost)})
    said = findings({**tables, "fallbacks": frame}, names, run="mine")
    points = [line for line in said.splitlines() if line.startswith("- ")]
    assert words in points[0]
    assert ("as much about the generator" in points[0]) == (sum(lost) > 30)
    assert "rewrites" not in findings({**tables, "fallbacks": frame.assign(fallbacks=0)}, names, run="mine")


def test_distinct_rewrites_lead_where_some_are_counted_again():
    frame = pd.DataFrame(
        {"dataset": ["d0", "d0", "d1"], "n_texts": 300, "fallbacks": [30, 30, 6], "dropped": [0, 0, 9],
         "distinct": [90, 0, 10], "distinct_fallbacks": [10, 0, 2], "distinct_dropped": [0, 0, 3]}
    )  # fmt: skip
    said = findings({"fallbacks": frame}, made_names(E, D), run="mine")
    assert "12 of 100 distinct rewrites (12 %) are fallbacks: no answer was usable" in said
    assert "embedded. Equal texts and seeds that cannot differ counted again: 66 of 900. What follows" in said
    assert "3 of 100 distinct rewrites (3 %) are dropped" in said
    assert "counted again: 9 of 900." in said
    alike = frame.assign(distinct=300, distinct_fallbacks=frame["fallbacks"])
    assert "66 of 900 rewrites (7 %)" in findings({"fallbacks": alike}, made_names(E, D), run="mine")


def test_answers_that_are_no_rewrites_are_said():
    frame = pd.DataFrame(
        {"dataset": ["d0", "d1"], "n_distinct": [60, 40], "refused": [3, 0], "echo": 0, "answered": [0, 1],
         "repeated": [3, 2000]}
    )  # fmt: skip
    said = findings({"outcomes": frame}, made_names(E, D), run="mine")
    assert (
        "Of 100 distinct rewrites some look like none (one may count twice): 3 refused, 1 with an answer to "
        "the question, 2,003 with an answer that many different texts got."
    ) in said
    none = frame.assign(refused=0, answered=0, repeated=0)
    assert "look like none" not in findings({"outcomes": none}, made_names(E, D), run="mine")


def test_fallbacks_are_those_of_the_settings_own_datasets():
    groups = {d: "english" if i < 6 else "non_english" for i, d in enumerate(D)}
    names = made_names(E, D, settings=groups, language_groups=groups)
    frame = pd.DataFrame({"dataset": D, "n_texts": 10, "fallbacks": range(10)})
    said = findings({"fallbacks": frame}, names, run="mine")
    assert said.index("15 of 60 rewrites") < said.index("## Non-English") < said.index("30 of 40 rewrites")


def test_datasets_that_do_not_tell_embedders_apart_are_named():
    names = made_names(E, D)
    frame = pd.DataFrame({"dataset": ["d0", "d0", "d1", "d1", "d2"], "original": [60, 60 + 1e-9, 60, 61, 5]})
    said = findings({"by_dataset": frame}, names, run="mine")
    assert "On d0 all embedders have the same score on the original texts" in said


def test_embedders_without_a_total_are_not_counted_as_losing():
    names = made_names(E, D[:1])
    tables = tables_of(names, made_scores(names, planted(names)))
    tables["hteb_scores"].loc[0, ["hteb", "drop"]] = float("nan")
    said = findings(tables, names, run="mine")
    assert "The 4 of 5 embedders that have every cell lose" in said
    assert "cannot be tested: one observation is too few" in said


@pytest.mark.parametrize(
    ("datasets", "lacking", "words"),
    [
        (
            D,
            [("a", "d1", "length")],
            "3 cells of d1 have no score (`incomplete_cells` says why): what needs them",
        ),
        (D, [("a", "d1", "length")], "comparisons of embedders rest on 9 of 10 datasets"),
        (D[:1], [("a", "d0", "original")], "embedders are not compared, since no dataset has every cell"),
        (D, [("a", d, "original") for d in D[:5]], "of d0, d1, d2 and 2 more have no score"),
    ],
)
def test_cells_without_a_score_are_said_with_what_is_left(datasets, lacking, words):
    names = made_names(E, datasets)
    base = planted(names)

    def score(e, d, t, s):
        gone = any(
            (e, d) == x[:2] and x[2] == ("original" if t == "original" else names.axes[t]) for x in lacking
        )
        return None if gone else base(e, d, t, s)

    scores = made_scores(names, score, seeds=(1,)).assign(error="broken")
    tables = tables_of(names, scores)
    tables["incomplete_cells"] = incomplete_cells(scores, names).frame
    said = findings(tables, names, run="mine")
    assert words in said
    whole = scores.assign(status="ok")
    tables["incomplete_cells"] = incomplete_cells(whole, names).frame
    assert "no score" not in findings(tables, names, run="mine")


def test_cells_of_another_generator_are_not_counted():
    names = made_names(E, D[:2], generators=("llm", "other"))
    rows = [("llm", "expansion"), ("other", "expansion"), ("other", "translation"), ("none", "original")]
    cells = pd.DataFrame(rows, columns=["generator", "transformation"])
    said = findings(
        {"incomplete_cells": cells.assign(dataset="d0", subset="(all)")}, names, run="mine"
    ).split("## other")
    assert "2 cells of d0 have no score" in said[0]
    assert "3 cells of d0 have no score" in said[1]


def test_dropped_rewrites_are_said():
    frame = pd.DataFrame({"dataset": ["d0"], "n_texts": 200, "fallbacks": 0, "dropped": 190})
    said = findings({"fallbacks": frame}, made_names(E, D), run="mine")
    assert "190 of 200 rewrites (95 %) are dropped" in said
    assert "dropped" not in findings({"fallbacks": frame.assign(dropped=0)}, made_names(E, D), run="mine")


def test_empty_tables_give_no_sentences():
    names = made_names(E[:1], D[:1])
    empty = {k: v.iloc[:0] for k, v in tables_of(names, made_scores(names, noisy(1))).items()}
    said = findings(empty, names, run="mine")
    assert "- " not in said
    assert findings({}, names, run="mine") == said


def test_translated_datasets_are_told_for_all_and_by_the_language_of_training():
    values = {
        "source_original": 80.0, "source_drop": 14.0, "translated_original": 75.0, "translated_drop": 9.5
    }  # fmt: skip
    rows = [("a", "yes", 8.0, 6.0), ("b", "no", 20.0, 13.0), ("c", "", 1.0, 2.0), ("(all)", "", 14.0, 9.5)]
    rows += [("(trained on the language)", "", 8.0, 6.0), ("(not trained on the language)", "", 20.0, -1.0)]
    frame = pd.DataFrame(
        [
            {**values, "source": "d0", "translated": "d1", "embedder": e, "trained": t, "source_drop": s,
             "translated_drop": d}
            for e, t, s, d in rows
        ]
    )  # fmt: skip
    names = made_names(E, D[:2], translations={"d1": "d0"})
    said = findings({"translated_datasets": frame}, names, run="mine")
    assert (
        "- The same items: embedders lose 14.0 points on d0 and lose 9.5 points on d1, its translation.\n"
        in (said)
    )
    assert "those trained on its language lose 8.0 points on d0 and lose 6.0 points on d1" in said
    assert "those not trained on it lose 20.0 points on d0 and gain 1.0 point on d1" in said


def shares(**columns):
    names = made_names(E, D)
    n = len(next(iter(columns.values())))
    frame = pd.DataFrame({"embedder": list(E[:n]), "most_disruptive": None, **columns})
    return findings({"axis_profiles": frame}, names, run="mine")


def test_shares_of_the_original_are_told_with_who_loses_least_by_share_and_in_points():
    said = shares(hteb=[-2.0, -4.0, -6.0], relative_drop=[20.0, 5.0, 11.0])
    assert (
        "As a share of the original score the 3 embedders lose 12.0 % on average; the least by share: "
        "b (5.0 %); in points: a (2.00 points). 3 of 3 have another rank by share than in points."
    ) in said


def test_shares_that_rank_as_points_do_say_so_and_near_zero_originals_are_left_out():
    said = shares(hteb=[-2.0, -4.0, -9.0], relative_drop=[4.0, 5.0, None])
    assert (
        "the 2 embedders lose 4.5 % on average; the least both by share and in points: a (4.0 %, 2.00" in said
    )
    assert (
        "0 of 2 have another rank by share than in points. 1 of 3 is left out: below an original score of 5"
        in (said)
    )
    assert "share" not in shares(hteb=[-2.0], relative_drop=[None])


def test_one_embedder_and_gains_read_well_as_shares():
    assert "As a share of the original score the embedder gains 1.5 %.\n" in shares(
        hteb=[0.9], relative_drop=[-1.5]
    )
    said = shares(hteb=[0.9, -3.0], relative_drop=[-1.5, 9.0])
    assert "the least both by share and in points: a (1.5 % gained, 0.90 points gained). 0 of 2 have" in said


def test_the_largest_of_a_family_is_not_compared_where_a_cell_lacks():
    frame = pd.DataFrame(
        {"family": list("ffgg"), "embedder": list("abcd"), "original": 50.0, "language": [40.0, 45, 30, 20],
         "drop": [5.0, 3.0, 4.0, None]}
    )  # fmt: skip
    said = findings({"size_ablation": frame}, made_names(E, D), run="mine")
    assert "loses less than the smallest in 1 of 1 family; drops run from 3.0 to 5.0 points." in said
    assert "On the Language axis it loses less in 1 of 1 family." in said


def test_translation_drawn_for_each_text_is_told_by_what_it_is_not_by_its_id():
    names = made_names(E, D, crossings=(("expansion", "paraphrasing"),))
    frame = pd.DataFrame(
        {"embedder": list("abc"), "translation": 0.0, "cross_translation": -9.0,
         "expansion": [-1.0, -1.0, None], "paraphrasing": [-2.0, -0.5, -3.0]}
    )  # fmt: skip
    said = findings({"delta_by_transformation": frame}, names, run="mine")
    assert said.count("costs more than") == 1
    assert "Paraphrasing costs more than expansion for 1 of 2 embedders." in said


def test_one_embedder_without_a_profile_does_not_hide_the_others():
    frame = pd.DataFrame(
        {"embedder": list("abc"), "most_disruptive": ["length", None, "language"],
         "certainty": [50.0, None, 99.0], "n_datasets": 10, "hteb": -1.0, "relative_drop": None}
    )  # fmt: skip
    said = findings({"axis_profiles": frame}, made_names(E, D), run="mine")
    assert "Most disruptive axis: Length for 1 of 3 and Language for 1 of 3; for 1 in at least 95 %" in said


def test_a_pair_of_transformations_that_nobody_has_both_of_is_not_compared():
    names = made_names(E, D, crossings=(("translation", "cross_translation"),))
    frame = pd.DataFrame(
        {"embedder": list("ab"), "translation": [-1.0, None], "cross_translation": [None, -2.0]}
    )
    assert "costs more" not in findings({"delta_by_transformation": frame}, names, run="mine")


def test_the_papers_number_on_a_translated_dataset_stands_beside_the_same_embedders():
    names = made_names(E, ("sts", "sts-deu"), translations={"sts-deu": "sts"})
    row = {"source": "sts", "translated": "sts-deu", "source_drop": 14.0, "translated_drop": 9.5}
    rows = [{**row, "embedder": e, "trained": "yes" if e < "c" else "no"} for e in E]
    groups = ("(all)", "(trained on the language)", "(not trained on the language)")
    frame = pd.DataFrame([*rows, *({**row, "embedder": g, "trained": ""} for g in groups)])
    beside = on_the_papers_grid(names, translated=[(["all"], "9.9")])
    said = findings({"translated_datasets": frame}, names, run="mine", beside=beside)
    assert said.count("paper") == 1
    assert "its translation. *(paper: 9.9)*" in said
    assert "The same items: embedders lose" in said.split("*(paper: 9.9)*")[0].splitlines()[-1]
