"""All subsets of a dataset as one: one score over all rows instead of the mean over subsets."""

from __future__ import annotations

from typing import Any

from stressbed.dataset.layout import language_of, slots
from stressbed.dataset.parts import Part
from stressbed.dataset.rowlanguages import Spoken

SUBSET = "all"
"""Name of the subset that holds the rows of all others."""


def pool(
    task: Any, manifest: dict[str, Any], parts: list[Part]
) -> tuple[list[Part], dict[tuple[str, str], Spoken]]:
    """Return one part per split with the rows of all subsets, and the language of each text in it.

    The manifest then names one subset, in all their languages.

    Args:
        task: The task, with the parts installed.
        manifest: Its manifest; changed.
        parts: The parts of all subsets (STS, PairClassification: one table each).
    """
    from datasets import concatenate_datasets

    before: dict[tuple[str, str], int] = {}
    by_split: dict[str, list[Part]] = {}
    for part in parts:
        others = by_split.setdefault(part.split, [])
        before[part.subset, part.split] = sum(len(p.tables["rows"]) for p in others)
        others.append(part)
    spoken: dict[str, dict[tuple[str, str, str], str]] = {}
    for slot in slots(task):
        start, language = before[slot.subset, slot.split], language_of(manifest, slot)
        rows = spoken.setdefault(slot.split, {})
        rows |= {("rows", slot.column, str(start + i)): language for i in range(len(slot.table))}
    pooled = []
    for split, found in by_split.items():
        shared = [c for c in found[0].tables["rows"].column_names if all(_has(p, c) for p in found)]
        tables = [p.tables["rows"].select_columns(shared) for p in found]
        pooled.append(Part(SUBSET, split, {"rows": concatenate_datasets(tables)}))
        for part in found:
            for what, n in part.notes.items():
                pooled[-1].note(what, n)
    spoken_languages = dict.fromkeys(t for s in manifest["subsets"] for t in manifest["languages"][s])
    manifest |= {"subsets": [SUBSET], "languages": {SUBSET: list(spoken_languages)}, "field_languages": {}}
    return pooled, {(SUBSET, split): rows for split, rows in spoken.items()}


def _has(part: Part, column: str) -> bool:
    return column in part.tables["rows"].column_names
