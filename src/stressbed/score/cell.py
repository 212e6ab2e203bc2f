"""A cell's identity and its record: what is stored and what is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stressbed import embed
from stressbed.errors import ScoreError
from stressbed.fingerprint import digest
from stressbed.paths import Cell
from stressbed.score import TASK_SEED, VERSION
from stressbed.score.evaluate import SubsetScore
from stressbed.score.variant import VariantFacts

OK, FAILED, ABSENT = "ok", "failed", "absent"

_LONG = frozenset({"ids", "values"})
_PLACE = "\0"


@dataclass(frozen=True)
class CellJob:
    """One cell to score.

    Attributes:
        cell: Its coordinates.
        embedding: Manifest of its vectors (JSON).
        transform: Its rewritten texts (Parquet), or None for the original.
        out: Where its record goes.
    """

    cell: Cell
    embedding: Path
    transform: Path | None
    out: Path


def read_embedding(path: Path, identity: str, facts: VariantFacts) -> dict[str, Any]:
    """Return the manifest of a cell's vectors.

    Raises:
        ScoreError: It is not readable, or belongs to another embedder or to other texts.
    """
    remedy = "embed again with `snakemake --forcerun embed`; what is stored is not encoded twice"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as e:
        raise ScoreError(f"not readable as JSON: {e}", where=str(path), do=remedy) from e
    for key, expected in (("embedder_identity", identity), ("texts_hash", facts.texts_hash)):
        if (manifest.get(key) or "") != expected:
            raise ScoreError(
                f"the vectors were made for another {key.replace('_', ' ')}",
                where=str(path),
                allowed=f"{key} {expected!r}, found {manifest.get(key)!r}",
                do=remedy,
            )
    return manifest


def fingerprint(
    manifest: Mapping[str, Any], facts: VariantFacts, embedder_identity: str, fitted_on: str | None
) -> str:
    """Return the hash of everything that decides a cell's record, coordinates apart.

    Args:
        manifest: Of the frozen dataset.
        facts: Of the variant.
        embedder_identity: Of the embedder.
        fitted_on: Hash of the texts that the embedder was fitted on, if it is fitted.
    """
    return digest(
        {
            "dataset": manifest["content_hash"],
            "texts": facts.texts_hash,
            "absent": dict(facts.absent),
            "outcomes": dict(facts.outcomes),
            "flagged": [facts.flagged, facts.retried],
            "n_texts": facts.n_texts,
            "embedder": embedder_identity,
            "fitted_on": fitted_on or "",
            "task_seed": TASK_SEED,
            "metric": manifest["main_score"],
            "subsets": list(manifest["subsets"]),
            "splits": list(manifest["splits"]),
            "versions": [str(manifest.get("stage_version", "")), embed.VERSION, VERSION],
        }
    )


def written(record: Mapping[str, Any]) -> str:
    """Return a record as the text of its file: `json.dumps(record, indent=1)` and a line break.

    With an indent Python's encoder writes each value by itself, which for thousands of items takes as long as
    scoring them; here the items' lists are encoded as a whole and put in place.
    """
    lists: list[list[Any]] = []

    def aside(values: list[Any] | None) -> object:
        """Put a list away and return the mark that holds its place; what is empty stays."""
        if not values:
            return values
        lists.append(values)
        return f"{_PLACE}{len(lists) - 1}{_PLACE}"

    items = [{k: aside(v) if k in _LONG else v for k, v in i.items()} for i in record["items"]]
    text = json.dumps({**record, "items": items}, indent=1, allow_nan=False)
    head, *rest = text.split(json.dumps(_PLACE)[1:-1])
    if len(rest) != 2 * len(lists):  # a text of the record holds the mark too
        return json.dumps(record, indent=1, allow_nan=False) + "\n"
    parts = [head]
    for number, after in zip(rest[::2], rest[1::2], strict=True):
        # The quotes of the place go; its list is indented like the key that it belongs to.
        before = parts.pop()[:-1]
        indent = "\n" + " " * 4
        values = json.dumps(lists[int(number)], separators=("," + indent, ": "), allow_nan=False)
        parts += [before, "[", indent, values[1:-1], indent[:-1], "]", after[1:]]
    return "".join(parts) + "\n"


def mean_score(found: Sequence[SubsetScore]) -> float | None:
    """Return the mean over splits and subsets in points of 100, as mteb aggregates.

    None if there is none, or if one of them has no score.
    """
    import numpy as np

    mains = [s.main for s in found]
    if not mains or None in mains:
        return None
    return float(np.mean(mains)) * 100  # type: ignore[arg-type]


def body(
    *,
    manifest: Mapping[str, Any],
    facts: VariantFacts,
    found: Sequence[SubsetScore],
    matched: Sequence[SubsetScore] | None,
    row_ids: Mapping[tuple[str, str], Sequence[str]],
) -> dict[str, Any]:
    """Return a cell's record without coordinates and provenance.

    Args:
        manifest: Of the frozen dataset.
        facts: Of the variant.
        found: Its scores.
        matched: Scores of the original on the same rows and subsets, where they are not the original's own.
        row_ids: Where rows were dropped: (subset, split) -> ids of the rows that are left.
    """
    by_place = {(m.subset, m.split): m for m in matched or ()}
    subsets = [_subset(s, manifest, by_place.get((s.subset, s.split))) for s in found]
    subsets += [
        _absent(subset, split, manifest, facts.absent[subset])
        for split in manifest["splits"]
        for subset in manifest["subsets"]
        if subset in facts.absent
    ]
    errors = [f"{s['subset']}/{s['split']}: {s['reason']}" for s in subsets if s["status"] == FAILED]
    status = FAILED if errors else (OK if found else ABSENT)
    reasons = [f"{s['subset']}/{s['split']}: {s['reason']}" for s in subsets if s["status"] == ABSENT]
    return {
        "task": manifest["task"],
        "task_type": manifest["task_type"],
        "status": status,
        "error": "; ".join(errors if status == FAILED else reasons if status == ABSENT else []),
        "metric": manifest["main_score"],
        "higher_is_better": True,
        "score": mean_score(found) if status == OK else None,
        "subsets": subsets,
        "n_items": sum(s.n_items for s in found),
        "n_texts": facts.n_texts,
        "fallbacks": facts.outcomes.get("fallback", 0),
        "flagged": facts.flagged,
        "retried": facts.retried,
        "dropped": facts.outcomes.get("dropped", 0),
        "original_matched": mean_score(matched) if matched and status == OK else None,
        "items": [record for s in found for record in _items(s, row_ids)],
    }


def _subset(found: SubsetScore, manifest: Mapping[str, Any], matched: SubsetScore | None) -> dict[str, Any]:
    error = found.error
    if not error and matched is not None and matched.error:
        error = f"the matched original: {matched.error}"
    return {
        "subset": found.subset,
        "split": found.split,
        "languages": manifest["languages"].get(found.subset, []),
        "score": None if error else found.score,
        "n_items": found.n_items,
        "status": FAILED if error else OK,
        "reason": error,
        "original_matched": None if matched is None else matched.score,
        "metrics": found.metrics,
    }


def _absent(subset: str, split: str, manifest: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {
        "subset": subset,
        "split": split,
        "languages": manifest["languages"].get(subset, []),
        "score": None,
        "n_items": 0,
        "status": ABSENT,
        "reason": reason,
        "original_matched": None,
        "metrics": {},
    }


def _items(found: SubsetScore, row_ids: Mapping[tuple[str, str], Sequence[str]]) -> list[dict[str, Any]]:
    """Return the items of a subset; numbers become the original's row numbers where rows were dropped."""
    left = row_ids.get((found.subset, found.split))
    records = []
    for items in found.items:
        ids: list[str] | None = None if items.ids is None else list(items.ids)
        if left is not None and items.unit == "pair":
            ids = list(left)
        elif left is not None and items.unit == "summary" and ids is not None:
            ids = [left[int(i)] for i in ids]
        records.append(
            {
                "subset": found.subset,
                "split": found.split,
                "unit": items.unit,
                "metric": items.metric,
                "ids": ids,
                "values": list(items.values),
            }
        )
    return records
