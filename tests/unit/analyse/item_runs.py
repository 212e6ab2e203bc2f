"""Made items: what `items.parquet` and `scores.parquet` hold of a few cells whose truth is known."""

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score

from stressbed.analyse.names import Names

ORIGINAL = ("none", "original", 0)


def names_of(embedders=("a",), datasets=("d",), transformations=("expansion",), generators=("llm",)):
    return Names(
        embedders={e: e.upper() for e in embedders},
        datasets={d: d.title() for d in datasets},
        generators={g: g for g in generators},
        transformations={t: t.title() for t in transformations},
        axes=dict.fromkeys(transformations, "length"),
        settings=dict.fromkeys(datasets, "all"),
    )


def item_rows(values, original, variant=("llm", "expansion", 1), gold=None, **more):
    """Return the items of one cell; the original's rows if `variant` is the original."""
    generator, transformation, seed = variant
    n = len(values)
    frame = {
        "run": "made", "embedder": "a", "dataset": "d", "subset": "default", "split": "test",
        "generator": generator, "transformation": transformation, "seed": seed, "unit": "query",
        "item": [f"i{i}" for i in range(n)], "metric": "ndcg_at_10", "value": np.asarray(values, float),
        "original": np.asarray(original, float), "gold": np.nan if gold is None else np.asarray(gold, float),
    }  # fmt: skip
    found = pd.DataFrame(frame | more)
    return found.assign(delta=found["value"] - found["original"])


def score_row(score, original, variant=("llm", "expansion", 1), **more):
    generator, transformation, seed = variant
    row = {
        "run": "made", "embedder": "a", "dataset": "d", "task": "d", "task_type": "Retrieval",
        "subset": "(all)", "split": "(all)", "generator": generator, "transformation": transformation,
        "seed": seed, "metric": "ndcg_at_10", "score": score, "original": original, "status": "ok",
    }  # fmt: skip
    return row | more


def pairs(kind, n, seed, fall=0.5):
    """Return similarities, those of the original, gold, a score of both, and fields of the score's row."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    original = truth + 0.4 * rng.normal(size=n)
    values = original + fall * rng.normal(size=n)
    if kind == "average precision":
        gold = (truth + 0.2 * rng.normal(size=n) > 0.3).astype(float)
        gold[0] = 1
        task = {"task_type": "PairClassification", "metric": "similarity_ap"}
        return values, original, gold, lambda x, g: average_precision_score(g, x), task
    gold = np.round(np.clip(truth + 2.5, 0, 5))
    measure = spearmanr if kind == "spearman" else pearsonr
    task = {"task_type": "STS", "metric": f"cosine_{kind}"}
    return values, original, gold, lambda x, g: measure(x, g).statistic, task


PAIR = {"unit": "pair", "metric": "cosine_similarity"}
