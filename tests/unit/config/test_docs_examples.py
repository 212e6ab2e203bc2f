"""The worked examples of the documentation, loaded as a reader would."""

import re

import pytest
import yaml
from config_cases import ROOT

from stressbed.check import load_run

FILE = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.S | re.M)
"""A file in a page: its path in backticks and a colon, then its content."""

PAGES = {
    "own-data.md": (["my-pairs"], 9),
    "adding-a-dataset.md": (["gnad-200"], 3),
    "datasets.md": (["helpdesk", "helpdesk-fra"], 3),
    "adding-an-embedder.md": (["lee-8"], 2),
    "adding-a-transformation.md": (["helpdesk"], 5),
    "comparing-runs.md": (["lee-8", "polarity-20", "helpdesk-4"], 17),
}


@pytest.mark.parametrize("page", PAGES)
def test_the_worked_example_loads(page, tmp_path):
    files = dict(FILE.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    (tmp_path / "config").symlink_to(ROOT / "config")
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    (run,) = [name for name in files if name.endswith("run.yaml")]
    plan = load_run({**yaml.safe_load(files[run]), "results": str(tmp_path / "results")}, base=tmp_path)
    datasets, variants = PAGES[page]
    assert plan.config.datasets == datasets
    assert len(plan.variants) == variants


def test_mteb_facts_in_the_pages_are_mtebs(tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    import mteb

    text = (ROOT / "docs" / "adding-a-dataset.md").read_text(encoding="utf-8")
    (entry,) = yaml.safe_load(dict(FILE.findall(text))["mine/catalogue.yaml"])["datasets"]
    meta = mteb.get_task(entry["task"]).metadata
    assert (entry["revision"], entry["task_type"], entry["main_score"], entry["licence"]) == (
        meta.dataset["revision"],
        meta.type,
        meta.main_score,
        meta.license,
    )
    assert entry["splits"] == meta.eval_splits
    assert entry["languages"]["default"] == meta.eval_langs
    text = (ROOT / "docs" / "adding-an-embedder.md").read_text(encoding="utf-8")
    for model in yaml.safe_load(dict(FILE.findall(text))["mine/catalogue.yaml"])["embedders"]:
        if model["backend"] != "openai":
            found = mteb.get_model_meta(model["model"])
            assert (model["revision"], model["licence"]) == (found.revision, found.license)
