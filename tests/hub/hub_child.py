"""What runs in a process of its own, so that the hub's settings stand before anything is imported.

`python hub_child.py '{"do": [...]}'`: each step is `[function, arguments]`; prints a list of results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def freeze(entry: dict[str, Any], out: str, store: str | None = None) -> Any:
    """Freeze; return the manifest, or the message of the error."""
    from stressbed.config.entries import DatasetEntry
    from stressbed.dataset.freeze import freeze as run
    from stressbed.errors import DataError

    try:
        return run(DatasetEntry(**entry), Path(), Path(out), store=Path(store) if store else None)
    except DataError as e:
        return {"error": str(e)}


def direct(task: str, subsets: list[str]) -> Any:
    """Let mteb load the task from the hub and evaluate it, with nothing of stressbed in between."""
    import mteb

    found = mteb.get_task(task)
    found.hf_subsets = subsets
    found._eval_splits = ["test"]
    return _evaluate(found)


def thawed(out: str) -> Any:
    """Thaw, list the texts, and evaluate."""
    from stressbed.dataset.record import record
    from stressbed.dataset.thaw import thaw

    record(out)
    return _evaluate(thaw(out))


def _evaluate(task: Any) -> Any:
    from ds_samples import HashEncoder

    encoder = HashEncoder()
    scores = task.evaluate(encoder, "test", encode_kwargs={"batch_size": 32})
    return {"scores": scores, "strings": sorted(map(list, encoder.seen))}


def listed(out: str) -> Any:
    """Return the texts' languages by subset and field, and the strings that would be embedded."""
    import pandas as pd

    from stressbed.dataset.record import strings_of

    texts, inputs = (pd.read_parquet(Path(out) / n) for n in ("texts.parquet", "inputs.parquet"))
    languages = texts.groupby(["subset", "field"])["language"].agg(set)
    return {
        "languages": {"/".join(k): sorted(v) for k, v in languages.items()},
        "strings": sorted(map(list, strings_of(texts, inputs, {}))),
    }


def prefetch(config: dict[str, Any], base: str) -> Any:
    """Bring what a run needs; return the requirements."""
    from dataclasses import asdict

    from stressbed.check import load_run
    from stressbed.errors import StressbedError
    from stressbed.prefetch import prefetch as run
    from stressbed.prefetch import requirements

    plan = load_run(config, base=Path(base))
    try:
        run(plan)
    except StressbedError as e:
        return {"error": str(e)}
    return [asdict(r) for r in requirements(plan)]


def make_model(folder: str) -> Any:
    """Save a tiny sentence-transformers model with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "river", "bank"]
    base = Path(folder).with_suffix(".bert")
    base.mkdir()
    (base / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    BertModel(config).save_pretrained(base)
    BertTokenizerFast(vocab_file=str(base / "vocab.txt")).save_pretrained(base)
    parts = [Transformer(str(base)), Pooling(16)]
    SentenceTransformer(modules=parts, device="cpu").save(folder)
    return True


def model(name: str, revision: str | None) -> Any:
    """Load a sentence-transformers model by its hub id and return a vector."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(name, revision=revision, device="cpu").encode(["a river bank"])[0].tolist()


if __name__ == "__main__":
    steps = json.loads(sys.argv[1])
    results = [globals()[name](*arguments) for name, arguments in steps]
    sys.stdout.write("\nRESULT " + json.dumps(results, default=float) + "\n")
