"""What the LLM is asked and what is encoded, against the paper's protocol, for every task type.

    python -m benchmarks protocol [--sets 4] [--types STS Retrieval]

The protocol asks ten times per text and seed (six transformations of one call, two of two) and encodes every
text of the original and of each variant: 30 requests and 25 encodings per text at three seeds. A made dataset
of each type, no text twice in it, goes through the stages `texts`, `generate` (engine `fake`), `transform`
and `embed` (backend `random`) with the shipped transformations, so the numbers are counts, not times: they do
not depend on the machine. Tokens are words and marks of prompt and answer. Only texts that mteb embeds count
on either side.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import score_data as made
from benchmarks.rewritten import rewritten
from benchmarks.table import publish

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.quiet import quiet
from stressbed.embed.run import embed

SMALL: dict[str, Callable[[], dict[str, Any]]] = {
    "Classification": lambda: {"train": made.labelled(120, 1), "test": made.labelled(120, 2)},
    "MultilabelClassification": lambda: {
        "train": made.many_labelled(90, 1),
        "test": made.many_labelled(60, 2),
    },
    "Clustering": lambda: {"test": made.labelled(150, 5)},
    "ClusteringLegacy": lambda: {"test": made.sets(3, 50)},
    "PairClassification": lambda: {"test": made.pairs(80, 8)},
    "STS": lambda: {"test": made.pairs(80, 9)},
    "Summarization": lambda: {"test": made.summaries(8, 8)},
    "BitextMining": lambda: {"test": made.pairs(80, 10)},
    "Retrieval": lambda: {"test": made.search(120, 30, None)},
    "Reranking": lambda: {"test": made.search(120, 30, 20)},
}
SEEDS = 3
MOST_REQUESTS, MOST_TEXTS = 0.42, 0.55


def counts(kind: str, seeds: list[int]) -> tuple[float, ...]:
    """Return texts, requests, naive requests, tokens, naive tokens, encoded strings, naive strings."""
    entry = EmbedderEntry(id="random", backend="random", model="random", dimensions=8)
    with tempfile.TemporaryDirectory() as folder:
        done = rewritten(Path(folder), kind, SMALL[kind](), entry, seeds)
        chain = done.chain
        outputs = {v: chain._path("embeddings", v) for v in (made_original(), *chain.variants)}
        stats = embed(
            dataset=chain.manifest["dataset"], manifest=chain.manifest, texts=chain.texts,
            inputs=chain.inputs, transforms=chain.variants, entry=entry, embedder_identity=chain.identity,
            catalogue_folder=chain.root, store_root=chain.store, dataset_folder=chain.folder, outputs=outputs,
        )  # fmt: skip
        return (
            len(chain.texts), done.stats.unique, done.stats.requests_naive, done.tokens, done.tokens_naive,
            stats.encoded, stats.strings_naive,
        )  # fmt: skip


def made_original() -> Any:
    from eq_chain import ORIGINAL

    return ORIGINAL


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--types", nargs="+", choices=list(SMALL), default=list(SMALL))
    parser.add_argument("--sets", type=int, default=4, help="sets of three seeds to average over")
    options = parser.parse_args()
    quiet()
    os.environ["TQDM_DISABLE"] = "1"
    logging.getLogger("stressbed").setLevel(logging.ERROR)
    rows, totals = [], np.zeros(7)
    for kind in options.types:
        starts = range(1337, 1337 + options.sets * SEEDS, SEEDS)
        found = np.mean([counts(kind, list(range(s, s + SEEDS))) for s in starts], axis=0)
        totals += found
        rows.append(_row(kind, found))
        print(*rows[-1], flush=True)
    rows.append(_row("all", totals))
    columns = [
        "task type",
        "texts",
        "requests per text",
        "requests",
        "tokens",
        "encodings per text",
        "encodings",
    ]
    publish(
        "protocol", columns, rows,
        f"Three seeds, means over {options.sets} sets of seeds; `requests`, `tokens` and `encodings` are "
        f"shares of the protocol's. Aimed at: at most {MOST_REQUESTS} of the requests, "
        f"{MOST_TEXTS} of the encodings.",
    )  # fmt: skip
    _, asked, naive, _, _, encoded, strings = totals
    if asked > MOST_REQUESTS * naive or encoded > MOST_TEXTS * strings:
        sys.exit("more requests or encodings than aimed at")


def _row(kind: str, found: Any) -> list[str]:
    n, asked, naive, tokens, tokens_naive, encoded, strings = found
    per_text = [f"{asked / n:.1f}", f"{asked / naive:.3f}", f"{tokens / tokens_naive:.3f}"]
    return [kind, f"{n:.0f}", *per_text, f"{encoded / n:.1f}", f"{encoded / strings:.3f}"]


if __name__ == "__main__":
    main()
