"""The prompts that a sentence-transformers model brings with its files, and which one stands before a string.

The choice is that of HTEB's public code (ThisIsManuel/HTEB, v1.1): by role for retrieval and reranking, by
kind of task elsewhere, and the model's default prompt where it names one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BY_ROLE = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""Names of prompts by role, the first that the model has."""

BY_TASK = {
    "Classification": ("classification", "Classification"),
    "Clustering": ("clustering", "Clustering"),
    "PairClassification": ("pair_classification", "Classification"),
    "STS": ("sts", "STS"),
    "STR": ("str", "STS"),
    "Summarization": ("summarisation", "Summarisation"),
}
"""Names of prompts by task type, the first that the model has."""


@dataclass(frozen=True)
class Shipped:
    """A model's own prompts.

    Attributes:
        prompts: Name -> words.
        default: Name of the prompt that stands before every string for which there is no other, or None.
    """

    prompts: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None

    @classmethod
    def of_folder(cls, folder: Path) -> Shipped:
        """Return the prompts of a model's files; none if the files name none."""
        path = folder / "config_sentence_transformers.json"
        if not path.is_file():
            return cls()
        config = json.loads(path.read_text(encoding="utf-8"))
        return cls(dict(config.get("prompts") or {}), config.get("default_prompt_name"))

    def before(self, task_type: str, role: str) -> str:
        """Return what stands before a string; the role is `query`, `document` or `none`."""
        names = BY_ROLE[role] if role in BY_ROLE else BY_TASK.get(task_type, ())
        for name in (*names, self.default):
            if name is not None and name in self.prompts:
                return self.prompts[name]
        return ""
