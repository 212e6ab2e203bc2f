"""Made pairs of finished runs in one results folder: cells, tidy tables, configs."""

import hashlib

import numpy as np
import yaml
from fabricate import make_plan, write_cells

from stressbed.collect.cells import collect
from stressbed.store import Store

THREE = ("paraphrasing", "expansion", "translation")
QUERIES = 40


def made_run(
    results, name, score, *, embedders=("model",), n_datasets=8, transformations=THREE, seeds=(1,),
    generators=("llm",), data="v1", texts="t1", identity=None, items=None, versions=None, more=None,
):  # fmt: skip
    """Write a finished run and return its folder.

    `score(embedder, dataset, transformation, seed)` gives a cell's score, or None for a failed cell; with
    `items` it is the mean of 100 times what `items(...)` gives, one value per query. `data` and `texts` stand
    for the hashes of datasets and rewrites and may be functions of the dataset.
    """
    datasets = {f"d{i}": {"task_type": "Retrieval", "main_score": "ndcg_at_10"} for i in range(n_datasets)}
    plan = make_plan(
        results, embedders=embedders, datasets=datasets, transformations=transformations, seeds=seeds,
        generators=generators, **(more or {}),
    )  # fmt: skip
    plan = type(plan)(plan.config.model_copy(update={"run": name}), plan.catalogue, plan.base)
    of = lambda hashed, dataset: hashed(dataset) if callable(hashed) else hashed  # noqa: E731

    def record(cell):
        v = cell.variant
        at = (cell.embedder, cell.dataset, v.transformation, v.seed)
        values = None if items is None else [float(x) for x in items(*at)]
        found = score(*at) if values is None else 100 * float(np.mean(values))
        content = of(data, cell.dataset)
        more = {
            "dataset_hash": content,
            "texts_hash": "" if v.is_original else of(texts, cell.dataset),
            "embedder_identity": (identity or {}).get(cell.embedder, f"id-{cell.embedder}"),
            "versions": versions or {"mteb": "2.0"},
            "fingerprint": hashlib.sha256(f"{name}{cell}{content}".encode()).hexdigest()[:32],
        }
        if found is None:
            return {"score": None, "status": "failed", "error": "made", **more}
        if values is not None:
            block = {
                "subset": "default", "split": "test", "unit": "query", "metric": "ndcg_at_10",
                "ids": [f"q{i}" for i in range(len(values))], "values": values,
            }  # fmt: skip
            more["items"] = [block]
        return {"score": found, **more}

    write_cells(plan, record)
    folder = plan.run_folder
    folder.mkdir(parents=True, exist_ok=True)
    collect(plan=plan, scores_out=folder / "scores.parquet", items_out=folder / "items.parquet")
    (folder / "config.yaml").write_text(yaml.safe_dump(plan.config.model_dump(mode="json")))
    return folder


def into_store(results):
    """Put every cell file into the store and return how many there were, as the score stage does."""
    import json

    store = Store(results / ".store")
    paths = sorted((results / "scores").rglob("*.json"))
    for path in paths:
        record = json.loads(path.read_text())
        store.put("cells", record["fingerprint"], json.dumps(record).encode())
    return len(paths)
