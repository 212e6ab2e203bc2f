"""Configs that vary HTEB's English run in one way each, and the minimal check."""

from config_cases import ROOT

from stressbed.check import load_run
from stressbed.config.load import read_config


def shipped(name):
    return load_run(read_config(ROOT / "config" / name), base=ROOT)


def test_the_stochastic_run_differs_from_the_english_one_in_its_generator_only():
    english, sampled = (
        shipped(n).config.model_dump(exclude={"run", "description", "human"})
        for n in ("hteb-english.yaml", "hteb-stochastic.yaml")
    )
    assert sampled.pop("generator") == ["gemma-3-27b-it-int4-awq-t0.7"]
    assert english.pop("generator") == ["gemma-3-27b-it-int4-awq"]
    english["settings"] = sampled["settings"] = {}
    assert sampled == english


def test_the_sampled_generator_is_the_papers_but_for_its_temperature():
    known = shipped("hteb-stochastic.yaml").catalogue.generators
    same = {"id", "label", "description", "sampling"}
    sampled, greedy = known["gemma-3-27b-it-int4-awq-t0.7"], known["gemma-3-27b-it-int4-awq"]
    assert sampled.model_dump(exclude=same) == greedy.model_dump(exclude=same)
    assert (greedy.sampling.temperature, sampled.sampling.temperature) == (0.0, 0.7)
    assert greedy.sampling.top_p == sampled.sampling.top_p


def test_every_family_of_the_scale_ablation_has_three_sizes_or_more():
    plan = shipped("hteb-scale.yaml")
    sizes: dict[str, list[int]] = {}
    for name in plan.config.embedders:
        entry = plan.catalogue.embedders[name]
        sizes.setdefault(entry.family, []).append(entry.parameters)
    assert {f: len(s) for f, s in sizes.items()} == {
        "F2LLM-v2": 5, "Qwen3-Embedding": 3, "harrier-oss-v1": 3,
    }  # fmt: skip
    assert all(s == sorted(set(s)) for s in sizes.values())
    assert plan.config.datasets == shipped("hteb-english.yaml").config.datasets


def test_what_the_minimal_check_comments_out_can_be_put_in():
    text = (ROOT / "config" / "minimal-check.yaml").read_text(encoding="utf-8")
    full = text
    for name in ("expansion", "translation", "cross_translation"):
        assert f"  # - {name}\n" in text
        full = full.replace(f"  # - {name}\n", f"  - {name}\n")
    import yaml

    plan = load_run(yaml.safe_load(full), base=ROOT)
    assert plan.config.transformations == [
        "paraphrasing", "summarisation", "expansion", "translation", "cross_translation",
    ]  # fmt: skip
