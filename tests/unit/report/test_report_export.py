import os

import pytest
from fabricate import make_plan, part, write_cells

from stressbed.paths import Cell, Variant
from stressbed.report.export_scores import export_scores

LANGUAGES = {"en": ["eng-Latn"], "de": ["deu-Latn"]}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    os.environ.setdefault("MTEB_CACHE", str(tmp_path_factory.mktemp("mteb")))
    results = tmp_path_factory.mktemp("results")
    plan = make_plan(
        results,
        datasets={
            "bi": {"task": "STS17", "revision": "rev17", "subsets": ["en", "de"], "languages": LANGUAGES},
            "small": {"task": "STSBenchmark", "revision": "revb", "row_limit": 8},
            "own": {},
        },
        transformations=("translation",),
        seeds=(1,),
    )
    failed = Cell("beta", "own", Variant("llm", "translation", 1))

    def score(c):
        if c == failed:
            return {"status": "failed", "error": "one class", "score": None}
        base = 81.23456789 if c.variant.is_original else 70.5
        if c.dataset == "bi":
            shown = [
                part(
                    "en",
                    base + 2,
                    languages=["eng-Latn"],
                    metrics={"cosine_pearson": 0.4321, "main_score": 0.1},
                ),
                part("de", base - 2, languages=["deu-Latn"]),
            ]
            return {"score": base, "subsets": shown, "versions": {"mteb": "2.26.24"}}
        return base

    write_cells(plan, score)
    out = tmp_path_factory.mktemp("export")
    return plan, out, export_scores(plan=plan, out=out)


def test_every_scored_cell_is_written(exported):
    _, _, stats = exported
    assert (stats.written, stats.skipped) == (11, 1)


def test_mteb_loads_originals_as_plain_results(exported):
    from mteb import ResultCache

    _, out, _ = exported
    cache = ResultCache(out)
    found = cache.load_results(models=["made/alpha"], include_remote=False)
    results = {r.task_name: r for m in found.model_results for r in m.task_results}
    # A part of a task is no plain result: STSBenchmark was limited to 8 rows.
    assert set(results) == {"STS17", "own"}
    assert results["STS17"].get_score() == pytest.approx(0.8123457, abs=1e-6)
    assert results["STS17"].get_score(languages=["deu"]) == pytest.approx(0.7923457, abs=1e-6)
    assert results["STS17"].get_score(languages=["eng"]) == pytest.approx(0.8323457, abs=1e-6)
    english = next(s for s in results["STS17"].scores["test"] if s["hf_subset"] == "en")
    assert english["cosine_pearson"] == 0.4321
    assert results["STS17"].dataset_revision == "rev17"
    assert results["STS17"].mteb_version == "2.26.24"
    assert results["own"].dataset_revision == "abc"


def test_mteb_loads_variants_as_experiments(exported):
    from mteb import ResultCache

    _, out, _ = exported
    kwargs = {"generator": "llm", "transformation": "translation", "seed": 1}
    found = ResultCache(out).load_results(experiment_kwargs=kwargs, include_remote=False)
    scores = {(m.model_name, r.task_name): r.get_score() for m in found.model_results for r in m.task_results}
    assert scores == {
        ("made/alpha", "STS17"): pytest.approx(0.705),
        ("made/alpha", "own"): pytest.approx(0.705),
        ("made/beta", "STS17"): pytest.approx(0.705),
    }
    limited = ResultCache(out).load_results(
        experiment_kwargs=kwargs | {"dataset": "small"}, include_remote=False
    )
    assert {r.task_name for m in limited.model_results for r in m.task_results} == {"STSBenchmark"}


def test_every_file_loads_by_itself(exported):
    from mteb.results import TaskResult

    _, out, _ = exported
    files = [p for p in out.rglob("*.json") if p.name != "model_meta.json"]
    assert len(files) == 11
    for path in files:
        result = TaskResult.from_disk(path)
        assert 0.7 < result.get_score() < 0.9
        fingerprints = {s["fingerprint"] for split in result.scores.values() for s in split}
        assert len(fingerprints) == 1


def test_two_embedders_from_one_model_do_not_share_a_folder(tmp_path):
    plan = make_plan(
        tmp_path / "r", datasets={"own": {"revision": "x"}}, transformations=("translation",), seeds=(1,)
    )
    both = {
        e: entry.model_copy(update={"model": "org/same", "instructions": {"query": e}})
        for e, entry in plan.catalogue.embedders.items()
    }
    plan.catalogue.embedders.clear()
    plan.catalogue.embedders.update(both)
    write_cells(plan, lambda c: 50.0)
    export_scores(plan=plan, out=tmp_path / "out")
    assert {p.name for p in (tmp_path / "out" / "results").iterdir()} == {
        "stressbed__alpha",
        "stressbed__beta",
    }
