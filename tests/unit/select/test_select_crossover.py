"""From ratings to a winner: known truth, missing ratings, the paper's tables."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from approved import approve

from stressbed.analyse.names import Names
from stressbed.config.entries import SelectionEntry
from stressbed.errors import DataError
from stressbed.select.comparisons import compare, judge_agreement, self_preference
from stressbed.select.crossover import choose, judge_rows, transformation_rows, winner
from stressbed.select.judge import SCHEMA
from stressbed.select.ratings import observe

TABLES = Path(__file__).parents[2] / "data" / "hteb"
GENERATORS = ["good", "fair", "poor"]
TRANSFORMATIONS = ["shorter", "longer"]
NAN = float("nan")
NAMES = Names({}, {}, {g: g.title() for g in GENERATORS}, {t: t for t in TRANSFORMATIONS}, {})


def selection(**changes) -> SelectionEntry:
    return SelectionEntry(
        id="s", candidates=GENERATORS, dataset="d", transformations=TRANSFORMATIONS, judge_prompt="p",
        shortlist=3, resamples=2000, **changes,
    )  # fmt: skip


def write(folder: Path, ratings: pd.DataFrame) -> list[Path]:
    """Write one file per judge and generator."""
    files = []
    for (judge, generator), part in ratings.groupby(["judge", "generator"], sort=False):
        path = folder / judge / f"{generator}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {
                **dict.fromkeys(SCHEMA.names), **r, "subset": "default", "split": "test", "field": "s",
                "choice": None if np.isnan(r["rating"]) else round(r["rating"]),
                "reason": "unparsable" if np.isnan(r["rating"]) else "",
            }
            for r in part.to_dict("records")
        ]  # fmt: skip
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
        files.append(path)
    return files


def simulate(n_pairs=150, judges=GENERATORS, own=0.0, means=(4.2, 4.0, 3.2), seed=0) -> pd.DataFrame:
    """Return whole ratings: a mean, noise of pair and text, and what a judge adds for its own work."""
    rng = np.random.default_rng(seed)
    rows = []
    for pair in range(n_pairs):
        common = rng.normal(scale=0.3)
        for side in range(2):
            for t in TRANSFORMATIONS:
                for g, mean in zip(GENERATORS, means, strict=True):
                    text = mean + common + rng.normal(scale=0.4)
                    for j in judges:
                        value = text + rng.normal(scale=0.3) + own * (j == g)
                        rows.append(
                            {
                                "judge": j, "generator": g, "transformation": t, "row": str(pair),
                                "position": side, "text_id": 2 * pair + side,
                                "rating": float(np.clip(np.round(value), 1, 5)),
                            }
                        )  # fmt: skip
    return pd.DataFrame(rows)


def observed(folder, ratings, judges=GENERATORS):
    return observe(write(folder, ratings), generators=GENERATORS, judges=judges)


def test_the_better_generator_wins_and_all_differ(tmp_path):
    ratings = simulate()
    shortlist = tmp_path / "shortlist.json"
    rates = {g: {"total": 1.0} for g in GENERATORS}
    shortlist.write_text(json.dumps({"shortlist": GENERATORS, "rates": rates}))
    found = choose(
        ratings=write(tmp_path / "ratings", ratings), shortlist=shortlist, selection=selection(), names=NAMES,
        folder=tmp_path / "tables", figures=tmp_path / "figures", out=tmp_path / "winner.json",
    )  # fmt: skip
    assert found["winner"] == "good"
    assert found["runner_up"] == "fair"
    assert list(found["letters"].values()) == ["a", "b", "c"]
    assert found["tied_with"] == []
    assert found["n_observations"] == 150
    assert 0 < found["margin_low"] < found["margin"] < found["margin_high"]
    assert found["probability_best"] > 0.99
    assert "significantly better than all others" in found["sentence"]
    assert json.loads((tmp_path / "winner.json").read_text()) == found
    crossover = pd.read_csv(tmp_path / "tables" / "crossover.csv").set_index("judge")
    assert list(crossover.index) == [*GENERATORS, "average", "low", "high", "letters"]
    mean = ratings.groupby("generator")["rating"].mean()
    for g in GENERATORS:
        assert float(crossover.loc["average", g]) == pytest.approx(mean[g], abs=1e-6)
    pairs = pd.read_csv(tmp_path / "tables" / "generator_comparisons.csv")
    assert len(pairs) == 3
    assert pairs["significant"].all()
    for suffix in ("pdf", "svg", "png", "csv"):
        assert (tmp_path / "figures" / f"crossover.{suffix}").stat().st_size


def test_equal_generators_are_said_to_be_tied(tmp_path):
    ratings = simulate(n_pairs=40, means=(4.0, 4.0, 4.0), seed=5)
    outcome = compare(observed(tmp_path, ratings), resamples=2000, alpha=0.05)
    assert set(outcome.letters.values()) == {"a"}
    assert sum(outcome.probability_best.values()) == pytest.approx(1)


def test_the_same_twice(tmp_path):
    ratings = observed(tmp_path, simulate(n_pairs=20))
    assert compare(ratings, resamples=500, alpha=0.05) == compare(ratings, resamples=500, alpha=0.05)


def test_only_complete_cells_count_and_nothing_is_filled_in(tmp_path):
    ratings = simulate(n_pairs=30)
    hole = (ratings["judge"] == "fair") & (ratings["generator"] == "good") & (ratings["text_id"] < 10)
    ratings.loc[hole, "rating"] = NAN
    found = observed(tmp_path, ratings)
    assert found.excluded == 2 * hole.sum()
    lost = (ratings["judge"] == "fair") & (ratings["text_id"] < 10)
    expected = ratings[~lost].groupby("generator")["rating"].mean()
    assert found.complete.groupby("generator")["rating"].mean().to_dict() == pytest.approx(expected.to_dict())
    assert len(found.pairs) == 30


def test_a_judge_without_a_single_rating_is_named(tmp_path):
    ratings = simulate(n_pairs=5)
    ratings.loc[ratings["judge"] == "poor", "rating"] = NAN
    with pytest.raises(DataError, match="the judge 'poor' gave no rating that can be read") as caught:
        observed(tmp_path, ratings)
    assert "60 unparsable" in caught.value.what
    assert "guided" in caught.value.do


def test_one_observation_is_not_enough(tmp_path):
    with pytest.raises(DataError, match="only one row") as caught:
        observed(tmp_path, simulate(n_pairs=1))
    assert "raise `rows`" in caught.value.do


def test_ratings_that_never_meet_are_an_error(tmp_path):
    ratings = simulate(n_pairs=4)
    for i, g in enumerate(GENERATORS):
        ratings.loc[(ratings["generator"] == g) & (ratings["text_id"] % 3 == i), "rating"] = NAN
    with pytest.raises(DataError, match="nothing can be compared"):
        observed(tmp_path, ratings)


def test_every_message_is_approved(tmp_path):
    silent, none, apart = simulate(n_pairs=5), simulate(n_pairs=5), simulate(n_pairs=4)
    silent.loc[silent["judge"] == "poor", "rating"] = NAN
    none = none[none["judge"] != "poor"]
    for i, g in enumerate(GENERATORS):
        apart.loc[(apart["generator"] == g) & (apart["text_id"] % 3 == i), "rating"] = NAN
    found = []
    for i, ratings in enumerate((silent, none, apart, simulate(n_pairs=1))):
        with pytest.raises(DataError) as caught:
            observed(tmp_path / str(i), ratings)
        found.append(caught.value.message())
    approve("select/faults_of_ratings.txt", "\n".join(found) + "\n")


def test_self_preference_is_found_and_told_from_quality(tmp_path):
    fair = self_preference(observed(tmp_path / "a", simulate()), resamples=1000, alpha=0.05).set_index(
        "judge"
    )
    # The best generator's own outputs are better, so its raw difference is large; the relative one is not.
    assert fair.loc["good", "own_low"] > 0.3
    assert fair.loc["good", "relative_low"] < 0 < fair.loc["good", "relative_high"]
    proud = self_preference(
        observed(tmp_path / "b", simulate(own=0.3, means=(3.5, 3.3, 3.1))), resamples=1000, alpha=0.05
    )
    assert (proud["relative_low"] > 0.15).all()
    assert proud["relative"].between(0.2, 0.6).all()


def test_the_others_of_four_are_averaged(tmp_path):
    four = ["w", "x", "y", "z"]
    ratings = {
        (j, g, row): float((3 * a + 7 * b + a * b * b + row * (b + 2)) % 5 + 1)
        for a, j in enumerate(four) for b, g in enumerate(four) for row in range(7)
    }  # fmt: skip
    frame = pd.DataFrame(
        [
            {"judge": j, "generator": g, "transformation": "shorter", "row": str(row), "position": 0,
             "text_id": row, "rating": value}
            for (j, g, row), value in ratings.items()
        ]
    )  # fmt: skip
    held = observe(write(tmp_path, frame), generators=four, judges=four)
    found = self_preference(held, resamples=50, alpha=0.05).set_index("judge")

    def gap(judge, own):
        others = [np.mean([ratings[judge, g, row] for g in four if g != own]) for row in range(7)]
        return np.mean([ratings[judge, own, row] for row in range(7)]), np.mean(others)

    for judge in four:
        own, others = gap(judge, judge)
        among = np.mean([np.subtract(*gap(j, judge)) for j in four if j != judge])
        expected = [own, others, own - others, own - others - among]
        assert found.loc[judge, ["own", "others", "own_minus_others", "relative"]].tolist() == pytest.approx(
            expected
        )


def test_a_judge_from_outside_gives_a_row_and_no_column(tmp_path):
    found = observed(tmp_path, simulate(n_pairs=10, judges=[*GENERATORS, "guest"]), [*GENERATORS, "guest"])
    assert list(judge_rows(found).index) == [*GENERATORS, "guest"]
    assert list(judge_rows(found).columns) == GENERATORS
    assert list(self_preference(found, resamples=100, alpha=0.05)["judge"]) == GENERATORS


def test_judges_that_say_the_same_agree(tmp_path):
    ratings = simulate(n_pairs=20)
    first = ratings[ratings["judge"] == "good"].set_index(["generator", "transformation", "text_id"])[
        "rating"
    ]
    keys = ratings.set_index(["generator", "transformation", "text_id"]).index
    ratings["rating"] = first.loc[keys].to_numpy()
    found = judge_agreement(observed(tmp_path, ratings), scale=(1, 2, 3, 4, 5), alpha=0.05)
    assert found["ac2"].tolist() == pytest.approx([1.0] * 3)
    assert found["spearman"].tolist() == pytest.approx([1.0] * 3)
    assert list(found["transformation"]) == [*TRANSFORMATIONS, "all"]
    assert found["n_items"].tolist() == [120, 120, 240]


def test_totals_are_means_of_unrounded_cells(tmp_path):
    """Table 11 of the paper, built from ratings whose cell means are its cells."""
    table = pd.read_csv(TABLES / "hteb_table11_judge_by_transformation.csv").set_index("transformation")
    generators = [c for c in table.columns if c != "total"]
    rows = [
        {"judge": "j", "generator": g, "transformation": t, "row": str(i), "position": 0, "text_id": i,
         "rating": float(table.loc[t, g])}
        for i in range(2)
        for g in generators
        for t in table.index
        if t != "total"
    ]  # fmt: skip
    found = observe(write(tmp_path, pd.DataFrame(rows)), generators=generators, judges=["j"])
    made = transformation_rows(found).set_index("transformation")
    for t in table.index:
        assert made.loc[t, "total"] == pytest.approx(table.loc[t, "total"], abs=0.011), t
    # The printed totals of the columns are table 10's averages.
    for g, printed in zip(generators, [4.45, 4.38, 3.89, 4.43, 4.40], strict=True):
        assert made.loc["total", g] == pytest.approx(printed, abs=0.011), g


def test_rows_that_share_texts_are_drawn_by_their_texts(tmp_path):
    """45 rows of ten texts give ten observations, and five give no interval."""
    for n in (10, 5):
        places = list(combinations(range(n), 2))
        ratings = simulate(n_pairs=len(places))
        ratings["original"] = [
            f"text {places[int(r)][p]}" for r, p in zip(ratings["row"], ratings["position"], strict=True)
        ]
        found = observed(tmp_path / str(n), ratings)
        assert (len(found.pairs), found.units.n) == (len(places), n)
        outcome = compare(found, resamples=300, alpha=0.05)
        low = [m.low for m in outcome.means.values()]
        assert np.isnan(low).all() if n == 5 else np.isfinite(low).all()
        assert all(np.isnan(c.p) == (n == 5) for c in outcome.comparisons)
        said = winner(outcome, errors=dict.fromkeys(GENERATORS, 0.0), names=NAMES, n=len(places))["sentence"]
        assert ("no interval: too few observations" in said) == (n == 5)
