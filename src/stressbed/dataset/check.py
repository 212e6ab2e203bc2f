"""Checks of a dataset's contents while it is frozen, before any model is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stressbed.dataset import repeats
from stressbed.dataset.layout import columns_of, is_parallel, is_retrieval, label_of
from stressbed.dataset.parts import Part
from stressbed.errors import DataError
from stressbed.visible import shows


def check(task: Any, parts: list[Part], dataset: str, *, local: bool) -> None:
    """Check all tables; what may stay is counted in each part's notes.

    In data of mteb, empty texts and queries without relevance judgements are counted and left:
    they are the benchmark's. In a user's own files they are errors.

    Raises:
        DataError: A table is empty, a text is missing (None), an id is there twice, a judgement
            names an unknown document or query, or there is one class only.
    """
    for part in parts:
        for name, table in part.tables.items():
            size = len(next(iter(table.values()))) if isinstance(table, dict) else len(table)
            if not size:
                raise DataError("the table is empty", where=part.where(dataset, name))
        if is_retrieval(task):
            if task.metadata.type == "Reranking" and "top_ranked" not in part.tables:
                raise DataError(
                    "a reranking task came without candidates",
                    where=part.where(dataset, "top_ranked"),
                    do="freeze it with a network: from a cache alone, parts of a task can be missing",
                )
            _check_retrieval(part, dataset, local=local)
        else:
            _check_columns(task, part, dataset)
            for column in columns_of(task):
                _check_texts(part, "rows", column, dataset, local=local)
            _check_labels(task, part, dataset)
    _count_untrained(task, parts)


def _check_columns(task: Any, part: Part, dataset: str) -> None:
    table = part.tables["rows"]
    present = list(table) if isinstance(table, dict) else table.column_names
    needed = [*columns_of(task), *([label] if (label := label_of(task)) else [])]
    if missing := [c for c in needed if c not in present]:
        raise DataError(
            f"the columns {missing} are missing",
            where=part.where(dataset, "rows"),
            allowed=", ".join(present),
        )


def _texts(value: Any) -> Iterator[str | None]:
    if isinstance(value, list):
        for item in value:
            yield item["content"] if isinstance(item, dict) else item
    else:
        yield value


def _check_texts(part: Part, name: str, column: str, dataset: str, *, local: bool) -> None:
    empty = 0
    for row, value in enumerate(part.tables[name][column][:]):
        for text in _texts(value):
            if not isinstance(text, str):
                raise DataError(
                    f"a text is missing: column {column!r} holds {text!r}",
                    where=part.where(dataset, name, row),
                    do="remove the row or fill in its text",
                )
            if not shows(text):
                empty += 1
                if local:
                    raise DataError(
                        f"a text is empty (column {column!r})",
                        where=part.where(dataset, name, row),
                        do="remove the row or fill in its text",
                    )
    part.note("empty_texts", empty)


def _check_labels(task: Any, part: Part, dataset: str) -> None:
    from mteb import abstasks as a

    table, label = part.tables["rows"], label_of(task)
    if isinstance(task, a.AbsTaskSTS):
        _check_scores(part, "score", dataset)
    if isinstance(task, a.AbsTaskSummarization):
        _check_summaries(task, part, dataset)
    if label is None or isinstance(task, a.AbsTaskClusteringLegacy):
        return
    values = table[label][:]
    for row, value in enumerate(values):
        if value is None:
            raise DataError(f"a label is missing (column {label!r})", where=part.where(dataset, "rows", row))
        if isinstance(task, a.AbsTaskPairClassification) and value not in (0, 1):
            raise DataError(
                f"a label is {value!r} (column {label!r})",
                where=part.where(dataset, "rows", row),
                allowed="0, 1",
            )
    classes = {v for value in values for v in (value if isinstance(value, list) else [value])}
    if len(classes) < 2:
        raise DataError(
            f"there is one class only: {next(iter(classes), None)!r}",
            where=part.where(dataset, "rows"),
            allowed=f"at least two different values in column {label!r}",
        )


def _check_scores(part: Part, column: str, dataset: str) -> None:
    values = part.tables["rows"][column][:]
    for row, value in enumerate(values):
        if value is None or value != value:  # noqa: PLR0124  # NaN differs from itself
            raise DataError(
                f"a rating is missing (column {column!r})", where=part.where(dataset, "rows", row)
            )
    if len(set(values)) < 2:
        raise DataError(
            "all ratings are equal, so that no correlation exists", where=part.where(dataset, "rows")
        )


def _check_summaries(task: Any, part: Part, dataset: str) -> None:
    table = part.tables["rows"]
    machine, ratings = task.machine_summaries_column_name, task.relevancy_column_name
    for row, (summaries, scores) in enumerate(zip(table[machine][:], table[ratings][:], strict=True)):
        if len(summaries) != len(scores):
            raise DataError(
                f"{len(summaries)} summaries but {len(scores)} ratings",
                where=part.where(dataset, "rows", row),
                allowed="one rating for each machine summary",
            )


def _count_untrained(task: Any, parts: list[Part]) -> None:
    """Count classes of a test table that do not occur in training: no classifier can name them."""
    from mteb.abstasks import AbsTaskClassification

    if not isinstance(task, AbsTaskClassification):
        return
    train = {p.subset: p for p in parts if p.split == task.train_split}
    for part in parts:
        part.note(
            "classes_without_training_rows", len(_classes(task, part) - _classes(task, train[part.subset]))
        )


def count_repeats(task: Any, parts: list[Part], task_type: str) -> None:
    """Count texts that stand more than once with different answers, in each part's notes."""
    train = {p.subset: p for p in parts if p.split == getattr(task, "train_split", None)}
    for part in parts:
        names, of_train = _names(task), train.get(part.subset)
        alone = not any(p.subset == part.subset and p is not part for p in parts)
        if not names or (of_train is part and not alone):
            continue
        tables = {"test": part} if of_train in (None, part) else {"test": part, "train": of_train}
        columns = (
            _retrieval_columns(part)
            if is_retrieval(task)
            else {n: {ours: p.tables["rows"][c][:] for c, ours in names.items()} for n, p in tables.items()}
        )
        for note, n in repeats.find(task_type, columns).items():
            part.note(note, n)


def _names(task: Any) -> dict[str, str]:
    """Return the standard name of each column with texts or answers; nothing where rows are no items."""
    from mteb import abstasks as a

    if is_retrieval(task):
        return {"id": "id"}
    if is_parallel(task) or isinstance(task, a.AbsTaskClusteringLegacy | a.AbsTaskSummarization):
        return {}
    columns, label = columns_of(task), label_of(task)
    if isinstance(task, a.AbsTaskMultilabelClassification):
        return {columns[0]: "text", str(label): "labels"}
    if len(columns) == 1:
        return {columns[0]: "text", str(label): "label"}
    answer = {str(label): "label"} if label else {"score": "score"}
    pair = {columns[0]: "sentence1", columns[1]: "sentence2"}
    return pair if isinstance(task, a.AbsTaskBitextMining) else {**pair, **answer}


def _retrieval_columns(part: Part) -> dict[str, dict[str, Any]]:
    own = {"query-id": "query_id", "corpus-id": "corpus_id"}
    return {
        name: {own.get(c, c): table[c][:] for c in table.column_names}
        for name, table in part.tables.items()
        if name in {"corpus", "queries", "qrels"}
    }


def _classes(task: Any, part: Part) -> set[Any]:
    values = part.tables["rows"][task.label_column_name][:]
    return {v for value in values for v in (value if isinstance(value, list) else [value])}


def _check_retrieval(part: Part, dataset: str, *, local: bool) -> None:
    for name, columns in (("corpus", ("text",)), ("queries", ("text",))):
        table = part.tables[name]
        for column in ("id", *columns):
            if column not in table.column_names:
                raise DataError(
                    f"the column {column!r} is missing",
                    where=part.where(dataset, name),
                    allowed=", ".join(table.column_names),
                )
        _check_ids(part, name, dataset)
        _check_texts(part, name, "text", dataset, local=local)
    queries, documents = (set(part.tables[n]["id"][:]) for n in ("queries", "corpus"))
    qrels = part.tables["qrels"]
    for row, (query, document) in enumerate(zip(qrels["query-id"][:], qrels["corpus-id"][:], strict=True)):
        for kind, name, known in (("query", query, queries), ("document", document, documents)):
            if name not in known:
                part.note(f"qrels_of_unknown_{kind}", 1)
                if local:
                    raise DataError(
                        f"a judgement names the unknown {kind} {name!r}",
                        where=part.where(dataset, "qrels", row),
                    )
    _check_judged(part, dataset, local=local)
    _check_candidates(part, dataset, documents)


def _check_ids(part: Part, name: str, dataset: str) -> None:
    seen: set[Any] = set()
    for row, value in enumerate(part.tables[name]["id"][:]):
        if value in seen:
            raise DataError(
                f"the id {value!r} is there twice",
                where=part.where(dataset, name, row),
                do="give every document and every query an id of its own",
            )
        seen.add(value)


def _check_judged(part: Part, dataset: str, *, local: bool) -> None:
    judged = set(part.tables["qrels"]["query-id"][:])
    without = [q for q in part.tables["queries"]["id"][:] if q not in judged]
    if without and (local or len(without) == len(part.tables["queries"])):
        raise DataError(
            f"{len(without)} queries have no relevance judgement, for example {without[0]!r}",
            where=part.where(dataset, "qrels"),
            do="add judgements or remove these queries",
        )
    part.note("queries_without_qrels", len(without))


def _check_candidates(part: Part, dataset: str, documents: set[Any]) -> None:
    if "top_ranked" not in part.tables:
        return
    table = part.tables["top_ranked"]
    for row, (query, ids) in enumerate(zip(table["query-id"][:], table["corpus-ids"][:], strict=True)):
        if unknown := [d for d in ids if d not in documents]:
            raise DataError(
                f"the candidates of query {query!r} name the unknown document {unknown[0]!r}",
                where=part.where(dataset, "top_ranked", row),
            )
        if not ids:
            raise DataError(
                f"query {query!r} has no candidates", where=part.where(dataset, "top_ranked", row)
            )
