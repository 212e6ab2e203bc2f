"""Row limits: a smaller dataset of the same shape, the same rows on every machine.

- classification, pair classification, flat clustering: rows drawn so that classes keep their
  shares and none vanishes; nested clustering: so many members of each set, and so many sets;
- STS, STR, summarisation, bitext mining, multilabel: rows drawn at random;
- retrieval: queries drawn at random, with their judgements; the whole corpus stays, since fewer
  documents would make the task easier; reranking: likewise, and only the documents that the kept
  queries' candidates or judgements name.
A sample of a corpus: of the documents that no kept query judges or reranks so many are drawn.
Kept rows stay in their order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stressbed.dataset.layout import columns_of, is_retrieval, label_of
from stressbed.dataset.parts import Part
from stressbed.errors import DataError
from stressbed.fingerprint import text_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = "42"


def generator(*place: str) -> np.random.Generator:
    """Return the random generator of a table, derived from the place alone."""
    return np.random.default_rng(int(text_digest(SEED, "row_limit", *place), 16))


def draw(n: int, limit: int, rng: np.random.Generator) -> list[int]:
    """Return `limit` of the numbers 0..n-1 in ascending order (all, if there are no more)."""
    if n <= limit:
        return list(range(n))
    return sorted(int(i) for i in rng.choice(n, size=limit, replace=False))


def draw_stratified(labels: list[Any], limit: int, rng: np.random.Generator) -> list[int]:
    """Return `limit` row numbers, ascending, in which each class keeps its share and at least one row.

    Shares are rounded by largest remainders; ties go to the class that comes first in `labels`.

    Raises:
        ValueError: There are more classes than rows to keep.
    """
    if len(labels) <= limit:
        return list(range(len(labels)))
    rows: dict[Any, list[int]] = defaultdict(list)
    for i, label in enumerate(labels):
        rows[label].append(i)
    if len(rows) > limit:
        raise ValueError(f"{len(rows)} classes do not fit into {limit} rows")
    sizes = _shares(Counter(labels), limit)
    kept: list[int] = []
    for label, members in rows.items():
        chosen: NDArray[np.int64] = rng.choice(len(members), size=sizes[label], replace=False)
        kept += [members[int(i)] for i in chosen]
    return sorted(kept)


def _shares(counts: Counter[Any], limit: int) -> dict[Any, int]:
    """Return how many rows each class keeps: one each, the rest by largest remainders."""
    total = sum(counts.values())
    ideal = {c: n * limit / total for c, n in counts.items()}
    sizes = {c: max(1, int(ideal[c])) for c in counts}
    while sum(sizes.values()) < limit:
        open_classes = [c for c in counts if sizes[c] < counts[c]]
        sizes[max(open_classes, key=lambda c: ideal[c] - sizes[c])] += 1
    while sum(sizes.values()) > limit:
        sizes[max((c for c in counts if sizes[c] > 1), key=lambda c: sizes[c] - ideal[c])] -= 1
    return sizes


def limit_rows(task: Any, parts: list[Part], limit: int, dataset: str) -> list[Part]:
    """Return the parts with at most `limit` rows in each table (queries for retrieval types).

    Raises:
        DataError: A table has more classes than rows may be kept, or its format cannot be cut.
    """
    return [_limit_part(task, part, limit, dataset) for part in parts]


def _limit_part(task: Any, part: Part, limit: int, dataset: str) -> Part:
    from mteb import abstasks as a

    rng = generator(part.subset, part.split)
    if is_retrieval(task):
        return _limit_queries(
            part, limit, rng, whole=task.metadata.type != "Reranking" or "top_ranked" not in part.tables
        )
    table = part.tables["rows"]
    if isinstance(table, dict):
        raise DataError(
            "a row limit cannot be applied to this older bitext format",
            where=part.where(dataset, "rows"),
            do="remove row_limit or use the task's newer version",
        )
    if isinstance(task, a.AbsTaskClusteringLegacy):
        return Part(part.subset, part.split, {"rows": _limit_sets(task, table, limit, rng)}, part.notes)
    label = label_of(task)
    try:
        if label is None or isinstance(task, a.AbsTaskMultilabelClassification):
            kept = draw(len(table), limit, rng)
        else:
            labels = [v[0] if isinstance(v, list) else v for v in table[label][:]]
            kept = draw_stratified(labels, limit, rng)
    except ValueError as e:
        raise DataError(f"row_limit is too small: {e}", where=part.where(dataset, "rows")) from None
    return Part(part.subset, part.split, {"rows": table.select(kept)}, part.notes)


def _limit_sets(task: Any, table: Any, limit: int, rng: np.random.Generator) -> Any:
    """Return at most `limit` sets with at most `limit` members each, classes in their shares."""
    column, label = columns_of(task)[0], str(label_of(task))

    def cut(row: dict[str, Any]) -> dict[str, Any]:
        """Return a set with the members that are kept."""
        labels = row[label]
        few = len(set(labels)) > limit
        kept = draw(len(labels), limit, rng) if few else draw_stratified(labels, limit, rng)
        return {column: [row[column][i] for i in kept], label: [labels[i] for i in kept]}

    return table.select(draw(len(table), limit, rng)).map(
        cut, features=table.features, load_from_cache_file=False
    )


def _limit_queries(part: Part, limit: int, rng: np.random.Generator, *, whole: bool) -> Part:
    tables = dict(part.tables)
    qrels = tables["qrels"]
    judged = set(qrels["query-id"][:])
    ids = [q for q in tables["queries"]["id"][:] if q in judged]
    kept = {ids[i] for i in draw(len(ids), limit, rng)}
    for name, column in (("queries", "id"), ("qrels", "query-id"), ("top_ranked", "query-id")):
        if name in tables:
            rows = [i for i, q in enumerate(tables[name][column][:]) if q in kept]
            tables[name] = tables[name].select(rows)
    if not whole:
        needed = _needed(tables)
        corpus = tables["corpus"]
        tables["corpus"] = corpus.select([i for i, d in enumerate(corpus["id"][:]) if d in needed])
    return Part(part.subset, part.split, tables, part.notes)


def sample_corpus(part: Part, size: int) -> Part:
    """Return a part of a retrieval task with so many of the documents that no query judges or reranks.

    Documents that are judged or reranked all stay, so that a query's answers can be found; how many were
    left out is noted as `documents_left_out`.

    Args:
        part: Corpus, queries, qrels and perhaps candidates.
        size: Documents to draw of the others.
    """
    tables = dict(part.tables)
    needed, corpus = _needed(tables), tables["corpus"]
    ids = corpus["id"][:]
    others = [i for i, d in enumerate(ids) if d not in needed]
    rng = np.random.default_rng(int(text_digest(SEED, "corpus_sample", part.subset, part.split), 16))
    drawn = {others[i] for i in draw(len(others), size, rng)}
    tables["corpus"] = corpus.select([i for i, d in enumerate(ids) if d in needed or i in drawn])
    sampled = Part(part.subset, part.split, tables, dict(part.notes))
    sampled.note("documents_left_out", len(others) - len(drawn))
    return sampled


def _needed(tables: Mapping[str, Any]) -> set[str]:
    """Return the documents that judgements or candidates name."""
    needed = set(tables["qrels"]["corpus-id"][:])
    for candidates in tables["top_ranked"]["corpus-ids"][:] if "top_ranked" in tables else []:
        needed |= set(candidates)
    return needed
