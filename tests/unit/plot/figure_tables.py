"""Made tables as the figures read them: realistic numbers for any number of embedders and datasets."""

import numpy as np
import pandas as pd
from eight_transformations import AXES, EIGHT

from stressbed.analyse.names import Names
from stressbed.analyse.write import to_csv

EFFECTS = dict(zip(EIGHT, (3.0, 1.8, 4.1, 6.0, 3.2, 5.2, 15.0, 18.0), strict=True))
"""Points that a transformation costs on average."""

MODELS = [
    ("All-MiniLM-L12-v2", 33, ""), ("MXBAI-Embed-Large-v1", 335, ""),
    ("Paraphrase-Multilingual-MPNet", 278, ""), ("Jina-Embeddings-v5-Text-Small", 600, ""),
    ("Jasper-Token-Compression-600M", 600, ""),
    ("F2LLM-v2-0.6B", 600, "F2LLM"), ("F2LLM-v2-4B", 4000, "F2LLM"), ("Llama-Nemotron-Embed-8B", 7500, ""),
    ("Qwen3-Embedding-0.6B", 596, "Qwen3"), ("Qwen3-Embedding-4B", 4022, "Qwen3"),
    ("Qwen3-Embedding-8B", 7567, "Qwen3"), ("NV-Embed-v2", 7851, ""), ("Harrier-270M", 270, "Harrier"),
    ("Harrier-0.6B", 600, "Harrier"), ("Harrier-27B", 27009, "Harrier"), ("BGE-M3", 568, ""),
]  # fmt: skip
DATASETS = [
    "STSBenchmark", "BIOSSES", "SICK-R", "STS22.v2", "Banking77Classification.v2", "TweetSentimentExtraction",
    "ToxicConversations", "AmazonCounterfactual", "ArXivHierarchicalClusteringP2P", "StackExchangeClustering",
    "MedrxivClusteringS2S", "TwentyNewsgroups", "ArguAna", "SCIDOCS", "FiQA2018", "Touche2020Retrieval.v3",
    "AskUbuntuDupQuestions", "SprintDuplicateQuestions", "TwitterSemEval2015",
]  # fmt: skip


def make_names(n=11, d=19, *, generators=("llm",), labels=None):
    models = [MODELS[i % len(MODELS)] for i in range(n)]
    ids = [f"e{i}" for i in range(n)]
    return Names(
        embedders={e: labels or m[0] for e, m in zip(ids, models, strict=True)},
        datasets={f"d{i}": labels or DATASETS[i % len(DATASETS)] for i in range(d)},
        generators={g: g for g in generators},
        transformations={t: labels or v[0] for t, v in EIGHT.items()},
        axes={t: v[1] for t, v in EIGHT.items()},
        parameters={e: m[1] * 10**6 for e, m in zip(ids, models, strict=True)},
    )


def drops_by_cell(names, rng, scale=1.0):
    skill = {e: rng.normal(0, 5) for e in names.embedders}
    weak = {(e, t): rng.lognormal(0, 0.5) for e in names.embedders for t in EIGHT}
    rows = []
    for d in names.datasets:
        level, ease = rng.uniform(45, 82), rng.lognormal(0, 0.4)
        for e in names.embedders:
            original = float(np.clip(level + skill[e] + rng.normal(0, 2), 5, 98))
            for t, (_, axis) in EIGHT.items():
                drop = scale * EFFECTS[t] * weak[e, t] * ease + rng.normal(0, 2)
                rows.append((e, d, t, axis, original, min(drop, original)))
    return pd.DataFrame(rows, columns=["embedder", "dataset", "transformation", "axis", "original", "drop"])


def hteb_scores(cells):
    wide = cells.groupby(["embedder", "axis"], sort=False)["drop"].mean().unstack()
    original = cells.groupby("embedder", sort=False)["original"].mean()
    out = pd.DataFrame({"original": original, **{a: original - wide[a] for a in AXES}})
    out["hteb"] = out[list(AXES)].mean(axis=1)
    out["drop"] = out["original"] - out["hteb"]
    return out.rename_axis("embedder").reset_index()


def delta_by_transformation(cells):
    wide = -cells.groupby(["embedder", "transformation"], sort=False)["drop"].mean().unstack()
    return wide[list(EIGHT)].rename_axis(columns=None).reset_index()


DATASETS_OF_RANKS = 13


def hteb_ranks(scores, rng):
    out = scores[["embedder", "original", "hteb", "drop"]].assign(n_datasets=DATASETS_OF_RANKS)
    for column in ("original", "hteb", "drop"):
        half = rng.uniform(0.8, 1.2, len(out)) * (2.5 if column == "drop" else 6)
        out[f"{column}_low"], out[f"{column}_high"] = out[column] - half, out[column] + half
    for column, stem in (("original", "rank_original"), ("hteb", "rank")):
        rank = out[column].rank(ascending=False)
        out["rank_original" if column == "original" else "rank_hteb"] = rank.astype(int)
        out[f"{stem}_low"] = (rank - rng.integers(0, 4, len(out))).clip(lower=1).astype(int)
        out[f"{stem}_high"] = (rank + rng.integers(0, 4, len(out))).clip(upper=len(out)).astype(int)
    return out


def shifts(cells, rng):
    rows = []
    for t, (_, axis) in EIGHT.items():
        delta = -cells.loc[cells["transformation"] == t, "drop"]
        half = 1.96 * delta.std() / np.sqrt(len(delta)) if len(delta) > 1 else np.nan
        shift = delta.median()
        p = float(rng.choice([1e-9, 0.02, 0.31])) if len(delta) > 1 else np.nan
        rows.append(
            (
                t,
                axis,
                "cell",
                len(delta),
                0,
                shift,
                shift - half,
                shift + half,
                p,
                p,
                delta.abs().median(),
                "exact",
            )
        )
    columns = [
        "transformation",
        "axis",
        "unit",
        "n",
        "zeros",
        "shift",
        "low",
        "high",
        "p",
        "p_holm",
        "median_abs",
        "method",
    ]
    return pd.DataFrame(rows, columns=columns)


def rank_stability(names, rng, within=""):
    rows = []
    levels = []
    for axis in AXES:
        levels += [(axis, "axis"), *((t, "transformation") for t in EIGHT if EIGHT[t][1] == axis)]
    for row, level in [*levels, ("hteb", "overall")]:
        same = within if row != "cross_translation" else ""
        inner = (np.nan, np.nan) if same else (rng.uniform(0.8, 0.97), rng.uniform(0.02, 0.1))
        rows.append(
            (
                row,
                level,
                len(names.datasets),
                len(names.embedders),
                rng.uniform(0.35, 0.85),
                rng.uniform(0.1, 0.3),
                *inner,
                len(names.datasets),
                0.6,
                {"transformation": 1, "axis": 3, "overall": 8}[level],
                {"transformation": 1, "axis": 2, "overall": 3}[level] if not same else 0,
                same,
            )
        )
    columns = [
        "row",
        "level",
        "n_datasets",
        "n_embedders",
        "tau_mean",
        "tau_sd",
        "within_mean",
        "within_sd",
        "n_within",
        "tau_there",
        "members",
        "members_differ",
        "within",
    ]
    return pd.DataFrame(rows, columns=columns)


def size_ablation(scores, names):
    families = dict(
        zip(names.embedders, [MODELS[i % len(MODELS)][2] for i in range(len(names.embedders))], strict=True)
    )
    frame = scores.assign(
        family=scores["embedder"].map(families), parameters=scores["embedder"].map(dict(names.parameters))
    )
    frame = frame[frame.groupby("family")["family"].transform("size").gt(1) & frame["family"].ne("")]
    columns = ["family", "embedder", "parameters", "original", *AXES, "hteb", "drop"]
    return frame.sort_values(["family", "parameters"], ignore_index=True)[columns]


def by_dataset(cells):
    wide = cells.groupby(["dataset", "embedder", "axis"], sort=False)["drop"].mean().unstack()
    original = cells.groupby(["dataset", "embedder"], sort=False)["original"].mean()
    out = pd.DataFrame({"original": original, **{a: original - wide[a] for a in AXES}})
    out["hteb"] = out[list(AXES)].mean(axis=1)
    out["drop"] = out["original"] - out["hteb"]
    out = out.reset_index()
    out.insert(1, "task_type", "STS")
    out.insert(2, "metric", "cosine_spearman")
    return out.assign(fallback_share=0.0)


def recommendation(cells, rng):
    rows = []
    for e in cells["embedder"].unique():
        for t in ("paraphrasing", "summarisation", "expansion", "translation", "cross_translation"):
            delta = -cells.loc[(cells["embedder"] == e) & (cells["transformation"] == t), "drop"]
            half = rng.uniform(1, 3) if len(delta) > 5 else np.nan
            middle = delta.median()
            rows.append((e, "rewording", t, middle, middle - half, middle + half, "Costs some."))
        rows.append((e, "preference", "", -1.0, -2.0, 0.0, "Another is better."))
    columns = ["embedder", "question", "transformation", "delta", "low", "high", "verdict"]
    return pd.DataFrame(rows, columns=columns)


PAIRS = [
    (
        "A man is playing a large flute in front of $20 notes.",
        "Ein Mann spielt vor Publikum auf einer Flöte. " * 12,
    ),
    ("نص طويل باللغة العربية عن الروبوتات والتعلم الآلي", "قال الكاتب إن (الروبوت) يتعلم بسرعة. " * 9),
    ("How do I cancel my card?", "カードを解約するにはどうすればよいですか。" * 20),
]


def worst_items(names):
    rows = []
    for e in names.embedders:
        for d in list(names.datasets)[:4]:
            for i, (old, new) in enumerate(PAIRS):
                for field in ("sentence1", "sentence2"):
                    rows.append((
                        e, d, list(EIGHT)[i], 1337, "default", f"q/{i}", "pair", field, 0.91, 0.12 + 0.1 * i,
                        -0.79 + 0.1 * i, old, new, "eng-Latn", "",
                    ))  # fmt: skip
    columns = [
        "embedder", "dataset", "transformation", "seed", "subset", "item", "unit", "field", "original_value",
        "value", "delta", "original_text", "rewritten_text", "language", "flags",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def made(names, *, seed=0, settings=("",), within=""):
    """Return all tables of a run by name, with the columns that tell its panels apart."""
    rng = np.random.default_rng(seed)
    found = {}
    for generator in names.generators:
        for i, setting in enumerate(settings):
            cells = drops_by_cell(names, rng, 1 / (1 + 2 * i))
            scores = hteb_scores(cells)
            tables = {
                "hteb_scores": scores,
                "hteb_ranks": hteb_ranks(scores, rng),
                "delta_by_transformation": delta_by_transformation(cells),
                "drops_by_cell": cells,
                "shifts": shifts(cells, rng),
                "rank_stability": rank_stability(names, rng, within),
                "size_ablation": size_ablation(scores, names),
                "by_dataset": by_dataset(cells),
                "recommendation": recommendation(cells, rng),
            }
            if i == 0:
                tables["worst_items"] = worst_items(names)
            for name, frame in tables.items():
                if setting and name != "worst_items":
                    frame.insert(0, "setting", setting)
                if len(names.generators) > 1:
                    frame.insert(0, "generator", generator)
                found.setdefault(name, []).append(frame)
    return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}


def write_tables(folder, tables, notes=None):
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in tables.items():
        (folder / f"{name}.csv").write_text(to_csv(frame), encoding="utf-8")
        words = (notes or {}).get(name, "")
        (folder / f"{name}.md").write_text(f"# {name}\n\n| a |\n\n{words}\n", encoding="utf-8")
    return folder
