"""Two seeds that drew the same languages are one variant: they leave all that compares seeds."""

from itertools import combinations
from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest
from item_runs import item_rows, score_row
from item_runs import names_of as item_names
from scipy.stats import kendalltau
from study_cases import analysed, made_names, made_scores, noisy

from stressbed.analyse.items.causes import _without_repeats
from stressbed.analyse.items.intervals import SAME_SEEDS, item_intervals
from stressbed.analyse.seeds import IDENTICAL, Seeds
from stressbed.analyse.statistics.stability import (
    rank_stability,
    rank_stability_by_dataset,
    seed_spread,
)

E, D, SEEDS = tuple("abcdef"), ("d0", "d1", "d2", "d3"), (1, 2, 3)
LANGUAGES = {"d0": "AAB", "d1": "AAA", "d2": "ABC", "d3": "ABA"}
"""What `translation` drew on each dataset, by seed: of 12 pairs 5 drew the same."""
DIFFER = {"d0": [(1, 3), (2, 3)], "d1": [], "d2": [(1, 2), (1, 3), (2, 3)], "d3": [(1, 2), (2, 3)]}


def drawn(d, t, s):
    """Return the languages of a cell: `translation` as above, `cross_translation` always anew."""
    return {"translation": LANGUAGES[d][s - 1], "cross_translation": f"x{s}"}.get(t, "none") if s else None


@pytest.fixture(scope="module")
def case():
    names = made_names(E, D, transformations=("expansion", "translation", "cross_translation"))
    base = noisy(3, spread=6)
    # One variant under two numbers has one score.
    scores = made_scores(names, lambda e, d, t, s: base(e, d, f"{t}{drawn(d, t, s)}" if s else t, 0))
    scores["drawn"] = [drawn(d, t, s) for d, t, s in zip(scores.dataset, scores.transformation, scores.seed)]  # noqa: B905
    return names, scores, analysed(names, scores)


def value(scores, e, d, t, s):
    chosen = scores[(scores.embedder == e) & (scores.dataset == d) & (scores.transformation == t)]
    return float(chosen.loc[chosen.seed == s, "score"].iloc[0])


def column(scores, d, transformations, s):
    return [mean(value(scores, e, d, t, s) for t in transformations) for e in E]


def originals(scores, d):
    return [value(scores, e, d, "original", 0) for e in E]


def means(scores, d, t):
    return [mean(value(scores, e, d, t, s) for s in SEEDS) for e in E]


def test_the_pairs_that_can_differ_are_counted_per_dataset(case):
    found = rank_stability_by_dataset(case[2]).frame.set_index(["row", "dataset"])
    assert found.loc["translation", "pairs"].to_dict() == {"d0": 2, "d1": 0, "d2": 3, "d3": 2}
    assert set(found.loc["translation", "pairs_all"]) == {3}
    assert set(found.loc["cross_translation", "pairs"]) == set(found.loc["language", "pairs"]) == {3}
    assert set(found.loc["expansion", "pairs"]) == {0}


def test_tau_between_seeds_and_the_tau_beside_it_are_over_the_same_pairs_and_datasets(case):
    _, scores, data = case
    inside = {
        d: mean(
            kendalltau(*(column(scores, d, ["translation"], s) for s in pair)).statistic for pair in DIFFER[d]
        )
        for d in ("d0", "d2", "d3")
    }
    tau = {d: kendalltau(originals(scores, d), means(scores, d, "translation")).statistic for d in D}
    row = rank_stability(data).frame.set_index("row").loc["translation"]
    assert row["within_mean"] == pytest.approx(mean(inside.values()))
    assert row["within_sd"] == pytest.approx(stdev(inside.values()))
    assert row["tau_there"] == pytest.approx(mean(tau[d] for d in inside))
    assert row["tau_mean"] == pytest.approx(mean(tau.values()))  # all datasets: the paper's number
    assert row[["n_datasets", "n_within", "pairs", "pairs_all"]].tolist() == [4, 3, 7, 12]
    assert row["tau_there"] != pytest.approx(row["tau_mean"], abs=0.01)
    assert (row["members"], row["members_differ"], row["within"]) == (1, 1, "")


def test_an_axis_keeps_a_pair_of_which_one_member_can_differ_and_says_how_many_can(case):
    _, scores, data = case
    members = ["translation", "cross_translation"]
    inside = [
        mean(
            kendalltau(*(column(scores, d, members, s) for s in pair)).statistic
            for pair in combinations(SEEDS, 2)
        )
        for d in D
    ]
    frame = rank_stability(data).frame.set_index("row")
    assert frame.loc["language", "within_mean"] == pytest.approx(mean(inside))
    assert frame.loc["language", ["n_within", "pairs", "pairs_all"]].tolist() == [4, 12, 12]
    assert frame.loc["language", ["members", "members_differ"]].tolist() == [2, 2]
    assert frame.loc["hteb", ["members", "members_differ"]].tolist() == [3, 2]
    assert frame.loc["length", ["members", "members_differ", "within"]].tolist() == [1, 0, IDENTICAL]


def test_the_spread_over_seeds_is_of_the_pairs_that_can_differ(case):
    _, scores, data = case
    sds = []
    for e in E:
        for d, chosen in (
            ("d0", (1, 3)),
            ("d2", SEEDS),
            ("d3", (1, 2)),
        ):  # one seed of those that are the same
            sds.append(stdev(value(scores, e, d, "translation", s) for s in chosen))
    row = seed_spread(data).frame.set_index("transformation").loc["translation"]
    assert row["sd_mean"] == pytest.approx(mean(sds))
    assert row["sd_max"] == pytest.approx(max(sds))
    assert row[["n_cells", "pairs", "pairs_all", "within"]].tolist() == [18, 7, 12, ""]
    assert seed_spread(data).frame.set_index("transformation").loc["expansion", "within"] == IDENTICAL


def test_a_generator_that_draws_tokens_has_no_seed_that_repeats_another(case):
    names, scores, _ = case
    varying = {"llm": frozenset(names.transformations)}
    sampled = made_names(
        E, D, transformations=names.transformations, varying=varying, sampled=frozenset({"llm"})
    )
    frame = rank_stability(analysed(sampled, scores)).frame.set_index("row")
    assert frame.loc["translation", ["pairs", "n_within"]].tolist() == [12, 4]
    assert frame.loc["expansion", "within"] == ""


def test_all_seeds_of_all_datasets_may_have_drawn_the_same(case):
    names, scores, _ = case
    same = scores.assign(drawn=scores["drawn"].where(scores["transformation"] != "translation", "A"))
    frame = rank_stability(analysed(names, same)).frame.set_index("row")
    assert frame.loc["translation", "within"] == IDENTICAL
    assert np.isnan(frame.loc["translation", "within_mean"])
    assert frame.loc["translation", "n_within"] == 0
    assert frame.loc["language", "members_differ"] == 1


def test_what_was_drawn_need_not_be_known():
    names = made_names(E, D)
    assert Seeds.of(made_scores(names, noisy(1)), names).pairs("llm", "d0", ["translation"], SEEDS) == [
        (1, 2), (1, 3), (2, 3),
    ]  # fmt: skip


def test_each_seed_knows_the_first_one_that_is_the_same(case):
    names, scores, _ = case
    seeds = Seeds.of(scores, names)
    assert seeds.first("llm", "d3", "translation", SEEDS) == {1: 1, 2: 2, 3: 1}
    assert seeds.first("llm", "d1", "expansion", SEEDS) == {1: 1, 2: 1, 3: 1}
    assert seeds.first("llm", "d2", "translation", SEEDS) == {1: 1, 2: 2, 3: 3}


def test_items_say_which_seed_they_repeat_and_causes_count_it_once():
    names = item_names(transformations=("translation",), datasets=("d", "e"))
    names = type(names)(**{**vars(names), "varying": {"llm": frozenset({"translation"})}})
    rng = np.random.default_rng(0)
    blocks, rows = [], []
    for dataset, languages in (("d", "ABA"), ("e", "AAA")):
        original, parts = rng.random(12), []
        for seed, language in zip(SEEDS, languages, strict=True):
            variant = ("llm", "translation", seed)
            values = original - 0.3 * rng.random(12)
            parts.append(item_rows(values, original, variant, dataset=dataset))
            score = score_row(100 * values.mean(), 100 * original.mean(), variant, dataset=dataset)
            rows.append(score | {"drawn": language})
        blocks.append(pd.concat(parts))
    scores = pd.DataFrame(rows)
    found = item_intervals(blocks, scores, names, resamples=100, seed=1).frame.set_index(["dataset", "seed"])
    assert "identical to seed 1 by construction" in found.loc[("d", 3), "note"]
    assert not found.loc["d", "note"].iloc[:2].str.contains("identical").any()
    assert found.loc["e", "note"].str.contains(SAME_SEEDS).all()
    seeds = Seeds.of(scores, names)
    assert sorted(set(_without_repeats(blocks[0], seeds)["seed"])) == [1, 2]
    assert sorted(set(_without_repeats(blocks[1], seeds)["seed"])) == [1]
