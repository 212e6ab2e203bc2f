"""All analyses of a run of the paper's size: seconds and peak memory of each.

    python benchmarks/bench_analyse.py [--items 2000000] [--keep FOLDER]

A run is made up: 16 embedders, 32 datasets of the paper's task types, 8 transformations with 3 seeds and the
original, and so many rows of items. Then the rules' own functions are run, each in a process of its own:
`analyse` (tables of scores and rewrites, statistics) and `analyse_items`, tables written. What each
table takes is measured beside that. Printed: seconds, and the most memory that the process ever held.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score

from stressbed import paths
from stressbed.analyse import SCORE_TABLES
from stressbed.analyse.descriptive import rewrites
from stressbed.analyse.descriptive import scores as score_tables
from stressbed.analyse.items.causes import item_causes
from stressbed.analyse.items.intervals import item_intervals
from stressbed.analyse.items.panels import blocks, read_blocks, read_groups
from stressbed.analyse.items.run import _DRIFT, _FEATURES, _TEXTS, analyse_items
from stressbed.analyse.items.worst import worst_items
from stressbed.analyse.names import Names
from stressbed.analyse.run import analyse
from stressbed.analyse.statistics.registry import STATISTICS
from stressbed.analyse.study import Analysed
from stressbed.collect.rewrites import rewrite_counts, rewrite_examples
from stressbed.collect.schema import ITEM_DRIFT, ITEM_TEXTS, ITEMS, SCORES
from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import (
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    PromptEntry,
    Sampling,
    Step,
    TransformationEntry,
)
from stressbed.config.load import Plan
from stressbed.config.model import RunConfig
from stressbed.paths import Variant
from stressbed.transform.run import SCHEMA

EMBEDDERS = [f"embedder-{i:02}" for i in range(16)]
KINDS = {
    "Classification": (5, "accuracy", "experiment"), "Clustering": (5, "v_measure", "experiment"),
    "PairClassification": (5, "max_ap", "pair"), "Reranking": (5, "map_at_1000", "query"),
    "Retrieval": (5, "ndcg_at_10", "query"), "STS": (6, "cosine_spearman", "pair"),
    "Summarization": (1, "cosine_spearman", "summary"),
}  # fmt: skip
AXES = {
    "paraphrasing": "lexical_stylistic", "backtranslation": "lexical_stylistic",
    "style_change": "lexical_stylistic", "expansion": "length", "summarisation": "length",
    "summarised_expansion": "length", "translation": "language", "cross_translation": "language",
}  # fmt: skip
LANGUAGES = ["eng-Latn", "fra-Latn", "spa-Latn", "rus-Cyrl", "cmn-Hans", "arb-Arab", "hin-Deva"]
EXPERIMENTS = 10
TEXTS = 200
"""Rewritten texts of each variant in the transform tables."""
WORDS = np.array(["the", "sea", "wave", "sail", "oven", "flour", "onion", "orbit", "comet", "moon", "soil"])
TARGET_SECONDS, TARGET_GB = 90, 3
SCRIPT = Path(__file__).resolve()


def datasets() -> dict[str, tuple[str, str, str]]:
    return {f"{kind.lower()}-{i}": (kind, *rest) for kind, (n, *rest) in KINDS.items() for i in range(n)}  # type: ignore[misc]


def make_plan(root: Path) -> Plan:
    catalogue = Catalogue(
        datasets={
            d: DatasetEntry(id=d, task_type=k, main_score=m, languages={"default": ["eng-Latn"]})
            for d, (k, m, _) in datasets().items()
        },
        embedders={
            e: EmbedderEntry(id=e, backend="random", model=e, revision="r", parameters=10**8 * (i + 1))
            for i, e in enumerate(EMBEDDERS)
        },
        # Tokens are drawn, so that no seed repeats another: the most work.
        generators={
            "llm": GeneratorEntry(id="llm", engine="fake", model="llm", sampling=Sampling(temperature=0.7))
        },
        transformations={
            t: TransformationEntry(
                id=t, label=t, axis=a, order=i, steps=[Step(prompt="p", language="source")],
            )
            for i, (t, a) in enumerate(AXES.items())
        },
        prompts={"p": PromptEntry(id="p", template="Say it in {target_language}.", source="made")},
        origin={("datasets", d): Path("made.yaml") for d in datasets()},
    )  # fmt: skip
    run = RunConfig(
        run="bench", results=str(root), datasets=list(datasets()), embedders=EMBEDDERS, generator=["llm"],
        transformations=list(AXES), seeds=[1, 2, 3],
    )  # fmt: skip
    return Plan(run, catalogue, root)


def make(root: Path, n_items: int) -> None:
    """Write the tidy tables and the transform tables of the run."""
    plan = make_plan(root)
    per_embedder = n_items // (len(EMBEDDERS) * len(plan.variants))
    n_experiments = EXPERIMENTS * sum(KINDS[k][0] for k in ("Classification", "Clustering"))
    # Pairs with labels have two similarities, so two rows each.
    n = (per_embedder - n_experiments) // (22 + KINDS["PairClassification"][0])
    plan.run_folder.mkdir(parents=True)
    scores: list[dict[str, Any]] = []
    folder, rng = plan.run_folder, np.random.default_rng(0)
    with (
        pq.ParquetWriter(folder / "items.parquet", ITEMS, compression="zstd") as items,
        pq.ParquetWriter(folder / "item_drift.parquet", ITEM_DRIFT, compression="zstd") as drift,
    ):
        for e, embedder in enumerate(EMBEDDERS):
            for dataset, (kind, metric, unit) in datasets().items():
                size = EXPERIMENTS if unit == "experiment" else n
                rows, cells = _pair(plan, (embedder, dataset), (kind, metric, unit), size, 0.1 + e / 50)
                items.write_table(pa.Table.from_pandas(rows, schema=ITEMS, preserve_index=False))
                scores += cells
                if unit != "experiment":
                    drift.write_table(_drift(plan, embedder, dataset, size, rng))
    pq.write_table(pa.Table.from_pylist(scores, schema=SCORES), folder / "scores.parquet")
    with pq.ParquetWriter(folder / "item_texts.parquet", ITEM_TEXTS, compression="zstd") as texts:
        for dataset, (kind, _, unit) in datasets().items():
            for variant in plan.rewrites:
                if unit != "experiment":
                    texts.write_table(_texts(dataset, kind, variant, n, rng))
                _transform(plan, dataset, variant, rng)


def _pair(
    plan: Plan, at: tuple[str, str], of: tuple[str, str, str], n: int, weakness: float
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Return the items and the score rows of one embedder on one dataset."""
    embedder, dataset = at
    kind, metric, unit = of
    rng = np.random.default_rng(list(map(ord, "".join(at))))
    gold = np.round(rng.uniform(0, 5, n)) if kind == "STS" else (rng.uniform(size=n) < 0.3).astype(float)
    gold[0] = gold.max() or 1
    truth = gold / gold.max() + 0.3 * rng.normal(size=n)
    parts, cells = [], []
    original = None
    for variant in plan.variants:
        fall = 0 if variant.is_original else weakness
        noise = fall * rng.normal(size=n)
        value = truth + noise if unit == "pair" else np.clip(0.6 * truth - np.abs(noise) + 0.2, 0, 1)
        original = value if original is None else original
        score = _score(kind, value, gold)
        names = ["similarity", "manhattan_distance"] if metric == "max_ap" else [metric]
        for name in names:
            sign = -1 if name == "manhattan_distance" else 1
            parts.append(
                pd.DataFrame(
                    {
                        "run": "bench", "embedder": embedder, "dataset": dataset, "subset": "default",
                        "split": "test", "generator": variant.generator, "seed": variant.seed, "unit": unit,
                        "transformation": variant.transformation, "item": [str(i) for i in range(n)],
                        "metric": name, "value": sign * value, "original": sign * original,
                        "delta": sign * (value - original),
                        "gold": gold if unit == "pair" else np.nan,
                    }
                )
            )  # fmt: skip
        cells += _score_rows(at, of, variant, score, _score(kind, original, gold), n)
    return pd.concat(parts, ignore_index=True)[ITEMS.names], cells


def _score(kind: str, value: Any, gold: Any) -> float:
    if kind == "STS":
        return 100 * float(spearmanr(value, gold).statistic)
    return 100 * float(average_precision_score(gold, value) if kind == "PairClassification" else value.mean())


def _score_rows(
    at: tuple[str, str], of: tuple[str, str, str], variant: Variant, score: float, before: float,
    n: int,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    texts = {} if variant.is_original else {
        "n_texts": TEXTS, "fallbacks": 0, "fallback_share": 0.0, "flagged": 4, "retried": 1, "dropped": 0,
    }  # fmt: skip
    row = {
        "run": "bench", "embedder": at[0], "dataset": at[1], "task": at[1], "task_type": of[0],
        "language": "eng-Latn", "generator": variant.generator, "transformation": variant.transformation,
        "axis": AXES.get(variant.transformation, "original"), "seed": variant.seed, "metric": of[1],
        "higher_is_better": True, "score": score, "original": before, "n_items": n, "status": "ok",
        "delta": None if variant.is_original else score - before, "error": "", "marked": False,
        "matched": False, "fingerprint": "f", "cell_path": "scores/",
    }  # fmt: skip
    yield row | texts | {"subset": "(all)", "split": "(all)"}
    yield row | {"subset": "default", "split": "test"}


def _drift(plan: Plan, embedder: str, dataset: str, n: int, rng: np.random.Generator) -> pa.Table:
    parts = [
        pd.DataFrame(
            {
                "embedder": embedder, "dataset": dataset, "generator": v.generator,
                "transformation": v.transformation, "seed": v.seed, "subset": "default", "split": "test",
                "item": [str(i) for i in range(n)], "drift": rng.uniform(0, 0.5, n),
            }
        )
        for v in plan.rewrites
    ]  # fmt: skip
    return pa.Table.from_pandas(pd.concat(parts), schema=ITEM_DRIFT, preserve_index=False)


def _sentences(n: int, rng: np.random.Generator) -> list[str]:
    return [" ".join(row) for row in WORDS[rng.integers(len(WORDS), size=(n, 14))]]


def _texts(dataset: str, kind: str, variant: Variant, n: int, rng: np.random.Generator) -> pa.Table:
    fields = ["sentence1", "sentence2"] if kind in {"STS", "PairClassification"} else ["queries.text"]
    drawn = variant.transformation in {"translation", "cross_translation"}
    parts = []
    for name in fields:
        parts.append(
            pd.DataFrame(
                {
                    "dataset": dataset, "generator": variant.generator,
                    "transformation": variant.transformation, "seed": variant.seed, "subset": "default",
                    "split": "test", "item": [str(i) for i in range(n)], "field": name, "position": 0,
                    "original": _sentences(n, rng), "rewritten": _sentences(n, rng),
                    "language": rng.choice(LANGUAGES, n) if drawn else "eng-Latn", "outcome": "ok",
                    "flags": np.where(rng.uniform(size=n) < 0.05, "runaway,truncated", ""),
                    "length_ratio": rng.lognormal(size=n), "edit_distance": rng.uniform(size=n),
                }
            )
        )  # fmt: skip
    return pa.Table.from_pandas(pd.concat(parts), schema=ITEM_TEXTS, preserve_index=False)


def _transform(plan: Plan, dataset: str, variant: Variant, rng: np.random.Generator) -> None:
    path = plan.results / paths.TRANSFORM.format(dataset=dataset, variant=str(variant))
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds = {pa.string(): "x", pa.int64(): 1, pa.bool_(): False}
    columns = {f.name: [kinds[f.type]] * TEXTS for f in SCHEMA}
    columns |= {"text_id": list(range(TEXTS)), "outcome": ["ok"] * TEXTS, "text": _sentences(TEXTS, rng)}
    columns |= {"source_language": ["eng-Latn"] * TEXTS, "target_language": ["eng-Latn"] * TEXTS}
    pq.write_table(pa.table(columns, schema=SCHEMA), path)


def steps(root: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name; the first two are what the rules do."""
    plan = make_plan(root)
    run, names, options = plan.run_folder, Names.of(plan), plan.config.analysis
    files = {n: run / f"{n}.parquet" for n in ("scores", "items", "item_texts", "item_drift")}
    transforms = [plan.results / paths.TRANSFORM.format(dataset=d, variant=str(v))
                  for d in plan.config.datasets for v in plan.rewrites]  # fmt: skip
    of = SimpleNamespace(scores=None, counts=None)

    def scores() -> pd.DataFrame:
        if of.scores is None:
            of.scores = pq.read_table(files["scores"]).to_pandas()
        return of.scores

    def counts() -> pd.DataFrame:
        if of.counts is None:
            of.counts = rewrite_counts(transforms)
        return of.counts

    drawn = {"resamples": options.resamples, "seed": options.seed}
    found: dict[str, Callable[[], object]] = {
        "analyse": lambda: analyse(
            plan=plan, scores=files["scores"], transforms=transforms, folder=run / "tables"
        ),
        "analyse_items": lambda: analyse_items(
            plan=plan, scores=files["scores"], items=files["items"], texts=files["item_texts"],
            drift=files["item_drift"], folder=run / "tables",
        ),
        **{n: lambda n=n: getattr(score_tables, n)(scores(), names) for n in SCORE_TABLES},
        **{
            n: lambda f=f: f(Analysed(scores(), names, options, {})) for n, f in STATISTICS.items()
        },
        "rewrite_counts": counts,
        "rewrite_examples": lambda: rewrite_examples(transforms, seed=1),
        "outcomes": lambda: rewrites.outcomes(counts(), names),
        "item_intervals": lambda: item_intervals(read_blocks(files["items"]), scores(), names, **drawn),
        "worst_items": lambda: worst_items(
            read_blocks(files["items"]), scores(), read_groups(files["item_texts"], _TEXTS), names
        ),
        "item_causes": lambda: item_causes(
            read_blocks(files["items"]), scores(), read_groups(files["item_texts"], _FEATURES),
            blocks(read_groups(files["item_drift"], _DRIFT)), names, **drawn,
        ),
    }  # fmt: skip
    return found


def measure(root: Path, chosen: list[str]) -> None:
    """Run steps one after the other and print what each took as JSON."""
    known = steps(root)
    for name in chosen:
        start = time.perf_counter()
        cpu = time.process_time()
        known[name]()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps([name, time.perf_counter() - start, time.process_time() - cpu, peak]), flush=True)


def child(root: Path, chosen: list[str]) -> list[tuple[str, float, float, float]]:
    command = [sys.executable, str(SCRIPT), "--measure", str(root), *chosen]
    # As in the rules, which have one thread: more of them only wait for each other here.
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return [(n, s, c, m) for n, s, c, m in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=2_000_000)
    parser.add_argument("--keep", type=Path, help="make the run here, or use the one that is here")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    logging.getLogger("stressbed").setLevel(logging.ERROR)
    if args.measure:
        measure(Path(args.measure[0]), args.measure[1:])
        return
    with tempfile.TemporaryDirectory() as made:
        root = args.keep or Path(made)
        if not (root / "runs" / "bench" / "item_texts.parquet").is_file():
            start = time.perf_counter()
            make(root, args.items)
            print(f"made in {time.perf_counter() - start:.0f} s")
        rules = [child(root, [name])[0] for name in ("analyse", "analyse_items")]
        for name, seconds, cpu, peak in rules:
            print(f"{name:<26}{seconds:7.1f} s{cpu:7.1f} s of processor{peak:7.2f} GB")
        total, busy, most = (f(r[k] for r in rules) for f, k in ((sum, 1), (sum, 2), (max, 3)))
        # Each has one thread, so this is what they take on a machine that does nothing else.
        ok = "yes" if busy < TARGET_SECONDS and most < TARGET_GB else "NO"
        print(f"{'together':<26}{total:7.1f} s{busy:7.1f} s of processor{most:7.2f} GB; "
              f"under {TARGET_SECONDS} s of processor and {TARGET_GB} GB: {ok}")  # fmt: skip
        print("each alone (memory: the most so far)")
        others = [n for n in steps(root) if n not in {r[0] for r in rules}]
        for name, seconds, cpu, peak in child(root, others):
            print(f"  {name:<24}{seconds:7.1f} s{cpu:7.1f} s of processor{peak:7.2f} GB")
        if ok == "NO":
            sys.exit(f"all analyses took {busy:.0f} s of processor and {most:.1f} GB")


if __name__ == "__main__":
    main()
