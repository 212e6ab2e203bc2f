"""Checks of dataset entries and of the files behind local ones."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from pathlib import Path

from stressbed.config import check_tables
from stressbed.config.check_tables import OPTIONAL, TABLES, number
from stressbed.config.entries import DatasetEntry
from stressbed.config.languages import is_valid
from stressbed.config.tables import Table, read_table, reading, without_bom
from stressbed.errors import ConfigError, DataError, StressbedError, suggest
from stressbed.sources import resolve

Problem = Iterator[StressbedError]

FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lee": (("STS", "STR"), ("corpus", "ratings")),
    "fasttext": (("Classification",), ("all",)),
}
"""Task types and files of each format that is no table."""

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
        yield from _local(entry, origin.parent, where)


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
    "corpus_sample", "min_score", "max_score",
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


def _local(entry: DatasetEntry, folder: Path, where: str) -> Problem:
    if entry.subsets != ["default"] or entry.splits != ["test"]:
        yield ConfigError(
            "local files have one subset, 'default', and one evaluated split, 'test'",
            where=f"{where}, keys 'subsets' and 'splits'",
            do="remove both keys; write an entry for each of your subsets",
        )
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=entry.encoding)  # which refuses codecs of no text
    except (LookupError, ValueError):
        yield ConfigError(
            f"no encoding is called {entry.encoding!r}", where=f"{where}, key 'encoding'",
            allowed="Python's names: utf-8, latin-1, cp1252, shift_jis ...",
        )  # fmt: skip
        return
    if entry.format != "table" and entry.task_type not in FILES[entry.format][0]:
        yield ConfigError(
            f"the format {entry.format!r} does not hold a {entry.task_type} dataset",
            where=f"{where}, key 'format'",
            allowed=f"task_type {', '.join(FILES[entry.format][0])}",
        )
        return
    needed = tuple(TABLES[entry.task_type]) if entry.format == "table" else FILES[entry.format][1]
    names = list(_names(entry, needed, where))
    yield from names
    paths: dict[str, Path] = {}
    for name in needed:
        if name in entry.files:
            try:
                paths[name] = resolve(entry.files[name], folder)
            except ConfigError as e:
                e.where = f"{where}, files.{name}: {e.where}"
                yield ConfigError(e.what, where=e.where, do=e.do)
    if names or len(paths) < len(needed):
        return
    yield from {"table": _tables, "lee": _lee, "fasttext": _fasttext}[entry.format](entry, paths, where)


def _names(entry: DatasetEntry, needed: tuple[str, ...], where: str) -> Problem:
    for name in needed:
        if name not in entry.files:
            yield ConfigError(
                f"the file of table {name!r} is not given",
                where=f"{where}, key 'files'",
                allowed=f"{entry.task_type} needs {', '.join(needed)}",
                do=f"add `{name}: FILE`",
            )
    for name in entry.files:
        if name not in needed:
            yield ConfigError(
                f"unknown table {name!r}",
                where=f"{where}, key 'files'",
                allowed=", ".join(needed),
                do=suggest(name, needed),
            )
    known = {c for columns in TABLES[entry.task_type].values() for c in columns}
    known |= {c for table in TABLES[entry.task_type] for c in OPTIONAL.get(table, ())}
    for column in entry.columns:
        if column not in known:
            yield ConfigError(
                f"{column!r} is not a standard column of {entry.task_type}",
                where=f"{where}, key 'columns'",
                allowed=", ".join(sorted(known)),
                do=suggest(column, known) or "write STANDARD_COLUMN: YOUR_COLUMN",
            )


def _tables(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    tables: dict[str, Table] = {}
    for name, path in paths.items():
        try:
            tables[name] = read_table(path, entry.encoding)
        except DataError as e:
            yield _placed(e, f"{where}, files.{name}")
    if len(tables) == len(paths):
        yield from check_tables.check(entry, tables)


def _placed(error: DataError, where: str) -> DataError:
    return DataError(error.what, where=f"{where}: {error.where}", allowed=error.allowed, do=error.do)


def _lines(path: Path, encoding: str, where: str) -> list[tuple[int, str]]:
    """Return the lines of a text file that are not blank, with their numbers from 1."""
    try:
        with reading(path):
            lines = path.read_text(encoding=without_bom(encoding)).splitlines()
            return [(i, line) for i, line in enumerate(lines, 1) if line.strip()]
    except DataError as e:
        raise _placed(e, where) from e


def _lee(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    try:
        documents = _lines(paths["corpus"], entry.encoding, f"{where}, files.corpus")
        ratings = [
            (i, line.split())
            for i, line in _lines(paths["ratings"], entry.encoding, f"{where}, files.ratings")
        ]
    except DataError as e:
        yield e
        return
    short = sum(entry.max_words is None or len(text.split()) <= entry.max_words for _, text in documents)
    n = short if entry.row_limit is None else min(entry.row_limit, short)
    if n < 3:
        yield DataError(
            f"{n} documents give too few pairs",
            where=f"{where}, keys 'row_limit' and 'max_words'",
            allowed="at least 3",
        )
    place = f"{where}, files.ratings: {paths['ratings']}"
    if len(ratings) != len(documents) or any(len(row) != len(documents) for _, row in ratings):
        yield DataError(
            f"the ratings are no {len(documents)} x {len(documents)} matrix", where=place,
            allowed="one line per document, one rating per document",
        )  # fmt: skip
        return
    low = 0.0 if entry.min_score is None else entry.min_score
    high = math.inf if entry.max_score is None else entry.max_score
    for i, (line, row) in enumerate(ratings):
        for j in range(i + 1, len(row)):
            if not low <= number(row[j]) <= high:
                yield DataError(
                    f"the rating {row[j]!r} is not a number from {low:g} to {high:g}",
                    where=f"{place}, line {line}, column {j + 1}",
                )


def _fasttext(entry: DatasetEntry, paths: dict[str, Path], where: str) -> Problem:
    try:
        lines = _lines(paths["all"], entry.encoding, f"{where}, files.all")
    except DataError as e:
        yield e
        return
    place = f"{where}, files.all: {paths['all']}"
    labels: set[str] = set()
    for i, line in lines:
        match = re.fullmatch(r"__label__(\S+)\s+(\S.*)", line)
        if match:
            labels.add(match[1])
        else:
            yield DataError(
                "a line has no label or no text", where=f"{place}, line {i}", allowed="__label__NAME text"
            )
    if len(labels) < 2:
        yield DataError(f"the file holds {len(labels)} classes", where=place, allowed="at least 2")
    if entry.row_limit is not None and entry.row_limit < 2 * len(labels):
        yield DataError(
            f"{entry.row_limit} rows cannot hold each of {len(labels)} classes in train and test",
            where=f"{where}, key 'row_limit'",
            allowed=f"at least {2 * len(labels)}",
        )
