"""Sentences read as sentences: one is not several, a gain is no negative loss, a zero has no minus."""

import pandas as pd
import pytest
from study_cases import made_names

from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.conclusions.verdicts import Loss, ends, sentence
from stressbed.analyse.words import amount, counted, lose, points, shown, span


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (counted(1, "dataset"), "1 dataset"),
        (counted(0, "family", "families"), "0 families"),
        (counted(1200, "item"), "1,200 items"),
        (shown(-0.04), "0.0"),
        (shown(-0.25, 2), "−0.25"),
        (points(-1.04), "1.0 point"),
        (lose(-1.22, 2), "gain 1.22 points"),
        (lose(2.0, plural=False), "loses 2.0 points"),
        (lose(-0.04), "lose 0.0 points"),
        (amount(-3.0), "a gain of 3.0 points"),
        (span(-0.04, 2.0), "0.0 to 2.0"),
        (span(-1.5, 2.0), "a gain of 1.5 to a loss of 2.0"),
        (span(-2.0, -0.5), "a gain of 0.5 to 2.0"),
        (ends(Loss(1.0, -0.0, 2.0)), "0.0 to 2.0"),
        (ends(Loss(-1.0, -2.0, 0.0)), "0.0 to 2.0"),
        (ends(Loss(-1.0, -2.0, -0.04)), "0.0 to 2.0"),
        (ends(Loss(0.5, -0.04, 2.0)), "0.0 to 2.0"),
        (ends(Loss(0.5, -2.0, -0.5)), "a gain of 0.5 to 2.0"),
        (ends(Loss(0.5, -2.0, 1.0)), "from a gain of 2.0 to a loss of 1.0"),
        (sentence("Rewording", Loss(-0.04, remark="Few.")), "Rewording costs 0.0 points. Few."),
        (sentence("Shorter texts", Loss(-1.0, remark="."), plural=True), "Shorter texts gain 1.0 point. ."),
    ],
)
def test_words(said, words):
    assert said == words


def said_of(**tables):
    return findings({k: pd.DataFrame(v) for k, v in tables.items()}, made_names(("a", "b"), ("d0",)), run="r")


@pytest.mark.parametrize(
    ("drops", "words"),
    [
        ([-1.0, -1.44], "The 2 embedders gain 1.22 points on average under HTEB."),
        ([3.0, -1.0], "The 2 embedders lose 1.00 point on average under HTEB."),
        ([3.0, -1.0], "1 of 2 scores lower than"),
        ([-0.5], "The embedder gains 0.50 points under HTEB."),
        ([2.0, None], "The one of 2 embedders that has every cell loses 2.00 points under HTEB."),
    ],
)
def test_a_gain_reads_as_a_gain(drops, words):
    frame = {"embedder": ["a", "b"][: len(drops)], "drop": drops}
    assert words in said_of(hteb_scores=frame)


def test_gains_across_languages_and_in_translation_read_as_gains():
    gap = {"condition": ["all"], "axes": ["with_language"], "english": [0.4], "non_english": [-2.1]}
    more = {"gap": [-2.5], "gap_low": [-0.001], "gap_high": [1.0], "n_english": [2], "n_non_english": [2]}
    more |= {"datasets_english": [19], "datasets_non_english": [13]}
    said = said_of(setting_gap=gap | more)
    assert "English datasets gain 0.40 points, non-English ones lose 2.10 points: a gap of −2.50" in said
    assert "(95 % interval 0.00 to 1.00)" in said
    few = said_of(setting_gap=gap | more | {"datasets_english": [7]})
    assert "(≈ 87 % interval 0.00 to 1.00)" in few
    assert "interval" not in said_of(setting_gap=gap | more | {"datasets_english": [5]})
    frame = {"source": ["d0"], "translated": ["d1"], "embedder": ["(all)"]}
    said = said_of(translated_datasets=frame | {"source_drop": [3.0], "translated_drop": [-1.0]})
    assert "embedders lose 3.0 points on d0 and gain 1.0 point on d1, its translation." in said


def test_one_is_not_several():
    shifts = {"n": [1], "p_holm": [0.5], "shift": [-1.0], "median_abs": [2.0]}
    assert "Whether 1 transformation shifts the scores cannot be tested: one" in said_of(shifts=shifts)
    assert "1 of 1 transformation shifts the scores significantly" in said_of(
        shifts=shifts | {"n": [8], "p_holm": [0.01]}
    )
    tau = {"row": ["hteb"], "level": ["overall"], "n_datasets": [1], "n_embedders": [2], "tau_mean": [1.0]}
    said = said_of(rank_stability=tau | {"tau_sd": [None], "within_mean": [None]})
    assert "mean over 1 dataset; with 2 embedders it says little" in said
    lost = {"dataset": ["d0"], "n_texts": [50], "fallbacks": [1]}
    assert "1 of 50 rewrites (2 %) is a fallback: no answer" in said_of(fallbacks=lost)
