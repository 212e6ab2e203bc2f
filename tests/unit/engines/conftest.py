"""Fixtures of the engines' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback_endpoint import Endpoint


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    yield server
    server.close()
