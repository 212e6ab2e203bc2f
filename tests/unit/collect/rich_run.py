"""A made run with two of everything: settings, splits, subsets, generators, seeds, members of an axis.

Sizes are unequal, values are skewed, and no two groups have the same: a key that is forgotten, a median
for a mean or a wrong column gives another number.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fabricate import EIGHT, cells_of, part, write_cells, write_transforms
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score

from stressbed import paths
from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import (
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    PromptEntry,
    Sampling,
    Step,
    TransformationEntry,
    TranslateDataset,
)
from stressbed.config.load import Plan
from stressbed.config.model import RunConfig
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.fingerprint import digest
from stressbed.paths import Cell, Variant
from stressbed.rewrites import DRAWN

ENG, DEU, FRA, SWA = "eng-Latn", "deu-Latn", "fra-Latn", "swa-Latn"
DATASETS = {
    "e-sts": {"task_type": "STS", "main_score": "cosine_spearman", "splits": ["test", "validation"]},
    "e-ret": {"task_type": "Retrieval", "main_score": "ndcg_at_10"},
    "e-cls": {"task_type": "Classification", "main_score": "accuracy"},
    "e-pair": {"task_type": "PairClassification", "main_score": "max_ap"},
    "e-clu": {"task_type": "Clustering", "main_score": "v_measure"},
    "e-ret2": {"task_type": "Retrieval", "main_score": "ndcg_at_10"},
    "e-rank": {"task_type": "Reranking", "main_score": "map_at_1000"},
    "e-cls2": {"task_type": "Classification", "main_score": "f1"},
    "e-rank2": {"task_type": "Reranking", "main_score": "map_at_1000"},
    "m-sts": {"task_type": "STS", "main_score": "cosine_spearman", "languages": {"de": [DEU], "fr": [FRA]}},
    "m-cls": {
        "task_type": "Classification", "main_score": "accuracy", "languages": {"de": [DEU], "sw": [SWA]},
    },
    "m-mined": {"task_type": "BitextMining", "main_score": "f1", "languages": {"de-fr": [DEU, FRA]}},
    "m-ret": {"task_type": "Retrieval", "main_score": "ndcg_at_10", "languages": {"default": [SWA]}},
    "m-clu": {"task_type": "Clustering", "main_score": "v_measure", "languages": {"default": [FRA]}},
    "m-pair": {"task_type": "PairClassification", "main_score": "max_ap", "languages": {"default": [DEU]}},
    "m-told": {"task_type": "STS", "main_score": "cosine_spearman", "languages": {"default": [DEU]}},
}  # fmt: skip
EMBEDDERS = {
    "small": {"family": "Fam", "parameters": 33_000_000},
    "large": {"family": "Fam", "parameters": 335_000_000},
    "wide": {"parameters": 7_600_000_000},
    "plain": {},
}
MEMBERS = {"english": ["small", "large", "wide"], "multilingual": ["large", "wide", "plain"]}
TRANSFORMATIONS = (
    "paraphrasing", "style_change", "expansion", "summarisation", "translation", "cross_translation",
)  # fmt: skip
GENERATORS, SEEDS = ("cool", "warm"), (3, 8)
REWRITTEN = ("e-sts", "e-ret", "e-pair", "m-sts", "m-told")
"""Datasets of which the rewrites are there."""
LOST = Cell("small", "e-rank", Variant("warm", "style_change", 8))
"""The cell that has no file."""


def rich_plan(results: Path, **more) -> Plan:
    """Return the plan of the run, over entries made for it."""
    drawn = {
        "translation": {"draw": "text", "pool": [DEU, FRA]},
        "cross_translation": {"draw": "text", "pool": [SWA, FRA]},
    }
    asked = {
        "paraphrasing": "rewording", "expansion": "longer", "summarisation": "shorter",
        "translation": "language", "cross_translation": "mixed", "style_change": "none",
    }  # fmt: skip
    catalogue = Catalogue(
        datasets={
            d: DatasetEntry(
                id=d, languages=f.get("languages", {"default": [ENG]}),
                subsets=list(f.get("languages", {"default": 0})), licence=f"licence of {d}", n_texts=100 + i,
                description=f"Made data {i}.",
                **{k: v for k, v in f.items() if k != "languages"},
                **({"translate_dataset": told} if d == "m-told" else {}),
            )
            for i, (d, f) in enumerate(DATASETS.items())
        },
        embedders={
            e: EmbedderEntry(
                id=e, label=e.title(), backend="random", model=f"made/{e}", revision=f"r{i}", licence=f"l{i}",
                max_length=128 * (i + 1), **f,
            )
            for i, (e, f) in enumerate(EMBEDDERS.items())
        },
        generators={
            "cool": GeneratorEntry(
                id="cool", label="Cool LLM", engine="fake", model="c", parameters=1_200_000_000
            ),
            "warm": GeneratorEntry(id="warm", engine="fake", model="w", sampling=Sampling(temperature=0.7)),
        },
        transformations={
            t: TransformationEntry(
                id=t, label=EIGHT[t][0], axis=EIGHT[t][1], order=list(EIGHT).index(t), **drawn.get(t, {}),
                question=asked[t], steps=[Step(prompt="p", language="target" if t in drawn else "source")],
            )
            for t in TRANSFORMATIONS
        },
        prompts={"p": PromptEntry(id="p", template="Say it in {target_language}.", source="made")},
        origin={("datasets", d): Path("made.yaml") for d in DATASETS},
    )  # fmt: skip
    settings = {
        name: {"datasets": [d for d in DATASETS if d[0] == name[0]], "embedders": members}
        for name, members in MEMBERS.items()
    }
    chosen = {
        "datasets": list(DATASETS), "embedders": list(EMBEDDERS), "generator": list(GENERATORS),
        "transformations": list(TRANSFORMATIONS), "seeds": list(SEEDS), "settings": settings,
        "labels": {"e-ret": "Retrieval E"}, "analysis": {"resamples": 200, "halves": 20, "seed": 4},
    }  # fmt: skip
    run = RunConfig(run="rich", results=str(results), **{**chosen, **more})
    return Plan(run, catalogue, Path(results))


told = TranslateDataset(source="e-sts", generator="cool", transformation="translation")

LOSS = {
    "original": 0.0, "paraphrasing": 1.3, "style_change": -0.2, "expansion": 2.2, "summarisation": 7.9,
    "translation": 11.3, "cross_translation": 17.7,
}  # fmt: skip
"""Points that a transformation costs at least, in the first generator; one may bring some."""

FRAGILE = {"small": 1.5, "large": 1.0, "wide": 0.8, "plain": 0.35}
"""How much of that an embedder loses: the best one loses most, so that ranks change."""


def points(cell: Cell) -> float:
    """Return a made score: what embedder, dataset and variant are worth, and a skewed rest."""
    v = cell.variant
    rng = random.Random(f"{cell}")
    datasets, embedders = list(DATASETS), list(EMBEDDERS)
    base = 82.0 - 1.9 * datasets.index(cell.dataset) - 2.1 * embedders.index(cell.embedder) ** 1.5
    scale = (1.0 if v.generator == "cool" else 0.7) * (0.4 if cell.dataset[0] == "m" else 1.0)
    fixed = v.generator == "cool" and v.transformation not in {"translation", "cross_translation"}
    rest = (
        random.Random(f"{cell.embedder} {cell.dataset} {v.transformation}") if fixed or v.is_original else rng
    )
    loss = (
        FRAGILE[cell.embedder]
        * scale
        * (LOSS[v.transformation] + rest.choice([-0.8, 0.4, 1.9]))
        * rest.expovariate(1.6)
    )
    return base + rest.uniform(-1.5, 1.5) - (0.0 if v.is_original else loss)


def record(cell: Cell) -> dict | None:
    """Return what is special of a cell's record."""
    if cell == LOST:
        return None
    v, rng, score = cell.variant, random.Random(f"record {cell}"), points(cell)
    fields = DATASETS[cell.dataset]
    languages = fields.get("languages", {"default": [ENG]})
    places = [(s, p) for s in languages for p in fields.get("splits", ["test"])]
    shifts = [1.7 * i - 0.4 * i * i for i in range(len(places))]
    middle = sum(shifts) / len(shifts)
    items = items_of(cell)
    made = {(b["subset"], b["split"]): score_of(cell, b) for b in reversed(items)}
    if made:
        score = sum(made.values()) / len(made)
    subsets = [
        part(s, made.get((s, p), score + x - middle), p, languages[s], n_items=10 + 7 * i)
        for i, ((s, p), x) in enumerate(zip(places, shifts, strict=True))
    ]
    more = {"score": score, "subsets": subsets, "n_items": sum(p["n_items"] for p in subsets), "items": items}
    more |= {
        "vectors": 80,
        "zero_vectors": 3 if cell.dataset in {"e-cls2", "m-ret"} and cell.embedder != "large" else 0,
    }
    if v.is_original:
        return more
    n = 30 + list(DATASETS).index(cell.dataset)
    more |= {
        "n_texts": n,
        "flagged": rng.randrange(5),
        "retried": rng.randrange(4),
        "fallbacks": rng.randrange(3),
    }
    if cell.dataset == "e-clu" and v.transformation == "summarisation":
        more |= {"fallbacks": 6, "dropped": 2, "original_matched": score + 9.5}
        more["subsets"] = [p | {"original_matched": score + 9.5} for p in subsets]
    if (
        cell.dataset == "m-cls"
        and v.transformation == "expansion"
        and v.seed == 8
        and cell.embedder == "plain"
    ):
        more["subsets"] = [
            subsets[0],
            subsets[1] | {"status": "failed", "score": None, "reason": "one class only"},
        ]
    return more


PAIRS = {"e-sts": ("pair", "cosine_similarity", 22), "e-pair": ("pair", "cosine_similarity", 25)}


def score_of(cell: Cell, block: dict) -> float:
    """Return the score that items make, in points."""
    values = block["values"]
    if block["metric"] != "cosine_similarity":
        return 100 * sum(values) / len(values)
    gold = golds_of(cell.dataset, block["split"])
    if cell.dataset == "e-pair":
        return 100 * float(average_precision_score(gold, values))
    return 100 * float(spearmanr(gold, values).statistic)


def golds_of(dataset: str, split: str) -> list[float]:
    """Return what people said of a dataset's pairs."""
    n = sum(t[0] == split for t in texts_of(dataset)) // 2
    worth = [random.Random(f"{split} {i}").random() for i in range(n)]
    return [round(5 * w, 1) if dataset == "e-sts" else int(w > 0.6) for w in worth]


def items_of(cell: Cell) -> list[dict]:
    """Return the items of a cell, in the format of its file."""
    kind, v = DATASETS[cell.dataset]["task_type"], cell.variant
    fixed = v.generator == "cool" and v.transformation not in {"translation", "cross_translation"}
    seed = "" if fixed else f" {v.seed}"
    rng = random.Random(f"items {cell.embedder} {cell.dataset} {v.generator} {v.transformation}{seed}")
    loss = 0.0 if v.is_original else LOSS[v.transformation] / 40

    def block(unit, metric, values, ids=None, split="test", subset="default"):
        return {
            "subset": subset,
            "split": split,
            "unit": unit,
            "metric": metric,
            "values": values,
            "ids": ids,
        }

    if kind == "Retrieval" and cell.dataset[0] == "e":
        n = 24 if cell.dataset == "e-ret" else 13
        base = [random.Random(f"{cell.embedder} {i}").random() for i in range(n)]
        values = [max(0.0, min(1.0, b - loss * rng.expovariate(1.0))) for b in base]
        return [block("query", "ndcg_at_10", values, [f"q{i}" for i in range(n)])]
    if cell.dataset in {"e-sts", "e-pair"}:
        found = []
        for split, n in (("test", 22), ("validation", 9)) if cell.dataset == "e-sts" else (("test", 25),):
            base = [random.Random(f"{split} {i}").random() for i in range(n)]
            values = [b + (0.1 + loss) * rng.gauss(0.0, 1.0) for b in base]
            found.append(block("pair", "cosine_similarity", values, split=split))
        return found
    if cell.dataset == "m-mined":
        n = 12
        right = [float(rng.random() > 0.2 + loss) for _ in range(n)]
        return [
            block("pair", "f1", [r * rng.choice([1.0, 0.5]) for r in right], subset="de-fr"),
            block("pair", "correct", right, subset="de-fr"),
        ]
    if kind == "Classification":
        return [
            block("experiment", "accuracy", [0.8 - loss + 0.1 * rng.random() for _ in range(10)], subset=s)
            for s in DATASETS[cell.dataset].get("languages", {"default": []})
        ]
    return []


def freeze(results: Path, dataset: str, rows: list[tuple], golds: dict[str, list[float]]) -> None:
    """Write what later stages read of a frozen dataset; rows are (split, field, row, position, text)."""
    folder = results / "datasets" / dataset
    (folder / "data").mkdir(parents=True)
    tables = []
    for split, values in golds.items():
        name = "score" if DATASETS[dataset]["task_type"] == "STS" else "labels"
        pq.write_table(pa.table({name: values}), folder / "data" / f"{split}.parquet")
        tables.append({"subset": "default", "split": split, "table": "rows", "path": f"data/{split}.parquet"})
    manifest = {
        "dataset": dataset, "task_type": DATASETS[dataset]["task_type"], "subsets": ["default"],
        "tables": tables, "splits": DATASETS[dataset].get("splits", ["test"]), "source": "local",
        "task": None,
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    split, field, row, position, text = (list(c) for c in zip(*rows, strict=True))
    columns = {"split": split, "field": field, "row": row, "position": position, "text": text}
    pq.write_table(
        pa.table({"text_id": range(len(rows)), "subset": ["default"] * len(rows), **columns}),
        folder / "texts.parquet",
    )
    roles = ["query" if f.startswith("queries") else "none" for f in field]
    inputs = {
        "role": roles, "literals": [["", ""]] * len(rows), "text_ids": [[i] for i in range(len(rows))],
        "strip": [False] * len(rows),
    }  # fmt: skip
    pq.write_table(pa.table(inputs), folder / "inputs.parquet")


def texts_of(dataset: str) -> list[tuple]:
    """Return the texts of a dataset's items: (split, field, row, position, text)."""
    if dataset == "e-ret":
        return [
            ("test", "queries.text", f"q{i}", 0, f"where is the number {i} of {'very ' * (i % 4)}many")
            for i in range(24)
        ]
    if dataset not in PAIRS:
        return []
    sizes = {"test": 22, "validation": 9} if dataset == "e-sts" else {"test": 25}
    return [
        # Two pairs share their first sentence.
        (split, f"sentence{k}", str(i), 0, f"{split} {k} of {i // 2 if k == 1 else i}{' and more' * (i % 3)}")
        for split, n in sizes.items()
        for i in range(n)
        for k in (1, 2)
    ]  # fmt: skip


FLAGGED = ("identical", "wrong_language", "runaway", "truncated", "prefix_leak")


def rewrites_of(dataset: str, v: Variant) -> list[dict]:
    """Return the rows of a transforms table."""
    texts = texts_of(dataset) or [("test", "text", str(i), 0, f"text {i} of {dataset}") for i in range(11)]
    languages = {"translation": (DEU, FRA), "cross_translation": (SWA, FRA)}.get(v.transformation)
    rows = []
    for i, (split, field, row, position, text) in enumerate(texts):
        rng = random.Random(f"{dataset} {v} {i}")
        source = ENG if dataset[0] == "e" else (DEU, FRA)[i % 2]
        # On one dataset all seeds draw the same languages.
        drawn = random.Random(f"{v.transformation} {i}") if dataset == "e-pair" else rng
        target = drawn.choice(languages) if languages else source
        made = {
            "split": split, "field": field, "row": row, "position": position, "original": text,
            "source_language": source, "target_language": target,
            "text": f"{target[:2]} {v.transformation} " + text[: rng.randrange(5, 40)],
            "tokens_in": 10 + rng.randrange(9), "tokens_out": 5 + rng.randrange(9),
            "attempts": 1 + (rng.random() < 0.2),
        }  # fmt: skip
        if i % 6 == 0:  # the same in both seeds
            made["text"] = f"{target[:2]} {v.transformation} {row}"
        chance = rng.random()
        if chance < 0.2:
            made |= {FLAGGED[rng.randrange(5)]: True, FLAGGED[rng.randrange(5)]: True, "outcome": "flagged"}
        elif chance < 0.27:
            made |= {"outcome": "fallback", "text": text, "empty": True}
        elif chance < 0.35:
            made |= {"outcome": "retried", "truncated": rng.random() < 0.5}
        rows.append(made)
    return rows


def vectors(plan: Plan, embedder: str) -> None:
    """Store vectors for the rewritten texts of an embedder, all but those of one generator's last seed."""
    store = VectorStore(plan.results / ".store", f"id-{embedder}")
    strings: dict[tuple[str, str], None] = {}
    for dataset in (d for d in ("e-ret", *PAIRS) if d in plan.config.datasets):
        role = "query" if dataset == "e-ret" else "none"
        for v in plan.rewrites:
            strings |= dict.fromkeys((role, t[4]) for t in texts_of(dataset))
            if v.seed == SEEDS[0] or v.generator == "cool":
                strings |= dict.fromkeys((role, r["text"]) for r in rewrites_of(dataset, v))
            path = plan.results / paths.EMBEDDING.format(embedder=embedder, dataset=dataset, variant=str(v))
            path.parent.mkdir(parents=True, exist_ok=True)
            contexts = {"none": "", "query": "find: ", "document": ""}
            path.write_text(json.dumps({"embedder_identity": f"id-{embedder}", "contexts": contexts}))
    angles = [random.Random(f"{embedder} {s}").expovariate(1.2) for s in strings]
    rows = np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32).reshape(-1, 2)
    store.put_chunk([vector_key("find: " if r == "query" else "", r, s) for r, s in strings], rows)


def write_rewrites(plan: Plan, dataset: str, v: Variant) -> Path:
    """Write a transforms table with the hash of the languages that were drawn."""
    rows = rewrites_of(dataset, v)
    path = write_transforms(plan, dataset, v, rows)
    if v.transformation in {"translation", "cross_translation"}:
        table = pq.read_table(path)
        drawn = digest([r["target_language"] for r in rows])
        pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), DRAWN: drawn}), path)
    return path


def write_run(results: Path, **more) -> tuple[Plan, list[Path]]:
    """Write all files that the stages before `collect` leave; return the plan and the transform tables."""
    plan = rich_plan(results, **more)
    write_cells(plan, lambda cell: record(cell) if (cell.embedder, cell.dataset) in plan.pairs else None)
    mine = plan.config.datasets
    for dataset in (d for d in ("e-ret", *PAIRS) if d in mine):
        splits = DATASETS[dataset].get("splits", ["test"]) if dataset in PAIRS else []
        golds = {split: golds_of(dataset, split) for split in splits}
        freeze(results, dataset, texts_of(dataset), golds)
    transforms = [write_rewrites(plan, d, v) for d in REWRITTEN if d in mine for v in plan.rewrites]
    for embedder in ("small", "wide"):
        vectors(plan, embedder)
    return plan, transforms


__all__ = ["cells_of", "rich_plan", "write_run"]
