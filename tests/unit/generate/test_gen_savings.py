"""How much is saved: first-attempt requests and encoded texts against the paper's protocol.

The protocol asks ten times per text and seed (six transformations of one call, two of two) and
encodes every text of the original and of the eight variants of each seed.
"""

import math
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from gen_samples import catalogue, english, hteb, manifest

from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.run import generate
from stressbed.paths import Variant

N = 100
SETS = 20


def simulate(cat, texts, seeds):
    """Return (unique / naive first attempts, unique / naive texts) of one whole generate job."""
    entry = cat.generators["fake"].model_copy(update={"batch_size": 10_000})
    with tempfile.TemporaryDirectory() as folder:
        outputs = {
            Variant("fake", t.id, s): Path(folder) / t.id / f"{s}.parquet" for t in hteb(cat) for s in seeds
        }
        stats = generate(
            dataset="sample", manifest=manifest({"default": ["eng-Latn"]}), texts=texts, generator=entry,
            generator_identity="fake", transformations=hteb(cat), prompts=cat.prompts, seeds=seeds,
            store_root=Path(folder), outputs=outputs, open_engine=lambda: FakeEngine(entry),
        )  # fmt: skip
        strings = set(texts["text"])
        for path in outputs.values():
            rows = {r["text_id"]: r["text"] for r in pq.read_table(path).to_pylist()}  # the last step's
            assert len(rows) == N
            strings |= set(rows.values())
    assert stats.requests_naive == 10 * len(seeds) * N
    assert stats.sent == stats.unique
    return stats.unique / stats.requests_naive, len(strings) / ((1 + 8 * len(seeds)) * N)


def expected_requests(seeds, pool=5):
    """The exact mean: draws fall on one of five languages, evenly and independently.

    Per text five calls are always asked (paraphrase, style, expansion, two summaries), a translation
    into each language that one of three draws per seed hits, and the way back from each that
    Backtranslation's own draws hit.
    """

    def hit(draws):
        return pool * (1 - (1 - 1 / pool) ** draws)

    return (5 + hit(3 * seeds) + hit(seeds)) / (10 * seeds)


@pytest.mark.parametrize(("n_seeds", "most_requests", "most_texts"), [(2, 0.55, 0.68), (3, 0.42, 0.55)])
def test_savings_against_the_papers_protocol(n_seeds, most_requests, most_texts):
    cat = catalogue()
    texts = english(N)
    starts = range(1000, 1000 + SETS * n_seeds, n_seeds)
    shares = np.array([simulate(cat, texts, list(range(s, s + n_seeds))) for s in starts])
    requests, strings = shares.mean(axis=0)
    error = shares[:, 0].std(ddof=1) / math.sqrt(SETS)
    print(
        f"\n{n_seeds} seeds, {SETS} seed sets: requests {requests:.3f} of naive "
        f"(expected {expected_requests(n_seeds):.3f}), texts {strings:.3f} of naive"
    )
    assert requests <= most_requests
    assert strings <= most_texts
    assert abs(requests - expected_requests(n_seeds)) < 4 * error + 0.003
