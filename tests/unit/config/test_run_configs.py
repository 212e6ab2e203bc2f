"""The run configs that are shipped, and loading itself."""

import subprocess
import sys
import time

import pytest
import yaml
from config_cases import ROOT, Setup

from stressbed.check import load_run
from stressbed.config.load import read_config
from stressbed.errors import ConfigError, Problems

RUNS = sorted(p.name for p in (ROOT / "config").glob("*.yaml"))
SIZES = {
    "hteb.yaml": (32, 9, 25),
    "hteb-authors.yaml": (32, 6, 25),
    "hteb-crosscheck.yaml": (8, 8, 49),
    "hteb-selection.yaml": (0, 0, 1),
    "quickstart-auto.yaml": (3, 3, 17),
    "quickstart-selection.yaml": (0, 0, 1),
    "hteb-english.yaml": (19, 8, 25),
    "hteb-german.yaml": (2, 8, 25),
    "hteb-multilingual.yaml": (13, 5, 25),
    "hteb-scale.yaml": (19, 11, 25),
    "hteb-stochastic.yaml": (19, 8, 25),
    "laptop.yaml": (4, 3, 17),
    "minimal-check.yaml": (1, 3, 3),
    "own-data.yaml": (1, 3, 9),
    "planted.yaml": (16, 6, 25),
    "quickstart.yaml": (3, 3, 17),
    "test.yaml": (2, 2, 5),
}


def shipped(name, **changes):
    return load_run({**read_config(ROOT / "config" / name), **changes}, base=ROOT)


@pytest.mark.parametrize("name", RUNS)
def test_shipped_run_configs_pass_all_checks(name):
    plan = shipped(name)
    assert (len(plan.config.datasets), len(plan.config.embedders), len(plan.variants)) == SIZES[name]
    assert plan.config.run == name.removesuffix(".yaml")


def test_the_quickstart_has_three_types_and_says_what_it_is():
    plan = shipped("quickstart.yaml")
    kinds = {plan.catalogue.datasets[d].task_type for d in plan.config.datasets}
    assert kinds == {"STS", "Classification", "Retrieval"}
    assert plan.config.notice.startswith("This run shows the pipeline, not the embedders")
    assert "laptop.yaml" in plan.config.notice


def test_the_papers_grid_covers_eight_and_seven_task_families_and_its_languages():
    for name, families in (("hteb-english.yaml", 8), ("hteb-multilingual.yaml", 7)):
        plan = shipped(name)
        entries = [plan.catalogue.datasets[d] for d in plan.config.datasets]
        assert len({e.task_type for e in entries}) == families
        assert plan.config.seeds == [1337, 1338, 1339]
        assert plan.config.job_axes == ["embedder", "dataset"]


def test_every_local_task_type_has_a_worked_example():
    own = read_config(ROOT / "config" / "own-data" / "catalogue.yaml")["datasets"]
    assert {e["task_type"] for e in own} == {
        "Classification", "MultilabelClassification", "Clustering", "PairClassification", "Reranking",
        "Retrieval", "STS", "STR", "Summarization", "BitextMining",
    }  # fmt: skip
    plan = shipped("test.yaml", datasets=[e["id"] for e in own])
    assert len(plan.config.datasets) == len(own)


def test_helpdesk_is_as_small_as_the_quickstart_needs():
    import csv

    folder = ROOT / "config" / "own-data" / "helpdesk"
    read = lambda name: list(csv.DictReader((folder / name).open(encoding="utf-8")))  # noqa: E731
    queries, corpus = read("queries.csv"), read("corpus.csv")
    assert (len(queries), len(corpus)) == (24, 16)
    assert max(len(q["text"].split()) for q in queries) <= 12
    assert max(len(d["text"].split()) for d in corpus) <= 25


def test_loading_is_light_and_fast():
    code = (
        "import sys, time; start = time.process_time()\n"  # other work on the machine must not decide
        "import stressbed.config; imported = time.process_time() - start\n"
        "from stressbed.check import load_run\n"
        "from stressbed.config.load import read_config\n"
        "load_run(read_config('config/hteb-english.yaml'))\n"
        "heavy = {'torch', 'mteb', 'transformers', 'datasets', 'sentence_transformers', 'pandas', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), imported, time.process_time() - start)"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy, imported, total = out.stdout.rsplit(maxsplit=2)
    assert heavy == "[]"
    assert float(imported) < 0.5
    assert float(total) < 1


def test_values_of_the_command_line_may_stand_alone():
    plan = shipped("test.yaml", seeds=7, datasets="helpdesk", job_axes="embedder")
    assert plan.config.seeds == [7]
    assert shipped("test.yaml", seeds=["1337", "8"]).config.seeds == [1337, 8]
    assert plan.config.datasets == ["helpdesk"]
    assert plan.config.job_axes == ["embedder"]


def test_a_label_or_a_licence_is_no_part_of_an_identity(tmp_path):
    setup = Setup(tmp_path)
    before = setup.load().embedder_identity("words")
    setup.entry("embedders", "words").update(label="Words", licence="MIT", batch_size=7)
    assert setup.load().embedder_identity("words") == before
    setup.entry("embedders", "words").update(dimensions=7)
    assert setup.load().embedder_identity("words") != before


def test_a_changed_prompt_changes_only_the_transformations_that_use_it(tmp_path):
    setup = Setup(tmp_path)
    before = setup.load().catalogue
    setup.entries["prompts"][0]["template"] += " Please."
    after = setup.load().catalogue
    changed = {
        name
        for name in ("say", "back", "again", "paraphrasing")
        if before.transformation_identity(name) != after.transformation_identity(name)
    }
    assert changed == {"say", "back"}


def test_files_of_local_datasets_are_found_beside_their_catalogue(tmp_path):
    plan = Setup(tmp_path).load()
    assert plan.local_files("pairs") == [tmp_path / "pairs.csv"]
    assert plan.local_files("hub") == []


YAML = [
    ("a: 1\nb: 2\na: 3\n", "'a' stands on line 1 and again on line 3", "keep one"),
    ("a:\n  b: 1\n  b: 2\n", "'b' stands on line 2 and again on line 3", "keep one"),
    ("a:\n\tb: 1\n", "not valid YAML", "spaces, not with tabs"),
    ("a: [1, 2\nb: 3\n", "not valid YAML", "indentation, colons and quotes"),
    ("", "is empty", ""),
    ("# only a comment\n", "is empty", ""),
    ("- a\n- b\n", "holds a list", ""),
    (b"a: caf\xe9\n", "not UTF-8: byte 6", "save the file as UTF-8"),
]


@pytest.mark.parametrize(("content", "what", "do"), YAML, ids=[w.replace(" ", "-") for _, w, _ in YAML])
def test_files_that_are_no_yaml_mapping_are_refused(content, what, do, tmp_path):
    path = tmp_path / "run.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert what in caught.value.what
    assert str(path) in caught.value.where
    assert do in caught.value.do


def test_a_missing_config_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such run config"):
        read_config(tmp_path / "none.yaml")


def test_a_broken_catalogue_file_is_named(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("datasets: []\ndatasets: []\n")
    with pytest.raises(Problems, match="stands on line 1 and again on line 2") as caught:
        shipped("test.yaml", catalogue=[str(broken)])
    assert str(broken) in str(caught.value)


def test_merged_keys_of_yaml_work(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n")
    assert read_config(path)["y"] == {"a": 1, "b": 3}
    assert read_config(path) == yaml.safe_load(path.read_text())


def test_large_local_files_are_checked_in_reasonable_time(tmp_path):
    setup = Setup(tmp_path)
    rows = "".join(f"sentence {i},other {i},{i % 6}\n" for i in range(50_000))
    setup.files["pairs.csv"] = "sentence1,sentence2,score\n" + rows
    start = time.process_time()
    setup.load()
    assert time.process_time() - start < 5
