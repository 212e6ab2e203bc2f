"""mteb task classes for local files: made at run time, nothing is loaded from a hub."""

from __future__ import annotations

import re
from typing import Any

NAMES: dict[str, dict[str, Any]] = {
    "Classification": {"input_column_name": "text", "label_column_name": "label"},
    "MultilabelClassification": {"input_column_name": "text", "label_column_name": "labels"},
    "Clustering": {
        "input_column_name": "text",
        "label_column_name": "label",
        "max_fraction_of_documents_to_embed": None,
        "max_document_to_embed": None,
    },
    "PairClassification": {
        "input1_column_name": "sentence1",
        "input2_column_name": "sentence2",
        "label_column_name": "label",
    },
    "STS": {"column_names": ("sentence1", "sentence2")},
    "Summarization": {},
    "BitextMining": {},
    "Retrieval": {},
    "Reranking": {},
}
"""Class attributes by mteb task type: our standard columns, and no sampling of local clusterings."""

SCALES: dict[str, tuple[float, float]] = {"STS": (0, 5), "Summarization": (1, 5)}
"""Rating scale by mteb task type where the catalogue gives none: (lowest, highest)."""


def mteb_type(task_type: str) -> str:
    """Return mteb's name of a task type: STR is STS on relatedness data."""
    return "STS" if task_type == "STR" else task_type


def base_class(task_type: str) -> type[Any]:
    """Return mteb's abstract class of a task type."""
    from mteb import abstasks as a

    kind = mteb_type(task_type)
    return a.AbsTaskRetrieval if kind == "Reranking" else getattr(a, f"AbsTask{kind}")


def local_task(manifest: dict[str, Any]) -> Any:
    """Return a fresh mteb task (seed 42) for a frozen local dataset; its data are put in later."""
    from mteb.abstasks.task_metadata import TaskMetadata

    from stressbed.dataset.thaw import TASK_SEED

    kind = mteb_type(manifest["task_type"])
    subsets = manifest["languages"]
    metadata = TaskMetadata.model_validate(
        {
            "name": manifest["task"],
            "description": f"Local dataset {manifest['dataset']}",
            "type": kind,
            "category": "t2t",
            "modalities": ["text"],
            "main_score": manifest["main_score"],
            "dataset": {"path": f"local/{manifest['dataset']}", "revision": manifest["revision"]},
            "eval_splits": list(manifest["splits"]),
            "eval_langs": subsets["default"] if list(subsets) == ["default"] else subsets,
        }
    )
    attributes: dict[str, Any] = {"metadata": metadata, "__module__": __name__, **NAMES[kind]}
    if kind in SCALES:
        attributes["min_score"], attributes["max_score"] = manifest["min_score"], manifest["max_score"]
    name = re.sub(r"\W", "_", f"Local_{manifest['task']}")
    return type(name, (base_class(kind),), attributes)(seed=TASK_SEED)
