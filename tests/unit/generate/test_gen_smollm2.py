"""With a real model in float32, sharing and batching change no answer."""

from pathlib import Path

import pytest
from gen_samples import catalogue, hteb, texts_frame
from test_gen_run import Naive, run

from stressbed.generate.engines import open_engine

TEXTS = texts_frame(
    [
        ("default", "eng-Latn", "both", "A man is playing the guitar in the park."),
        ("default", "eng-Latn", "both", "Where is my new credit card?"),
    ]
)
LANGUAGES = {"default": ["eng-Latn"]}


@pytest.mark.slow
def test_answers_of_a_real_model_equal_the_naive_way(tmp_path, request):
    cat = catalogue()
    base = cat.generators["smollm2-135m"].model_dump()
    limits = {"factor": 1.0, "minimum": 8, "maximum": 16, "expansion_factor": 2}
    entry = type(cat.generators["smollm2-135m"]).model_validate(
        base | {"limits": limits, "retry": {"attempts": 0}}
    )
    store = Path(request.config.cache.mkdir("stressbed_store"))  # keeps the converted model between runs
    engine = open_engine(entry, cache=store, folder=store)
    stats, tables = run(tmp_path, cat, entry, TEXTS, LANGUAGES, seeds=[1337], opened=lambda: engine)
    naive = Naive(cat, entry, engine)  # one request at a time: no batch, nothing shared
    compared = naive.agrees(tables, TEXTS, LANGUAGES)
    assert len(tables) == len(hteb(cat))
    assert stats.sent < len(naive.requests) == stats.requests_naive == 20
    print(f"\n{compared} answers equal; {stats.sent} requests sent, the naive way {len(naive.requests)}")
