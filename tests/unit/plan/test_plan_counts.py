"""What a forecast counts is what the stages then do."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from plan_runs import Stages, small

from stressbed import paths
from stressbed.plan.build import forecast, gather

HTEB = [
    "paraphrasing", "backtranslation", "style_change", "expansion", "summarisation", "summarised_expansion",
    "translation", "cross_translation",
]  # fmt: skip


def files(folder):
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def test_requests_foreseen_before_anything_is_there_are_those_that_are_sent(tmp_path):
    plan = small(tmp_path / "results")
    seen = forecast(plan)
    assert not plan.results.exists()
    stages = Stages(plan)
    stats = []
    for dataset in plan.config.datasets:
        stages.freeze(dataset)
        stats.append(stages.generate(dataset))
    assert seen.stage("generate").exact
    assert seen.stage("generate").units == sum(s.sent for s in stats)
    assert [d.requests for d in seen.datasets] == [s.unique for s in stats]
    assert [d.naive for d in seen.datasets] == [s.requests_naive for s in stats]


def test_a_text_of_two_datasets_is_asked_about_once(tmp_path):
    seen = forecast(small(tmp_path / "results"))
    assert seen.stage("generate").units < sum(d.requests for d in seen.datasets)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_two_steps_are_foreseen_up_to_equal_answers(tmp_path, temperature):
    catalogue = tmp_path / "hot.yaml"
    catalogue.write_text(
        "generators:\n- {id: hot, engine: fake, model: fake, context: 4096, "
        f"sampling: {{temperature: {temperature}}}}}\n"
    )
    plan = small(
        tmp_path / "results", datasets=["helpdesk-pairs"], generator="hot", transformations=HTEB,
        catalogue=["config/own-data/catalogue.yaml", str(catalogue)],
    )  # fmt: skip
    seen = forecast(plan).stage("generate")
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    stats = stages.generate("helpdesk-pairs")
    assert not seen.exact
    assert seen.units == pytest.approx(stats.unique, abs=2)
    after = forecast(plan).stage("generate")
    assert after.exact
    assert (after.units, after.done) == (stats.unique, stats.unique)
    assert after.tokens_out == stats.tokens_out
    assert after.tokens_in == stats.tokens_in


def test_what_is_answered_for_one_dataset_is_done_and_the_rest_is_left(tmp_path):
    plan = small(tmp_path / "results")
    stages = Stages(plan)
    for dataset in plan.config.datasets:
        stages.freeze(dataset)
    first = stages.generate("helpdesk-pairs")
    seen = forecast(plan)
    assert seen.stage("generate").done == first.sent
    assert seen.stage("generate").jobs_left == 1
    assert seen.stage("datasets").jobs_left == 0
    assert 0 < seen.stage("generate").seconds_left["cpu"] < seen.stage("generate").seconds["cpu"]
    assert seen.stage("generate").units - first.sent == stages.generate("helpdesk").sent


def test_answers_count_as_done_without_the_store(tmp_path):
    plan = small(tmp_path / "results", datasets=["helpdesk-pairs"])
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    stages.generate("helpdesk-pairs")
    shutil.rmtree(plan.results / paths.STORE)
    assert forecast(plan).stage("generate").share_done == 1


def test_another_prompt_or_limit_leaves_everything_to_be_asked(tmp_path):
    plan = small(tmp_path / "results", datasets=["helpdesk-pairs"])
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    stages.generate("helpdesk-pairs")
    other = plan.catalogue.prompts["paraphrase"].model_copy(update={"template": "Say it anew."})
    plan.catalogue.prompts["paraphrase"] = other
    done = forecast(plan).stage("generate").done
    assert 0 < done < forecast(plan).stage("generate").units


def test_a_pending_retry_is_not_done(tmp_path):
    catalogue = tmp_path / "cut.yaml"
    made = (
        "{id: cut, engine: fake, model: fake, context: 4096, engine_options: {empty_rate: 0.5}, "
        "retry: {attempts: %d}}"
    )
    catalogue.write_text("generators:\n- " + made % 0)
    changes = {"datasets": ["helpdesk-pairs"], "generator": "cut", "seeds": [1]}
    both = ["config/own-data/catalogue.yaml", str(catalogue)]
    plan = small(tmp_path / "results", catalogue=both, **changes)
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    stats = stages.generate("helpdesk-pairs")
    assert forecast(plan).stage("generate").done == stats.sent
    catalogue.write_text("generators:\n- " + made % 1)
    patient = small(tmp_path / "results", catalogue=both, **changes)
    again = forecast(patient).stage("generate")
    assert again.done < again.units == stats.sent
    assert again.units - again.done == Stages(patient).generate("helpdesk-pairs").retried


def test_a_forecast_changes_no_file(tmp_path):
    plan = small(tmp_path / "results")
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    stages.generate("helpdesk-pairs")
    before = files(plan.results)
    forecast(plan)
    assert files(plan.results) == before


def test_large_datasets_are_judged_by_a_sample(tmp_path, monkeypatch):
    plan = small(tmp_path / "results", transformations=HTEB, datasets=["helpdesk"])
    Stages(plan).freeze("helpdesk")
    exact = forecast(plan)
    monkeypatch.setattr("stressbed.plan.sample.ROWS", 20)
    monkeypatch.setattr("stressbed.plan.sample.PLACEHOLDERS", 20)
    facts = gather(plan)
    sampled = forecast(plan)
    assert facts.samples["helpdesk"].how == "sampled"
    assert len(facts.samples["helpdesk"].texts) < 40
    assert not sampled.stage("generate").exact
    assert sampled.stage("generate").units == pytest.approx(exact.stage("generate").units, rel=0.1)
    assert sampled.stage("embed").units == pytest.approx(exact.stage("embed").units, rel=0.1)
    assert sampled.datasets[0].texts == exact.datasets[0].texts


def test_the_planted_run_asks_and_encodes_what_was_foreseen(tmp_path):
    plan = small(
        tmp_path / "results", datasets=["planted-sts-eng-a", "planted-sts-ido"], generator="planted",
        embedders=["planted-style"], transformations=HTEB, seeds=[1337, 1338, 1339],
        catalogue=["config/planted/catalogue.yaml"],
    )  # fmt: skip
    seen = forecast(plan)
    stages = Stages(plan)
    sent = 0
    for dataset in plan.config.datasets:
        stages.freeze(dataset)
        sent += stages.generate(dataset).sent
    assert seen.stage("generate").units == sent
    assert forecast(plan).stage("embed").units == seen.stage("embed").units


def test_a_changed_row_limit_is_seen_though_the_dataset_is_frozen(tmp_path):
    plan = small(tmp_path / "results", datasets=["helpdesk-pairs"])
    stages = Stages(plan)
    stages.freeze("helpdesk-pairs")
    before = forecast(plan)
    assert before.stage("datasets").jobs_left == 0
    entry = plan.catalogue.datasets["helpdesk-pairs"].model_copy(update={"row_limit": 4})
    datasets = {**plan.catalogue.datasets, "helpdesk-pairs": entry}
    changed = replace(plan, catalogue=replace(plan.catalogue, datasets=datasets))
    after = forecast(changed)
    assert after.stage("datasets").jobs_left == after.stage("datasets").jobs == 2
    (row,) = after.datasets
    assert row.texts == 8  # two sentences in each of four rows
    assert after.stage("generate").units < before.stage("generate").units / 2
