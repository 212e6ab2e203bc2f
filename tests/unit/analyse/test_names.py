"""What things are called and in which order they stand, told from a plan."""

from dataclasses import replace

import pytest
from fabricate import make_plan

from stressbed.analyse.names import Names
from stressbed.config.entries import Sampling


def changed(plan, kind, name, **update):
    """Return the plan with another entry of the same name."""
    entries = getattr(plan.catalogue, kind)
    entry = entries[name].model_copy(update=update)
    return replace(plan, catalogue=replace(plan.catalogue, **{kind: {**entries, name: entry}}))


@pytest.mark.parametrize(
    ("settings", "order", "datasets"),
    [
        ({"z": ["x"], "a": ["w", "y"]}, ["z", "a"], ["x", "y", "w"]),
        ({"a": ["y"], "z": ["w", "x"]}, ["a", "z"], ["y", "x", "w"]),
        ({}, ["all"], ["y", "x", "w"]),
    ],
)
def test_settings_and_their_datasets_keep_the_order_of_the_config(tmp_path, settings, order, datasets):
    plan = make_plan(
        tmp_path, datasets={"y": {}, "x": {}, "w": {}},
        settings={name: {"datasets": mine} for name, mine in settings.items()},
    )  # fmt: skip
    names = Names.of(plan)
    assert names.setting_order == order
    assert list(names.settings) == datasets
    assert [d for s in order for d in names.in_setting(s)] == datasets


def test_seeds_can_differ_where_a_language_or_tokens_are_drawn(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion", "translation", "cross_translation"))
    plan = changed(plan, "transformations", "translation", draw="subset", pool=["deu-Latn"])
    plan = changed(plan, "transformations", "cross_translation", draw="text", pool=["deu-Latn", "fra-Latn"])
    assert Names.of(plan).varying == {"llm": {"cross_translation"}}
    assert Names.of(plan).sampled == frozenset()
    warm = Names.of(changed(plan, "generators", "llm", sampling=Sampling(temperature=0.7)))
    assert warm.varying == {"llm": {"expansion", "translation", "cross_translation"}}
    assert warm.sampled == {"llm"}


def test_a_label_of_the_config_comes_before_the_entrys_and_that_before_the_id(tmp_path):
    plan = changed(make_plan(tmp_path, embedders=("a", "b", "c")), "embedders", "c", label=None)
    plan = changed(plan, "generators", "llm", label="The LLM")
    labels = {"a": "Mine", "pairs": "Pairs", "expansion": "Longer"}
    names = Names.of(replace(plan, config=plan.config.model_copy(update={"labels": labels})))
    assert names.embedders == {"a": "Mine", "b": "B", "c": "c"}
    assert names.datasets == {"pairs": "Pairs", "topics": "topics"}
    assert names.generators == {"llm": "The LLM"}
    assert names.transformations["expansion"] == "Longer"
    assert Names.of(plan).transformations["expansion"] == "Expansion"
    own = replace(plan, config=plan.config.model_copy(update={"labels": {"llm": "G"}}))
    assert Names.of(own).generators == {"llm": "G"}


@pytest.mark.parametrize(
    ("languages", "fields", "group"),
    [
        ({"default": ["eng-Latn"]}, {}, "english"),
        ({"default": ["eng-Latn"], "more": ["deu-Latn"]}, {}, "non_english"),
        ({"default": ["deu-Latn"]}, {}, "non_english"),
        ({"default": ["eng-Latn"]}, {"default": {"sentence2": "fra-Latn"}}, "non_english"),
    ],
)
def test_a_dataset_is_english_where_all_of_its_texts_are(tmp_path, languages, fields, group):
    plan = make_plan(tmp_path, datasets={"d": {"languages": languages, "field_languages": fields}})
    assert Names.of(plan).language_groups == {"d": group}


def test_a_crossing_has_the_same_steps_languages_and_fields(tmp_path):
    plan = make_plan(tmp_path, transformations=("translation", "cross_translation"))
    plan = changed(plan, "transformations", "translation", draw="subset", pool=["deu-Latn", "fra-Latn"])
    crossed = {"draw": "text", "pool": ["fra-Latn", "deu-Latn"]}
    pair = changed(plan, "transformations", "cross_translation", **crossed)
    assert Names.of(pair).crossings == (("translation", "cross_translation"),)
    for other in ({"pool": ["fra-Latn", "spa-Latn"]}, {"fields": "queries"}, {"draw": "subset"}):
        changes = {**crossed, **other}
        assert Names.of(changed(plan, "transformations", "cross_translation", **changes)).crossings == ()
    (step,) = plan.catalogue.transformations["translation"].steps
    twice = changed(pair, "transformations", "cross_translation", steps=[step, step])
    assert Names.of(twice).crossings == ()
