"""The checks of `make test-gpu`, each as a test; skipped where there is no CUDA device."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from gpu_checks import CHECKS  # noqa: E402
from report import LIMIT, run  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs gpu: no CUDA device"),
]


@pytest.mark.parametrize("name", CHECKS)
def test_on_a_gpu(name, request):
    store = Path(request.config.cache.mkdir("stressbed_store"))
    found = run(name, store, LIMIT)
    if found.status == "skip":
        pytest.skip(f"needs gpu: {found.note}")
    assert found.status == "pass", f"{found.note} {found.figures}"
