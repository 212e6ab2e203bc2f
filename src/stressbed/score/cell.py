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
from stressbed.score.items import behind
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
    manifest: Mapping[str, Any], facts: VariantFacts, embedder_identity: str, embedding: Mapping[str, Any]
) -> str:
    """Return the hash of everything that decides a cell's metrics, coordinates apart.

    The main score is not part of it: all metrics are kept, and the main score is one of them.

    Args:
        manifest: Of the frozen dataset.
        facts: Of the variant.
        embedder_identity: Of the embedder.
        embedding: Manifest of the vectors: the texts that the embedder was fitted on, what was sent before
            the texts of each role, and how vectors are compared.
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
            "fitted_on": embedding.get("fitted_on") or "",
            "contexts": dict(embedding["contexts"]),
            "similarity": embedding["similarity"],
            "task_seed": TASK_SEED,
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


def body(
    evaluation: Mapping[str, Any],
    *,
    manifest: Mapping[str, Any],
    facts: VariantFacts,
    embedder: str,
    lexical: bool,
) -> dict[str, Any]:
    """Return a cell's record without coordinates and provenance, for the present main score.

    Args:
        evaluation: All metrics and items (`stressbed.score.compute.compute_cell`).
        manifest: Of the frozen dataset.
        facts: Of the variant.
        embedder: Catalogue id, for the words of a failed cell.
        lexical: Whether the embedder knows words only: of a rewrite it may know none.

    Raises:
        ScoreError: mteb has no such score.
    """
    main = manifest["main_score"]
    found = [_score_of(s, main, manifest) for s in evaluation["subsets"]]
    matched = [_score_of(s, main, manifest) for s in evaluation["matched"] or ()]
    if 0 < evaluation["vectors"] == evaluation["zero_vectors"]:
        # A metric of them says nothing of a model. Of an index of words it may say the truth: it knew none.
        counts = lexical and facts.n_texts is not None
        nothing = f"every vector of {embedder} is zero"
        found = [s if counts and s.main is not None else _Score(s.of, None, nothing) for s in found]
    subsets = _subsets(found, matched, manifest, facts)
    reasons = {
        status: [f"{s['subset']}/{s['split']}: {s['reason']}" for s in subsets if s["status"] == status]
        for status in (FAILED, ABSENT)
    }
    status = FAILED if reasons[FAILED] else (OK if found else ABSENT)
    return {
        "task": manifest["task"],
        "task_type": manifest["task_type"],
        "status": status,
        "error": "; ".join(reasons.get(status, [])),
        "metric": main,
        "higher_is_better": True,
        "score": _mean(found) if status == OK else None,
        "subsets": subsets,
        "n_items": sum(s.of["n_items"] for s in found),
        "n_texts": facts.n_texts,
        "fallbacks": facts.outcomes.get("fallback", 0),
        "flagged": facts.flagged,
        "retried": facts.retried,
        "dropped": facts.outcomes.get("dropped", 0),
        "vectors": evaluation["vectors"],
        "zero_vectors": evaluation["zero_vectors"],
        "original_matched": _mean(matched) if matched and status == OK else None,
        "items": _items(evaluation["items"], found, main),
    }


def _subsets(
    found: Sequence[_Score], matched: Sequence[_Score], manifest: Mapping[str, Any], facts: VariantFacts
) -> list[dict[str, Any]]:
    """Return the records of all subsets, those without texts last."""
    by_place = {(m.of["subset"], m.of["split"]): m for m in matched}
    absent = [
        _absent(subset, split, manifest, facts.absent[subset])
        for split in manifest["splits"]
        for subset in manifest["subsets"]
        if subset in facts.absent
    ]
    return [_subset(s, manifest, by_place.get((s.of["subset"], s.of["split"]))) for s in found] + absent


def _items(blocks: Sequence[Mapping[str, Any]], found: Sequence[_Score], main: str) -> list[dict[str, Any]]:
    """Return the items of the subsets that have a score, with the values that the main score is made of."""
    scored = {(s.of["subset"], s.of["split"]) for s in found if s.main is not None}
    return [
        {
            "subset": b["subset"],
            "split": b["split"],
            "unit": b["unit"],
            "metric": metric,
            "ids": b["ids"],
            "values": b["values"][metric],
        }
        for b in blocks
        if (b["subset"], b["split"]) in scored
        for metric in behind(b["values"], main)
    ]


@dataclass(frozen=True)
class _Score:
    """The main score of a subset's metrics in mteb's own unit, or why there is none."""

    of: Mapping[str, Any]
    main: float | None
    error: str

    @property
    def score(self) -> float | None:
        """The score in points of 100."""
        return None if self.main is None else self.main * 100


def _score_of(of: Mapping[str, Any], main: str, manifest: Mapping[str, Any]) -> _Score:
    if of["error"]:
        return _Score(of, None, of["error"])
    if main in of["undefined"]:
        return _Score(of, None, f"{main} is undefined on these data")
    if main not in of["metrics"]:
        raise ScoreError(
            f"mteb gives no score {main!r}",
            where=f"dataset {manifest.get('dataset', manifest['task'])!r}, key 'main_score'",
            allowed=", ".join([*of["metrics"], *of["undefined"]]),
        )
    return _Score(of, of["metrics"][main], "")


def _mean(scores: Sequence[_Score]) -> float:
    """Return the mean over splits and subsets, all of them scored, in points of 100, as mteb aggregates."""
    import numpy as np

    return float(np.mean([s.main for s in scores])) * 100


def _subset(found: _Score, manifest: Mapping[str, Any], matched: _Score | None) -> dict[str, Any]:
    error, of = found.error, found.of
    if not error and matched is not None and matched.error:
        error = f"the matched original: {matched.error}"
    named = {} if found.main is None else {"main_score": found.main}
    return {
        "subset": of["subset"],
        "split": of["split"],
        "languages": manifest["languages"].get(of["subset"], []),
        "score": None if error else found.score,
        "n_items": of["n_items"],
        "status": FAILED if error else OK,
        "reason": error,
        "original_matched": None if matched is None else matched.score,
        "metrics": {**of["metrics"], **named},
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
