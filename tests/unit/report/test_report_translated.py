"""Exports and prefetch of a run with a translated dataset: nothing passes for the source or is lacking."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fabricate import make_plan, write_cells

from stressbed import paths
from stressbed.config.entries import GeneratorEntry
from stressbed.generate.completions import CompletionStore
from stressbed.prefetch import requirements
from stressbed.report.export_rewrites import export_rewrites, import_rewrites
from stressbed.report.export_scores import export_scores

GERMAN = {
    "languages": {"default": ["deu-Latn"]},
    "translate_dataset": {"source": "sts", "generator": "translator"},
}
ANSWER = {
    "text_id": 0, "step": 1, "attempt": 0, "prompt_id": "p", "language": "deu-Latn", "key": "a" * 32,
    "text": "Hallo", "finish": "stop", "tokens_in": 1, "tokens_out": 1,
}  # fmt: skip


@pytest.fixture
def plan(tmp_path):
    """A run on the German dataset alone, translated by a generator that the run does not rewrite with."""
    source = {"task": "STSBenchmark", "revision": "b0fddb56ed78048fa8b90373c8a3cfc37b684831"}
    made = make_plan(
        tmp_path / "r",
        datasets={"sts": source, "sts-deu": GERMAN},
        transformations=("translation",),
        seeds=(1,),
    )
    made.catalogue.generators["translator"] = GeneratorEntry(id="translator", engine="fake", model="t")
    made.config.datasets.remove("sts")
    return made


def test_a_translation_is_never_exported_as_its_task(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    from mteb import ResultCache

    write_cells(plan, lambda c: {"score": 80.0, "task": "STSBenchmark"})
    export_scores(plan=plan, out=tmp_path / "out")
    cache = ResultCache(tmp_path / "out")
    assert not cache.load_results(include_remote=False).model_results
    found = cache.load_results(experiment_kwargs={"dataset": "sts-deu"}, include_remote=False)
    results = [r for m in found.model_results for r in m.task_results]
    assert {r.task_name for r in results} == {"STSBenchmark"}
    assert {r.dataset_revision for r in results} == {"abc"}


def test_another_machine_finds_the_translators_answers_too(plan, tmp_path):
    (translation,) = plan.translations
    at = {"dataset": "sts", "variant": str(translation.variant)}
    for path in (
        paths.TRANSLATION_COMPLETIONS.format(**at),
        paths.COMPLETIONS.format(dataset="sts-deu", variant="llm/translation/1"),
    ):
        (plan.results / path).parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([ANSWER]), plan.results / path)
    export_rewrites(plan=plan, out=tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert set(manifest["datasets"]) == {"sts", "sts-deu"}
    import_rewrites(folder=tmp_path / "out", results=tmp_path / "there")
    for generator in ("llm", "translator"):
        folder = tmp_path / "there" / ".store" / "completions" / plan.generator_identity(generator)
        assert CompletionStore(folder).get_many([ANSWER["key"]])


def test_prefetch_brings_the_source_and_the_translator(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    needed = {(r.kind, r.id): r.place for r in requirements(plan) if r.kind != "embedder"}
    assert needed == {
        ("dataset", "sts"): "hub",
        ("generator", "llm"): "built-in",
        ("generator", "translator"): "built-in",
    }
