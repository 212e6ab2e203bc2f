"""Gwet's AC2 against irrCAC and against published coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from irrCAC.datasets import raw_4raters, raw_5observers, raw_g1g2, raw_gender
from irrCAC.raw import CAC

from stressbed.stats.agreement import gwet_ac2
from stressbed.stats.interval import DegenerateWarning

NAN = float("nan")


def coded(frame):
    """Return a data set's ratings as numbers, and its categories in order."""
    ratings = frame.select_dtypes("float") if len(frame.select_dtypes("float").columns) > 1 else None
    if ratings is None:
        columns = [c for c in frame.columns if frame[c].dtype == object][1:]
        words = sorted({w for c in columns for w in frame[c].dropna() if isinstance(w, str)})
        ratings = frame[columns].apply(lambda c: c.map({w: float(i) for i, w in enumerate(words)}))
    values = ratings.to_numpy(dtype=float)
    return values, sorted(set(values[~np.isnan(values)]))


DATA = {f.__name__: f for f in (raw_4raters, raw_5observers, raw_gender, raw_g1g2)}


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("name", DATA)
def test_equal_to_an_independent_implementation_on_published_data(name, weights):
    import pandas as pd

    values, categories = coded(DATA[name]())
    assert values.shape[0] > 10
    assert len(categories) >= 2
    theirs = CAC(pd.DataFrame(values), weights=weights, categories=categories).gwet()["est"]
    ours = gwet_ac2(values, categories=categories, weights=weights)
    assert ours.coefficient == pytest.approx(theirs["coefficient_value"], abs=1e-5)
    assert ours.observed == pytest.approx(theirs["pa"], abs=1e-5)
    assert ours.chance == pytest.approx(theirs["pe"], abs=1e-5)
    assert (ours.low, ours.high) == pytest.approx(theirs["confidence_interval"], abs=1e-4)


def test_published_coefficients():
    """Gwet (2014): 12 items by 4 raters, AC1 0.77544 and percent agreement 0.81818."""
    values, categories = coded(raw_4raters())
    found = gwet_ac2(values, categories=categories, weights="identity")
    assert round(found.coefficient, 5) == 0.77544
    assert round(found.observed, 5) == 0.81818
    assert round(found.low, 4) == 0.4608


def test_two_raters_two_categories_by_hand():
    """80 + 15 agreements of 100 items: pe = 2 * 0.825 * 0.175, AC1 = (0.95 - pe) / (1 - pe)."""
    pairs = [[1, 1]] * 80 + [[2, 2]] * 15 + [[1, 2]] * 5
    chance = 2 * 0.825 * 0.175
    found = gwet_ac2(pairs, categories=[1, 2], weights="ordinal")
    assert found.coefficient == pytest.approx((0.95 - chance) / (1 - chance))


def test_perfect_agreement_is_one_even_on_one_category():
    assert gwet_ac2([[5, 5, 5]] * 10, categories=[1, 2, 3, 4, 5]).coefficient == 1.0


def test_no_item_rated_twice_has_no_coefficient():
    with pytest.warns(DegenerateWarning, match="rated twice"):
        found = gwet_ac2([[1, NAN], [NAN, 2]], categories=[1, 2])
    assert np.isnan(found.coefficient)
    assert found.n_items == 2


@pytest.mark.parametrize(
    ("ratings", "categories"),
    [([[6, 1]], [1, 2, 3]), ([1, 2], [1, 2]), ([[1, 1]], [1]), ([[1, 1]], [2, 1])],
)
def test_bad_input_is_refused(ratings, categories):
    with pytest.raises(ValueError, match="categor"):
        gwet_ac2(ratings, categories=categories)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_items_and_raters_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, size=(12, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = NAN
    values[0] = [1, 2, 3]
    one = gwet_ac2(values, categories=range(1, 6))
    other = gwet_ac2(values[rng.permutation(12)][:, rng.permutation(3)], categories=range(1, 6))
    assert one.coefficient == pytest.approx(other.coefficient)
    assert one.coefficient <= 1
