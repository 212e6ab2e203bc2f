"""vLLM on this machine with the real SmolLM2, in a plain script."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from rating_requests import ratings
from smollm2_requests import keys, requests, smollm2

from stressbed.generate.engines import open_engine
from stressbed.generate.request import ChatRequest

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vllm: it is not installed"),
]

SCRIPT = """
import json, sys
from pathlib import Path
from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine
from stressbed.generate.request import ChatRequest

entry, asked, store, out = sys.argv[1:]
engine = open_engine(GeneratorEntry.model_validate_json(entry), cache=Path(store), folder=Path(store))
asked = [ChatRequest(tuple(map(tuple, r[0])), *r[1:6], choices=tuple(r[6])) for r in json.loads(asked)]
answers = engine.complete(asked, [str(i) for i in range(len(asked))])
engine.close()
told = [[a.text, a.finish, a.tokens_in, a.tokens_out, a.probabilities] for a in answers]
Path(out).write_text(json.dumps(told))
"""
"""No `__main__` guard: a workflow's scripts have none either."""


def plain(request: ChatRequest) -> list[object]:
    return [
        request.messages,
        request.max_tokens,
        request.temperature,
        request.top_p,
        request.attempt,
        request.seed,
        request.choices,
    ]


@pytest.fixture(scope="module")
def expected(store):
    engine = open_engine(smollm2("transformers"), cache=store, folder=store)
    out = engine.complete([*requests(16), *ratings(8)], keys(16))
    engine.close()
    return [[c.text, c.finish, c.tokens_in, c.tokens_out, c.probabilities] for c in out]


def test_in_a_plain_script_in_float32(store, tmp_path, expected):
    (tmp_path / "script.py").write_text(SCRIPT)
    asked = [*requests(16), *ratings(8), ChatRequest((("user", "word " * 1100),), 8)]
    words = ChatRequest(requests()[0].messages, 8, choices=("good", "very good", "bad"))
    drawn = ChatRequest(requests()[0].messages, 8, 0.9, 1.0, 0, 5)
    command = [
        sys.executable, str(tmp_path / "script.py"), smollm2("vllm").model_dump_json(),
        json.dumps([plain(r) for r in [*asked, words, drawn, drawn]]), str(store), str(tmp_path / "out.json"),
    ]  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1"}, timeout=900, check=False
    )
    assert done.returncode == 0
    *answers, long, word, one, two = json.loads((tmp_path / "out.json").read_text())
    assert answers[:8] == expected[:8]
    for ours, theirs in zip(answers[8:], expected[8:], strict=True):
        assert (ours[0], ours[2]) == (theirs[0], theirs[2])  # the rating, tokens of the prompt
        assert ours[4] == pytest.approx(theirs[4], abs=1e-3)
    assert word[0] in words.choices
    assert sum(word[4]) == pytest.approx(1)
    assert long[:2] == ["", "too_long"]
    assert one == two  # sampled with the request's own seed
