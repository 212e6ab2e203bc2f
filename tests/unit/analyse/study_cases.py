"""Made scores in the shape of `scores.parquet`'s totals, for the statistical analyses."""

import numpy as np
import pandas as pd
from fabricate import EIGHT

from stressbed.analyse.names import Names
from stressbed.analyse.study import Analysed
from stressbed.config.model import Analysis

TYPES = ("STS", "Classification", "Retrieval", "Clustering")


def made_names(embedders, datasets, *, transformations=tuple(EIGHT), generators=("llm",), **more):
    """Return names over made ids; languages are drawn for the Language axis and Backtranslation."""
    drawn = frozenset({"translation", "cross_translation", "backtranslation"} & set(transformations))
    return Names(
        embedders={e: e for e in embedders},
        datasets={d: d for d in datasets},
        generators={g: g for g in generators},
        transformations={t: EIGHT[t][0] for t in transformations},
        axes={t: EIGHT[t][1] for t in transformations},
        language_groups=more.pop("language_groups", dict.fromkeys(datasets, "english")),
        varying=more.pop("varying", dict.fromkeys(generators, drawn)),
        **more,
    )


def made_scores(names, score, *, seeds=(1, 2, 3), pairs=None):
    """Return rows of totals; `score(embedder, dataset, transformation, seed)` in points, None: missing."""
    rows = []
    generators = list(names.generators)
    for i, d in enumerate(names.datasets):
        for e in names.embedders:
            if pairs is not None and (e, d) not in pairs:
                continue
            original = score(e, d, "original", 0)
            cells = [("none", "original", 0, original)]
            cells += [
                (g, t, s, score(e, d, t, s)) for g in generators for t in names.transformations for s in seeds
            ]
            for g, t, s, value in cells:
                lacking = value is None or original is None
                rows.append(
                    {
                        "embedder": e, "dataset": d, "task_type": TYPES[i % len(TYPES)], "subset": "(all)",
                        "split": "(all)", "generator": g, "transformation": t,
                        "axis": "original" if t == "original" else names.axes[t], "seed": s, "metric": "m",
                        "higher_is_better": True, "score": value, "original": original,
                        "delta": None if lacking or t == "original" else value - original,
                        "status": "missing" if value is None else "ok", "matched": False, "marked": False,
                    }
                )  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.astype({"score": float, "original": float, "delta": float})


def noisy(seed=0, *, shift=0.0, spread=3.0):
    """Return a score function: embedder and dataset means plus noise, `shift` for rewritten cells."""
    memory = {}

    def score(e, d, t, s):
        rng = np.random.default_rng([seed, abs(hash_of(e)), abs(hash_of(d)), abs(hash_of(t)), s])
        base = 60 + hash_of(e) % 17 + hash_of(d) % 23
        return memory.setdefault(
            (e, d, t, s), base + rng.normal(0, spread) + (0 if t == "original" else shift)
        )

    return score


def hash_of(text):
    """Return a small number of a text that is the same in every process."""
    return sum((i + 1) * ord(c) for i, c in enumerate(text))


def analysed(names, scores, **options):
    """Return what the analyses take; few resamples, so that tests are fast."""
    known = options.pop("zero_shot", {})
    return Analysed(scores, names, Analysis(**({"resamples": 200, "halves": 50} | options)), known)
