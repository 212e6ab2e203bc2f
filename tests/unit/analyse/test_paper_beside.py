"""The paper's numbers stand beside a run's own where it has the paper's grid, and nowhere else."""

import csv
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from study_cases import made_names

from stressbed.analyse.conclusions.paper import Beside, Paper, paper
from stressbed.analyse.conclusions.part import Part
from stressbed.check import load_run
from stressbed.config.load import read_config

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "tests" / "data" / "hteb"
BANKING77_V2 = "18072d2685ea682290f7b8924d94c62acc19c0b2"
GEMMA = "gemma-3-27b-it-int4-awq"


def reference(name):
    with (REFERENCE / name).open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


@pytest.fixture(scope="module")
def plans():
    names = ("hteb", "hteb-english", "hteb-scale", "hteb-stochastic", "hteb-german")
    return {n: load_run(read_config(ROOT / "config" / f"{n}.yaml"), base=ROOT) for n in names}


@pytest.fixture(scope="module")
def whole():
    """The paper as if its text named every embedder: those that it names are all."""
    embedders = {
        k: e.model_copy(update={"count": len(e.models)}) if k != "trained_on_german" else e
        for k, e in paper().embedders.items()
    }
    return paper().model_copy(update={"embedders": embedders})


def over(plan, claim, source=None, *, embedders=None, generator=GEMMA):
    pairs = [(d, e) for d, e in ((d, e) for e, d in plan.pairs) if embedders is None or e in embedders]
    return Beside.of(plan, source).number(claim, generator=generator, pairs=pairs)


def changed(plan, kind, name, **update):
    """Return the plan with another entry of the same name."""
    entries = getattr(plan.catalogue, kind)
    entry = entries[name].model_copy(update=update)
    return replace(plan, catalogue=replace(plan.catalogue, **{kind: {**entries, name: entry}}))


@pytest.mark.parametrize("setting", ["english", "multilingual"])
def test_the_grids_datasets_are_those_of_the_reference_table(setting):
    rows = [r for r in reference("hteb_datasets.csv") if r["setting"] == setting]
    # The authors' public code takes the smaller test set.
    smaller = {"mteb_task": "Banking77Classification.v2", "mteb_revision": BANKING77_V2}
    rows = [r | smaller if r["mteb_task"] == "Banking77Classification" else r for r in rows]
    tasks = paper().datasets[setting]
    assert [(t.task, t.revision, t.split, t.metric) for t in tasks] == [
        (r["mteb_task"], r["mteb_revision"], r["eval_split"], r["mteb_main_score"]) for r in rows
    ]
    for task, row in zip(tasks, rows, strict=True):
        assert len(task.subsets) > 1 if row["subsets"] == "all" else task.subsets == [row["subsets"]]


@pytest.mark.parametrize(
    ("panel", "settings", "count"),
    [
        ("english", {"english", "both"}, 11),
        ("multilingual", {"multilingual", "both"}, 9),
        ("shared", {"both"}, 4),
    ],
)
def test_the_grids_embedders_are_those_of_the_reference_table(panel, settings, count):
    rows = [r for r in reference("hteb_embedders.csv") if r["setting"] in settings]
    found = paper().embedders[panel]
    assert found.models == {r["model"]: r["revision_in_mteb"] for r in rows}
    assert found.count == count
    assert found.whole == (panel == "shared")


def test_a_list_that_is_not_whole_agrees_with_no_run(plans):
    assert over(plans["hteb-english"], "drop") == ""
    assert over(plans["hteb-german"], "translated") == ""


def test_a_translation_is_the_papers_by_its_language_and_who_made_it(plans, whole):
    plan, german = plans["hteb-german"], "stsbenchmark-deu"
    assert over(plan, "translated", whole) == "14.9 and 10.2"
    source = plan.catalogue.datasets["stsbenchmark"]
    assert over(changed(plan, "datasets", "stsbenchmark", revision="another"), "translated", whole) == ""
    for update in (
        {"languages": {"default": ["fra-Latn"]}},
        {"translate_dataset": None, "task": source.task, "revision": source.revision},
    ):
        assert over(changed(plan, "datasets", german, **update), "translated", whole) == ""
    other = plan.catalogue.datasets[german].translate_dataset.model_copy(
        update={"generator": f"{GEMMA}-t0.7"}
    )
    assert over(changed(plan, "datasets", german, translate_dataset=other), "translated", whole) == ""


def test_the_whole_grid_has_the_number_whatever_the_run_is_called(plans, whole):
    plan = plans["hteb-english"]
    assert over(plan, "drop", whole) == "8.41"
    renamed = replace(plan, config=plan.config.model_copy(update={"run": "mine"}))
    assert over(renamed, "drop", whole) == "8.41"


def test_shared_embedders_are_all_named_so_their_numbers_stand(plans):
    plan = plans["hteb"]
    english, other = (set(s.embedders) for s in plan.config.settings.values())
    assert over(plan, "relative", embedders=english & other) == "7.16 % and 2.30 %"
    assert over(plan, "gap_with_language", embedders=english & other) == "3.52"
    assert over(plan, "gap_without_language", embedders=english & other) == "2.06"
    assert over(plan, "gap_with_language") == ""


def test_other_embedders_datasets_or_generators_have_none(plans, whole):
    plan = plans["hteb-english"]
    assert over(plans["hteb-scale"], "drop", whole) == ""
    assert over(plans["hteb-scale"], "size_gap", whole) == "around 5 in most cases"
    assert over(plans["hteb-stochastic"], "drop", whole, generator=f"{GEMMA}-t0.7") == ""
    fewer = plan.config.model_copy(update={"embedders": plan.config.embedders[1:]})
    assert over(replace(plan, config=fewer), "drop", whole) == ""
    less = plan.config.model_copy(update={"datasets": plan.config.datasets[1:]})
    assert over(replace(plan, config=less), "drop", whole) == ""


@pytest.mark.parametrize(
    ("kind", "name", "update"),
    [
        ("datasets", "banking77", {"row_limit": 100}),
        ("datasets", "banking77", {"revision": "another"}),
        ("datasets", "banking77", {"main_score": "f1"}),
        ("datasets", "scifact", {"corpus_sample": 10}),
        ("embedders", "all-minilm-l12-v2", {"revision": "another"}),
        ("embedders", "all-minilm-l12-v2", {"max_length": 64}),
        ("embedders", "all-minilm-l12-v2", {"normalise": True}),
        ("embedders", "all-minilm-l12-v2", {"backend": "sentence-transformers"}),
        ("embedders", "all-minilm-l12-v2", {"dtype": "float16"}),
        ("embedders", "all-minilm-l12-v2", {"similarity": "dot"}),
        ("embedders", "all-minilm-l12-v2", {"pooling": "mean"}),
        ("embedders", "all-minilm-l12-v2", {"dimensions": 64}),
        ("embedders", "all-minilm-l12-v2", {"gguf_file": "a.gguf"}),
        ("embedders", "all-minilm-l12-v2", {"planted": "noise"}),
        ("embedders", "all-minilm-l12-v2", {"instructions": {"STS": "Say."}}),
        ("datasets", "banking77", {"max_words": 100}),
        ("datasets", "banking77", {"revision": None}),
        ("datasets", "banking77", {"task": None}),
        ("datasets", "banking77", {"evaluation": "own"}),
        ("datasets", "banking77", {"splits": ["test", "train"]}),
        ("datasets", "banking77", {"subsets": ["default", "more"]}),
        ("generators", GEMMA, {"revision": None}),
        ("generators", GEMMA, {"model": "org/another"}),
        ("transformations", "translation", {"draw": "text"}),
        ("transformations", "paraphrasing", {"axis": "length"}),
        ("generators", GEMMA, {"revision": "another"}),
        ("generators", GEMMA, {"quantization": "bitsandbytes"}),
        ("generators", GEMMA, {"engine": "fake"}),
        ("prompts", "paraphrase", {"template": "Say it otherwise in {target_language}."}),
        ("transformations", "translation", {"pool": ["spa-Latn", "fra-Latn"]}),
        ("transformations", "paraphrasing", {"fields": "queries"}),
    ],
)
def test_an_entry_that_differs_has_none_though_its_name_is_the_same(plans, whole, kind, name, update):
    assert over(changed(plans["hteb-english"], kind, name, **update), "drop", whole) == ""


@pytest.mark.parametrize(
    "update", [{"seeds": [1337, 1338]}, {"seeds": [1, 2, 3]}, {"transformations": ["paraphrasing"]}]
)
def test_other_seeds_or_transformations_have_none(plans, whole, update):
    plan = plans["hteb-english"]
    assert over(replace(plan, config=plan.config.model_copy(update=update)), "drop", whole) == ""


def test_two_entries_of_one_model_are_not_one(plans, whole):
    plan = plans["hteb-english"]
    twin = plan.catalogue.embedders["all-minilm-l12-v2"].model_copy(update={"id": "twin"})
    catalogue = replace(plan.catalogue, embedders={**plan.catalogue.embedders, "twin": twin})
    config = plan.config.model_copy(update={"embedders": [*plan.config.embedders, "twin"]})
    assert over(replace(plan, config=config, catalogue=catalogue), "drop", whole) == ""


def test_a_transformation_that_is_there_twice_weighs_twice(plans, whole):
    plan = plans["hteb-english"]
    twin = plan.catalogue.transformations["paraphrasing"].model_copy(update={"id": "twin"})
    catalogue = replace(plan.catalogue, transformations={**plan.catalogue.transformations, "twin": twin})
    config = plan.config.model_copy(update={"transformations": [*plan.config.transformations, "twin"]})
    assert over(replace(plan, config=config, catalogue=catalogue), "drop", whole) == ""


def small():
    """A paper of one dataset and two embedders, and a run on its grid."""
    task = {"task": "T", "revision": "r", "subsets": ["default"], "split": "test", "metric": "m"}
    source = Paper.model_validate(
        {
            "source": "made", "generators": {}, "seeds": [1], "prompts": {}, "transformations": [],
            "datasets": {"one": [task]},
            "embedders": {"two": {"count": 2, "models": {"org/a": "1", "org/b": "2"}}},
            "numbers": {"drop": [{"grid": [["one", "two"]], "says": "8.41"}]},
        }
    )  # fmt: skip
    tasks = {"d0": source.datasets["one"][0].key}
    return Beside(source, frozenset({"llm"}), tasks, {"a": "org/a@1", "b": "org/b@2"})


def test_a_cell_without_a_score_takes_the_papers_number_away():
    names = made_names(("a", "b"), ("d0",), generators=("llm", "other"))
    lacking = pd.DataFrame({"embedder": ["a"], "dataset": ["d0"], "subset": ["(all)"]})
    assert Part({}, names, "llm", "all", small()).paper("drop") == "8.41"
    assert Part({"incomplete_cells": lacking}, names, "llm", "all", small()).paper("drop") == ""
    part = lacking.assign(subset="default")
    assert Part({"incomplete_cells": part}, names, "llm", "all", small()).paper("drop") == "8.41"
    assert Part({}, names, "other", "all", small()).paper("drop") == ""
    assert Part({}, names, "llm", "all").paper("drop") == ""
