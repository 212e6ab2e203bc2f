import warnings

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score

from stressbed.analyse.items.weighted import GoldRanks, average_precision, draw_weights, mean, pearson


def made(ties, n=40, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    gold = np.round(values + rng.normal(size=n)) / 2  # people's scores have ties
    values = np.round(values, 1) if ties else values
    return values, gold, draw_weights(n, 60, rng)


def samples(weights):
    return [np.repeat(np.arange(len(w)), w.astype(int)) for w in weights.T]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [3, 8, 200])
def test_spearman_of_weights_is_scipys_on_the_drawn_items(ties, n):
    values, gold, weights = made(ties, n)
    found = GoldRanks.of(gold, weights).spearman(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        naive = [spearmanr(values[i], gold[i]).statistic for i in samples(weights)]
    np.testing.assert_allclose(found, naive, atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [3, 8, 200])
def test_average_precision_of_weights_is_scikit_learns_on_the_drawn_items(ties, n):
    values, gold, weights = made(ties, n)
    positive = gold > 0.2
    positive[0] = True
    found = average_precision(values, positive, weights)
    naive = [
        average_precision_score(positive[i], values[i]) if positive[i].any() else np.nan
        for i in samples(weights)
    ]
    np.testing.assert_allclose(found, naive, atol=1e-12)


@pytest.mark.parametrize(("shift", "gold_shift"), [(0.0, 0.0), (1e6, 0.0), (0.0, 1e6), (1e6, -1e6)])
def test_pearson_of_weights_is_scipys_on_the_drawn_items(shift, gold_shift):
    values, gold, weights = made(ties=False)
    found = pearson(np.stack([values + shift, -values], axis=1), gold + gold_shift, weights)
    naive = [pearsonr(values[i], gold[i]).statistic for i in samples(weights)]
    np.testing.assert_allclose(found[0], naive, atol=1e-7)
    np.testing.assert_allclose(found[1], -np.array(naive), atol=1e-7 if gold_shift else 1e-12)


def test_means_of_weights_are_those_of_the_drawn_items():
    values, gold, weights = made(ties=False)
    both = np.stack([values, gold], axis=1)
    naive = [both[i].mean(axis=0) for i in samples(weights)]
    np.testing.assert_allclose(mean(both, weights).T, naive, atol=1e-12)


def test_weights_of_one_are_the_statistic_itself():
    values, gold, _ = made(ties=True)
    one = np.ones((len(values), 1))
    assert GoldRanks.of(gold, one).spearman(values)[0] == pytest.approx(spearmanr(values, gold).statistic)
    expected = average_precision_score(gold > 0, values)
    assert average_precision(values, gold > 0, one)[0] == pytest.approx(expected)


@pytest.mark.parametrize("constant", ["values", "gold"])
def test_a_constant_side_has_no_correlation(constant):
    values, gold, weights = made(ties=False)
    values, gold = (np.ones(40), gold) if constant == "values" else (values, np.ones(40))
    assert np.isnan(GoldRanks.of(gold, weights).spearman(values)).all()
    assert np.isnan(pearson(values[:, None], gold, weights)).all()
    assert np.isnan(average_precision(values, np.zeros(40, bool), weights)).all()


def test_a_sample_of_one_item_again_and_again_has_no_correlation():
    values, gold, _ = made(ties=False, n=300)
    again = 49 * np.eye(300)  # v * 49 / 49 is not always v: rounding must not be taken for a spread
    assert np.isnan(pearson(np.stack([values, 1e3 * values], axis=1), gold, again)).all()
    assert np.isnan(pearson(values[:, None], gold, again)).all()
    assert np.isnan(GoldRanks.of(gold, again).spearman(values)).all()


def test_every_sample_draws_as_many_items_as_there_are():
    weights = draw_weights(7, 500, np.random.default_rng(3))
    assert (weights.sum(axis=0) == 7).all()
    # Drawn with equal chances: each item's mean weight is 1, with a standard error below 0.05.
    np.testing.assert_allclose(weights.mean(axis=1), 1, atol=0.2)
