"""Checks of what local tables hold, by task type, before any job."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stressbed.config.entries import DatasetEntry
from stressbed.dataset import repeats
from stressbed.dataset.content import (
    TABLES,
    Content,
    Problem,
    halved,
    label_set,
    labels,
    number,
    optional,
    optional_texts,
    ratings,
    row_languages,
    rows_where,
    same_look,
    scale,
    texts,
    undecided,
)
from stressbed.dataset.tables import Table
from stressbed.errors import suggest
from stressbed.visible import shows

log = logging.getLogger("stressbed")

SAMPLED = 8
"""Training rows of each class that mteb draws for an experiment."""

MOST_RELEVANT = 2**31
"""Judgements are whole numbers below this."""

NEIGHBOURS = 5
"""Training rows that mteb's classifier of several labels compares a text with."""


def check(entry: DatasetEntry, tables: Mapping[str, Table]) -> Problem:
    """Yield what is wrong with the tables of a local dataset, those that could be read."""
    contents = {name: Content(entry, name, table) for name, table in tables.items()}
    complete: dict[str, Content] = {}
    for name, content in contents.items():
        found = list(_columns(content, TABLES[entry.task_type][name]))
        if not content.table.rows:
            found = [content.error("the table is empty", do="add rows, or take the dataset out of the run")]
        if not found:
            complete[name] = content
            yield from row_languages(content)
            yield from undecided(content)
        yield from found
    yield from _CHECKS[entry.task_type](complete)


def warn(entry: DatasetEntry, tables: Mapping[str, Table]) -> None:
    """Say what of sound tables may mislead a reader of scores: repeated texts, classes with few rows."""
    contents = {name: Content(entry, name, table) for name, table in tables.items()}
    columns = {
        name: {c: content.values(c) for c in _known_columns(content) if content.has(c)}
        for name, content in contents.items()
    }
    for note, n in repeats.find(entry.task_type, columns).items():
        log.warning("dataset %r: %s", entry.id, repeats.WORDS[note].format(n=n))
    if entry.task_type in {"Classification", "MultilabelClassification", "Clustering"}:
        _warn_labels(entry, contents)
    if entry.task_type == "Classification":
        counts = Counter(map(str, contents["train"].values("label")))
        few = [name for name, n in counts.items() if n < SAMPLED]
        if few:
            log.warning(
                "dataset %r: %d of %d classes have fewer training rows than the %d that mteb draws of each "
                "for an experiment; %r has %d",
                entry.id, len(few), len(counts), SAMPLED, few[0], counts[few[0]],
            )  # fmt: skip


def _warn_labels(entry: DatasetEntry, contents: Mapping[str, Content]) -> None:
    """Warn of labels that differ only in case, and of labels of the test that no training row has."""
    column = "labels" if entry.task_type == "MultilabelClassification" else "label"
    names = {
        table: {
            n
            for v in content.values(column)
            for n in (label_set(v) or [] if column == "labels" else [str(v)])
        }
        for table, content in contents.items()
    }
    folded: dict[str, str] = {}
    for name in sorted(set().union(*names.values())):
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            log.warning(
                "dataset %r: labels that differ only in case are different classes: %r, %r",
                entry.id, other, name,
            )  # fmt: skip
    unknown = sorted(names["test"] - names.get("train", names["test"]))
    if unknown:
        log.warning(
            "dataset %r: %d labels of the test have no training row, so no text can be given them: %s",
            entry.id, len(unknown), ", ".join(unknown[:5]),
        )  # fmt: skip


def _known_columns(content: Content) -> tuple[str, ...]:
    kind = content.entry.task_type
    return (*TABLES[kind][content.name], *optional(kind, content.name))


def _columns(content: Content, required: Sequence[str]) -> Problem:
    wanted = (*required, *optional(content.entry.task_type, content.name))
    for column in wanted:
        own = content.own(column)
        # An optional column is only missed where the entry names it.
        if own in content.table.columns or (column not in required and own == column):
            continue
        named = f"{own!r} (for {column!r})" if own != column else repr(column)
        near = suggest(own, content.table.columns)
        yield content.error(
            f"the column {named} is missing",
            allowed=f"the columns found are {', '.join(content.table.columns) or 'none'}",
            do=near or f"name yours in the catalogue entry: `columns: {{{column}: YOUR_COLUMN}}`",
        )


def _classification(contents: Mapping[str, Content]) -> Problem:
    sound = []
    for content in contents.values():
        yield from texts(content, "text")
        found = list(labels(content, "label"))
        yield from found
        sound += [] if found else [content]
    names = {c.name: list(map(str, c.values("label"))) for c in sound}
    alike = list(same_look(sound, [list(enumerate(of)) for of in names.values()]))
    yield from alike
    if not alike and len(names) == 2:
        yield from _untrained(contents["test"], names["test"], set(names["train"]))
        yield from _binary(contents["test"], len(set(names["test"])))


def _binary(content: Content, n: int) -> Problem:
    """Yield an average precision that mteb does not give, since it is one of two classes."""
    score = content.entry.main_score
    if score in {"ap", "ap_weighted"} and n != 2:
        yield content.error(
            f"{score!r} is not defined for the {n} classes of column {content.own('label')!r}",
            allowed="two classes in the test table",
            do="choose another `main_score`, such as accuracy",
        )


def _untrained(content: Content, names: Sequence[str], trained: set[str]) -> Problem:
    for name in dict.fromkeys(n for n in names if n not in trained):
        yield content.error(
            f"the label {name!r} does not occur in table 'train'",
            rows_where(names, lambda v, name=name: v == name),  # type: ignore[misc]
            allowed=", ".join(sorted(trained)),
            do=suggest(name, trained) or "add training rows of this class",
        )


def _multilabel(contents: Mapping[str, Content]) -> Problem:
    sets: dict[str, list[list[str]]] = {}
    for name, content in contents.items():
        yield from texts(content, "text")
        found = [label_set(v) for v in content.values("labels")]
        if rows := rows_where(found, lambda v: v is None):
            yield content.error(
                "a value of the labels' column is not a list of labels",
                rows,
                allowed="a list, or names separated by `;`",
            )
        else:
            sets[name] = [s or [] for s in found]
            yield from _enough_labels(content, sets[name])
    flat = {name: [(i, label) for i, s in enumerate(of) for label in s] for name, of in sets.items()}
    alike = list(same_look([contents[name] for name in flat], list(flat.values())))
    yield from alike
    if not alike and len(flat) == 2 and all(flat.values()):
        trained, tested = ({label for _, label in flat[name]} for name in ("train", "test"))
        if min(len(trained), len(tested)) > 1 and not trained & tested:
            yield contents["test"].error(
                "no label of the test occurs in table 'train', so every score would be 0",
                allowed=", ".join(sorted(trained)),
                do="write the labels of both tables the same way, or add training rows",
            )


def _enough_labels(content: Content, sets: Sequence[Sequence[str]]) -> Problem:
    n = len({label for s in sets for label in s})
    if n < 2:
        what = "the training rows hold" if content.name == "train" else "the test rows hold"
        yield content.error(f"{what} fewer than two labels", allowed="at least 2")
    labelled = sum(bool(s) for s in sets)
    if n >= 2 and content.name == "train" and labelled < NEIGHBOURS:
        yield content.error(
            f"{labelled} training rows have a label",
            allowed=f"at least {NEIGHBOURS}: mteb compares a text with so many neighbours",
            do="add rows",
        )


def _clustering(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from texts(content, "text")
    found = list(labels(content, "label"))
    yield from found or same_look([content], [list(enumerate(map(str, content.values("label"))))])


def _sentences(content: Content) -> Problem:
    yield from texts(content, "sentence1")
    yield from texts(content, "sentence2")
    if len(content.table.rows) < 2:
        yield content.error("the table holds one pair", allowed="at least 2")


def _pairs(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from _sentences(content)
    values = [str(v) for v in content.values("label")]
    if rows := rows_where(values, lambda v: v not in {"0", "1"}):
        yield content.error(
            f"a label in column {content.own('label')!r} is {values[rows[0]]!r}",
            rows,
            allowed="1 for a pair that matches, 0 for one that does not",
        )
    else:
        yield from labels(content, "label")


def _rated(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from _sentences(content)
    yield from ratings(content, "score")
    # Two equal texts have the similarity 1, whichever they are; the order of two texts does not matter.
    pairs = {frozenset({str(a).strip(), str(b).strip()}) for a, b in _both(content)}
    if len({pair if len(pair) > 1 else frozenset() for pair in pairs}) < 2 <= len(content.table.rows):
        yield content.error(
            "all pairs have the same similarity, since their texts are equal",
            do="a correlation needs pairs that differ",
        )


def _both(content: Content) -> Iterable[tuple[Any, Any]]:
    return zip(content.values("sentence1"), content.values("sentence2"), strict=True)


def _bitext(contents: Mapping[str, Content]) -> Problem:
    yield from _sentences(contents["test"])


def _summaries(contents: Mapping[str, Content]) -> Problem:
    content = contents["test"]
    yield from texts(content, "text")
    for column in ("human_summaries", "machine_summaries"):
        if rows := rows_where(content.values(column), lambda v: not _texts_list(v)):
            yield content.error(
                f"a value of column {content.own(column)!r} is not a list of texts",
                rows,
                allowed="a list of at least one text, none of them empty (JSON lines or Parquet)",
            )
    yield from _relevance(content, content.own("relevance"))


def _relevance(content: Content, own: str) -> Problem:
    n = [len(v) if isinstance(v, list) else 0 for v in content.values("machine_summaries")]
    rated = [[number(r) for r in v] if isinstance(v, list) else [] for v in content.values("relevance")]
    if rows := [i for i, r in enumerate(rated) if len(r) != n[i] and n[i]]:
        yield content.error(f"column {own!r} needs one rating for each machine summary", rows)
    elif rows := rows_where(rated, lambda v: not all(map(math.isfinite, v))):
        yield content.error(f"a rating in column {own!r} is not a number", rows)
    elif all(len(set(r)) == 1 for r in rated):
        yield content.error(f"all ratings in column {own!r} are equal within their row")
    elif all(rated):
        worst = [max(r, key=lambda v: abs(v - _middle(content.entry))) for r in rated]
        yield from scale(content, own, worst)


def _middle(entry: DatasetEntry) -> float:
    """Return the middle of the rating scale, or 0 where it has no ends."""
    return ((entry.min_score or 0) + (entry.max_score or 0)) / 2


def _texts_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(v, str) and shows(v) and not halved(v) for v in value)
    )


def _ids(content: Content) -> Problem:
    values = content.values("id")
    if rows := rows_where(values, lambda v: not isinstance(v, str | int) or not shows(str(v)) or halved(v)):
        yield content.error("an id is missing or of a wrong type", rows, allowed="text or a whole number")
        return
    first: dict[str, int] = {}
    for i, value in enumerate(map(str, values)):
        if value in first:
            yield content.error(
                f"the id {value!r} stands twice", [first[value], i], do="give each row its own id"
            )
        first.setdefault(value, i)


def _known(content: Content, column: str, known: set[str], other: str) -> Problem:
    values = [str(v) for v in content.values(column)]
    if rows := rows_where(values, lambda v: v not in known):
        yield content.error(
            f"column {content.own(column)!r} names {values[rows[0]]!r}, which table {other!r} does not hold",
            rows,
            do=suggest(values[rows[0]], known) or f"add it to {other!r} or remove the row",
        )


def _retrieval(contents: Mapping[str, Content]) -> Problem:
    corpus, queries, qrels = (contents.get(t) for t in ("corpus", "queries", "qrels"))
    for content in (c for c in (corpus, queries) if c is not None):
        yield from _ids(content)
        yield from texts(content, "text")
    if corpus is not None:
        yield from optional_texts(corpus, "title")
    if queries is not None and queries.has("instruction"):
        yield from texts(queries, "instruction")
    for content in (contents[t] for t in ("qrels", "top_ranked") if t in contents):
        for column, other in (("query_id", queries), ("corpus_id", corpus)):
            if other is not None:
                yield from _known(content, column, set(map(str, other.values("id"))), other.name)
        if queries is not None:
            yield from _covered(content, queries)
    if qrels is not None:
        yield from _judgements(qrels)


def _judgements(qrels: Content) -> Problem:
    scores = [number(v) for v in qrels.values("score")]
    if rows := rows_where(scores, lambda v: not (0 <= v < MOST_RELEVANT and v == int(v))):
        yield qrels.error(
            f"a score in column {qrels.own('score')!r} is not a whole number of 0 or more", rows,
            allowed="0 for not relevant, 1 or more for relevant",
        )  # fmt: skip
    yield from _judged_once(qrels, scores)


def _judged_once(qrels: Content, scores: Sequence[float]) -> Problem:
    """Yield pairs that are judged twice, and differently: which judgement would count is chance."""
    first: dict[tuple[str, str], int] = {}
    pairs = zip(map(str, qrels.values("query_id")), map(str, qrels.values("corpus_id")), strict=True)
    for i, pair in enumerate(pairs):
        j = first.setdefault(pair, i)
        if scores[i] != scores[j] and math.isfinite(scores[i] - scores[j]):
            yield qrels.error(
                f"query {pair[0]!r} and document {pair[1]!r} are judged twice, and differently", [j, i],
                do="keep one of the two rows",
            )  # fmt: skip


def _covered(content: Content, queries: Content) -> Problem:
    """Yield queries without a relevant document or a candidate: they would be dropped silently."""
    given = content.values("query_id")
    if content.name == "qrels":
        given = [q for q, s in zip(given, content.values("score"), strict=True) if number(s) > 0]
    there = set(map(str, given))
    if rows := rows_where(queries.values("id"), lambda v: str(v) not in there):
        what = "relevant document" if content.name == "qrels" else "candidate"
        yield queries.error(
            f"a query has no {what} in table {content.name!r}", rows, do="add one or remove the query"
        )


def _one(check_one: Callable[[Mapping[str, Content]], Problem]) -> Callable[[Mapping[str, Content]], Problem]:
    """Return a check of types with one table, which does nothing where that lacks columns."""
    return lambda contents: check_one(contents) if contents else iter(())


_CHECKS: dict[str, Callable[[Mapping[str, Content]], Problem]] = {
    "Classification": _classification,
    "MultilabelClassification": _multilabel,
    "Clustering": _one(_clustering),
    "PairClassification": _one(_pairs),
    "STS": _one(_rated),
    "STR": _one(_rated),
    "Summarization": _one(_summaries),
    "BitextMining": _one(_bitext),
    "Retrieval": _retrieval,
    "Reranking": _retrieval,
}
