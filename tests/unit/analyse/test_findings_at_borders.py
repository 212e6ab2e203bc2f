"""Sentences of findings over tables of a few rows, in which every row and every border decides something."""

import pandas as pd
import pytest
from study_cases import made_names

from stressbed.analyse.conclusions.findings import findings

E, D = tuple("abcde"), tuple(f"d{i}" for i in range(10))


def said(names=None, **tables):
    """Return the sentences over these tables, each a mapping of columns."""
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    lines = findings(frames, names or made_names(E, D), run="mine").splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


@pytest.mark.parametrize(
    ("drops", "sentences"),
    [
        (
            [1.0, 0.0, 5.0, -1.0],
            [
                "The 4 embedders lose 1.25 points on average under HTEB.",
                "2 of 4 score lower than on the original texts.",
            ],
        ),
        (
            [None, 3.0, None],
            [
                "The one of 3 embedders that has every cell loses 3.00 points under HTEB.",
                "1 of 1 scores lower than on the original texts.",
            ],
        ),
        (
            [-2.0],
            [
                "The embedder gains 2.00 points under HTEB.",
                "0 of 1 score lower than on the original texts.",
            ],
        ),
        ([None, None], []),
    ],
)
def test_drops_are_counted_among_those_that_have_one(drops, sentences):
    assert said(hteb_scores={"embedder": list(E[: len(drops)]), "drop": drops}) == sentences


RANKS = {
    "embedder": list("abcd"), "drop_low": [0.0, -1.0, 0.5, -3.0], "drop_high": [2.0, 0.0, 3.0, -0.5],
    "n_datasets": [9, 7, 20, 9], "rank_original": [2, 1, 3, 4], "rank_hteb": [1, 2, 3, 4],
}  # fmt: skip
SCORES = {"embedder": list("abcd"), "drop": 1.0}


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({}, ["For 2 of 4 the ≈ 87 % interval of the drop over datasets includes zero.",
              "2 of 4 change their ranks; b leads on the originals, a under HTEB."]),
        ({"n_datasets": [9, 7, 5, 9]},
         ["2 of 4 change their ranks; b leads on the originals, a under HTEB."]),
        ({"drop_low": [0.0, None, 0.5, -3.0]},
         ["2 of 4 change their ranks; b leads on the originals, a under HTEB."]),
        ({"drop_low": None, "rank_original": [1, 2, 3, 3]},
         ["1 of 4 changes its rank; a leads before and after."]),
    ],
)  # fmt: skip
def test_ranks_that_move_and_drops_that_may_be_none_are_counted(changes, sentences):
    assert said(hteb_scores=SCORES, hteb_ranks={**RANKS, **changes})[2:] == sentences
    alone = {k: (v[:1] if isinstance(v, list) else v) for k, v in RANKS.items()}
    one = said(hteb_scores={"embedder": ["a"], "drop": [1.0]}, hteb_ranks=alone)
    assert not any("rank" in sentence for sentence in one)


@pytest.mark.parametrize(
    ("zeros", "head", "named"),
    [
        ([0, 2, 0, 0, 0], "1 of 5 pairs of embedder and dataset has", "b on d1 (up to 2 in a cell)"),
        (
            [1, 1200, 3, 0, 0],
            "3 of 5 pairs of embedder and dataset have",
            "b on d1 (up to 1,200 in a cell), c on d2 (up to 3 in a cell) and a on d0 (up to 1 in a cell)",
        ),
        (
            [1, 2, 9, 4, 1],
            "5 of 5 pairs of embedder and dataset have",
            "c on d2 (up to 9 in a cell), d on d3 (up to 4 in a cell), b on d1 (up to 2 in a cell) and 2 "
            "more",
        ),
    ],
)
def test_the_three_with_most_zero_vectors_are_named(zeros, head, named):
    (found,) = said(
        by_dataset={"embedder": list(E), "dataset": D[:5], "original": None, "zero_vectors": zeros}
    )
    assert found.startswith(f"{head} texts whose vector is zero: {named}. mteb's numbers stand")


SHIFTS = {
    "n": [9, 8, 9], "p_holm": [0.01, 0.049, 0.05], "shift": [-1.0, 2.0, -3.0],
    "median_abs": [0.52, 3.0, 2.18],
}  # fmt: skip


def test_shifts_count_as_significant_below_5_per_cent():
    median = "The median absolute delta of a transformation runs from 0.5 to 3.0 points."
    assert said(shifts=SHIFTS) == [
        "2 of 3 transformations shift the scores significantly (Wilcoxon, Holm), 1 of them downwards; "
        "n = 8 observations.",
        median,
    ]
    assert said(shifts=SHIFTS | {"p_holm": [0.2, 0.3, 0.001]})[0] == (
        "1 of 3 transformations shifts the scores significantly (Wilcoxon, Holm), 1 of them downwards; "
        "n = 8 observations."
    )
    # Two tests of one transformation over five: 2 / 2 ** 5 is above 5 %, over six it is not.
    one = {"n": [5], "p_holm": [0.04], "shift": [-1.0], "median_abs": [1.0]}
    assert said(shifts=one)[0] == (
        "Whether 1 transformation shifts the scores cannot be tested: 5 observations are too few for any "
        "p-value to survive Holm's correction."
    )
    assert said(shifts=one | {"n": [6]})[0].startswith("1 of 1 transformation shifts the scores sig")
    assert "cannot be tested: 6 observations" in said(shifts=SHIFTS | {"n": [9, 6, 9]})[0]


STABLE = {
    "level": ["overall", "axis", "axis", *["transformation"] * 4],
    "row": ["hteb", "length", "language", "expansion", "translation", "paraphrasing", "summarisation"],
    "tau_mean": [0.9, 0.7, 0.8, 0.5, 0.4, 0.95, None], "tau_sd": [0.1, *[None] * 6],
    "tau_there": [0.9, 0.7, 0.8, 0.5, 0.4, 0.9, 0.1], "within_mean": [None, 0.99, 0.99, 0.6, 0.4, None, 0.9],
    "n_embedders": 4, "n_datasets": 7,
}  # fmt: skip


def test_rankings_are_told_by_what_has_a_tau():
    names = made_names(E, D)
    assert said(names, rank_stability=STABLE) == [
        "The embedders' ranking under HTEB agrees with the original one at Kendall's tau 0.900 (SD 0.100), "
        "mean over 7 datasets.",
        "Tau by axis: Language 0.800, Length 0.700.",
        f"Highest and lowest tau by transformation: {names.label('paraphrasing')} 0.950, "
        f"{names.label('translation')} 0.400.",
        "Two seeds agree more with each other than with the original for 1 of 2 transformations in which "
        "seeds can differ.",
    ]
    few = said(names, rank_stability=STABLE | {"n_embedders": 3, "tau_sd": None, "within_mean": None})
    assert few[0].endswith("at Kendall's tau 0.900, mean over 7 datasets; with 3 embedders it says little.")
    assert not any("Two seeds" in sentence for sentence in few)
    alone = {k: (v[:2] if isinstance(v, list) else v) for k, v in STABLE.items()}
    assert len(said(names, rank_stability=alone)) == 1


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, "0.20 to 0.70"),
        ({"median": [0.9, 0.2, 0.201, 0.1, 0.95]}, "0.20"),
        ({"n_datasets": [9, 5, 9, 9, 9]}, None),
    ],
)
def test_halves_are_those_of_axis_deltas(changes, ends):
    table = {
        "measure": ["score", "delta", "delta", "delta", "score"],
        "row": ["length", "length", "language", "hteb", "language"],
        "median": [0.9, 0.2, 0.7, 0.1, 0.95], "n_datasets": [9, 6, 9, 9, 9],
    }  # fmt: skip
    found = said(split_half={**table, **changes})
    assert [s.partition("Spearman's rho of ")[2] for s in found] == [f"{ends}, by axis."] * bool(ends)


def test_drops_without_training_overlap_stand_beside_those_of_all_pairs():
    table = {"pairs": [12], "zero_shot_pairs": [7], "drop_zero_shot": [2.5], "drop_all": [4.25]}
    (found,) = said(zero_shot=table)
    assert found.startswith("On the 7 of 12 pairs without known training overlap the mean is ")
    assert found.index("2.50") < found.index("over all pairs") < found.index("4.25")
    assert said(zero_shot=table | {"drop_zero_shot": [None]}) == []


def test_the_first_and_the_last_of_a_family_are_compared():
    table = {
        "family": list("fffgg"), "embedder": list(E), "original": [50.0, 52, 51, 50, 40],
        "language": [40.0, 52, 41, 30, 20], "drop": [5.0, 1.0, 6.0, 4.0, 4.0],
    }  # fmt: skip
    assert said(size_ablation=table) == [
        "The largest model of a family loses less than the smallest in 0 of 2 families; drops run from 1.0 "
        "to 6.0 points.",
        "On the Language axis it loses less in 0 of 2 families.",
    ]
    better = table | {"drop": [5.0, 9.0, 4.0, 4.0, 3.9], "language": [40.0, 52, 42, None, 20]}
    assert said(size_ablation=better) == [
        "The largest model of a family loses less than the smallest in 2 of 2 families; drops run from 3.9 "
        "to 9.0 points.",
        "On the Language axis it loses less in 1 of 1 family.",
    ]


GAP = {
    "condition": ["all"], "axes": ["without_language"], "n_english": [4], "n_non_english": [3],
    "english": [-4.0], "non_english": [1.0], "gap": [5.0], "gap_low": [1.0], "gap_high": [7.0],
    "datasets_english": [7], "datasets_non_english": [40],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "interval"),
    [
        ({}, " (≈ 87 % interval 1.00 to 7.00)"),
        ({"datasets_english": [40], "datasets_non_english": [7]}, " (≈ 87 % interval 1.00 to 7.00)"),
        ({"datasets_english": [5]}, ""),
        ({"datasets_non_english": [5]}, ""),
        ({"gap_low": [None]}, ""),
    ],
)
def test_a_gap_has_the_interval_of_the_group_with_fewer_datasets(changes, interval):
    assert said(setting_gap={**GAP, **changes}) == [
        f"English datasets lose 4.00 points, non-English ones gain 1.00 point: a gap of 5.00{interval} "
        "(all, without Language; 4 and 3 embedders)."
    ]


def test_shares_of_both_groups_are_told_where_both_are_known():
    table = {
        "embedder": ["a", "b", "(mean)"], "english_relative": [-1.0, -9.0, -5.0],
        "non_english_relative": [2.0, 0.0, 1.0],
    }  # fmt: skip
    assert said(setting_gap_by_embedder=table) == [
        "As a share of the original score English datasets lose 5.0 % and non-English ones gain 1.0 % (mean "
        "over the 2 embedders with all cells of both)."
    ]
    assert said(setting_gap_by_embedder=table | {"non_english_relative": [2.0, 0.0, None]}) == []
    assert said(setting_gap_by_embedder=table | {"embedder": list("abc")}) == []
