"""The decoding loop against transformers' own `generate`, one prompt at a time, on small random models."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from transformers import (  # noqa: E402
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GemmaConfig,
    GemmaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
)

from stressbed.generate.engines import decoding  # noqa: E402
from stressbed.generate.engines.decoding import Row, common_prefix, decode, sample  # noqa: E402

SIZES = {
    "vocab_size": 60,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "eos_token_id": 5,
    "pad_token_id": 5,
    "max_position_embeddings": 256,
}
ENDS = frozenset({5, 6})


WINDOWS = {"gemma3-wide": 64, "gemma3-narrow": 12}
"""Sliding windows that hold everything, or that rows of 18 to 38 tokens slide out of."""


@pytest.fixture(scope="module", params=["llama", "gemma", *WINDOWS])
def model(request):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        if request.param in WINDOWS:
            kinds = ["sliding_attention", "full_attention"]
            sizes = {**SIZES, "sliding_window": WINDOWS[request.param], "layer_types": kinds}
            return Gemma3ForCausalLM(Gemma3TextConfig(**sizes, initializer_range=0.5)).eval()
        if request.param == "llama":
            return LlamaForCausalLM(LlamaConfig(**SIZES, initializer_range=0.5)).eval()
        return GemmaForCausalLM(GemmaConfig(**SIZES, initializer_range=0.5)).eval()


def prompts(shared: int = 6, n: int = 9) -> list[list[int]]:
    rng = np.random.default_rng(1)
    beginning = rng.integers(7, 60, shared).tolist()
    return [beginning + rng.integers(7, 60, int(k)).tolist() for k in rng.integers(1, 12, n)]


def naive(model, prompt: list[int], limit: int) -> list[int]:
    ids = torch.tensor([prompt])
    out = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=limit,
        do_sample=False,
        eos_token_id=sorted(ENDS),
    )
    return out[0, len(prompt) :].tolist()


def answers(rows: list[Row]) -> list[list[int]]:
    return [r.answer for r in rows]


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("size", [1, 4, 9])
def test_equals_transformers_one_by_one(model, size, share):
    limits = [3, 20, 1, 12, 20, 7, 20, 15, 20]
    rows = [Row(p, limit) for p, limit in zip(prompts(), limits, strict=True)]
    for i in range(0, len(rows), size):
        decode(model, rows[i : i + size], ends=ENDS, share_prefix=share)
    for row in rows:
        expected = naive(model, list(row.prompt), row.limit)
        assert row.answer + ([expected[-1]] if row.stopped else []) == expected
        assert row.stopped == (expected[-1] in ENDS)
        assert row.stopped or len(row.answer) == row.limit
    assert len({tuple(r.answer) for r in rows}) > 4  # the model says different things


def test_some_rows_stop_by_themselves(model):
    rows = [Row(p, 60) for p in prompts(n=30)]
    decode(model, rows, ends=ENDS)
    assert sum(r.stopped for r in rows) > 0 or isinstance(model, Gemma3ForCausalLM)  # which repeats itself


def test_close_choices_are_settled_by_a_run_alone(model, monkeypatch):
    asked = []
    real = decoding._alone
    monkeypatch.setattr(decoding, "_alone", lambda m, row: asked.append(row) or real(m, row))
    monkeypatch.setattr(decoding, "NOISE", float("inf"))
    rows = [Row(p, 8) for p in prompts()]
    decode(model, rows, ends=ENDS)
    assert len(asked) >= len(rows)
    for row in rows:
        expected = naive(model, list(row.prompt), 8)
        assert row.answer == [t for t in expected if t not in ENDS]


def test_an_exact_tie_takes_the_same_token_in_every_batch(model):
    head = model.get_output_embeddings().weight
    with torch.no_grad():
        before = head.clone()
        head[8:] = head[7]  # tokens 7 to 59 are equally good everywhere
    try:
        batch = [Row(p, 6) for p in prompts()]
        decode(model, batch, ends=ENDS)
        for row in batch:
            alone = Row(row.prompt, 6)
            decode(model, [alone], ends=ENDS)
            assert alone.answer == row.answer
    finally:
        with torch.no_grad():
            head.copy_(before)


def rows_at(temperature: float, top_p: float = 1.0) -> list[Row]:
    return [
        Row(p, 12, temperature, top_p, torch.Generator().manual_seed(100 + i))
        for i, p in enumerate(prompts())
    ]


def test_sampling_does_not_depend_on_the_batch(model):
    together, apart = rows_at(0.9), rows_at(0.9)
    decode(model, together, ends=ENDS)
    for row in reversed(apart):
        decode(model, [row], ends=ENDS)
    assert answers(together) == answers(apart)
    greedy = [Row(p, 12) for p in prompts()]
    decode(model, greedy, ends=ENDS)
    assert answers(greedy) != answers(together)


def test_sampled_frequencies_are_the_softmax():
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0])
    generator = torch.Generator().manual_seed(0)
    row = Row([1], 1, 0.5, 1.0, generator)
    drawn = np.bincount([sample(logits, row) for _ in range(4000)], minlength=4) / 4000
    expected = np.exp(np.array([0, 1, 2, -1]) / 0.5)
    assert drawn == pytest.approx(expected / expected.sum(), abs=0.02)


def test_the_nucleus_is_the_smallest_set_that_reaches_top_p():
    logits = torch.log(torch.tensor([0.1, 0.5, 0.1, 0.3]))
    row = Row([1], 1, 1.0, 0.79, torch.Generator().manual_seed(0))
    assert {sample(logits, row) for _ in range(300)} == {1, 3}
    row = Row([1], 1, 1.0, 0.1, torch.Generator().manual_seed(0))
    assert {sample(logits, row) for _ in range(100)} == {1}


@pytest.mark.parametrize(
    ("given", "shared"),
    [
        ([[1, 2, 3], [1, 2, 4]], 2),
        ([[1, 2, 3], [1, 2, 3]], 2),
        ([[1], [1, 2]], 0),
        ([[2, 1], [1, 2]], 0),
        ([[4, 5]], 1),
    ],
)
def test_common_prefix_leaves_a_token(given, shared):
    assert common_prefix(given) == shared


@pytest.mark.parametrize("size", [1, 9])
def test_an_answer_may_be_finished_by_what_it_says(model, size):
    rows = [Row(p, 20) for p in prompts()]
    for i in range(0, len(rows), size):
        decode(model, rows[i : i + size], ends=ENDS, finished=lambda ids: ids[-1] % 4 == 0 or len(ids) == 9)
    for row in rows:
        free = naive(model, list(row.prompt), 20)
        cut = next(i for i, t in enumerate(free) if t % 4 == 0 or t in ENDS or i == 8)
        assert row.answer == [t for t in free[: cut + 1] if t not in ENDS]
        assert row.stopped
    assert len({len(r.answer) for r in rows}) > 1
