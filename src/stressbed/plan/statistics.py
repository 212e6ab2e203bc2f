"""What mteb publishes about a task's data: how many texts of what length a dataset has, without the data.

mteb ships a JSON file of statistics per task. Only part of some splits is embedded: of the training
texts of a classification those that its experiments draw, of a clustering a fraction of the documents.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stressbed.config.entries import DatasetEntry
from stressbed.plan.assumptions import Assumptions

_FIELDS = {
    "text_statistics": "text",
    "text1_statistics": "sentence1",
    "text2_statistics": "sentence2",
    "sentence1_statistics": "sentence1",
    "sentence2_statistics": "sentence2",
    "documents_text_statistics": "corpus.text",
    "queries_text_statistics": "queries.text",
    "human_summaries_statistics": "human_summaries",
    "machine_summaries_statistics": "machine_summaries",
}
"""mteb's names of columns -> fields of `texts.parquet`."""

SIDES = {"corpus": "document", "queries": "query"}


@dataclass(frozen=True)
class Group:
    """Texts of one column of one subset.

    Attributes:
        subset: The subset.
        split: The split.
        field: The field, as in `texts.parquet`.
        language: Its language.
        occurrences: How many texts are embedded, equal ones included.
        unique: How many of them differ.
        characters: Mean length.
    """

    subset: str
    split: str
    field: str
    language: str
    occurrences: float
    unique: float
    characters: float

    @property
    def side(self) -> str:
        """`query`, `document` or `both`."""
        return SIDES.get(self.field.partition(".")[0], "both")


def groups_of(entry: DatasetEntry, assumed: Assumptions) -> tuple[list[Group], str]:
    """Return a dataset's groups of texts by mteb's statistics, and in words what they rest on."""
    found = _statistics(entry.task) if entry.task else None
    if found is None:
        return [_guess(entry, assumed)], _guessed(entry)
    task = _task(str(entry.task))
    groups: list[Group] = []
    for split in entry.splits:
        for subset in entry.subsets:
            groups += _of_split(entry, split, subset, found, task)
    if not groups:
        return [_guess(entry, assumed)], _guessed(entry)
    groups = [_limited(g, entry.row_limit) for g in groups]
    return [t for g in groups for t in _with_titles(g, entry, assumed)], "mteb's statistics"


def _statistics(task: str) -> dict[str, Any] | None:
    """Return the statistics that mteb ships for a task, by split; None if there are none."""
    spec = importlib.util.find_spec("mteb")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "descriptive_stats"
    for path in folder.glob(f"*/{task}.json"):
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content
    return None


def _task(name: str) -> Any:
    from stressbed.dataset.quiet import quiet

    quiet()
    import mteb

    return mteb.get_task(name)


def _of_split(
    entry: DatasetEntry, split: str, subset: str, found: Mapping[str, Any], task: Any
) -> Iterator[Group]:
    facts = _of_subset(found.get(split), subset)
    if facts is None:
        return
    train_split = getattr(task, "train_split", None)
    if train_split is not None and not getattr(task, "is_cross_validation", False):
        train = _of_subset(found.get(train_split), subset) or facts
        drawn = _drawn_for_training(train, task)
        for group in _groups(entry, train_split, subset, train):
            share = min(1.0, drawn / group.occurrences)
            yield replace(group, occurrences=drawn, unique=max(1.0, group.unique * share))
    for group in _groups(entry, split, subset, facts):
        yield _embedded(group, task)


def _of_subset(facts: Mapping[str, Any] | None, subset: str) -> Mapping[str, Any] | None:
    if facts is None:
        return None
    parts: Mapping[str, Any] = facts.get("hf_subset_descriptive_stats") or {}
    return parts.get(subset) if parts else facts


def _groups(entry: DatasetEntry, split: str, subset: str, facts: Mapping[str, Any]) -> Iterator[Group]:
    for name, field in _FIELDS.items():
        numbers = facts.get(name)
        if not numbers or not numbers.get("average_text_length"):
            continue
        if name == "text_statistics" and entry.task_type == "Summarization":
            continue  # the source document is never embedded
        length = float(numbers["average_text_length"])
        occurrences = max(1.0, round(float(numbers["total_text_length"]) / length))
        if field == "corpus.text":
            occurrences = float(facts.get("num_documents") or occurrences)
        unique = float(numbers.get("unique_texts") or occurrences)
        language = _language(entry, subset, field)
        yield Group(subset, split, field, language, occurrences, min(unique, occurrences), length)


def _language(entry: DatasetEntry, subset: str, field: str) -> str:
    named = entry.field_languages.get(subset, {})
    own = entry.languages.get(subset) or ["und"]
    second = field.endswith("2") and len(own) > 1
    return named.get(field) or named.get(field.partition(".")[0]) or own[1 if second else 0]


def _drawn_for_training(train: Mapping[str, Any], task: Any) -> float:
    """Return how many training texts the experiments of a classification draw, in the mean.

    Each experiment draws so many texts of each label, independently of the others.
    """
    rows = float(train.get("num_samples") or 1)
    labels = (train.get("label_statistics") or {}).get("labels") or {}
    counts = [float(v["count"]) for v in labels.values()] or [rows]
    per, times = float(task.samples_per_label), int(task.n_experiments)
    drawn = sum(c * (1 - (1 - min(1.0, per / c)) ** times) for c in counts if c > 0)
    return max(1.0, min(rows, drawn))


def _embedded(group: Group, task: Any) -> Group:
    """Return the part of a group that mteb embeds: a fraction of a clustering's documents, all of others."""
    most = getattr(task, "max_document_to_embed", None)
    share = getattr(task, "max_fraction_of_documents_to_embed", None)
    if most is None and share is None:
        most = getattr(task, "max_eval_samples", None)
    kept = float(most) if most is not None else share * group.occurrences if share is not None else None
    if kept is None or kept >= group.occurrences:
        return group
    kept = max(1.0, float(int(kept)))
    return replace(group, occurrences=kept, unique=max(1.0, group.unique * kept / group.occurrences))


def _limited(group: Group, limit: int | None) -> Group:
    """Return the group with a dataset's row limit; a retrieval's corpus stays whole."""
    if limit is None or group.occurrences <= limit or group.field.startswith("corpus"):
        return group
    return replace(group, occurrences=float(limit), unique=min(group.unique, float(limit)))


def _with_titles(group: Group, entry: DatasetEntry, assumed: Assumptions) -> list[Group]:
    """Return a group, split into titles and bodies where the corpus is known to have titles."""
    title = assumed.titles.get(str(entry.task))
    if title is None or group.field != "corpus.text":
        return [group]
    body = replace(group, characters=max(1.0, group.characters - title.characters))
    distinct = max(1.0, group.unique * title.distinct)
    return [body, replace(group, field="corpus.title", unique=distinct, characters=title.characters)]


def _guess(entry: DatasetEntry, assumed: Assumptions) -> Group:
    texts = float(entry.n_texts or assumed.unknown_texts)
    subset = entry.subsets[0]
    field = "corpus.text" if entry.task_type in {"Retrieval", "Reranking"} else "text"
    language = _language(entry, subset, field)
    return Group(subset, entry.splits[0], field, language, texts, texts, float(assumed.unknown_characters))


def _guessed(entry: DatasetEntry) -> str:
    return "`n_texts` of the catalogue" if entry.n_texts else "a guess: nothing is known of its size"
