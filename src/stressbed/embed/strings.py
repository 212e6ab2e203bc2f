"""Which strings a job's cells need: of every variant, and those that a fitted embedder learns from."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.dataset.record import Key, dry_run, strings_of
from stressbed.errors import EmbedError
from stressbed.rewrites import ABSENT, CONTENT_HASH, DROPPED
from stressbed.store import metadata_of, read_parquet

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rewrites:
    """What a transforms file says: new texts, dropped texts, subsets without texts, the hash of it all."""

    replacements: Mapping[int, str]
    dropped: frozenset[int] = frozenset()
    absent: frozenset[str] = frozenset()
    content_hash: str = ""


def read_rewrites(path: Path) -> Rewrites:
    """Return the rewrites in `transforms/{dataset}/{variant}.parquet`.

    Raises:
        EmbedError: The file lacks the hash of its contents.
        StoreError: The file is damaged.
    """
    table = read_parquet(path, columns=["text_id", "text", "outcome"])
    facts = metadata_of(table.schema)
    if CONTENT_HASH not in facts:
        raise EmbedError(
            "a transforms file does not name the hash of its contents",
            where=str(path),
            do="delete this file and run again: `transform` writes it anew",
        )
    rows = list(zip(*(table[c].to_pylist() for c in ("text_id", "text", "outcome")), strict=True))
    return Rewrites(
        replacements={i: text for i, text, outcome in rows if outcome != DROPPED},
        dropped=frozenset(i for i, _, outcome in rows if outcome == DROPPED),
        absent=frozenset(json.loads(facts.get(ABSENT, "{}"))),
        content_hash=facts[CONTENT_HASH],
    )


def strings_of_variant(
    rewrites: Rewrites, texts: pd.DataFrame, inputs: pd.DataFrame, dataset_folder: Path
) -> list[Key]:
    """Return the unique (role, string) that scoring a variant needs, in order of first use.

    Where rows are dropped or subsets left out, mteb may draw other rows than for the whole dataset, so
    dry runs tell which: one of the variant, one of the original on the same rows and subsets, which
    is scored beside it.

    Args:
        rewrites: The variant; without replacements it is the original.
        texts: `texts.parquet`.
        inputs: `inputs.parquet`.
        dataset_folder: The frozen dataset.
    """
    found = strings_of(texts, inputs, rewrites.replacements)
    if not rewrites.dropped and not rewrites.absent:
        return found
    seen = {} if rewrites.dropped else dict.fromkeys(found)
    for replacements in (rewrites.replacements, {}):
        seen.update(dict.fromkeys(_recorded(rewrites, texts, replacements, dataset_folder)))
    return list(seen)


def _recorded(
    rewrites: Rewrites, texts: pd.DataFrame, replacements: Mapping[int, str], dataset_folder: Path
) -> Collection[Key]:
    from stressbed.dataset.rewrite import NothingLeft, rewrite
    from stressbed.dataset.thaw import thaw

    task = thaw(dataset_folder)
    try:
        rewrite(task, texts, replacements, rewrites.dropped)
    except NothingLeft:
        return []  # scoring says so in the cell
    task.hf_subsets = [s for s in task.hf_subsets if s not in rewrites.absent]
    return dry_run(task) if task.hf_subsets else []


def fit_texts(texts: pd.DataFrame, inputs: pd.DataFrame) -> Callable[[], list[str]]:
    """Return a function that gives the original texts which a fitted embedder learns from.

    Those are the documents of the corpus as they are embedded (title and body joined), else the
    training texts, else all texts; each once, in order.
    """
    return partial(_fit_texts, texts, inputs)


def _fit_texts(texts: pd.DataFrame, inputs: pd.DataFrame) -> list[str]:
    documents = inputs[inputs["role"] == "document"]
    if len(documents):
        return [string for _, string in strings_of(texts, documents, {})]
    train = texts[texts["split"] == "train"]
    chosen = train if len(train) else texts
    return list(dict.fromkeys(chosen["text"].tolist()))
