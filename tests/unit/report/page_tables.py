"""Made tables of a run, with the columns of analysed ones and values that fit each other."""

import numpy as np
import pandas as pd
from eight_transformations import AXES, EIGHT

from stressbed.analyse.names import Names


def make_names(embedders=4, datasets=5, *, generators=("llm",), settings=("all",), transformations=None):
    """Return names of a made run; datasets are dealt out to the settings in turn."""
    kept = {t: EIGHT[t] for t in transformations or EIGHT}
    ids = [f"data-{i}" for i in range(datasets)]
    return Names(
        embedders={f"model-{i}": f"Model {chr(65 + i)}" for i in range(embedders)},
        datasets={d: d.replace("data-", "Data set ") for d in ids},
        generators={g: g.upper() for g in generators},
        transformations={t: label for t, (label, _) in kept.items()},
        axes={t: axis for t, (_, axis) in kept.items()},
        parameters={f"model-{i}": 10_000_000 * 4**i for i in range(min(embedders, 6))},
        settings={d: settings[i % len(settings)] for i, d in enumerate(ids)},
        language_groups=dict.fromkeys(ids, "english"),
    )


def by_dataset(names, rng):
    """Return scores of each embedder on each dataset, per axis."""
    rows = []
    for g in names.generators:
        for d in names.datasets:
            hard = rng.normal(0, 8)
            for i, e in enumerate(names.embedders):
                original = 65 + hard - 1.5 * i + rng.normal(0, 2)
                axes = {a: original - abs(rng.normal(2 + 3 * AXES.index(a), 2)) for a in axes_of(names)}
                rows.append(
                    {
                        "generator": g,
                        "dataset": d,
                        "task_type": "STS",
                        "metric": "cosine_spearman",
                        "embedder": e,
                        "original": original,
                        **dict.fromkeys(AXES),
                        **axes,
                    }
                )
    frame = pd.DataFrame(rows)
    frame[list(AXES)] = frame[list(AXES)].astype(float)
    frame["hteb"] = frame[axes_of(names)].mean(axis=1)
    return frame.assign(drop=frame["original"] - frame["hteb"], fallback_share=0.0)


def axes_of(names):
    """Return the axes of a run, in order."""
    return [a for a in AXES if a in names.axes.values()]


def write_tables(folder, names, *, seed=0, seeds=(1, 2, 3), items_per_cell=1, text=None, leave=()):
    """Write every table that a page shows, except those named in `leave`, and return them."""
    rng = np.random.default_rng(seed)
    per = by_dataset(names, rng).assign(setting=lambda f: f["dataset"].map(names.settings))
    where = ["generator", "setting"]
    found = {"by_dataset": per.drop(columns="setting")}
    found["hteb_scores"] = (
        per.groupby([*where, "embedder"], sort=False)[["original", *AXES, "hteb", "drop"]]
        .mean()
        .reset_index()
    )
    cells = cells_of(per, names, rng)
    found["drops_by_cell"] = cells.drop(columns="delta")
    wide = cells.pivot_table(index=[*where, "embedder"], columns="transformation", values="delta", sort=False)
    found["delta_by_transformation"] = wide[list(names.transformations)].reset_index()
    found["hteb_ranks"] = ranks(per, rng)
    profiles = found["hteb_scores"].copy()
    for a in [*AXES, "hteb"]:
        profiles[a] = profiles[a] - profiles["original"]
    axes = axes_of(names)
    profiles["most_disruptive"] = profiles[axes].idxmin(axis=1)
    found["axis_profiles"] = profiles.assign(relative_drop=profiles["drop"] / profiles["original"])[
        [*where, "embedder", *AXES, "hteb", "most_disruptive", "relative_drop"]
    ]
    found["shifts"] = shifts(cells, names)
    found["rank_stability"] = stability(found["hteb_scores"], names, rng)
    found["split_half"] = pd.DataFrame(
        [
            {
                "generator": g,
                "setting": s,
                "measure": m,
                "row": r,
                "n_datasets": 19,
                "n_embedders": 11,
                "halves": 50,
                "median": 0.9,
                "low": 0.7,
                "high": 0.99,
            }
            for g, s in keys(per)
            for m, r in [*(("delta", a) for a in axes), ("score", "original")]
        ]
    )
    found["item_intervals"] = intervals(cells, seeds, rng)
    found["worst_items"] = items(cells, seeds, items_per_cell, rng, text)
    for name, frame in found.items():
        if name not in leave:
            write(folder, name, frame, names)
    return found


def write(folder, name, frame, names, notes=("A note of the table.",)):
    """Write a table's CSV and Markdown; columns that have one value for the whole run are left out."""
    if len(names.generators) == 1:
        frame = frame.drop(columns="generator", errors="ignore")
    if len(set(names.settings.values())) == 1:
        frame = frame.drop(columns="setting", errors="ignore")
    folder.mkdir(parents=True, exist_ok=True)
    frame.round(6).to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    head = "| " + " | ".join(frame.columns) + " |"
    lines = [f"# Title of {name}", "", head, "| --- |", "", *(f"{n}  " for n in notes)]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def keys(per):
    """Return the generators and settings that rows have."""
    return list(per[["generator", "setting"]].drop_duplicates().itertuples(index=False, name=None))


def cells_of(per, names, rng):
    """Return one row per embedder, dataset and transformation."""
    parts = []
    for t, axis in names.axes.items():
        delta = per[axis] - per["original"] + rng.normal(0, 0.3, len(per))
        parts.append(
            per[["generator", "setting", "embedder", "dataset", "original"]].assign(
                transformation=t, axis=axis, delta=delta, drop=-delta
            )
        )
    return pd.concat(parts, ignore_index=True)


def ranks(per, rng, resamples=300):
    """Return scores and ranks with intervals from a bootstrap over datasets."""
    out = []
    for (g, s), rows in per.groupby(["generator", "setting"], sort=False):
        original, hteb = (
            rows.pivot(index="embedder", columns="dataset", values=v) for v in ("original", "hteb")
        )
        n = original.shape[1]
        picked = rng.integers(0, n, (resamples, n))
        o, h = (v.to_numpy()[:, picked].mean(axis=2) for v in (original, hteb))
        frame = pd.DataFrame({"generator": g, "setting": s, "embedder": original.index, "n_datasets": n})
        for name, value, draws in [
            ("original", original, o),
            ("hteb", hteb, h),
            ("drop", original - hteb, o - h),
        ]:
            frame[name] = value.mean(axis=1).to_numpy()
            frame[f"{name}_low"], frame[f"{name}_high"] = np.quantile(draws, [0.025, 0.975], axis=1)
        for name, value, draws in [("original", original, o), ("hteb", hteb, h)]:
            frame[f"rank_{name}"] = value.mean(axis=1).rank(ascending=False).to_numpy().astype(int)
            drawn = (draws[None] > draws[:, None]).sum(axis=1) + 1
            low, high = np.quantile(drawn, [0.025, 0.975], axis=1, method="inverted_cdf")
            label = "rank" if name == "hteb" else "rank_original"
            frame[f"{label}_low"], frame[f"{label}_high"] = low, high
        out.append(frame)
    return pd.concat(out, ignore_index=True)


def shifts(cells, names):
    """Return a median per transformation as its shift, with quantiles as its interval."""
    rows = []
    for (g, s, t), c in cells.groupby(["generator", "setting", "transformation"], sort=False):
        low, mid, high = c["delta"].quantile([0.3, 0.5, 0.7])
        rows.append(
            {
                "generator": g,
                "setting": s,
                "transformation": t,
                "axis": names.axes[t],
                "unit": "dataset",
                "n": len(c),
                "zeros": 0,
                "shift": mid,
                "low": low,
                "high": high,
                "p": 1e-5,
                "p_holm": 8e-5,
                "median_abs": c["delta"].abs().median(),
                "method": "exact",
            }
        )
    return pd.DataFrame(rows)


def stability(scores, names, rng):
    """Return taus of every transformation, axis and the total."""
    rows = []
    for g, s in keys(scores):
        levels = [
            *((t, "transformation") for t in names.transformations),
            *((a, "axis") for a in axes_of(names)),
        ]
        for row, level in [*levels, ("hteb", "overall")]:
            varies = names.axes.get(row, row) == "language"
            rows.append(
                {
                    "generator": g,
                    "setting": s,
                    "row": row,
                    "level": level,
                    "n_datasets": 19,
                    "n_embedders": 11,
                    "tau_mean": rng.uniform(0.4, 0.9),
                    "tau_sd": rng.uniform(0.1, 0.3),
                    "within_mean": 0.95 if varies else None,
                    "within_sd": 0.02 if varies else None,
                    "within": "" if varies else "identical by construction",
                }
            )
    return pd.DataFrame(rows)


def intervals(cells, seeds, rng):
    """Return an interval per cell and seed."""
    parts = [cells.assign(seed=s, drop=cells["drop"] + rng.normal(0, 0.1, len(cells))) for s in seeds]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.assign(
        unit="pair", n=200, low=frame["drop"] - 1, high=frame["drop"] + 1, method="bootstrap", note=""
    )
    return frame[
        [
            "generator",
            "setting",
            "embedder",
            "dataset",
            "transformation",
            "seed",
            "unit",
            "n",
            "drop",
            "low",
            "high",
            "method",
            "note",
        ]
    ]


WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "nobody",
    "in",
    "the",
    "village",
    "looks",
    "at",
    "what",
    "it",
    "does",
]


def items(cells, seeds, per_cell, rng, text=None):
    """Return the worst items of every cell; `text(i)` may give (original, rewritten, language)."""
    rows = []
    for i, cell in enumerate(pd.concat([cells] * per_cell).itertuples(index=False)):
        words = list(rng.choice(WORDS, 14))
        default = (" ".join(words), " ".join(["surely", *words[:6], "indeed", *words[8:]]), "eng-Latn")
        original, rewritten, language = (text(i) if text else None) or default
        value = rng.uniform(0.2, 0.9)
        rows.append(
            {
                "generator": cell.generator,
                "setting": cell.setting,
                "embedder": cell.embedder,
                "dataset": cell.dataset,
                "transformation": cell.transformation,
                "seed": seeds[i % len(seeds)],
                "subset": "default",
                "item": str(i),
                "unit": "pair",
                "field": "sentence1",
                "original_value": 0.95,
                "value": value,
                "delta": value - 0.95,
                "original_text": original,
                "rewritten_text": rewritten,
                "language": language,
                "outcome": "fallback: cut" if i % 7 == 0 else "ok",
                "flags": "runaway" if i % 7 == 0 else "",
            }
        )
    return pd.DataFrame(rows)
