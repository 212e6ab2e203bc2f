"""The aggregation against plain loops that follow the definition word by word."""

import math
from dataclasses import replace
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from fabricate import EIGHT
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.analyse.descriptive.scores import (
    by_dataset,
    by_language,
    delta_by_task_type,
    delta_by_transformation,
    hteb_scores,
    hteb_scores_common,
    incomplete_cells,
)
from stressbed.analyse.names import Names
from stressbed.analyse.write import to_markdown
from stressbed.collect.schema import ALL
from stressbed.errors import DataError

AXES = ("lexical_stylistic", "length", "language")
SEEDS = (1, 2)


def names(embedders, datasets, generators=("llm",), transformations=tuple(EIGHT)):
    return Names(
        embedders={e: e.upper() for e in embedders},
        datasets={d: d for d in datasets},
        generators={g: g for g in generators},
        transformations={t: EIGHT[t][0] for t in transformations},
        axes={t: EIGHT[t][1] for t in transformations},
    )


def row(e, d, g, t, s, score, original, **more):
    return {
        "run": "r", "embedder": e, "dataset": d, "task": d, "task_type": "STS", "subset": ALL,
        "split": ALL, "language": "eng-Latn", "generator": g, "transformation": t,
        "axis": EIGHT[t][1] if t in EIGHT else "original", "seed": s, "metric": "m",
        "higher_is_better": True, "score": score, "original": original,
        "delta": None if t == "original" or score is None or original is None else score - original,
        "n_items": 5, "n_texts": 10, "status": "missing" if score is None else "ok", "error": "",
        "fallbacks": 0, "fallback_share": 0.0, "flagged": 0, "retried": 0, "dropped": 0,
        "marked": False, "matched": False, "fingerprint": "", "cell_path": "", **more,
    }  # fmt: skip


def made(scores, embedders, datasets, transformations=tuple(EIGHT)):
    """Return a scores table from a mapping (embedder, dataset, transformation, seed) -> score."""
    rows = []
    for e in embedders:
        for d in datasets:
            original = scores.get((e, d, "original", 0))
            rows.append(row(e, d, "none", "original", 0, original, original))
            rows += [
                row(e, d, "llm", t, s, scores.get((e, d, t, s)), original)
                for t in transformations
                for s in SEEDS
            ]
    frame = pd.DataFrame(rows)
    numbers = ["score", "original", "delta"]
    return frame.assign(**{c: frame[c].astype(float) for c in numbers})


def by_hand(scores, e, datasets):
    """The paper's order: seeds, datasets, transformations within an axis, axes."""
    axis_scores = {}
    for axis in AXES:
        per_transformation = []
        for t in (t for t, (_, a) in EIGHT.items() if a == axis):
            per_dataset = [fmean(scores[e, d, t, s] for s in SEEDS) for d in datasets]
            per_transformation.append(fmean(per_dataset))
        axis_scores[axis] = fmean(per_transformation)
    original = fmean(scores[e, d, "original", 0] for d in datasets)
    total = fmean(axis_scores.values())
    return {"original": original, **axis_scores, "hteb": total, "drop": original - total}


@st.composite
def grids(draw):
    embedders = [f"e{i}" for i in range(draw(st.integers(1, 3)))]
    datasets = [f"d{i}" for i in range(draw(st.integers(1, 4)))]
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    keys = [(e, d, "original", 0) for e in embedders for d in datasets]
    keys += [(e, d, t, s) for e in embedders for d in datasets for t in EIGHT for s in SEEDS]
    return embedders, datasets, {k: float(rng.uniform(0, 100)) for k in keys}


@settings(max_examples=12, deadline=None)
@given(grids())
def test_totals_equal_plain_loops(grid):
    embedders, datasets, scores = grid
    table = hteb_scores(made(scores, embedders, datasets), names(embedders, datasets)).frame
    assert list(table.columns) == ["embedder", "original", *AXES, "hteb", "drop"]
    assert table["embedder"].tolist() == embedders
    for record in table.to_dict("records"):
        expected = by_hand(scores, record["embedder"], datasets)
        for name, value in expected.items():
            assert record[name] == pytest.approx(value, abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(grids(), st.floats(-20, 20), st.randoms(use_true_random=False))
def test_a_shift_moves_scores_and_not_drops_whatever_the_order_of_rows(grid, shift, random):
    embedders, datasets, scores = grid
    n = names(embedders, datasets)
    before = hteb_scores(made(scores, embedders, datasets), n).frame
    frame = made({k: v + shift for k, v in scores.items()}, embedders, datasets)
    order = list(range(len(frame)))
    random.shuffle(order)
    after = hteb_scores(frame.iloc[order], n).frame
    assert after["hteb"].to_numpy() == pytest.approx(before["hteb"].to_numpy() + shift, abs=1e-9)
    assert after["drop"].to_numpy() == pytest.approx(before["drop"].to_numpy(), abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(grids(), st.data())
def test_a_missing_cell_blanks_exactly_what_rests_on_it(grid, data):
    embedders, datasets, scores = grid
    lost = data.draw(st.sampled_from(sorted(scores)))
    e, d, t, _ = lost
    kept = {k: v for k, v in scores.items() if k != lost}
    n = names(embedders, datasets)
    table = hteb_scores(made(kept, embedders, datasets), n).frame.set_index("embedder")
    assert math.isnan(table.loc[e, "hteb"])
    assert math.isnan(table.loc[e, "drop"])
    blank = "original" if t == "original" else EIGHT[t][1]
    others = [x for x in embedders if x != e]
    assert table.loc[e, ["original", *AXES]].isna().sum() == 1
    assert math.isnan(table.loc[e, blank])
    assert table.loc[others].notna().all(axis=None)
    common = [x for x in datasets if x != d]
    second = hteb_scores_common(made(kept, embedders, datasets), n)
    if common:
        for record in second.frame.to_dict("records"):
            assert record["hteb"] == pytest.approx(by_hand(scores, record["embedder"], common)["hteb"])
        assert any(d in note for note in second.notes)
    else:
        assert second.frame[["original", *AXES, "hteb", "drop"]].isna().all(axis=None)


def grid_of(value, embedders=("a", "b"), datasets=("x", "y")):
    keys = [(e, d, "original", 0) for e in embedders for d in datasets]
    keys += [(e, d, t, s) for e in embedders for d in datasets for t in EIGHT for s in SEEDS]
    return {k: value(*k) for k in keys}


def test_deltas_by_transformation_and_task_type():
    place = {t: i for i, t in enumerate(EIGHT)}

    def value(e, d, t, s):
        base = 80 if d == "x" else 60
        return base if t == "original" else base - place[t] - (s - 1) - (4 if d == "y" else 0) - (e == "b")

    frame = made(grid_of(value), ("a", "b"), ("x", "y"))
    frame.loc[frame["dataset"] == "y", "task_type"] = "Retrieval"
    n = names(("a", "b"), ("x", "y"))
    table = delta_by_transformation(frame, n).frame.set_index("embedder")
    assert list(table.columns) == list(EIGHT)
    for t, i in place.items():
        assert table.loc["a", t] == pytest.approx(-(i + 0.5 + 2))
        assert table.loc["b", t] == pytest.approx(-(i + 0.5 + 3))
    types = delta_by_task_type(frame, n).frame.set_index("task_type")
    assert types.loc["STS", "expansion"] == pytest.approx(-(place["expansion"] + 0.5 + 0.5))
    assert types.loc["Retrieval", "expansion"] == pytest.approx(-(place["expansion"] + 0.5 + 4.5))
    assert types["n_datasets"].tolist() == [1, 1]


def test_a_task_type_rests_on_the_embedders_that_have_all_of_it():
    scores = grid_of(lambda e, d, t, s: 50.0 if t == "original" else 40.0 if e == "a" else 10.0)
    del scores["b", "y", "translation", 2]
    frame = made(scores, ("a", "b"), ("x", "y"))
    frame.loc[frame["dataset"] == "y", "task_type"] = "Retrieval"
    types = delta_by_task_type(frame, names(("a", "b"), ("x", "y"))).frame.set_index("task_type")
    assert types.loc["Retrieval", "n_embedders"] == 1
    assert types.loc["Retrieval", "expansion"] == pytest.approx(-10)
    assert types.loc["STS", "n_embedders"] == 2
    assert types.loc["STS", "expansion"] == pytest.approx(-25)


def test_a_matched_original_keeps_totals_paired():
    scores = grid_of(lambda e, d, t, s: 80.0 if t == "original" else 70.0, ("a",), ("x",))
    frame = made(scores, ("a",), ("x",))
    # Two easy rows were dropped: 50 on the others, where the original has 60. The loss is 10, not 30.
    cell = (frame["transformation"] == "expansion") & (frame["seed"] == 1)
    frame.loc[cell, ["score", "original", "delta", "matched"]] = [50.0, 60.0, -10.0, True]
    table = hteb_scores(frame, names(("a",), ("x",))).frame
    assert table.loc[0, "length"] == pytest.approx(70)
    assert table.loc[0, "drop"] == pytest.approx(10)


def test_by_dataset_and_by_language_follow_the_same_order():
    frame = made(grid_of(lambda e, d, t, s: 90.0 if t == "original" else 70.0 + s), ("a", "b"), ("x", "y"))
    n = names(("a", "b"), ("x", "y"))
    datasets = by_dataset(frame, n).frame
    assert len(datasets) == 4
    assert datasets["drop"].to_numpy() == pytest.approx(18.5)
    parts = []
    for subset, language, shift in (("en", "eng-Latn", 0.0), ("de", "deu-Latn", -10.0)):
        part = frame.assign(subset=subset, split="test", language=language)
        parts.append(
            part.assign(score=part["score"].where(part["axis"] == "original", part["score"] + shift))
        )
    languages = by_language(pd.concat([frame, *parts]), n).frame
    assert languages["source_language"].tolist() == ["deu-Latn", "deu-Latn", "eng-Latn", "eng-Latn"]
    assert languages["drop"].to_numpy() == pytest.approx([28.5, 28.5, 18.5, 18.5])
    assert languages["n_datasets"].tolist() == [2] * 4


def test_a_task_type_leaves_out_an_embedder_without_a_row_of_one_of_its_datasets():
    values = {(e, d, t, s): 50.0 - (e == "f") for e in "ef" for d in "xy" for t in EIGHT for s in SEEDS}
    values |= {(e, d, "original", 0): 60.0 for e in "ef" for d in "xy"}
    frame = made(values, ("e", "f"), ("x", "y"))
    frame = frame[(frame["embedder"] != "f") | (frame["dataset"] != "y")]
    table = delta_by_task_type(frame, names(("e", "f"), ("x", "y")))
    (found,) = table.frame.to_dict("records")
    assert (found["n_embedders"], found["n_datasets"], found["expansion"]) == (1, 2, -10.0)
    assert "STS: left out, F." in table.notes


def test_the_largest_share_and_count_of_a_datasets_cells_are_shown():
    values = {("e", "x", t, s): 50.0 for t in EIGHT for s in SEEDS} | {("e", "x", "original", 0): 60.0}
    frame = made(values, ("e",), ("x",))
    cell = frame["transformation"] == "expansion"
    frame["zero_vectors"] = np.where(cell & (frame["seed"] == 1), 4, 1)
    frame.loc[cell & (frame["seed"] == 2), "fallback_share"] = 0.25
    (found,) = by_dataset(frame, names(("e",), ("x",))).frame.to_dict("records")
    assert (found["fallback_share"], found["zero_vectors"]) == (0.25, 4)


@pytest.mark.parametrize(("lacking", "differs"), [(None, False), ("f", True)])
def test_a_language_with_unequal_datasets_is_enough_for_a_warning(lacking, differs):
    rows = [
        row(e, d, g, t, s, 50.0, 60.0, subset=language, split="test", language=language)
        for e in "ef" for d in "xy" for language in ("deu-Latn", "eng-Latn")
        for g, t, s in [("none", "original", 0), *(("llm", t, s) for t in EIGHT for s in SEEDS)]
        if not (e == lacking and d == "y" and language == "deu-Latn")
    ]  # fmt: skip
    table = by_language(pd.DataFrame(rows), names("ef", "xy"))
    assert any("n_datasets differs" in n for n in table.notes) == differs
    counted = table.frame.set_index(["source_language", "embedder"])["n_datasets"]
    assert counted["deu-Latn", "f"] == (1 if differs else 2)
    assert counted["eng-Latn", "f"] == 2


def test_generators_are_never_pooled():
    one = made(grid_of(lambda e, d, t, s: 90.0 if t == "original" else 70.0), ("a",), ("x", "y"))
    one = one[one["embedder"] == "a"]
    two = one[one["transformation"] != "original"].assign(generator="other", score=50.0, delta=-40.0)
    table = hteb_scores(pd.concat([one, two]), names(("a",), ("x", "y"), ("llm", "other"))).frame
    assert table[["generator", "hteb", "original"]].to_numpy().tolist() == [
        ["llm", 70.0, 90.0],
        ["other", 50.0, 90.0],
    ]


def test_a_run_with_fewer_axes_says_so():
    few = ("expansion", "translation")
    scores = grid_of(lambda e, d, t, s: 90.0 if t == "original" else 70.0, ("a",), ("x",))
    table = hteb_scores(made(scores, ("a",), ("x",), few), names(("a",), ("x",), transformations=few))
    assert math.isnan(table.frame.loc[0, "lexical_stylistic"])
    assert table.frame.loc[0, "hteb"] == pytest.approx(70)
    assert any("covers only Length and Language" in note for note in table.notes)
    assert not any("missing or failed" in note for note in table.notes)


def test_marks_follow_the_cell_into_every_total_above_it():
    frame = made(grid_of(lambda e, d, t, s: 50.0), ("a", "b"), ("x", "y"))
    cell = (frame["embedder"] == "a") & (frame["dataset"] == "y") & (frame["transformation"] == "expansion")
    frame.loc[cell, "marked"] = True
    n = names(("a", "b"), ("x", "y"))
    marks = hteb_scores(frame, n).marks
    assert marks.to_numpy().tolist() == [
        [False, False, False, True, False, True, True],
        [False] * 7,
    ]
    assert delta_by_transformation(frame, n).marks.loc[0, "expansion"]
    assert delta_by_transformation(frame, n).marks.sum().sum() == 1
    rows = by_dataset(frame, n)
    assert rows.marks["length"].sum() == 1
    assert rows.frame.loc[rows.marks["length"], ["dataset", "embedder"]].to_numpy().tolist() == [["y", "a"]]


def test_incomplete_cells_are_listed_with_reasons():
    scores = grid_of(lambda e, d, t, s: 50.0)
    del scores["a", "x", "expansion", 2]
    frame = made(scores, ("a", "b"), ("x", "y"))
    frame.loc[frame["status"] == "missing", "error"] = "the cell has no file"
    table = incomplete_cells(frame, names(("a", "b"), ("x", "y"))).frame
    assert table[["embedder", "dataset", "transformation", "seed", "status"]].to_numpy().tolist() == [
        ["a", "x", "expansion", 2, "missing"]
    ]


def test_a_metric_that_is_better_when_lower_is_refused():
    frame = made(grid_of(lambda e, d, t, s: 50.0), ("a",), ("x",)).assign(
        higher_is_better=False, metric="loss"
    )
    with pytest.raises(DataError, match="better when lower"):
        hteb_scores(frame, names(("a",), ("x",)))


def test_a_setting_without_a_common_dataset_has_blank_rows():
    """`bob` lacks a cell of the second setting's only dataset."""
    parts = {"one": "s", "two": "s", "three": "z"}
    all_names = replace(names(("ann", "bob"), tuple(parts)), settings=parts)
    values = {(e, d, t, s): 50.0 for e in ("ann", "bob") for d in parts for t in EIGHT for s in (1, 2)}
    values |= {(e, d, "original", 0): 60.0 for e in ("ann", "bob") for d in parts}
    values["bob", "three", "expansion", 2] = None
    table = hteb_scores_common(made(values, ("ann", "bob"), tuple(parts)), all_names)
    assert table.frame[["setting", "embedder", "hteb"]].fillna(-1).to_numpy().tolist() == [
        ["s", "ann", 50.0], ["s", "bob", 50.0], ["z", "ann", -1.0], ["z", "bob", -1.0],
    ]  # fmt: skip
    assert len(to_markdown(table, all_names).split("\n")) > len(table.frame)
