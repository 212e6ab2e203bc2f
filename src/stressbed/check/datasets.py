"""Checks of dataset entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stressbed.check.files import check_local
from stressbed.config.entries import DatasetEntry
from stressbed.errors import ConfigError, StressbedError, suggest
from stressbed.languages import is_valid

Problem = Iterator[StressbedError]

RATED = ("STS", "STR", "Summarization")
"""Task types whose local files hold ratings on a scale."""

_CLASSES = r"accuracy|f1|f1_weighted|precision|precision_weighted|recall|recall_weighted|ap|ap_weighted"
_CORRELATION = r"(cosine_|manhattan_|euclidean_)?(pearson|spearman)"
_SIMILARITY = r"(max|similarity|cosine|dot|manhattan|euclidean)"
_RANKING = r"(ndcg|map|recall|precision|mrr|hit_rate)_at_(1|3|5|10|20|100|1000)"
MAIN_SCORES: dict[str, str] = {
    "Classification": _CLASSES,
    "MultilabelClassification": r"accuracy|lrap|f1|hamming",
    "Clustering": r"v_measure",
    "PairClassification": rf"{_SIMILARITY}_(ap|f1|accuracy|precision|recall)",
    "STS": _CORRELATION,
    "STR": _CORRELATION,
    "Summarization": r"(cosine_|dot_)?(pearson|spearman)",
    "BitextMining": r"f1|accuracy|precision|recall",
    "Retrieval": _RANKING,
    "Reranking": _RANKING,
}
"""Scores that mteb gives for each task type, as a pattern."""

_USUAL = {
    "Classification": "accuracy", "MultilabelClassification": "accuracy", "Clustering": "v_measure",
    "PairClassification": "max_ap", "STS": "cosine_spearman", "STR": "cosine_spearman",
    "Summarization": "cosine_spearman", "BitextMining": "f1", "Retrieval": "ndcg_at_10",
    "Reranking": "map_at_1000",
}  # fmt: skip


def check_dataset(entry: DatasetEntry, origin: Path) -> Problem:
    """Yield what is wrong with a dataset's entry and, for a local dataset, with its files.

    Args:
        entry: The entry.
        origin: The catalogue file that holds it; local files lie relative to its folder.
    """
    where = f"{origin}, dataset {entry.id!r}"
    yield from _languages(entry, where)
    if not re.fullmatch(MAIN_SCORES[entry.task_type], entry.main_score):
        yield ConfigError(
            f"{entry.task_type} has no score {entry.main_score!r}",
            where=f"{where}, key 'main_score'",
            do=f"{_USUAL[entry.task_type]!r} is mteb's usual choice",
        )
    if entry.corpus_sample is not None and entry.task_type not in {"Retrieval", "Reranking"}:
        yield ConfigError(
            f"{entry.task_type} has no corpus to take a sample of",
            where=f"{where}, key 'corpus_sample'",
            allowed="task types Retrieval and Reranking",
            do="remove it; `row_limit` keeps fewer rows",
        )
    yield from _evaluation(entry, where)
    if entry.max_words is not None and entry.format == "table":
        yield ConfigError(
            "'max_words' has no effect on tables",
            where=f"{where}, key 'max_words'",
            allowed="formats lee and fasttext",
            do="remove it; `row_limit` keeps fewer rows",
        )
    low, high = entry.min_score, entry.max_score
    if entry.task_type not in RATED and entry.format == "table" and entry.files:
        for key in (k for k in ("min_score", "max_score") if getattr(entry, k) is not None):
            yield ConfigError(
                f"{key!r} has no effect: {entry.task_type} has no ratings",
                where=f"{where}, key {key!r}",
                allowed=f"task types {', '.join(RATED)}",
                do="remove it",
            )
    if low is not None and high is not None and low >= high:
        yield ConfigError(f"min_score {low:g} is not below max_score {high:g}", where=where)
    if entry.translate_dataset is not None:
        yield from _translated(entry, where)
    elif bool(entry.task) == bool(entry.files):
        yield ConfigError(
            "a dataset needs either `task` or `files`"
            if not entry.task
            else "both `task` and `files` are set",
            where=where,
            allowed="`task` for a task of mteb, `files` for your own data",
        )
    elif entry.task:
        yield from _mteb(entry, where)
    else:
        yield from check_local(entry, origin.parent, where)


def _languages(entry: DatasetEntry, where: str) -> Problem:
    for subset in dict.fromkeys(entry.subsets):
        if not entry.languages.get(subset):
            yield ConfigError(
                f"the subset {subset!r} has no language",
                where=f"{where}, key 'languages'",
                do=suggest(subset, entry.languages) or f"add `{subset}: [eng-Latn]`, with its own language",
            )
    for key, names in (("languages", entry.languages), ("field_languages", entry.field_languages)):
        for subset in names:
            if subset not in entry.subsets:
                yield ConfigError(
                    f"{subset!r} is no subset of this dataset",
                    where=f"{where}, key {key!r}",
                    allowed=", ".join(entry.subsets),
                    do=suggest(subset, entry.subsets),
                )
    if len(set(entry.subsets)) < len(entry.subsets):
        yield ConfigError("a subset stands twice", where=f"{where}, key 'subsets'")
    tags = [t for ts in entry.languages.values() for t in ts]
    for subset, fields in entry.field_languages.items():
        tags.extend(fields.values())
        for tag in fields.values():
            if is_valid(tag) and tag not in entry.languages.get(subset, [tag]):
                yield ConfigError(
                    f"the language {tag!r} of a field is not among the languages of subset {subset!r}",
                    where=f"{where}, key 'field_languages'",
                    allowed=", ".join(entry.languages[subset]),
                )
    yield from invalid_tags(tags, where)


def invalid_tags(tags: list[str], where: str) -> Problem:
    """Yield one error per tag that is no language."""
    for tag in dict.fromkeys(tags):
        if not is_valid(tag):
            yield ConfigError(
                f"{tag!r} is not a language",
                where=where,
                allowed="ISO 639 codes, with a script where it helps: eng-Latn, deu-Latn, zho-Hans",
            )


FROM_SOURCE = (
    "task", "revision", "files", "format", "encoding", "columns", "field_languages", "row_limit", "max_words",
    "corpus_sample", "min_score", "max_score", "evaluation",
)  # fmt: skip
"""Keys that a translated dataset does not have: they are its source's, or follow from its language."""


def _translated(entry: DatasetEntry, where: str) -> Problem:
    for key in FROM_SOURCE:
        if getattr(entry, key) != DatasetEntry.model_fields[key].default:
            yield ConfigError(
                f"{key!r} has no effect on a translated dataset",
                where=where,
                do="remove it; if it is to differ from the source's, write another source",
            )
    spoken = dict.fromkeys(tag for tags in entry.languages.values() for tag in tags)
    if len(spoken) > 1:
        yield ConfigError(
            f"a translated dataset is in one language, not in {len(spoken)}",
            where=f"{where}, key 'languages'",
            allowed="the same language for every subset",
            do="write an entry for each language",
        )


POOLED = ("STS", "STR", "PairClassification")
"""Task types whose subsets can be scored as one."""


def _evaluation(entry: DatasetEntry, where: str) -> Problem:
    """Yield which keys of `evaluation` have no effect on this dataset."""
    reading = entry.evaluation
    if reading is None:
        return
    if reading.training_rows == "all" and entry.task_type != "Classification":
        yield ConfigError(
            f"'training_rows' has no effect on {entry.task_type}",
            where=f"{where}, key 'evaluation'",
            allowed="task type Classification",
            do="remove it",
        )
    if reading.pool_subsets and (entry.task_type not in POOLED or len(entry.subsets) < 2):
        yield ConfigError(
            f"'pool_subsets' has no effect: {entry.task_type} with {len(entry.subsets)} subset(s)",
            where=f"{where}, key 'evaluation'",
            allowed=f"task types {', '.join(POOLED)} with several subsets",
            do="remove it",
        )


def _mteb(entry: DatasetEntry, where: str) -> Problem:
    if not entry.revision:
        yield ConfigError(
            f"the mteb task {entry.task!r} has no revision",
            where=f"{where}, key 'revision'",
            do="pin the commit of the data that mteb's metadata names",
        )
    for key in ("columns", "min_score", "max_score"):
        if getattr(entry, key):
            yield ConfigError(f"{key!r} has no effect on a task of mteb", where=where, do="remove it")
    if entry.format != "table":
        yield ConfigError("'format' has no effect on a task of mteb", where=where, do="remove it")
