"""All tables and sentences of small made runs beside approved files: what many runs lack, each lacks once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from approved import approve
from fabricate import EIGHT
from study_cases import analysed, hash_of, made_names, made_scores

from stressbed.analyse import SCORE_TABLES
from stressbed.analyse.aggregate import ORIGINAL
from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.conclusions.recommendation import recommendation
from stressbed.analyse.descriptive import scores as score_tables
from stressbed.analyse.statistics.crosscheck import crosscheck, crosscheck_cells
from stressbed.analyse.statistics.registry import STATISTICS
from stressbed.analyse.write import to_csv, to_markdown

TWO_AXES = ("paraphrasing", "expansion", "summarisation")
FIVE = (*TWO_AXES, "translation", "cross_translation")
QUESTIONS = {"paraphrasing": "rewording", "expansion": "longer", "summarisation": "shorter"} | {
    "translation": "language", "cross_translation": "mixed",
}  # fmt: skip


def letters(n):
    return tuple("abcdefghijkl"[:n])


def numbered(n):
    return tuple(f"d{i}" for i in range(n))


def skewed(e, d, t, s):
    """A score whose loss is strongly skewed and hangs on everything; some embedders gain."""
    rng = np.random.default_rng([hash_of(e), hash_of(d), hash_of(t), s])
    level = 40.0 + 0.7 * (hash_of(e) % 7) + 2 * (hash_of(d) % 11) + rng.normal()
    return level if t == "original" else level + 1.5 - float(np.exp(rng.normal(0.2, 1.1)))


def without(*lost):
    """Return the scores without the cells that fit one of these: embedder, dataset, transformation, seed."""
    fits = lambda cell, hole: all(h in {c, None} for c, h in zip(cell, hole, strict=True))  # noqa: E731
    return lambda *cell: None if any(fits(cell, hole) for hole in lost) else skewed(*cell)


def low(*weak):
    """Return scores of which some embedders have nearly nothing to lose."""
    return lambda e, d, t, s: skewed(e, d, t, s) * (0.05 if e in weak else 1)


SIX = {d: "english" if i < 7 else "non_english" for i, d in enumerate(numbered(13))}
CASES = {
    "nine": {"embedders": letters(9), "datasets": numbered(9), "score": without(("b", "d3", "expansion", 2))},
    "ten": {"embedders": letters(10), "datasets": numbered(10), "transformations": TWO_AXES, "seeds": (1,)},
    "settings": {
        "embedders": letters(6), "datasets": numbered(13), "generators": ("one", "two"),
        "settings": SIX, "language_groups": SIX, "members": {"english": "abcde", "non_english": "bcdef"},
        "families": dict(zip("abcde", "ffggg", strict=True)), "seeds": (1, 2), "transformations": FIVE,
        "parameters": {e: (i + 1) * 10**8 for i, e in enumerate("abcde")},
        "translations": {"d12": "d1", "d11": "d0", "d10": "gone"},
        "setting_labels": {"english": "English", "non_english": "Others"},
        "score": without(("c", "d12", None, 1), ("b", "d2", "summarisation", 2), ("e", "d8", "expansion", 1)),
    },
    "pair": {"embedders": letters(2), "datasets": numbered(3), "seeds": (1,)},
    "one-dataset": {"embedders": letters(4), "datasets": numbered(1), "transformations": TWO_AXES},
    "one-axis": {"embedders": letters(3), "datasets": numbered(5), "transformations": ("expansion",)},
    "one-embedder": {"embedders": letters(1), "datasets": numbered(6)},
    "one-whole": {
        "embedders": letters(3), "datasets": numbered(3),
        "score": without(("a", "d0", "expansion", 1), ("c", "d2", None, 3)),
    },
    "none-whole": {
        "embedders": letters(3), "datasets": numbered(2),
        "score": without(("a", "d0", "expansion", 1), ("b", "d1", "expansion", 2), ("c", "d1", ORIGINAL, 0)),
    },
    "no-difference": {
        "embedders": letters(4), "datasets": numbered(7),
        "score": lambda e, d, t, s: 50.0 if d in {"d0", "d1"} else low("a", "b")(e, d, t, s),
    },
    "gap": {
        "embedders": letters(3), "datasets": numbered(14), "transformations": ("expansion", "translation"),
        "language_groups": {d: "english" if i < 8 else "non_english" for i, d in enumerate(numbered(14))},
        "score": low("a"), "seeds": (1, 2), "shift_unit": "dataset_embedder",
    },
}  # fmt: skip
"""By name the size of a run, and what it lacks."""


def run_of(*, embedders, datasets, score=skewed, seeds=(1, 2, 3), transformations=tuple(EIGHT), **more):
    members = more.get("members", {})
    names = made_names(embedders, datasets, transformations=transformations, **more)
    names = replace(
        names,
        embedders={e: e.upper() for e in embedders},
        questions={t: q for t, q in QUESTIONS.items() if t in transformations},
        crossings=(("translation", "cross_translation"),),
    )
    pairs = {(e, d) for d in datasets for e in members.get(names.setting(d), embedders)}
    scores = made_scores(names, score, seeds=seeds, pairs=pairs)
    place = np.arange(len(scores))
    rewritten = scores["transformation"] != "original"
    # The second generator's rewrites cost more, and more here than there.
    more = (scores["generator"] == "two") * (place * 7 % 13) ** 2 / 40
    scores = scores.assign(score=scores["score"] - more, delta=scores["delta"] - more)
    scores = scores.assign(
        error=np.where(scores["status"] == "ok", "", "lost"),
        language=[("deu-Latn", "swa-Latn")[hash_of(d) % 2] for d in scores["dataset"]],
        n_texts=np.where(rewritten, 50, np.nan),
        distinct=np.where(rewritten, 40, np.nan),
        fallbacks=np.where(rewritten, place % 17 == 3, np.nan),
        fallback_share=np.where(rewritten, (place % 17 == 3) / 50, np.nan),
        zero_vectors=3.0 * (place % 101 == 7),
        marked=rewritten & (place % 67 == 5),
        **dict.fromkeys(("distinct_flagged", "flagged", "retried", "distinct_fallbacks"), 1.0),
        **dict.fromkeys(("distinct_dropped", "dropped"), 0.0),
    )
    half = scores.assign(subset="s1", split="test", score=scores["score"] - 2)
    other = scores.assign(subset="s2", split="test", score=scores["score"] + 2, language="eng-Latn")
    other = other[other["dataset"] != datasets[-1]]
    return names, pd.concat([scores, half, other], ignore_index=True)


def tables_of(names, scores, **options):
    known = {
        p: (True, False, None)[i % 3] for i, p in enumerate((e, d) for e in "abcdef" for d in names.datasets)
    }
    spoken = {"a": frozenset({"deu"}), "b": frozenset({"eng"}), "c": frozenset({"deu", "swa"})}
    data = replace(
        analysed(names, scores, zero_shot=known, resamples=100, halves=20, **options), languages=spoken
    )
    found = [getattr(score_tables, name)(scores, names) for name in SCORE_TABLES]
    found += [statistic(data) for statistic in STATISTICS.values()]
    found.append(recommendation(data, questions=names.questions))
    if len(names.generators) > 1:
        found += [crosscheck(data), crosscheck_cells(scores, names)]
    return found


def thinned(text):
    """Return the first 13 lines of a table, one in 23 of the others, and how many it has."""
    lines = text.rstrip("\n").split("\n")
    return [*(x for i, x in enumerate(lines) if i < 13 or i % 23 == 0), f"{len(lines)} lines"]


@pytest.mark.parametrize("name", CASES)
def test_a_made_run_is_approved(name):
    case = dict(CASES[name])
    options = {"shift_unit": case.pop("shift_unit", "dataset")}
    names, scores = run_of(**case)
    found = tables_of(names, scores, **options)
    notes = {
        t.name: [x for x in to_markdown(t, names).split("\n") if x[:1] not in {"|", "#", ""}] for t in found
    }
    said = findings({t.name: t.frame for t in found}, names, run=name)
    approve(
        f"made/{name}.md", said + "\n".join(f"{t}: {x}" for t, mine in notes.items() for x in mine) + "\n"
    )
    approve(
        f"made/{name}.csv", "\n".join(x for t in found for x in (t.name, *thinned(to_csv(t.frame)))) + "\n"
    )
