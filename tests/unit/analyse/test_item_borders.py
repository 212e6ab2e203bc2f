"""Items of a dataset: what is drawn, what is made of them, and cut-offs from both sides."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from item_runs import item_rows, names_of, score_row
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score

from stressbed.analyse.items import samples as samples_module
from stressbed.analyse.items import worst as worst_module
from stressbed.analyse.items.intervals import item_coverage_note, item_intervals
from stressbed.analyse.items.panels import blocks
from stressbed.analyse.items.samples import NoSamplesError, item_samples
from stressbed.analyse.items.scores import shares
from stressbed.analyse.items.weighted import GoldRanks, average_precision, mean, pearson, running_sums


def test_only_so_many_items_stand_in_the_table_the_worst_of_each_group_first(monkeypatch):
    monkeypatch.setattr(worst_module, "ROWS", 5)
    rows = []
    for k, t in enumerate(("t", "u")):
        for dataset in ("d1", "d2"):
            low = [0.1 + 0.05 * k, 0.3, 0.2 + 0.01 * (dataset == "d2")]
            rows.append(item_rows(low, [1.0, 0.9, 0.8], ("llm", t, 1), dataset=dataset))
    frame = pd.concat(rows, ignore_index=True).sort_values("dataset", kind="stable")
    names = names_of(datasets=("d1", "d2"), transformations=("t", "u"))
    scores = [score_row(50, 60, ("llm", t, 1), dataset=d) for t in "tu" for d in ("d1", "d2")]
    found = worst_module.worst_items(blocks([frame]), pd.DataFrame(scores), [], names).frame
    place = [tuple(r) for r in found[["dataset", "transformation", "item"]].to_numpy().tolist()]
    assert sorted(place) == [
        ("d1", "t", "i0"), ("d1", "t", "i1"), ("d1", "u", "i0"), ("d2", "t", "i0"), ("d2", "u", "i0"),
    ]  # fmt: skip


def items(values, gold=None):
    return pd.DataFrame(
        [
            {"cell": c, "subset": s, "split": "test", "item": str(i), "metric": "m",
             "unit": "pair" if gold else "query", "value": v, "gold": gold[i] if gold else np.nan}
            for c, by_subset in values.items()
            for s, found in by_subset.items()
            for i, v in enumerate(found)
        ]
    )  # fmt: skip


VALUES = {
    "x": {"a": [0.9, 0.1, 0.2, 0.6, 0.2, 0.7, 0.8], "b": [0.4, 0.8, 0.3, 0.9, 0.5, 0.7]},
    "y": {"a": [0.5, 0.3, 0.0, 0.1, 0.9, 0.2, 0.8], "b": [1.0, 0.7, 0.6, 0.8, 1.0, 0.4]},
}
MEANS = [50 * (3.5 / 7 + 3.6 / 6), 50 * (2.8 / 7 + 4.5 / 6)]
"""Points of x and y: the mean over both subsets, of 7 and of 6 queries."""


def drawn(scores, values=VALUES, resamples=30):
    return item_samples(
        items(values), cells=["x", "y"], scores=scores, metric="m", task_type="Retrieval",
        resamples=resamples, rng=np.random.default_rng(4),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("off", "good"),
    [((0.0, 0.0), True), ((0.009, -0.009), True), ((0.011, 0.0), False), ((0.0, -0.011), False)],
)
def test_samples_need_the_score_of_every_cell(off, good):
    scores = [MEANS[0] + off[0], MEANS[1] + off[1]]
    if good:
        found = drawn(scores)
        assert found.scores.tolist() == pytest.approx([55.0, 57.5])
        assert (found.n, found.unit) == (13, "query")
        assert (found.n_resampled, found.resampled) == (13, "query")
    else:
        with pytest.raises(NoSamplesError, match="cannot be made again"):
            drawn(scores)


@pytest.mark.parametrize("held", [1, 40, 1_000_000])
def test_samples_are_means_over_subsets_of_the_items_drawn(monkeypatch, held):
    monkeypatch.setattr(samples_module, "HELD", held)
    rng = np.random.default_rng(4)
    expected = np.zeros((2, 30))
    for subset, n in (("a", 7), ("b", 6)):
        size = max(16, held // n)
        for start in range(0, 30, size):
            c = min(size, 30 - start)
            places = rng.integers(n, size=(n, c))
            for k, cell in enumerate("xy"):
                values = np.array(VALUES[cell][subset])
                expected[k, start : start + c] += 100 * values[places].mean(axis=0) / 2
    assert drawn(MEANS).samples == pytest.approx(expected)


def test_five_items_of_a_subset_have_no_samples_six_have():
    for n, why in ((1, "one query is"), (5, "5 queries are")):
        few = {c: {"a": v["a"], "b": v["b"][:n]} for c, v in VALUES.items()}
        means = [50 * (np.mean(v["a"]) + np.mean(v["b"])) for v in few.values()]
        with pytest.raises(NoSamplesError, match=f"{why} too few for an interval, which needs 6"):
            drawn(means, few)
    six = {c: {"b": v["b"]} for c, v in VALUES.items()}
    assert drawn([60.0, 75.0], six).n == 6


def test_running_sums_are_numpys_around_the_block():
    rng = np.random.default_rng(0)
    for n in (1, 15, 16, 63, 64, 65, 79, 80, 81):
        rows = rng.normal(size=(n, 3))
        assert running_sums(rows) == pytest.approx(np.cumsum(rows, axis=0))


@pytest.mark.parametrize("n", [7, 70])
@pytest.mark.parametrize("ties", [False, True])
def test_weighted_scores_are_those_of_items_repeated(n, ties):
    rng = np.random.default_rng(n + ties)
    values, gold = rng.exponential(size=(n, 2)), rng.exponential(size=n)
    if ties:
        values, gold = np.round(values, 0), np.round(gold, 0)
    weights = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(4)], axis=1).astype(
        float
    )
    positive = gold > np.median(gold)
    for k in range(2):
        for c in range(4):
            rows = np.repeat(np.arange(n), weights[:, c].astype(int))
            x, g = values[rows, k], gold[rows]
            assert mean(values, weights)[k, c] == pytest.approx(x.mean())
            assert pearson(values, gold, weights)[k, c] == pytest.approx(pearsonr(x, g).statistic)
            found = GoldRanks.of(gold, weights).spearman(values[:, k])[c]
            assert found == pytest.approx(spearmanr(x, g).statistic)
            expected = average_precision_score(positive[rows], x)
            assert average_precision(values[:, k], positive, weights)[c] == pytest.approx(expected)


def test_a_constant_side_has_no_correlation():
    weights = np.array([[1.0, 3.0], [1.0, 0.0], [1.0, 0.0]])
    found = pearson(np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 5.0, 2.0]), weights)
    assert np.isnan(found).tolist() == [[False, True]]
    found = GoldRanks.of(np.array([1.0, 5.0, 2.0]), weights).spearman(np.array([1.0, 2.0, 4.0]))
    assert np.isnan(found).tolist() == [False, True]
    found = average_precision(np.array([1.0, 2.0, 4.0]), np.array([False, True, False]), weights)
    assert np.isnan(found).tolist() == [False, True]


def test_shares_of_ranks_lie_between_0_and_1():
    found = shares(np.array([[3.0, np.nan], [1.0, 1.0], [1.0, 2.0], [7.0, 0.0]]))
    assert found[:, 0].tolist() == [0.625, 0.25, 0.25, 0.875]
    assert np.isnan(found[:, 1]).all()


@pytest.mark.parametrize(
    ("n", "metric", "note"),
    [
        (
            9,
            "cosine_spearman",
            "with n = 9 the interval, aimed at 95 %, covers less than 82 % in simulations",
        ),
        (10, "cosine_spearman", "with n = 10 the interval, aimed at 95 %, covers about 82 % in simulations"),
        (19, "cosine_spearman", "with n = 19 the interval, aimed at 95 %, covers about 82 % in simulations"),
        (20, "cosine_spearman", ""),
        (40, "cosine_pearson", "with n = 40 the interval, aimed at 95 %, covers about 93 % in simulations"),
        (200, "cosine_pearson", ""),
    ],
)
def test_intervals_of_few_pairs_say_what_they_cover(n, metric, note):
    rng = np.random.default_rng(n)
    gold, original = rng.exponential(size=n), rng.normal(size=n)
    values = original + rng.normal(size=n)
    measure = spearmanr if metric == "cosine_spearman" else pearsonr
    frame = item_rows(values, original, gold=gold, unit="pair", metric="cosine_similarity")
    now, before = (100 * measure(v, gold).statistic for v in (values, original))
    scores = pd.DataFrame([score_row(now, before, metric=metric, task_type="STS")])
    table = item_intervals(blocks([frame]), scores, names_of(), resamples=100, seed=0)
    (row,) = table.frame.to_dict("records")
    assert row["note"].startswith(note)
    assert bool(row["note"]) == bool(note)
    assert row["n"] == n
    assert row["drop"] == pytest.approx(before - now)


def test_subsets_weigh_the_same_whatever_their_size_and_skew():
    """Three subsets: the mean of their means is neither their median nor that of all items."""
    more = {c: v | {"c": [20.0 * x for x in v["a"]]} for c, v in VALUES.items()}
    means = [100 * np.mean([np.mean(x) for x in v.values()]) for v in more.values()]
    found, rng = drawn(means, more), np.random.default_rng(4)
    expected = np.zeros((2, 30))
    for subset, n in (("a", 7), ("b", 6), ("c", 7)):
        places = rng.integers(n, size=(n, 30))
        for k, cell in enumerate("xy"):
            expected[k] += 100 * np.array(more[cell][subset])[places].mean(axis=0) / 3
    assert found.scores.tolist() == pytest.approx(means)
    assert found.samples == pytest.approx(expected)
    assert (found.n, found.n_resampled) == (20, 20)


def test_the_first_metric_of_the_file_is_the_one_that_counts():
    frame = pd.concat([items(VALUES), items(VALUES).assign(metric="a", value=0.0)], ignore_index=True)
    found = item_samples(
        frame, cells=["y", "x"], scores=MEANS[::-1], metric="m", task_type="Retrieval", resamples=30,
        rng=np.random.default_rng(4),
    )  # fmt: skip
    assert found.samples[::-1] == pytest.approx(drawn(MEANS).samples)


@pytest.mark.filterwarnings("error")
def test_a_sample_without_an_item_has_no_score_and_no_warning():
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    values, gold = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 5.0, 2.0])
    found = (
        mean(values, weights)[0], pearson(values, gold, weights)[0],
        GoldRanks.of(gold, weights).spearman(values[:, 0]),
        average_precision(values[:, 0], gold > 1, weights),
    )  # fmt: skip
    assert [np.isnan(f).tolist() for f in found] == [[False, True]] * 4


MEASURED = {
    "spearman": [(9, "less than 82"), (10, 82), (19, 82), (20, None)],
    "pearson": [
        (9, "less than 90"), (10, 90), (19, 90), (20, 91), (39, 91), (40, 93), (199, 93), (200, None),
    ],
    "average precision": [
        (9, "less than 63"), (10, 63), (19, 63), (20, 86), (39, 86), (40, 91), (199, 91), (200, 92),
        (999, 92), (1000, None),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "n", "covered"), [(k, n, c) for k, all_n in MEASURED.items() for n, c in all_n]
)
def test_each_size_of_a_dataset_has_its_own_coverage(kind, n, covered):
    about = covered if isinstance(covered, str) else f"about {covered}"
    said = f"with n = {n} the interval, aimed at 95 %, covers {about} % in simulations: it is too narrow"
    assert item_coverage_note(kind, n) == ("" if covered is None else said)


def test_a_text_belongs_to_the_item_of_its_own_place():
    """Of 128 texts whose keys are one of two each, one is the item's."""
    rows = item_rows([0.1], [1.0], item=["i"])
    kinds = {
        "dataset": ("d", "e"), "generator": ("llm", "other"), "transformation": ("expansion", "another"),
        "seed": (1, 2), "subset": ("default", "more"), "split": ("test", "dev"), "item": ("i", "j"),
    }  # fmt: skip
    texts = pd.DataFrame(
        [
            dict(zip(kinds, key, strict=True)) | {"original": "|".join(map(str, key)), "rewritten": f"{i}"}
            for i, key in enumerate(product(*kinds.values()))
        ]
    ).assign(field="f", position=0, language="deu-Latn", outcome="ok", flags="")
    table = worst_module.worst_items(
        blocks([rows]), pd.DataFrame([score_row(10, 100)]), [texts[::-1]], names_of()
    )
    found = table.frame[["original_text", "rewritten_text"]].to_numpy().tolist()
    assert found == [["d|llm|expansion|1|default|test|i", "0"]]


def test_texts_of_two_subsets_of_one_item_are_two():
    """The same item's id in two subsets: each has its own texts and its own loss."""
    parts = [
        item_rows([v], [1.0], item=["i"], subset=s, split=p)
        for v, s, p in ((0.1, "a", "test"), (0.2, "b", "test"), (0.3, "b", "dev"))
    ]
    alike = {"dataset": "d", "generator": "llm", "transformation": "expansion", "seed": 1, "item": "i"}
    alike |= {"field": "f", "position": 0, "language": "deu-Latn", "outcome": "ok", "flags": ""}
    own = {"subset": ["b", "a", "b"], "split": ["dev", "test", "test"]}
    own |= {"original": ["three", "one", "two"], "rewritten": ["drei", "eins", "zwei"]}
    texts = pd.DataFrame(own | alike)
    frame = pd.concat(parts, ignore_index=True)
    table = worst_module.worst_items(blocks([frame]), pd.DataFrame([score_row(10, 100)]), [texts], names_of())
    assert table.frame[["subset", "delta", "original_text", "rewritten_text"]].to_numpy().tolist() == [
        ["a", -0.9, "one", "eins"], ["b", -0.8, "two", "zwei"], ["b", pytest.approx(-0.7), "three", "drei"],
    ]  # fmt: skip
