"""What became of the rewritten texts: counts by coordinates, and a seeded example of each kind.

A rewrite is distinct if no other one of its dataset, generator and transformation has the same original,
language, new text and outcome. Seeds that cannot differ and texts that occur twice make none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from stressbed.fingerprint import text_digest
from stressbed.languages import one_tag
from stressbed.paths import variant_of_path
from stressbed.rewrites import DROPPED
from stressbed.store import read_parquet
from stressbed.transform.flags import FLAGS
from stressbed.transform.signs import SIGNS

COORDINATES = ("dataset", "generator", "transformation", "seed")
_GROUP = ["source_language", "target_language", "outcome"]
_SUMS = ["tokens_in", "tokens_out"]
_SAME = ["target_language", "original", "text", "outcome"]
"""Columns that two occurrences of one rewrite share."""

NO_REWRITES = ("refused", *SIGNS)
"""What shows that there is no rewrite: the answer is a refusal, or one of the signs."""

_COUNTED = ("n_distinct", "n_texts", *FLAGS, "any", *NO_REWRITES, *_SUMS)

_READ = [*_GROUP, "original", "text", "reason", *FLAGS, *SIGNS, *_SUMS]

DISTINCT = ("distinct", "distinct_flagged", "distinct_fallbacks", "distinct_dropped")
"""Counts of distinct rewrites, each counted with the first seed that has it."""


def first_seen(frames: Iterable[pd.DataFrame]) -> list[npt.NDArray[np.bool_]]:
    """Return for each frame which of its rows hold a rewrite that no row before holds.

    Args:
        frames: Tables of one dataset, generator and transformation, seed by seed.
    """
    seen: set[int] = set()
    found = []
    for frame in frames:
        keys = pd.util.hash_pandas_object(frame[_SAME], index=False)
        found.append((~keys.isin(seen) & ~keys.duplicated()).to_numpy())
        seen.update(keys.tolist())
    return found


def distinct_rewrites(files: Sequence[Path]) -> list[dict[str, int]]:
    """Return `DISTINCT` of each file: what it has that no file before it has.

    Args:
        files: Transform tables of one dataset, generator and transformation, in the order of the seeds.
    """
    frames = [read_parquet(path, columns=[*_SAME, *FLAGS]).to_pandas() for path in files]
    counts = []
    for frame, new in zip(frames, first_seen(frames), strict=True):
        there = frame[new]
        numbers = (
            len(there),
            there[list(FLAGS)].any(axis=1).sum(),
            (there["outcome"] == "fallback").sum(),
            (there["outcome"] == DROPPED).sum(),
        )
        counts.append(dict(zip(DISTINCT, map(int, numbers), strict=True)))
    return counts


def rewrite_counts(files: Sequence[Path]) -> pd.DataFrame:
    """Return counts of rewritten texts by coordinates, languages and outcome.

    Columns: dataset, generator, transformation, seed, source_language, target_language, outcome,
    n_distinct (each with the first seed that has it), n_texts, one count per flag, `any` (texts with at
    least one flag), of the distinct ones those that are refused, echo, answered or repeated, tokens_in,
    tokens_out.

    Args:
        files: Transform tables (`transforms/{dataset}/{variant}.parquet`), in the order of the seeds.
    """
    found = []
    by_kind = groupby(sorted(files, key=_without_seed), _without_seed)
    for (dataset, generator, transformation), of_seeds in by_kind:
        paths = list(of_seeds)
        frames = [read_parquet(p, columns=_READ).to_pandas() for p in paths]
        for path, frame, new in zip(paths, frames, first_seen(frames), strict=True):
            seed = variant_of_path(path)[1].seed
            found.append(_counts(frame.assign(n_distinct=new), (dataset, generator, transformation, seed)))
    columns = [*COORDINATES, *_GROUP, *_COUNTED]
    found = [f for f in found if len(f)]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)


def _counts(frame: pd.DataFrame, where: tuple[str, str, str, int]) -> pd.DataFrame:
    frame["any"] = frame[list(FLAGS)].any(axis=1)
    frame["n_texts"] = 1
    frame["refused"] = frame["reason"] == "refused"
    for name in NO_REWRITES:
        frame[name] &= frame["n_distinct"]
    for column in ("source_language", "target_language"):
        frame[column] = frame[column].map(one_tag, na_action="ignore")
    grouped = frame.groupby(_GROUP, sort=True, dropna=False)
    counts = grouped[list(_COUNTED)].sum().astype("int64").reset_index()
    dataset, generator, transformation, seed = where
    return counts.assign(dataset=dataset, generator=generator, transformation=transformation, seed=seed)


def _without_seed(path: Path) -> tuple[str, str, str]:
    dataset, v = variant_of_path(path)
    return dataset, v.generator, v.transformation


def rewrite_examples(files: Sequence[Path], *, seed: int) -> pd.DataFrame:
    """Return one rewritten text per generator, transformation and target language.

    It is the text whose hash with the seed is smallest: a random draw that depends neither on the
    order of the files nor on what was written, and that is not picked by anyone.

    Args:
        files: Transform tables.
        seed: Seed of the draw.
    """
    best: dict[tuple[str, str, str], tuple[str, dict[str, object]]] = {}
    for path in files:
        dataset, v = variant_of_path(path)
        table = read_parquet(path)
        ids, languages = table["text_id"].to_pylist(), table["target_language"].to_pylist()
        for i, (text_id, language) in enumerate(zip(ids, languages, strict=True)):
            key = (v.generator, v.transformation, language or "")
            rank = text_digest("example", str(seed), *key, dataset, str(v.seed), str(text_id))
            if key not in best or rank < best[key][0]:
                best[key] = (rank, _example(dataset, v.seed, table, i))
    rows = [
        {"generator": g, "transformation": t, "language": language, **best[g, t, language][1]}
        for g, t, language in sorted(best)
    ]
    columns = ["generator", "transformation", "language", "dataset", "seed", "text_id", "source_language"]
    return pd.DataFrame(rows, columns=[*columns, "original", "text", "outcome", "flags"])


def _example(dataset: str, seed: int, table: pa.Table, i: int) -> dict[str, object]:
    row = table.slice(i, 1).to_pylist()[0]
    kept = ("text_id", "source_language", "original", "text", "outcome")
    flags = ", ".join(f for f in FLAGS if row[f])
    return {"dataset": dataset, "seed": seed, **{k: row[k] for k in kept}, "flags": flags}
