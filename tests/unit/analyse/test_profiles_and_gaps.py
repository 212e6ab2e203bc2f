"""Profiles, ranks, gaps, sizes, training overlap: planted truths and numbers made by hand."""

import numpy as np
import pandas as pd
import pytest
from study_cases import analysed, hash_of, made_names, made_scores, noisy

from stressbed.analyse.descriptive.scores import by_language, delta_by_task_type
from stressbed.analyse.statistics.gap import setting_gap, setting_gap_by_embedder
from stressbed.analyse.statistics.halves import split_half_table
from stressbed.analyse.statistics.profiles import (
    axis_correlations,
    axis_profiles,
    cluster_spearman,
    drops_by_cell,
)
from stressbed.analyse.statistics.ranks import hteb_ranks
from stressbed.analyse.statistics.registry import STATISTICS
from stressbed.analyse.statistics.size import size_ablation
from stressbed.analyse.statistics.zero_shot import zero_shot
from stressbed.analyse.write import to_csv, to_latex, to_markdown

E, D = ("a", "b", "c", "d"), tuple(f"d{i}" for i in range(8))
GROUPS = {d: "english" if i < 5 else "non_english" for i, d in enumerate(D)}
WEAK = {"a": "lexical_stylistic", "b": "length", "c": "language"}


def planted(names, size=5.0, spread=0.5):
    base = noisy(9, spread=spread)
    return lambda e, d, t, s: base(e, d, t, s) - (size if names.axes.get(t) == WEAK.get(e, "none") else 0.0)


def test_the_planted_axis_comes_out_as_the_most_disruptive():
    names = made_names(E, D)
    frame = axis_profiles(analysed(names, made_scores(names, planted(names)))).frame.set_index("embedder")
    for embedder, axis in WEAK.items():
        assert frame.loc[embedder, "most_disruptive"] == axis
        assert frame.loc[embedder, "certainty"] == 100
        assert frame.loc[embedder, axis] == pytest.approx(-5, abs=0.6)
    assert frame.loc["d", "certainty"] < 100
    assert abs(frame.loc["d", "hteb"]) < 0.6


def test_relative_drop_is_that_of_the_mean_scores():
    names = made_names(("a",), D[:2])
    levels = {"d0": 40.0, "d1": 80.0}
    score = lambda e, d, t, s: levels[d] - (0 if t == "original" else 6.0 if d == "d0" else 0.0)  # noqa: E731
    row = axis_profiles(analysed(names, made_scores(names, score))).frame.iloc[0]
    assert row["relative_drop"] == pytest.approx(100 * 3 / 60)


def test_ranks_and_means_are_those_of_the_scores_and_lie_in_their_intervals():
    names = made_names(E, D)
    scores = made_scores(names, planted(names, spread=4))
    frame = hteb_ranks(analysed(names, scores)).frame.set_index("embedder")
    originals = scores[scores["transformation"] == "original"].groupby("embedder")["score"].mean()
    assert frame["original"].to_dict() == pytest.approx(originals.to_dict())
    assert (frame["original"] - frame["hteb"]).to_dict() == pytest.approx(frame["drop"].to_dict())
    assert frame["rank_original"].to_dict() == originals.rank(ascending=False).to_dict()
    for name, low, high in (
        ("original", "original_low", "original_high"),
        ("hteb", "hteb_low", "hteb_high"),
        ("drop", "drop_low", "drop_high"),
        ("rank_hteb", "rank_low", "rank_high"),
    ):
        assert (frame[low] <= frame[name]).all()
        assert (frame[name] <= frame[high]).all()


def test_one_dataset_has_ranks_without_intervals():
    names = made_names(E, D[:1])
    table = hteb_ranks(analysed(names, made_scores(names, noisy(1))))
    assert sorted(table.frame["rank_hteb"]) == [1, 2, 3, 4]
    assert table.frame[["rank_low", "rank_high", "drop_low", "hteb_high"]].isna().all(axis=None)
    assert "No intervals: one dataset is too few for an interval, which needs 6." in table.notes


def test_the_gap_is_the_difference_of_means_over_datasets_then_embedders():
    names = made_names(E, D, language_groups=GROUPS)

    def score(e, d, t, s):
        loss = {"english": 4.0, "non_english": 1.0}[GROUPS[d]]
        more = 3.0 if t in {"translation", "cross_translation"} and GROUPS[d] == "english" else 0.0
        return 50.0 - (0 if t == "original" else loss + more)

    table = setting_gap(analysed(names, made_scores(names, score))).frame.set_index(["condition", "axes"])
    whole = table.loc[("all", "with_language")]
    assert (whole["english"], whole["non_english"], whole["gap"]) == (-5.0, -1.0, 4.0)
    assert np.isnan([whole["gap_low"], whole["gap_high"]]).all()  # fewer than six datasets in a group
    assert table.loc[("shared", "without_language"), "gap"] == 3.0
    one = setting_gap_by_embedder(analysed(names, made_scores(names, score))).frame.set_index("embedder")
    assert one.loc["a", "english_relative"] == -10.0
    assert one.loc["(mean)", "non_english_delta"] == -1.0


def test_the_gap_is_that_of_plain_loops():
    """Eight embedders' skewed drops, each group's datasets and each axis's transformations averaged."""
    embedders = tuple("abcdefgh")
    names = made_names(embedders, D, language_groups=GROUPS)
    base = noisy(4)
    score = lambda e, d, t, s: base(e, d, t, s) - (t != "original") * (hash_of(e + d + t) % 11) ** 2 / 10  # noqa: E731
    table = setting_gap(analysed(names, made_scores(names, score))).frame.set_index(["condition", "axes"])

    def drop(e, d, axes):
        by_axis = [
            np.mean(
                [np.mean([score(e, d, t, s) for s in (1, 2, 3)]) for t, a in names.axes.items() if a == axis]
            )
            for axis in axes
        ]
        return np.mean(by_axis) - score(e, d, "original", 0)

    for condition, axes in (
        ("with_language", ("lexical_stylistic", "length", "language")),
        ("without_language", ("lexical_stylistic", "length")),
    ):
        for group in ("english", "non_english"):
            expected = np.mean([drop(e, d, axes) for e in embedders for d in D if GROUPS[d] == group])
            assert table.loc[("all", condition), group] == pytest.approx(expected)
    both = table.loc[("shared", "with_language")]
    assert both["gap"] == pytest.approx(both["non_english"] - both["english"])
    frame = setting_gap_by_embedder(analysed(names, made_scores(names, score))).frame.set_index("embedder")
    for column in frame.columns[1:]:
        assert frame.loc["(mean)", column] == pytest.approx(
            np.mean([frame.loc[e, column] for e in embedders])
        )
    english = [d for d in D if GROUPS[d] == "english"]
    original = np.mean([score("c", d, "original", 0) for d in english])
    delta = np.mean([drop("c", d, ("lexical_stylistic", "length", "language")) for d in english])
    found = frame.loc["c", ["english_original", "english_delta", "english_relative"]]
    assert found.tolist() == pytest.approx([original, delta, 100 * delta / original])


@pytest.mark.parametrize("fewer", [5, 6])
def test_the_gap_has_an_interval_from_six_datasets_in_each_group_on(fewer):
    datasets = tuple(f"d{i}" for i in range(8 + fewer))
    groups = dict(zip(datasets, ["english"] * 8 + ["non_english"] * fewer, strict=True))
    names = made_names(E, datasets, language_groups=groups)
    table = setting_gap(analysed(names, made_scores(names, noisy(3)), resamples=4000))
    row = table.frame.set_index(["condition", "axes"]).loc[("all", "with_language")]
    assert row[["datasets_english", "datasets_non_english"]].tolist() == [8, fewer]
    if fewer == 5:
        assert np.isnan([row["gap_low"], row["gap_high"]]).all()
        why = "No interval of the gap: 5 datasets are too few for an interval, which needs 6 in each group."
        assert why in table.notes
        return
    assert row["gap_low"] < row["gap"] < row["gap_high"]
    assert any(n.startswith("With n = 6 the bootstrap interval, aimed at 95 %, covers") for n in table.notes)


def test_only_embedders_with_both_groups_are_shared():
    names = made_names(
        E, D, language_groups=GROUPS, settings=GROUPS, members={"english": "abc", "non_english": "cd"}
    )
    pairs = {(e, d) for d in D for e in ("abc" if GROUPS[d] == "english" else "cd")}
    data = analysed(names, made_scores(names, noisy(2), pairs=pairs))
    frame = setting_gap(data).frame.set_index(["condition", "axes"])
    assert frame.loc[("all", "with_language"), ["n_english", "n_non_english"]].tolist() == [3, 2]
    assert frame.loc[("shared", "with_language"), ["n_english", "n_non_english"]].tolist() == [1, 1]
    assert setting_gap_by_embedder(data).frame["embedder"].tolist() == ["c", "(mean)"]


def test_an_embedder_without_rows_of_a_dataset_is_not_complete():
    """Its mean would be one over other datasets: d4 costs everyone else 40 points."""
    settings = {d: "all" if d == "d4" else "most" for d in D}
    names = made_names(
        E, D, language_groups=GROUPS, settings=settings, members={"all": list("abd"), "most": list(E)}
    )
    pairs = {(e, d) for d in D for e in E if (e, d) != ("c", "d4")}
    score = lambda e, d, t, s: 50.0 - (0 if t == "original" else 40.0 if d == "d4" else 2.0)  # noqa: E731
    table = setting_gap(analysed(names, made_scores(names, score, pairs=pairs)))
    frame = table.frame.set_index(["condition", "axes"])
    assert frame.loc[("all", "with_language"), ["n_english", "n_non_english"]].tolist() == [3, 4]
    assert frame.loc[("all", "with_language"), "english"] == pytest.approx(-(4 * 2 + 40) / 5)
    assert frame.loc[("shared", "with_language"), ["n_english", "n_non_english"]].tolist() == [3, 3]
    said = "English datasets: c is left out, it lacks cells of 1 of 5."
    assert said in table.notes
    by_embedder = setting_gap_by_embedder(analysed(names, made_scores(names, score, pairs=pairs)))
    assert by_embedder.frame["embedder"].tolist() == ["a", "b", "d", "(mean)"]
    assert said in by_embedder.notes


def test_a_run_with_the_language_axis_alone_has_a_gap_with_it():
    names = made_names(E, D, language_groups=GROUPS, transformations=("translation",))
    table = setting_gap(analysed(names, made_scores(names, noisy(2))))
    assert set(table.frame["axes"]) == {"with_language"}
    assert len(table.frame) == 2
    assert "Without the Language axis: left out, the run has no other axis." in table.notes


def test_an_embedder_that_lacks_a_cell_leaves_the_gap_of_the_others():
    names = made_names(E, D, language_groups=GROUPS)
    lost = ("c", "d1", "expansion", 2)
    score = lambda e, d, t, s: None if (e, d, t, s) == lost else 50.0 - (t != "original")  # noqa: E731
    table = setting_gap(analysed(names, made_scores(names, score)))
    counts = table.frame.set_index(["condition", "axes"])[["n_english", "n_non_english"]]
    assert counts.to_numpy().tolist() == [[3, 4], [3, 4], [3, 3], [3, 3]]
    assert "English datasets: c is left out, it lacks cells of 1 of 5." in table.notes


@pytest.mark.parametrize(
    ("original", "relative"), [(5.0, 20.0), (4.99, None), (0.0, None), (-20.0, None), (50.0, 2.0)]
)
def test_a_drop_near_zero_has_no_share(original, relative):
    names = made_names(("a",), D, language_groups=GROUPS)
    data = analysed(names, made_scores(names, lambda e, d, t, s: original - (t != "original")))
    found = axis_profiles(data).frame["relative_drop"].iloc[0]
    both = setting_gap_by_embedder(data).frame.loc[0, ["english_relative", "non_english_relative"]]
    if relative is None:
        assert np.isnan([found, *both]).all()
    else:
        assert found == pytest.approx(relative)
        assert both.tolist() == pytest.approx([-relative] * 2)


def test_a_translated_dataset_is_not_counted_among_the_non_english_ones():
    groups = {**dict.fromkeys(D[:4], "english"), "d4": "non_english"}
    names = made_names(E, D[:5], language_groups=groups, translations={"d4": "d0"})
    table = setting_gap(analysed(names, made_scores(names, noisy(2))))
    assert len(table.frame) == 0
    assert table.notes == ["Left out: the run has no non-English datasets."]


def two_settings():
    """Four embedders; `c` and `d` stand in one setting only, whose datasets lose more."""
    settings = {"d0": "x", "d1": "y", "d2": "x", "d3": "y"}
    names = made_names(E, D[:4], settings=settings, members={"x": list(E), "y": ["a", "b"]})
    pairs = {(e, d) for d, s in settings.items() for e in names.members[s]}
    score = lambda e, d, t, s: 50.0 - (t != "original") * {"x": 8.0, "y": 2.0}[settings[d]]  # noqa: E731
    scores = made_scores(names, score, pairs=pairs).assign(task_type="STS", language="eng-Latn")
    return names, scores


def test_a_task_types_row_rests_on_embedders_with_all_of_its_datasets():
    names, scores = two_settings()
    table = delta_by_task_type(scores, names)
    row = table.frame.iloc[0]
    assert row[["n_datasets", "n_embedders"]].tolist() == [4, 2]
    assert row["expansion"] == pytest.approx(-5.0)
    assert "STS: left out, c, d." in table.notes


def test_a_languages_row_counts_its_own_datasets():
    names, scores = two_settings()
    parts = scores.assign(subset="default", split="test")
    table = by_language(pd.concat([scores, parts]), names)
    frame = table.frame.set_index("embedder")
    assert frame["n_datasets"].to_dict() == {"a": 4, "b": 4, "c": 2, "d": 2}
    assert frame["drop"].to_dict() == pytest.approx({"a": 5.0, "b": 5.0, "c": 8.0, "d": 8.0})
    assert any("n_datasets differs within a language" in n for n in table.notes)


def test_correlations_find_axes_that_go_together():
    names = made_names(tuple("abcdefgh"), D)

    def score(e, d, t, s):
        both = 2.0 * hash_of(e) % 7 if names.axes.get(t) in {"length", "language"} else 0.0
        return noisy(5, spread=0.3)(e, d, t, s) - both

    frame = axis_correlations(analysed(names, made_scores(names, score))).frame
    found = frame.set_index(["level", "first", "second"])["rho"]
    assert found["embedder", "length", "language"] > 0.8
    assert found["cell", "length", "language"] > 0.7
    assert abs(found["cell", "lexical_stylistic", "length"]) < 0.6
    assert set(frame["n"]) == {8}


def test_resampling_clusters_keeps_their_rows_together():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(6, 1)), 50, axis=1) + rng.normal(0, 0.01, size=(6, 50))
    estimate, low, high = cluster_spearman(x, x + rng.normal(0, 1, size=x.shape), resamples=300, rng=rng)
    assert low < estimate < high
    assert high - low > 0.2  # six clusters, not 300 cells


def test_drops_are_original_minus_transformed():
    names = made_names(("a",), ("d0",), transformations=("expansion",))
    score = lambda e, d, t, s: 70.0 if t == "original" else 60.0 + s  # noqa: E731
    row = drops_by_cell(analysed(names, made_scores(names, score))).frame.iloc[0]
    assert (row["original"], row["drop"], row["axis"]) == (70.0, 8.0, "length")


def test_families_stand_by_size_and_single_members_do_not():
    names = made_names(
        E, D, families={"a": "f", "b": "f", "c": "g"}, parameters={"a": 900, "b": 100, "c": 5, "d": 7}
    )
    frame = size_ablation(analysed(names, made_scores(names, noisy(1)))).frame
    assert frame["embedder"].tolist() == ["b", "a"]
    assert frame["parameters"].tolist() == [100, 900]


def test_embedders_without_another_size_are_named():
    names = made_names(E, D, families={"a": "f", "b": "f", "c": "g"}, parameters={"a": 900, "b": 100, "c": 5})
    notes = size_ablation(analysed(names, made_scores(names, noisy(1)))).notes
    assert [n for n in notes if n.startswith("Left out: c, d; the catalogue gives no")] == [notes[-1]]


def lacking_one(e, d, t, s):
    return None if (e, d, t, s) == ("a", "d1", "expansion", 2) else 50.0 - hash_of(e) % 3 - (t != "original")


def test_rows_and_pairs_without_a_score_are_counted_with_the_reason():
    names = made_names(E, D[:3])
    data = analysed(names, made_scores(names, lacking_one), zero_shot={("a", "d0"): True})
    table = drops_by_cell(data)
    assert len(table.frame) == 4 * 3 * 8 - 1
    assert "Left out: 1 row that lacks a score under a seed or on the original; incomplete" in table.notes[-1]
    found = zero_shot(data)
    assert found.frame["pairs"].tolist() == [11]
    assert found.notes[-1] == "1 pair without every cell is left out."
    whole = analysed(names, made_scores(names, noisy(1)), zero_shot={("a", "d0"): True})
    assert not any("left out" in n.lower() for n in (*drops_by_cell(whole).notes, *zero_shot(whole).notes))


def test_halvings_without_a_ranking_are_counted_with_the_reason():
    names = made_names(("a", "b", "c"), D[:4])
    # Embedders differ on d0 and d1 alone: a half without both of them ranks nobody.
    score = lambda e, d, t, s: 60.0 - 4.0 * (t != "original") - (d in {"d0", "d1"}) * hash_of(e) % 7  # noqa: E731
    scores = made_scores(names, score).assign(task_type="STS")
    table = split_half_table(analysed(names, scores, halves=200))
    row = table.frame[table.frame["measure"].eq("score") & table.frame["row"].eq("hteb")].iloc[0]
    # Of the six halvings of four datasets two leave d0 and d1 together.
    assert 105 < row["halves"] < 160
    left = 200 - row["halves"]
    assert (
        f"score of HTEB: {left} halvings of 200 are left out, all embedders have the same mean in one half."
        in table.notes
    )
    assert any(
        "left out, all embedders have the same mean in one half of every halving" in n for n in table.notes
    )


def test_drops_of_zero_shot_pairs_are_means():
    names = made_names(("a",), D[:5])
    lost = dict(zip(D, (1.0, 2.0, 9.0, 4.0, 24.0), strict=False))
    scores = made_scores(names, lambda e, d, t, s: 50.0 - (t != "original") * lost[d])
    row = zero_shot(analysed(names, scores, zero_shot={("a", d): True for d in D[:3]})).frame.iloc[0]
    assert (row["drop_all"], row["drop_zero_shot"]) == (8.0, 4.0)


def test_zero_shot_pairs_are_averaged_alone():
    names = made_names(("a", "b"), D[:2])
    score = lambda e, d, t, s: 50.0 - (0 if t == "original" else 10.0 if e == "a" else 2.0)  # noqa: E731
    known = {("a", "d0"): False, ("b", "d0"): True, ("b", "d1"): True, ("a", "d1"): None}
    row = zero_shot(analysed(names, made_scores(names, score), zero_shot=known)).frame.iloc[0]
    assert (row["drop_all"], row["drop_zero_shot"]) == (6.0, 2.0)
    assert row[["pairs", "zero_shot_pairs", "trained_pairs", "unknown_pairs"]].tolist() == [4, 2, 1, 1]
    table = zero_shot(analysed(names, made_scores(names, score)))
    assert len(table.frame) == 0
    assert "no training data on record" in table.notes[0]


def apart(english, non_english):
    """Return names of embedders that have datasets of one group each, and the pairs that there are."""
    members = {"english": list(english), "non_english": list(non_english)}
    names = made_names(E, D, language_groups=GROUPS, settings=GROUPS, members=members)
    return names, {(e, d) for d in D for e in members[GROUPS[d]]}


def without(*cells):
    """Return a score function that has none of these cells, in which None stands for any."""
    base = noisy(6)
    lacks = lambda c: any(all(w in {None, v} for w, v in zip(cell, c, strict=True)) for cell in cells)  # noqa: E731
    return lambda *c: None if lacks(c) else base(*c)


TRAINED = {(e, d): False for e in E for d in D}
GAP_OF_BOTH = "embedders: left out, none has all cells of both groups."
NARROW = "a bootstrap interval over so few is too narrow; read it as a lower bound of the uncertainty."


@pytest.mark.parametrize(
    ("statistic", "score", "embedders", "datasets", "said"),
    [
        ("setting_gap", without((None, "d0", "expansion", 1)), E, D, [f"All {GAP_OF_BOTH}"]),
        ("zero_shot", without(("a", "d1", "expansion", 2), ("b", "d1", "expansion", 2)), E, D,
         ["No zero-shot pair.", "2 pairs without every cell are left out."]),
        ("rank_stability", without(*((e, None, "expansion", 1) for e in "abc")), E, D,
         ["Rank stability: left out, no dataset has two embedders with all cells."]),
        ("shifts", without((None, None, "expansion", 1)), E, D,
         ["Expansion: left out, no dataset has all its cells."]),
        ("shifts", noisy(1), E, D[:1],
         ["No shift can be significant: with 1 observation the smallest possible p is 1 before Holm's "
          "correction."]),
        ("shifts", without((None, "d3", "original", 0)), E, D,
         ["Datasets with a missing cell are left out; n counts those that are left."]),
        ("axis_correlations", noisy(1), E[:2], D[:2],
         ["Over embedders: left out, three are needed; there are 2.",
          "Over cells: 2 datasets are too few for an interval, which needs 6."]),
        ("axis_correlations", noisy(1), tuple("abcdef"), D[:1],
         [f"6 embedders: {NARROW}", "Over cells: left out, two datasets with every cell are needed."]),
        ("axis_correlations", noisy(1), tuple("abcde"), D,
         ["Over embedders: 5 embedders are too few for an interval, which needs 6.",
          f"8 datasets: {NARROW}"]),
        ("split_half", without(("a", "d1", "expansion", 2)), E, D[:6],
         ["Only the 5 of 6 datasets with every cell.",
          "5 datasets: halves of two or three are little to go by."]),
        ("drops_by_cell", without(("a", "d1", "expansion", 2), ("b", "d1", "original", 0)), E, D,
         ["Left out: 9 rows that lack a score under a seed or on the original; incomplete_cells.csv says "
          "why."]),
        ("axis_profiles", without(("a", "d1", "expansion", 2)), E, D[:5],
         ["a: left out, it lacks cells.",
          "How certain the most disruptive axis is cannot be said: resampled datasets need as many as an "
          "interval, and 5 datasets are too few for an interval, which needs 6."]),
        ("hteb_ranks", without((None, None, "expansion", 1)), E, D,
         ["Ranks: left out, no dataset has every cell of every embedder."]),
        ("size_ablation", noisy(1), E, D,
         ["Left out: no family of embedders (`family` in the catalogue) has two sizes here."]),
    ],
)  # fmt: skip
def test_what_a_statistic_lacks_is_said_in_full(statistic, score, embedders, datasets, said):
    names = made_names(
        embedders,
        datasets,
        language_groups=GROUPS,
        families=dict.fromkeys(embedders, "f"),
        parameters={"a": 1},
    )
    table = STATISTICS[statistic](analysed(names, made_scores(names, score), zero_shot=TRAINED))
    assert [n for n in table.notes if n in said] == said


def test_embedders_of_one_group_each_have_no_gap_in_common():
    names, pairs = apart("ab", "cd")
    data = analysed(names, made_scores(names, noisy(2), pairs=pairs))
    table = setting_gap(data)
    assert table.frame["condition"].tolist() == ["all", "all"]
    assert f"Shared {GAP_OF_BOTH}" in table.notes
    assert setting_gap_by_embedder(data).notes[0] == "Left out: no embedder has all cells of both groups."


@pytest.mark.parametrize("statistic", list(STATISTICS))
@pytest.mark.parametrize(
    ("embedders", "datasets", "seeds", "transformations"),
    [
        (("a",), ("d0",), (1,), ("paraphrasing",)),
        (("a", "b"), ("d0",), (1, 2), ("translation",)),
        (("a",), D, (1, 2), ("paraphrasing", "expansion")),
        (E, ("d0", "d1"), (1,), ("expansion", "translation")),
    ],
)
def test_no_statistic_breaks_on_a_small_run(statistic, embedders, datasets, seeds, transformations):
    names = made_names(embedders, datasets, transformations=transformations)
    for score in (noisy(1), lambda *_: 50.0, lambda *_: 0.0, lambda *_: None):
        table = STATISTICS[statistic](analysed(names, made_scores(names, score, seeds=seeds)))
        assert table.name == statistic
        assert len(table.frame) or table.notes
        assert all(text for text in (to_csv(table.frame), to_markdown(table, names), to_latex(table, names)))


@pytest.mark.parametrize("statistic", list(STATISTICS))
def test_the_same_twice_and_in_any_order_of_rows(statistic):
    names = made_names(E, D, language_groups=GROUPS)
    scores = made_scores(names, noisy(11))
    first = STATISTICS[statistic](analysed(names, scores)).frame
    again = STATISTICS[statistic](analysed(names, scores.sample(frac=1, random_state=3))).frame
    assert to_csv(first) == to_csv(again)


@pytest.mark.parametrize("statistic", ["shifts", "axis_profiles", "setting_gap", "split_half"])
def test_deltas_do_not_hang_on_the_level_of_the_scores(statistic):
    names = made_names(E, D, language_groups=GROUPS)
    base = noisy(12)
    low, high = (
        STATISTICS[statistic](analysed(names, made_scores(names, lambda *c, k=k: base(*c) + k))).frame
        for k in (0.0, 7.0)
    )
    columns = [c for c in low.columns if c != "relative_drop"]
    assert to_csv(low[columns]) == to_csv(high[columns])
