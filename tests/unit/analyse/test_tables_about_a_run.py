"""What a run is made of, and which statistics it has."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from approved import approve
from fabricate import make_plan

from stressbed.analyse.conclusions.statistical_tests import COLUMNS, statistical_tests
from stressbed.analyse.descriptive.catalogue import (
    catalogue_datasets,
    catalogue_embedders,
    catalogue_generators,
)
from stressbed.analyse.names import Names
from stressbed.analyse.run import analyse
from stressbed.analyse.write import to_csv, to_latex, to_markdown
from stressbed.check import load_run
from stressbed.config.load import read_config

ROOT = Path(__file__).parents[3]


def shipped(name):
    plan = load_run(read_config(ROOT / "config" / name), base=ROOT)
    return plan, Names.of(plan)


def test_embedders_are_described_as_in_the_catalogue():
    frame = catalogue_embedders(*shipped("hteb-scale.yaml")).frame.set_index("embedder")
    assert len(frame) == 11
    assert frame.loc["f2llm-v2-4b", "parameters"] == 4022468096
    assert frame.loc["f2llm-v2-4b", "family"] == "F2LLM-v2"
    assert frame.loc["harrier-oss-v1-27b", "model"] == "microsoft/harrier-oss-v1-27b"
    assert frame["revision"].str.len().eq(40).all()
    assert "zero_shot" not in frame.columns


def test_zero_shot_pairs_are_counted_with_those_that_are_not_known():
    plan, names = shipped("quickstart.yaml")
    known = {("minilm-l6", "lee-8"): True, ("minilm-l6", "polarity-20"): False}
    frame = catalogue_embedders(plan, names, zero_shot=known).frame.set_index("embedder")
    assert frame.loc["minilm-l6", "zero_shot"] == "1 of 3, 1 not known"
    assert frame.loc["wordllama", "zero_shot"] == "0 of 3, 3 not known"


def test_datasets_say_where_they_come_from_and_what_they_speak():
    frame = catalogue_datasets(*shipped("hteb-multilingual.yaml")).frame.set_index("dataset")
    assert len(frame) == 13
    assert frame.loc["sts17", "source"] == "mteb STS17"
    assert "eng-Latn" in frame.loc["sts17", "languages"].split("+")
    small = catalogue_datasets(*shipped("quickstart.yaml")).frame.set_index("dataset")
    assert small.loc["lee-8", "source"] == "package gensim"
    assert small.loc["helpdesk-4", "source"] == "local files"
    assert (small.loc["helpdesk-4", "row_limit"], small.loc["lee-8", "n_texts"]) == (4, 8)
    assert "setting" not in small.columns


def test_settings_stand_in_front_where_a_run_has_several(tmp_path):
    plan = make_plan(
        tmp_path, settings={"english": {"datasets": ["pairs"]}, "other": {"datasets": ["topics"]}}
    )
    frame = catalogue_datasets(plan, Names.of(plan)).frame
    assert frame[["setting", "dataset"]].to_numpy().tolist() == [["english", "pairs"], ["other", "topics"]]


def test_generators_have_their_roles():
    frame = catalogue_generators(*shipped("hteb-crosscheck.yaml")).frame
    assert frame["role"].tolist() == ["rewrites", "rewrites"]
    frame = catalogue_generators(*shipped("quickstart-selection.yaml")).frame.set_index("generator")
    assert len(frame) == 3
    assert set(frame["role"]) <= {"candidate", "judge", "candidate+judge"}
    plan, names = shipped("hteb-german.yaml")
    assert catalogue_generators(plan, names).frame["role"].tolist() == ["rewrites"]
    other = replace(plan, config=plan.config.model_copy(update={"generator": ["smollm2-135m"]}))
    roles = catalogue_generators(other, Names.of(other)).frame["role"].tolist()
    assert roles == ["rewrites", "translates datasets"]
    sampled = catalogue_generators(*shipped("hteb-stochastic.yaml")).frame
    assert sampled.loc[0, "temperature"] == 0.7


@pytest.mark.parametrize("make", [catalogue_embedders, catalogue_datasets, catalogue_generators])
def test_catalogue_tables_are_written_with_whole_numbers(make):
    plan, names = shipped("quickstart.yaml")
    table = make(plan, names)
    assert not re.search(r",\d{2,}\.0,", to_csv(table.frame))
    assert "nan" not in to_csv(table.frame).lower() + to_markdown(table, names).lower()
    assert "None" not in to_markdown(table, names) + to_latex(table, names)


def shifts(p=0.01):
    rows = [
        {"transformation": t, "axis": "length", "unit": "dataset", "n": n, "zeros": 0, "shift": -1.0,
         "low": -2.0, "high": 0.0, "p": p, "p_holm": p, "median_abs": 1.0, "method": "exact"}
        for t, n in (("expansion", 19), ("translation", 18))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_tests_are_those_of_the_tables_that_are_there(tmp_path):
    plan = make_plan(tmp_path)
    found = statistical_tests(plan, Names.of(plan), {"shifts": shifts()}).frame
    assert list(found.columns) == list(COLUMNS)
    assert found["where"].tolist() == ["shifts.csv", "shifts.csv"]
    test, shift = found.to_dict("records")
    assert test["n"] == "18 to 19"
    assert test["correction"] == "Holm over 2 transformations"
    assert "exact" in test["test"]
    assert shift["correction"] == "none"


def test_a_table_without_a_value_is_no_test(tmp_path):
    plan = make_plan(tmp_path)
    empty = shifts().assign(p=float("nan"), shift=float("nan"))
    tables = {"shifts": empty, "rank_stability": pd.DataFrame(), "item_intervals": pd.DataFrame({"low": []})}
    assert statistical_tests(plan, Names.of(plan), tables).frame.empty


def test_families_are_counted_per_generator(tmp_path):
    plan = make_plan(tmp_path, generators=("one", "two"))
    frame = pd.concat([shifts().assign(generator=g) for g in ("one", "two")], ignore_index=True)
    found = statistical_tests(plan, Names.of(plan), {"shifts": frame}).frame
    assert found.loc[0, "correction"] == "Holm over 2 transformations"


def test_units_of_items_have_rows_of_their_own(tmp_path):
    plan = make_plan(tmp_path)
    frame = pd.DataFrame(
        {
            "unit": ["query", "pair", "pair"],
            "n": [24, 28, 30],
            "low": [1.0, 2.0, 2.0],
            "high": [2.0, 3.0, 3.0],
        }
    )
    found = statistical_tests(plan, Names.of(plan), {"item_intervals": frame}).frame
    assert found[["unit", "n"]].to_numpy().tolist() == [["pair", "28 to 30"], ["query", "24"]]


def rows(**columns):
    """Return a table of three rows; a column of one value has it in all of them."""
    return pd.DataFrame(columns, index=range(3))


NAN = float("nan")
TABLES = {
    "shifts": rows(
        setting=["s", "s", "z"], unit=["dataset", "dataset", "dataset_embedder"], n=[0, 19, 7],
        p=[NAN, 0.02, 0.5], shift=[NAN, -1.0, 1.0], low=[NAN, NAN, 0.5], method=["none", "exact", "exact"],
    ),
    "rank_stability": rows(
        tau_mean=[NAN, 0.5, 0.7], n_embedders=[4, 5, 5], n_datasets=[8, 8, 7], within_mean=[NAN, NAN, 0.9],
        n_within=[0, 1, 6],
    ),
    "split_half": rows(median=[NAN, NAN, 0.4], halves=[40, 50, 50], n_datasets=[8, 9, 8]),
    "axis_correlations": rows(level=["embedder", "cell", "cell"], rho=[0.1, NAN, 0.3], n=[5, 6, 7]),
    "hteb_ranks": rows(hteb_low=[NAN, 3.0, 4.0], n_datasets=[3, 7, 7]),
    "crosscheck": rows(difference=[NAN, 1.0, 1.0], n=[2, 30, 31]),
    "item_intervals": rows(low=[NAN, 1.0, 2.0], unit=["query", "query", "pair"], n=[3, 40, 50]),
    "item_causes": rows(low=[NAN, NAN, 0.1], n=[3, 4, 5]),
    "recommendation": rows(low=[NAN, NAN, 0.1]),
}  # fmt: skip
"""Tables in which most statistics lack a value somewhere."""


@pytest.mark.parametrize("datasets", [{"pairs": {}}, {"pairs": {}, "topics": {}}])
def test_every_statistic_is_told_with_its_units_and_numbers(tmp_path, datasets):
    plan = make_plan(tmp_path, datasets=datasets)
    table = statistical_tests(plan, Names.of(plan), TABLES)
    approve(f"tests/{len(datasets)}.csv", to_csv(table.frame))
    assert statistical_tests(plan, Names.of(plan), {k: t[:0] for k, t in TABLES.items()}).frame.empty
    numbers = {k: t.select_dtypes("float").columns for k, t in TABLES.items()}
    blank = {k: t.assign(**dict.fromkeys(numbers[k], NAN)) for k, t in TABLES.items()}
    assert statistical_tests(plan, Names.of(plan), blank).frame.empty


def test_without_a_setting_all_tests_are_one_family(tmp_path):
    plan = make_plan(tmp_path)
    alone = TABLES["shifts"].drop(columns="setting")
    found = statistical_tests(plan, Names.of(plan), {"shifts": alone}).frame
    assert found["correction"].tolist() == ["Holm over 2 transformations", "none"]
    two = pd.concat([alone, alone[1:]], ignore_index=True).assign(generator=list("gghhh"))
    found = statistical_tests(plan, Names.of(plan), {"shifts": two}).frame
    assert found["correction"].tolist() == ["Holm over 1 to 3 transformations", "none"]


def test_a_selection_and_ratings_bring_their_tests():
    plan = load_run(read_config(ROOT / "config" / "quickstart-auto.yaml"), base=ROOT).with_winner(
        "smollm2-135m"
    )
    found = statistical_tests(plan, Names.of(plan), {}).frame
    assert found["where"].str.startswith("select/quickstart/tables/").all()
    assert len(found) == 2
    plan, names = shipped("hteb-english.yaml")  # its study with people has no ratings yet
    assert statistical_tests(plan, names, {}).frame.empty


@pytest.mark.parametrize("order", [("ant", "zebra"), ("zebra", "ant")])
def test_datasets_stand_in_the_order_of_the_config_and_of_its_settings(tmp_path, order):
    datasets = {d: {} for d in order}
    assert list(Names.of(make_plan(tmp_path, datasets=datasets)).settings) == list(order)
    settings = {f"of-{d}": {"datasets": [d]} for d in order}
    plan = make_plan(tmp_path, datasets={d: {} for d in ("ant", "zebra")}, settings=settings)
    assert list(Names.of(plan).settings) == list(order)


def test_rewrites_are_counted_in_the_order_of_the_seeds(tmp_path, monkeypatch):
    """The first seed that has a rewrite counts it, whichever file is named first."""
    seen = []

    def count(files):
        seen.extend(p.stem for p in files)
        raise KeyboardInterrupt

    monkeypatch.setattr("stressbed.analyse.run.rewrite_counts", count)
    files = [tmp_path / f"{seed}.parquet" for seed in (1, 2, 11)]
    for file in files:
        pd.DataFrame({"a": [1]}).to_parquet(file)
    plan = make_plan(tmp_path, seeds=(2, 11, 1))
    with pytest.raises(KeyboardInterrupt):
        analyse(plan=plan, scores=files[0], transforms=[*files, tmp_path / "3.parquet"], folder=tmp_path)
    assert seen == ["2", "11", "1"]
