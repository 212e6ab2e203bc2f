"""Fixtures of the engines' tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Endpoint

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def opened(endpoint: Endpoint, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open engines at the endpoint, by fields of their entries; they are closed after the test."""
    engines = []

    def _open(**fields: Any) -> Any:
        entry = GeneratorEntry(
            **{"id": "g", "engine": "openai", "model": "m", "base_url": endpoint.url, **fields}
        )
        engines.append(open_engine(entry, cache=tmp_path / "store", folder=tmp_path))
        return engines[-1]

    yield _open
    for engine in engines:
        engine.close()
