"""What comes before a run's own rewriting: selections of a generator, and translated datasets."""

from __future__ import annotations

from functools import partial

import pytest
import yaml
from plan_runs import OWN, ROOT, Stages, small

from stressbed import paths
from stressbed.generate.engines import open_engine
from stressbed.generate.run import generate
from stressbed.paths import Variant
from stressbed.plan.build import forecast
from stressbed.select.sample import sample_texts
from stressbed.store import read_json, read_parquet

FAKE = {"engine": "fake", "model": "fake", "context": 4096}
SELECTION = {
    "id": "two", "candidates": ["one", "other"], "dataset": "helpdesk-pairs", "rows": 5,
    "transformations": ["paraphrasing", "backtranslation"], "seed": 3, "judge_prompt": "quality",
    "shortlist": 2,
}  # fmt: skip


@pytest.fixture
def catalogue(tmp_path):
    file = tmp_path / "two.yaml"
    generators = [{"id": "one", **FAKE}, {"id": "other", **FAKE, "revision": "2"}]
    translated = {
        "id": "pairs-deu", "task_type": "STS", "languages": {"default": ["deu-Latn"]},
        "main_score": "cosine_spearman",
        "translate_dataset": {"source": "helpdesk-pairs", "generator": "fake"},
    }  # fmt: skip
    content = {"generators": generators, "selections": [SELECTION], "datasets": [translated]}
    file.write_text(yaml.safe_dump(content))
    return [OWN, str(file)]


def screened(plan, candidate):
    """Return what screening one candidate really asks."""
    folder = plan.results / "datasets" / "helpdesk-pairs"
    texts = read_parquet(folder / "texts.parquet").to_pandas()
    entry, chosen = plan.catalogue.generators[candidate], plan.selection
    return generate(
        dataset="helpdesk-pairs", manifest=read_json(folder / "manifest.json"),
        texts=sample_texts(texts, rows=chosen.rows, seed=chosen.sample_seed), generator=entry,
        generator_identity=plan.generator_identity(candidate),
        transformations=[plan.catalogue.transformations[t] for t in chosen.transformations],
        prompts=plan.catalogue.prompts, seeds=[chosen.seed], store_root=plan.results / paths.STORE,
        outputs={
            Variant(candidate, t, 3): plan.results / f"{candidate}-{t}.parquet"
            for t in chosen.transformations
        },
        open_engine=partial(open_engine, entry, cache=plan.results, folder=ROOT),
    )  # fmt: skip


def test_screening_is_foreseen_for_each_candidate(tmp_path, catalogue):
    nothing = {"datasets": [], "embedders": [], "transformations": [], "seeds": [], "generator": "auto"}
    plan = small(tmp_path / "results", selection="two", catalogue=catalogue, **nothing)
    seen = forecast(plan)
    assert [s.name for s in seen.stages] == ["datasets", "screen", "judge"]
    assert seen.stage("judge").jobs == 4
    Stages(plan).freeze("helpdesk-pairs")
    sent = [screened(plan, c).sent for c in SELECTION["candidates"]]
    assert seen.stage("screen").units == sum(sent)
    assert forecast(plan).stage("screen").share_done == 1


def test_before_a_selection_a_candidate_stands_in(tmp_path, catalogue):
    plan = small(tmp_path / "results", selection="two", generator="auto", catalogue=catalogue)
    seen = forecast(plan)
    assert "stands in" in seen.notes[0]
    assert seen.stage("generate").units > 0
    originals = len(plan.pairs)
    assert seen.stage("embed").jobs == 2 * originals


def test_a_translated_dataset_is_asked_for_once_and_then_run_like_its_source(tmp_path, catalogue):
    plan = small(tmp_path / "results", datasets=["helpdesk-pairs", "pairs-deu"], catalogue=catalogue)
    seen = forecast(plan)
    source, made = seen.datasets
    assert seen.stage("translate").units == source.unique
    assert (made.texts, made.unique) == (source.texts, source.unique)
    assert "helpdesk-pairs" in made.basis
    assert made.requests == source.requests
