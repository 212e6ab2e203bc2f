"""Made cells for verdicts: every embedder loses what a function says."""

import numpy as np
import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.study import Analysed
from stressbed.collect.schema import ALL
from stressbed.config.model import Analysis

AXES = {"paraphrasing": "lexical_stylistic", "expansion": "length", "translation": "language"}
QUESTIONS = {"paraphrasing": "rewording", "expansion": "longer", "translation": "language"}


def analysed(delta, *, embedders=("a", "b"), datasets=12, transformations=AXES, seeds=(1,), resamples=500):
    """Return a run in which `delta(embedder, dataset number, transformation, seed)` is a cell's delta."""
    rows = []
    for e in embedders:
        for d in range(datasets):
            original = 70.0 + d
            rows.append(_row(e, d, "none", "original", "original", 0, original, original))
            rows += [
                _row(e, d, "llm", t, AXES[t], s, original + delta(e, d, t, s), original)
                for t in transformations
                for s in seeds
            ]
    names = Names(
        embedders={e: e.upper() for e in embedders},
        datasets={f"d{d}": f"d{d}" for d in range(datasets)},
        generators={"llm": "LLM"},
        transformations={t: t.title() for t in transformations},
        axes={t: AXES[t] for t in transformations},
    )
    return Analysed(pd.DataFrame(rows), names, Analysis(resamples=resamples))


def _row(e, d, g, t, axis, seed, score, original):
    return {
        "embedder": e, "dataset": f"d{d}", "task": f"d{d}", "task_type": "Retrieval", "subset": ALL,
        "split": ALL, "language": "eng-Latn", "generator": g, "transformation": t, "axis": axis, "seed": seed,
        "metric": "ndcg_at_10", "higher_is_better": True, "score": score, "original": original,
        "delta": np.nan if t == "original" else score - original, "status": "ok", "error": "",
        "marked": False, "matched": False,
    }  # fmt: skip


def items_of(data, values, *, unit="query", metric="ndcg_at_10", gold=None):
    """Return items of a run's cells; `values(embedder, transformation, seed)` gives one value per item."""
    rows = []
    for c in data.scores.to_dict("records"):
        found = values(c["embedder"], c["transformation"], c["seed"])
        rows += [
            {
                "embedder": c["embedder"], "dataset": c["dataset"], "subset": "default", "split": "test",
                "generator": c["generator"], "transformation": c["transformation"], "seed": c["seed"],
                "unit": unit, "item": str(i), "metric": metric, "value": float(v),
                "gold": np.nan if gold is None else float(gold[i]),
            }
            for i, v in enumerate(found)
        ]  # fmt: skip
    return pd.DataFrame(rows)
