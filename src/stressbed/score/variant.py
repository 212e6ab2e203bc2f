"""What a transforms file says about a variant, as far as scoring needs it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq

from stressbed.rewrites import ABSENT, CONTENT_HASH, DROPPED, UNUSED
from stressbed.store import metadata_of, read_parquet, reading
from stressbed.transform.flags import FLAGS


@dataclass(frozen=True)
class VariantFacts:
    """Hash, absent subsets and outcomes of a variant; all empty for the original.

    Attributes:
        texts_hash: Hash of the variant's texts, "" for the original.
        absent: Subsets without texts, with the reason.
        outcomes: How many texts had each outcome.
        flagged: Texts with at least one error flag, whatever their outcome.
        retried: Texts of which a later attempt is used.
        n_texts: Texts that the transformation touched, or None for the original.
    """

    texts_hash: str = ""
    absent: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    n_texts: int | None = None
    flagged: int = 0
    retried: int = 0


@dataclass(frozen=True)
class VariantTexts:
    """The new texts of a variant, and what was dropped."""

    replacements: Mapping[int, str]
    dropped: frozenset[int]


def read_facts(transform: Path | None) -> VariantFacts:
    """Return what decides and describes a variant; reads the metadata and the columns that are counted.

    Raises:
        FileNotFoundError: There is no such file.
        StoreError: It is damaged.
    """
    if transform is None:
        return VariantFacts()
    with reading(transform):
        now = transform.stat()
    return _facts(transform, now.st_mtime_ns, now.st_size, now.st_ino)


@lru_cache(maxsize=100_000)
def _facts(transform: Path, *_state: int) -> VariantFacts:
    """Return the facts of a file in the state that it is in: a dry run asks once per embedder."""
    with reading(transform), pq.ParquetFile(transform) as file:
        metadata = metadata_of(file.schema_arrow)
        table = file.read(columns=["outcome", "attempts", *FLAGS])
        texts_hash = metadata[CONTENT_HASH]
    outcomes = table.column("outcome").to_pylist()
    attempts = table.column("attempts").to_pylist()
    flags = [table.column(name).to_pylist() for name in FLAGS]
    return VariantFacts(
        texts_hash=texts_hash,
        absent=json.loads(metadata.get(ABSENT, "{}")),
        outcomes=dict(sorted(Counter(outcomes).items())),
        n_texts=len(outcomes),
        flagged=sum(any(of_a_text) for of_a_text in zip(*flags, strict=True)),
        retried=sum(n > 1 and o not in UNUSED for n, o in zip(attempts, outcomes, strict=True)),
    )


def read_texts(transform: Path | None) -> VariantTexts:
    """Return the new texts by text id; dropped ones are apart."""
    if transform is None:
        return VariantTexts({}, frozenset())
    table = read_parquet(transform, columns=["text_id", "text", "outcome"])
    rows = zip(*(table.column(c).to_pylist() for c in ("text_id", "text", "outcome")), strict=True)
    replacements: dict[int, str] = {}
    dropped: set[int] = set()
    for text_id, text, outcome in rows:
        if outcome == DROPPED:
            dropped.add(text_id)
        else:
            replacements[text_id] = text
    return VariantTexts(replacements, frozenset(dropped))
