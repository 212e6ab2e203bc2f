"""`prefetch` brings what a run needs; the hub is then switched off and everything still loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hub_repos import ENTRIES, MADE, REVISIONS
from hub_run import child
from loopback import Hub

pytestmark = pytest.mark.slow  # fresh processes that import torch and sentence-transformers

ROOT = Path(__file__).resolve().parents[2]
MODEL, REVISION = "made/tiny", "b" * 40
TRANSFORMATION = {
    "id": "paraphrasing",
    "label": "Paraphrasing",
    "axis": "lexical_stylistic",
    "steps": [{"prompt": "p", "language": "source"}],
}


def catalogue(folder: Path, **embedder) -> dict:
    """Write a catalogue of one dataset, one model and a fake generator; return the run config."""
    entries = {
        "datasets": [ENTRIES["stsb"]],
        "embedders": [
            {"id": "tiny", "backend": "sentence-transformers", "model": MODEL, "revision": REVISION,
             "licence": "cc-by-nc-4.0", **embedder}
        ],
        "generators": [{"id": "fake", "engine": "fake", "model": "fake", "revision": "1"}],
        "transformations": [TRANSFORMATION],
        "prompts": [{"id": "p", "template": "Rewrite in {target_language}.", "source": "made"}],
    }  # fmt: skip
    path = folder / "config" / "catalogue" / "all.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(entries), encoding="utf-8")
    return {
        "run": "r", "results": str(folder / "results"), "datasets": ["stsb"], "embedders": ["tiny"],
        "generator": "fake", "transformations": ["paraphrasing"], "seeds": [1],
    }  # fmt: skip


def files_below(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefetch")
    config = catalogue(folder)
    child([["make_model", [str(folder / "model")]]], "http://127.0.0.1:9", folder / "maker")
    repository = "mteb/stsbenchmark-sts"
    with Hub(folder / "root") as hub:
        hub.add("datasets", repository, REVISIONS[repository], MADE[repository]())
        hub.add("models", MODEL, REVISION, files_below(folder / "model"))
        brought = child([["prefetch", [config, str(folder)]]], hub.url, folder / "home")[0]
        asked = len(hub.requests)
        again = child([["prefetch", [config, str(folder)]]], hub.url, folder / "home")[0]
        asked_again = [r for r in hub.requests[asked:] if r.startswith("GET") and "/resolve/" in r]
    store = str(folder / "results" / ".store")
    offline = child(
        [
            ["freeze", [ENTRIES["stsb"], str(folder / "frozen"), store]],
            ["thawed", [str(folder / "frozen")]],
            ["model", [MODEL, REVISION]],
            ["model", [str(folder / "model"), None]],
        ],
        hub.url,
        folder / "home",
        HF_HUB_OFFLINE="1",
    )
    return {"brought": brought, "again": again, "asked_again": asked_again, "offline": offline}


def test_the_list_names_what_is_needed_non_commercial_first(story):
    listed = [(r["kind"], r["id"], r["place"], r["non_commercial"]) for r in story["brought"]]
    assert listed == [
        ("embedder", "tiny", "hub", True),
        ("dataset", "stsb", "hub", False),
        ("generator", "fake", "built-in", False),
    ]
    assert story["brought"][1]["name"] == "mteb/stsbenchmark-sts"
    assert story["brought"][0]["revision"] == REVISION


def test_afterwards_nothing_needs_the_hub(story):
    manifest, scores, by_id, by_folder = story["offline"]
    assert manifest["tables"][0]["rows"] == 30
    assert -1 <= scores["scores"]["default"]["main_score"] <= 1
    assert by_id == by_folder
    assert len(by_id) == 16


def test_a_second_time_nothing_is_downloaded(story):
    assert story["again"] == story["brought"]
    assert story["asked_again"] == []


def test_all_that_could_not_be_brought_is_named(tmp_path):
    config = catalogue(tmp_path)
    with Hub(tmp_path / "root") as hub:
        hub.add("models", MODEL, REVISION, {"config.json": json.dumps({}).encode()}, gated=True)
        said = child([["prefetch", [config, str(tmp_path)]]], hub.url, tmp_path / "home")[0]["error"]
    assert "2 things" in said
    assert "agreement" in said
    assert MODEL in said
    assert "no such repository" in said
    assert "stsbenchmark" in said


def test_a_whole_run_with_the_hub_switched_off(tmp_path):
    config = catalogue(tmp_path)
    config["embedders"].append("random")
    more = {"embedders": [{"id": "random", "backend": "random", "model": "random"}]}
    (tmp_path / "config" / "catalogue" / "more.yaml").write_text(yaml.safe_dump(more), encoding="utf-8")
    child([["make_model", [str(tmp_path / "model")]]], "http://127.0.0.1:9", tmp_path / "maker")
    repository, home = "mteb/stsbenchmark-sts", tmp_path / "home"
    with Hub(tmp_path / "root") as hub:
        hub.add("datasets", repository, REVISIONS[repository], MADE[repository]())
        hub.add("models", MODEL, REVISION, files_below(tmp_path / "model"))
        child([["prefetch", [config, str(tmp_path)]]], hub.url, home)
    for name in ("workflow", "profiles"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "Snakefile", tmp_path / "Snakefile")
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1", "HF_HOME": str(home / "hf")}
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "run.yaml"],
        cwd=tmp_path, env={**os.environ, **nowhere, "HOME": str(home)}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    cells = [json.loads(p.read_text()) for p in (tmp_path / "results" / "scores").rglob("*.json")]
    assert {c["embedder"]: c["status"] for c in cells} == {"random": "ok", "tiny": "failed"}
    # The made model knows no word and gives every text the same vector: a failed cell, not a failed run.
    assert {c["error"] for c in cells if c["embedder"] == "tiny"} == {
        "default/test: cosine_spearman is undefined on these data"
    }
    embedded = json.loads(next((tmp_path / "results" / "embeddings" / "tiny").rglob("0.json")).read_text())
    assert (embedded["dimension"], embedded["n_strings"]) == (16, 60)
    assert (tmp_path / "results" / "runs" / "r" / "report.html").exists()
