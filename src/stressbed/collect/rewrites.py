"""What became of the rewritten texts: counts by coordinates, and a seeded example of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from stressbed.fingerprint import text_digest
from stressbed.paths import variant_of_path
from stressbed.store import read_parquet
from stressbed.transform.flags import FLAGS

COORDINATES = ("dataset", "generator", "transformation", "seed")
_GROUP = ["source_language", "target_language", "outcome"]
_SUMS = ["tokens_in", "tokens_out"]


def rewrite_counts(files: Sequence[Path]) -> pd.DataFrame:
    """Return counts of rewritten texts by coordinates, languages and outcome.

    Columns: dataset, generator, transformation, seed, source_language, target_language, outcome,
    n_texts, one count per flag, `any` (texts with at least one flag), tokens_in, tokens_out.

    Args:
        files: Transform tables (`transforms/{dataset}/{variant}.parquet`).
    """
    frames = []
    for path in files:
        frame = read_parquet(path, columns=[*_GROUP, *FLAGS, *_SUMS]).to_pandas()
        frame["any"] = frame[list(FLAGS)].any(axis=1)
        frame["n_texts"] = 1
        counted = ["n_texts", *FLAGS, "any", *_SUMS]
        counts = frame.groupby(_GROUP, sort=True, dropna=False)[counted].sum().astype("int64").reset_index()
        dataset, v = variant_of_path(path)
        where = [dataset, v.generator, v.transformation, v.seed]
        for i, (name, value) in enumerate(zip(COORDINATES, where, strict=True)):
            counts.insert(i, name, value)
        frames.append(counts)
    columns = [*COORDINATES, *_GROUP, "n_texts", *FLAGS, "any", *_SUMS]
    found = [f for f in frames if len(f)]
    return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)


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
