"""Shifts per transformation against scipy, and what is said where the data do not suffice."""

from itertools import combinations_with_replacement
from statistics import mean, median

import pandas as pd
import pytest
from scipy.stats import wilcoxon
from study_cases import analysed, made_names, made_scores, noisy

from stressbed.analyse.statistics.shifts import shifts

E, D = ("a", "b", "c"), tuple(f"d{i}" for i in range(9))


def plain_observations(scores, transformation, unit="dataset"):
    """Means with the standard library: over seeds, then over embedders."""
    cells = {}
    for r in scores[scores["transformation"] == transformation].itertuples():
        cells.setdefault((r.dataset, r.embedder), []).append(r.delta)
    cells = {k: mean(v) for k, v in cells.items()}
    if unit == "dataset_embedder":
        return list(cells.values())
    return [mean(v for (d, _), v in cells.items() if d == dataset) for dataset in {d for d, _ in cells}]


@pytest.mark.parametrize("unit", ["dataset", "dataset_embedder"])
def test_shift_and_p_are_those_of_scipy_and_of_the_definition(unit):
    names = made_names(E, D)
    scores = made_scores(names, noisy(3, shift=-2))
    frame = shifts(analysed(names, scores, shift_unit=unit)).frame.set_index("transformation")
    for t in names.transformations:
        values = plain_observations(scores, t, unit)
        walsh = [(x + y) / 2 for x, y in combinations_with_replacement(values, 2)]
        row = frame.loc[t]
        assert row["n"] == len(values)
        assert row["shift"] == pytest.approx(median(walsh))
        assert row["p"] == pytest.approx(wilcoxon(values, mode="exact").pvalue)
        assert row["median_abs"] == pytest.approx(median(map(abs, values)))
        assert min(values) <= row["low"] <= row["shift"] <= row["high"] <= max(values)


def test_holm_is_over_the_transformations_of_a_study():
    names = made_names(E, D)
    frame = shifts(analysed(names, made_scores(names, noisy(4, shift=-4)))).frame
    ordered = frame.sort_values("p")
    expected = (ordered["p"] * [8 - i for i in range(8)]).cummax().clip(upper=1)
    assert ordered["p_holm"].tolist() == pytest.approx(expected.tolist())


def test_a_constant_loss_is_found_exactly_and_identical_scores_are_no_shift():
    names = made_names(E, D)
    lost = analysed(names, made_scores(names, lambda e, d, t, s: 50.0 if t == "original" else 47.5))
    row = shifts(lost).frame.iloc[0]
    assert (row["shift"], row["low"], row["high"], row["median_abs"]) == (-2.5, -2.5, -2.5, 2.5)
    assert row["p"] == pytest.approx(2 * 0.5 ** len(D))
    same = shifts(analysed(names, made_scores(names, lambda *_: 50.0))).frame.iloc[0]
    assert (same["zeros"], same["shift"], same["median_abs"]) == (len(D), 0.0, 0.0)
    assert not same["p"] < 1


def test_a_dataset_with_a_missing_cell_is_left_out_and_said():
    names = made_names(E, D)
    base = noisy(5)
    scores = made_scores(
        names, lambda e, d, t, s: None if (e, d, t, s) == ("b", "d4", "expansion", 2) else base(e, d, t, s)
    )
    table = shifts(analysed(names, scores))
    n = table.frame.set_index("transformation")["n"]
    assert (n["expansion"], n["translation"]) == (len(D) - 1, len(D))
    assert any("missing cell" in note for note in table.notes)


def test_a_transformation_with_fewer_datasets_than_others_has_no_interval_and_a_sentence():
    names = made_names(E, D[:6])
    base = noisy(5)
    lost = ("b", "d4", "expansion", 2)
    table = shifts(analysed(names, made_scores(names, lambda *c: None if c == lost else base(*c))))
    frame = table.frame
    assert frame.loc[frame["low"].isna(), "transformation"].tolist() == ["expansion"]
    assert "No interval: 5 datasets are too few for an interval, which needs 6." in table.notes


@pytest.mark.parametrize("n", [1, 3, 5])
def test_too_few_datasets_have_no_interval_and_a_sentence(n):
    names = made_names(E, D[:n])
    table = shifts(analysed(names, made_scores(names, noisy(6, shift=-3))))
    assert table.frame[["low", "high"]].isna().all(axis=None)
    what = "one dataset is" if n == 1 else f"{n} datasets are"
    assert f"No interval: {what} too few for an interval, which needs 6." in table.notes
    assert any("No shift can be significant" in note for note in table.notes)


def test_the_order_of_rows_does_not_matter():
    names = made_names(E, D)
    scores = made_scores(names, noisy(7))
    mixed = scores.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(shifts(analysed(names, scores)).frame, shifts(analysed(names, mixed)).frame)


def test_generators_and_settings_are_analysed_alone():
    settings = {d: "first" if i < 6 else "second" for i, d in enumerate(D)}
    names = made_names(E, D, generators=("x", "y"), settings=settings)
    frame = shifts(analysed(names, made_scores(names, noisy(8)))).frame
    assert len(frame) == 2 * 2 * 8
    assert list(frame.columns[:2]) == ["generator", "setting"]
    assert frame.groupby("setting")["n"].unique().map(list).to_dict() == {"first": [6], "second": [3]}
