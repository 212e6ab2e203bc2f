"""Bootstrap samples of items against naive resampling, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score

from stressbed.analyse.conclusions.preference import bootstrapped
from stressbed.analyse.items.samples import NoSamplesError, item_samples

N = 40


def items(values, gold=None, *, unit="pair", metric="cosine_spearman", subsets=1):
    """Return items of cells; `values` maps a cell to its values, cut into equal subsets."""
    rows = []
    for cell, found in values.items():
        for i, v in enumerate(found):
            rows.append(
                {
                    "cell": cell, "subset": f"s{i % subsets}", "split": "test", "unit": unit, "item": str(i),
                    "metric": metric, "value": v, "gold": np.nan if gold is None else float(gold[i]),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def sampled(frame, scores, metric, resamples=400):
    kind = {
        "cosine_spearman": "STS",
        "cosine_ap": "PairClassification",
        "max_ap": "PairClassification",
        "max_accuracy": "PairClassification",
    }
    return item_samples(
        frame, cells=list(scores), scores=list(scores.values()), metric=metric,
        task_type=kind.get(metric, "Retrieval"), resamples=resamples, rng=np.random.default_rng(0),
    )  # fmt: skip


def pairs():
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 6, size=N)
    values = {"x": gold / 5 + rng.normal(scale=0.3, size=N), "y": gold / 5 + rng.normal(scale=0.9, size=N)}
    return gold, values


METRICS = {
    "cosine_spearman": lambda v, g: spearmanr(v, g).statistic,
    "cosine_ap": lambda v, g: average_precision_score(g > 2, v),
    "accuracy": lambda v, g: v.mean(),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("subsets", [1, 2])
def test_samples_spread_as_naive_resampling_does(metric, subsets):
    gold, values = pairs()
    if metric == "cosine_ap":
        gold = (gold > 2).astype(int) * 3
    naive = METRICS[metric]
    parts = [np.arange(N) % subsets == s for s in range(subsets)]
    labels = gold > 2 if metric == "cosine_ap" else gold
    scores = {c: 100 * np.mean([naive(v[p], gold[p]) for p in parts]) for c, v in values.items()}
    unit = "query" if metric == "accuracy" else "pair"
    found = sampled(items(values, labels, unit=unit, subsets=subsets), scores, metric, resamples=2000)
    assert found.scores == pytest.approx(list(scores.values()))
    assert (found.n, found.unit) == (N, unit)
    rng = np.random.default_rng(1)
    differences = []
    for _ in range(400):
        drawn = [rng.choice(np.flatnonzero(p), size=p.sum()) for p in parts]
        x, y = (100 * np.mean([naive(values[c][d], gold[d]) for d in drawn]) for c in "xy")
        differences.append(x - y)
    ours = np.quantile(found.samples[0] - found.samples[1], [0.025, 0.5, 0.975])
    # Four standard errors of an outer quantile of 400 samples.
    theirs = np.quantile(differences, [0.025, 0.5, 0.975])
    assert ours == pytest.approx(theirs, abs=0.6 * np.std(differences))


def test_a_score_that_the_items_do_not_give_is_refused():
    gold, values = pairs()
    with pytest.raises(NoSamplesError, match="cannot be made again from its items"):
        sampled(items(values, gold > 2), {"x": 50.0, "y": 50.0}, "max_ap")


def test_a_metric_of_no_items_is_refused():
    gold, values = pairs()
    with pytest.raises(NoSamplesError, match="max_accuracy is not made of values per item"):
        sampled(items(values, gold > 2), {"x": 50.0, "y": 50.0}, "max_accuracy")
    with pytest.raises(NoSamplesError, match="what people said of the pairs is not known"):
        sampled(items(values), {"x": 50.0, "y": 50.0}, "cosine_spearman")


def test_cells_with_other_items_are_refused():
    gold, values = pairs()
    frame = items(values, gold)
    with pytest.raises(NoSamplesError, match="do not have the same items"):
        sampled(frame.drop(index=0), {"x": 50.0, "y": 50.0}, "cosine_spearman")
    with pytest.raises(NoSamplesError, match="no items were kept"):
        sampled(frame.iloc[:0], {"x": 50.0}, "cosine_spearman")


def test_two_cells_that_differ_by_chance_are_seldom_told_apart():
    """Size at 5 % of the test within a dataset; by itself the bootstrap is a little above its level."""
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(300):
        values = {"x": rng.uniform(size=N), "y": rng.uniform(size=N)}
        scores = {c: 100 * v.mean() for c, v in values.items()}
        found = sampled(items(values, unit="query"), scores, "accuracy", resamples=300)
        difference = bootstrapped(scores["x"] - scores["y"], found.samples[0] - found.samples[1])
        rejected += difference.p < 0.05
    assert rejected / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_one_item_has_no_samples():
    with pytest.raises(NoSamplesError, match="one query is too few for an interval, which needs 6"):
        sampled(items({"x": [0.5]}, unit="query", metric="ndcg_at_10"), {"x": 50.0}, "ndcg_at_10")
