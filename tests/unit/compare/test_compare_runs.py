"""Two runs compared: what is paired, what the numbers are, what is said."""

import shutil

import numpy as np
import pandas as pd
import pytest
from made_runs import QUERIES, THREE, into_store, made_run

from stressbed.cli import main
from stressbed.compare.command import compare_runs, mapped
from stressbed.errors import ConfigError, DataError
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.signed_rank import signed_rank

NOISE = np.random.default_rng(0).normal(size=(3, 40))
LOSS = dict(zip(("original", *THREE), (0.0, 2.0, 4.0, 9.0), strict=True))


def before(e, d, t, s):
    return 70.0 + int(d[1:]) - LOSS[t]


def compared(first, second, mapping=None):
    return compare_runs(str(first), str(second), mapping=mapping or {}, resamples=500, seed=0)


def rows(comparison):
    return comparison.tables[0].frame.set_index(["measure", "row"])


def test_a_better_model_is_better_in_every_row_that_says_so(tmp_path):
    gain = {"original": 1.0, "paraphrasing": 1.0, "expansion": 3.0, "translation": 4.0}

    def after(e, d, t, s):
        return before(e, d, t, s) + gain[t] + NOISE[0, int(d[1:])] / 10

    first = made_run(tmp_path / "a", "old", before, n_datasets=19)
    found = rows(compared(first, made_run(tmp_path / "b", "new", after, n_datasets=19)))
    noise = NOISE[0, :19] / 10
    theirs = hodges_lehmann(1.0 + noise)
    assert found.loc[("score", "original"), ["difference", "low", "high"]].tolist() == pytest.approx(
        [theirs.estimate, theirs.low, theirs.high]
    )
    assert found.loc[("score", "hteb"), "difference"] == pytest.approx(8 / 3 + theirs.estimate - 1)
    assert found.loc[("drop", "translation"), "difference"] == pytest.approx(-3.0)
    assert found.loc[("drop", "translation"), "verdict"] == "better"
    assert found.loc[("score", "length"), "verdict"] == "better"
    assert found.loc[("drop", "paraphrasing"), "difference"] == pytest.approx(0, abs=1e-9)
    assert found.loc[("drop", "paraphrasing"), "verdict"] == "unchanged"
    assert "generator" not in found.columns
    assert (found["n_datasets"] == 19).all()


def test_p_values_are_those_of_the_signed_rank_test_and_holm_covers_the_whole_table(tmp_path):
    def after(e, d, t, s):
        return before(e, d, t, s) + 1.0 * NOISE[list(LOSS).index(t) % 3, int(d[1:])]

    found = rows(compared(made_run(tmp_path / "a", "old", before), made_run(tmp_path / "b", "new", after)))
    assert found.loc[("score", "original"), "p"] == pytest.approx(signed_rank(NOISE[0, :8]).p)
    assert found["p_holm"].tolist() == pytest.approx(list(holm(found["p"].to_numpy())))
    # original, three axes, total; drop of the total and of each transformation, which is alone in its axis.
    assert list(found.index) == [
        ("score", "original"), ("score", "lexical_stylistic"), ("score", "length"), ("score", "language"),
        ("score", "hteb"), ("drop", "hteb"), ("drop", "paraphrasing"), ("drop", "expansion"),
        ("drop", "translation"),
    ]  # fmt: skip


def test_an_embedder_that_is_unchanged_is_not_tested(tmp_path):
    names = ("mine", "same")
    after = lambda e, d, t, s: before(e, d, t, s) + (e == "mine") * (1 + NOISE[0, int(d[1:])] / 9)  # noqa: E731
    first = made_run(tmp_path / "a", "old", before, embedders=names)
    comparison = compared(first, made_run(tmp_path / "b", "new", after, embedders=names))
    frame = comparison.tables[0].frame.set_index("embedder")
    assert (frame.loc["same", "verdict"] == "unchanged").all()
    assert frame.loc["same", ["low", "high", "p"]].isna().all(axis=None)
    assert "Holm; tests: 9." in comparison.text


def test_an_axis_of_two_transformations_has_a_drop_of_its_own(tmp_path):
    eight = ("paraphrasing", "style_change", "expansion")
    gain = lambda e, d, t, s: 70.0 + NOISE[1, int(d[1:])]  # noqa: E731
    flat = lambda *at: 69.0  # noqa: E731
    first = made_run(tmp_path / "a", "old", flat, transformations=eight)
    found = rows(compared(first, made_run(tmp_path / "b", "new", gain, transformations=eight)))
    assert ("drop", "lexical_stylistic") in found.index
    assert ("drop", "length") not in found.index
    one = made_run(tmp_path / "c", "old", flat, transformations=eight[:2])
    found = rows(compared(one, made_run(tmp_path / "d", "new", gain, transformations=eight[:2])))
    assert ("score", "lexical_stylistic") not in found.index
    assert found.loc[("score", "hteb"), "n_datasets"] == 8


def test_rounding_errors_are_no_differences(tmp_path):
    first = made_run(tmp_path / "a", "old", before, n_datasets=19)
    second = made_run(tmp_path / "b", "new", lambda *at: before(*at) + 1e-12, n_datasets=19)
    assert (rows(compared(first, second))["verdict"] == "unchanged").all()


def queries(shift):
    rng = np.random.default_rng(5)
    easy = rng.uniform(0.3, 0.8, size=QUERIES)
    wobble = rng.normal(scale=0.01, size=(2, QUERIES))

    def items(e, d, t, s):
        return easy - LOSS[t] / 100 + shift[t] + wobble[int(shift["original"] > 0)]

    return items


def test_one_dataset_is_decided_by_its_items(tmp_path):
    plain = dict.fromkeys(LOSS, 0.0)
    better = {"original": 0.05, "paraphrasing": 0.05, "expansion": 0.05, "translation": 0.0}
    first = made_run(tmp_path / "a", "old", None, n_datasets=1, items=queries(plain))
    second = made_run(tmp_path / "b", "new", None, n_datasets=1, items=queries(better))
    found = rows(compared(first, second))
    row = found.loc[("score", "original")]
    assert row["method"].startswith("bootstrap of items")
    assert row["low"] < row["difference"] < row["high"]
    # Queries differ by tens of points, the runs by one: the difference is paired.
    assert row["high"] - row["low"] < 1.5
    assert row["verdict"] == "better"
    assert found.loc[("drop", "translation"), "verdict"] == "worse"
    assert found.loc[("drop", "translation"), "difference"] == pytest.approx(5.0)


def test_a_few_datasets_are_pooled_within(tmp_path):
    first = made_run(tmp_path / "a", "old", None, n_datasets=3, items=queries(dict.fromkeys(LOSS, 0.0)))
    shift = {**dict.fromkeys(LOSS, 0.0), "expansion": -0.1}
    second = made_run(tmp_path / "b", "new", None, n_datasets=3, items=queries(shift))
    found = rows(compared(first, second))
    assert found.loc[("drop", "expansion"), "difference"] == pytest.approx(10.0)
    assert found.loc[("drop", "expansion"), "verdict"] == "worse"
    assert found.loc[("score", "original"), "difference"] == pytest.approx(0)
    assert (found["n_datasets"] == 3).all()


def test_without_items_a_few_datasets_have_no_interval_and_a_sentence(tmp_path):
    first = made_run(tmp_path / "a", "old", before, n_datasets=3)
    second = made_run(tmp_path / "b", "new", lambda *at: before(*at) - 2, n_datasets=3)
    comparison = compared(first, second)
    found = rows(comparison)
    assert found.loc[("score", "original"), "difference"] == pytest.approx(-2)
    assert found[["low", "high", "p", "p_holm"]].isna().all(axis=None)
    assert (found["verdict"] == "no test").all()
    assert "no interval, on d0 no items were kept" in comparison.text


def test_datasets_with_other_content_are_left_out_and_said(tmp_path):
    first = made_run(tmp_path / "a", "old", before)
    second = made_run(tmp_path / "b", "new", before, data=lambda d: "v2" if d in {"d1", "d5"} else "v1")
    comparison = compared(first, second)
    assert set(comparison.tables[1].frame["dataset"]) == {f"d{i}" for i in (0, 2, 3, 4, 6, 7)}
    assert (
        "Other content under the same name (another revision, files or row limit): d1, d5." in comparison.text
    )


def test_no_common_data_is_an_error(tmp_path):
    first = made_run(tmp_path / "a", "old", before)
    second = made_run(tmp_path / "b", "new", before, data="v2")
    with pytest.raises(DataError, match="no dataset is the same in 'old' and 'new'") as caught:
        compared(first, second)
    assert "Other content" in caught.value.where


def test_cells_that_a_later_run_has_replaced_are_known_from_the_store(tmp_path):
    first = made_run(tmp_path, "old", before)
    into_store(tmp_path)
    second = made_run(tmp_path, "new", lambda *at: before(*at) + 1, identity={"model": "tuned"})
    found = compared(first, second)
    assert found.tables[1].frame["difference"].tolist() == pytest.approx([1.0] * 32)
    assert "no longer in the catalogue; its hash was id-model, then tuned" in found.text
    shutil.rmtree(tmp_path / ".store")
    with pytest.raises(DataError) as caught:
        compared(first, second)
    assert "Content not known" in caught.value.where


def test_embedders_are_mapped_and_others_named(tmp_path):
    first = made_run(tmp_path / "a", "old", before, embedders=("mine", "other"))
    second = made_run(tmp_path / "b", "new", before, embedders=("mine-tuned", "third"))
    comparison = compared(first, second, {"mine": "mine-tuned"})
    frame = comparison.tables[0].frame
    assert set(zip(frame["embedder"], frame["became"], strict=True)) == {("mine", "mine-tuned")}
    assert "Embedders of 'old' only: other." in comparison.text
    assert "Embedders of 'new' only: third." in comparison.text
    with pytest.raises(ConfigError, match="have no embedder in common") as caught:
        compared(first, second)
    assert "--map mine=mine-tuned" in caught.value.do
    with pytest.raises(ConfigError, match="the run 'new' has no embedder 'mine-tund'") as caught:
        compared(first, second, {"mine": "mine-tund"})
    assert caught.value.do == "did you mean 'mine-tuned'?"


def test_other_rewrites_and_generators_are_a_caveat(tmp_path):
    first = made_run(tmp_path / "a", "old", before)
    second = made_run(tmp_path / "b", "new", before, generators=("llm2",), texts="t2")
    comparison = compared(first, second)
    assert "The generators differ, llm and llm2" in comparison.text
    assert "3 of 3 rewritten variants have other texts" not in comparison.text
    assert "24 of 24 rewritten variants have other texts" in comparison.text
    cells = comparison.tables[1].frame
    assert cells["same_texts"].tolist() == (cells["transformation"] == "original").tolist()


def test_several_generators_are_never_averaged(tmp_path):
    def after(e, d, t, s):
        return before(e, d, t, s)

    first = made_run(tmp_path / "a", "old", before, generators=("one", "two"))
    second = made_run(tmp_path / "b", "new", after, generators=("one", "two"))
    frame = compared(first, second).tables[0].frame
    assert frame.groupby("generator").size().tolist() == [9, 9]


def test_cells_without_a_score_and_what_one_run_has_alone_are_said(tmp_path):
    first = made_run(tmp_path / "a", "old", before, seeds=(1, 2))
    hole = lambda e, d, t, s: None if (d, t) == ("d0", "expansion") else before(e, d, t, s)  # noqa: E731
    two = ("paraphrasing", "expansion")
    second = made_run(tmp_path / "b", "new", hole, n_datasets=7, transformations=two)
    comparison = compared(first, second)
    for said in (
        "Datasets of 'old' only: d7.",
        "Transformations of 'old' only: translation.",
        "Seeds of 'old' only: 2.",
        "Cells without a score in one of the runs: 1.",
        "Config key `seeds`: without 2.",
    ):
        assert said in comparison.text
    found = rows(comparison)
    assert found.loc[("score", "hteb"), "n_datasets"] == 6
    assert found.loc[("drop", "paraphrasing"), "n_datasets"] == 7


def test_versions_and_the_same_model_are_said(tmp_path):
    first = made_run(tmp_path / "a", "old", before)
    second = made_run(tmp_path / "b", "new", before, versions={"mteb": "2.1"})
    text = compared(first, second).text
    assert "Versions: mteb 2.0 → 2.1." in text
    assert "Embedder model: the same in both runs" in text


def test_an_unfinished_run_and_a_wrong_path_are_errors(tmp_path):
    first = made_run(tmp_path, "old", before)
    with pytest.raises(ConfigError, match="no such run") as caught:
        compared(first, tmp_path / "runs" / "olt")
    assert caught.value.do == "did you mean 'old'?"
    (tmp_path / "runs" / "empty").mkdir()
    with pytest.raises(ConfigError, match="has no scores yet"):
        compared(first, tmp_path / "runs" / "empty")
    with pytest.raises(ConfigError, match="too few"):
        compare_runs(str(first), str(first), mapping={}, resamples=1, seed=0)


@pytest.mark.parametrize("pairs", [["a"], ["=b"], ["a="], ["a=b", "a=c"], ["a=b", "c=b"]])
def test_maps_that_say_nothing_or_twice_are_refused(pairs):
    with pytest.raises(ConfigError):
        mapped(pairs)
    assert mapped(["a=b", "c=d"]) == {"a": "b", "c": "d"}


def test_the_command_prints_markdown_and_writes_tables(tmp_path, capsys):
    first = made_run(tmp_path / "a", "old", before)
    second = made_run(tmp_path / "b", "new", lambda *at: before(*at) + 1)
    out = tmp_path / "out"
    assert main(["compare-runs", str(first), str(second), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# old → new\n")
    assert "| Measure | Row |" in printed.replace("Embedder | ", "")
    assert (out / "comparison.md").read_text(encoding="utf-8") == printed
    names = {f"{t}.{s}" for t in ("run_differences", "run_cells") for s in ("csv", "md", "tex")}
    assert {p.name for p in out.iterdir()} == {*names, "comparison.md"}
    frame = pd.read_csv(out / "run_differences.csv")
    assert frame.loc[frame["row"] == "original", "difference"].tolist() == [1.0]
    assert main(["compare-runs", str(first), str(tmp_path / "nothing")]) == 1
    assert "no such run" in capsys.readouterr().err


def test_runs_of_the_same_name_are_told_apart(tmp_path):
    first = made_run(tmp_path / "a", "mine", before)
    second = made_run(tmp_path / "b", "mine", before, n_datasets=7)
    said = compared(first, second).text
    assert said.startswith("# mine (before) → mine (after)")
    assert "Datasets of 'mine (before)' only: d7." in said


def test_what_there_is_of_an_unfinished_run_is_compared(tmp_path):
    hole = lambda e, d, t, s: None if (d, t) == ("d0", "expansion") else before(e, d, t, s)  # noqa: E731
    first = made_run(tmp_path / "a", "old", hole, seeds=(1, 2))
    partial = first / "partial"
    partial.mkdir()
    for name in ("scores.parquet", "items.parquet"):
        (first / name).rename(partial / name)
    second = made_run(tmp_path / "b", "new", before)
    comparison = compared(partial, second)
    assert comparison.text.startswith("# old (partial) → new")
    assert "Config key `seeds`: without 2." in comparison.text
    assert "Cells without a score in one of the runs: 1." in comparison.text
    assert rows(comparison).loc[("score", "hteb"), "n_datasets"] == 7
    with pytest.raises(ConfigError, match="no scores yet") as caught:
        compared(first, second)
    assert "NAME/partial" in caught.value.do


def test_a_run_that_is_called_partial_is_one(tmp_path):
    first = made_run(tmp_path / "a", "partial", before)
    assert compared(first, made_run(tmp_path / "b", "new", before)).text.startswith("# partial → new")
