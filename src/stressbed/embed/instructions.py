"""Which instruction stands before a string."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stressbed.config.entries import EmbedderEntry

ROLE_NAMES = frozenset({"query", "document"})


def instruction_for(entry: EmbedderEntry, manifest: Mapping[str, Any], role: str) -> str:
    """Return the instruction of an embedder for a dataset and role, empty if it has none.

    The most specific key of the entry's `instructions` wins: `TASK:ROLE`, `TASK`, `TYPE:ROLE`,
    `TYPE`, then the role alone. `TASK` is the name of the mteb task or the id of the dataset.
    A key without a role holds for queries and documents alike, as in mteb.

    Args:
        entry: The embedder.
        manifest: The dataset's manifest (`task`, `dataset`, `task_type`).
        role: `query`, `document` or `none`.
    """
    for key in _keys(manifest, role):
        if key in entry.instructions:
            return entry.instructions[key]
    return ""


def _keys(manifest: Mapping[str, Any], role: str) -> Iterator[str]:
    """Yield the keys that apply, the most specific first."""
    names = dict.fromkeys(n for n in (manifest.get("dataset"), manifest.get("task")) if n)
    with_role = role in ROLE_NAMES
    if with_role:
        yield from (f"{n}:{role}" for n in names)
    yield from names
    task_type = str(manifest["task_type"])
    if with_role:
        yield f"{task_type}:{role}"
    yield task_type
    if with_role:
        yield role
