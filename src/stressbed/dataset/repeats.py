"""Texts that stand more than once in a dataset, with different answers: no model can be right about all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

WORDS: dict[str, str] = {
    "documents_like_a_judged_one": (
        "{n} documents have the same text as a judged one and are not judged; where they tie, the ids decide"
    ),
    "equal_queries": "{n} queries have the same text as another one with other relevant documents",
    "equal_pairs": "{n} pairs have the same two texts as another pair with another rating or label",
    "equal_texts": "{n} texts have the same words as another one with another label",
    "equal_sentences": "{n} sentences have the same text as another one with another translation",
}
"""What a note of the manifest means, with its number."""

Columns = Mapping[str, Sequence[Any]]


def find(task_type: str, tables: Mapping[str, Columns]) -> dict[str, int]:
    """Return how many texts repeat another one's with a different answer, by note; nothing where none does.

    Args:
        task_type: Task type.
        tables: Columns by table, both by our standard names. Texts are equal if they are so without the
            blanks around them.
    """
    found = _FINDERS.get(task_type, _nothing)(tables)
    return {note: n for note, n in found.items() if n}


def _nothing(_: Mapping[str, Columns]) -> dict[str, int]:
    return {}


def differing(keys: Iterable[Hashable], answers: Iterable[Hashable]) -> int:
    """Return how many rows share their key with a row of another answer."""
    of_key: dict[Hashable, list[Hashable]] = defaultdict(list)
    for key, answer in zip(keys, answers, strict=True):
        of_key[key].append(answer)
    return sum(len(all_) for all_ in of_key.values() if len(set(all_)) > 1)


def _plain(values: Iterable[Any]) -> list[str]:
    return [str(v).strip() for v in values]


def _answer(value: Any) -> Hashable:
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _labelled(column: str) -> Callable[[Mapping[str, Columns]], dict[str, int]]:
    def finder(tables: Mapping[str, Columns]) -> dict[str, int]:
        """Count over all tables together: a text may have one label in training and another in the test."""
        texts = [t for table in tables.values() for t in _plain(table["text"])]
        answers = [_answer(v) for table in tables.values() for v in table[column]]
        return {"equal_texts": differing(texts, answers)}

    return finder


def _pairs(column: str) -> Callable[[Mapping[str, Columns]], dict[str, int]]:
    def finder(tables: Mapping[str, Columns]) -> dict[str, int]:
        """Count pairs, in whichever order their texts stand: the similarity is the same."""
        table = tables["test"]
        pairs = zip(_plain(table["sentence1"]), _plain(table["sentence2"]), strict=True)
        return {"equal_pairs": differing((tuple(sorted(p)) for p in pairs), map(_rating, table[column]))}

    return finder


def _rating(value: Any) -> Hashable:
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _bitext(tables: Mapping[str, Columns]) -> dict[str, int]:
    first, second = (_plain(tables["test"][c]) for c in ("sentence1", "sentence2"))
    return {"equal_sentences": differing(first, second) + differing(second, first)}


def _retrieval(tables: Mapping[str, Columns]) -> dict[str, int]:
    qrels = tables["qrels"]
    relevant: dict[str, set[str]] = defaultdict(set)
    judged: dict[str, set[str]] = defaultdict(set)
    for query, document, score in zip(qrels["query_id"], qrels["corpus_id"], qrels["score"], strict=True):
        judged[str(query)].add(str(document))
        if float(score) > 0:
            relevant[str(query)].add(str(document))
    return {
        "documents_like_a_judged_one": len(_unjudged(tables["corpus"], relevant, judged)),
        "equal_queries": _queries(tables["queries"], relevant),
    }


def _unjudged(corpus: Columns, relevant: Mapping[str, set[str]], judged: Mapping[str, set[str]]) -> set[str]:
    """Return documents with the text of one that is relevant to a query for which they are not judged."""
    ids = list(map(str, corpus["id"]))
    titles = corpus.get("title") or [""] * len(ids)
    texts = _plain(f"{title or ''} {text}" for title, text in zip(titles, corpus["text"], strict=True))
    text_of = dict(zip(ids, texts, strict=True))
    same: dict[str, list[str]] = defaultdict(list)
    for name, text in text_of.items():
        same[text].append(name)
    return {
        name
        for query, documents in relevant.items()
        for document in documents & text_of.keys()
        for name in same[text_of[document]]
        if name not in judged[query]
    }


def _queries(queries: Columns, relevant: Mapping[str, set[str]]) -> int:
    texts = zip(_plain(queries["text"]), _plain(queries.get("instruction") or queries["text"]), strict=True)
    return differing(texts, (frozenset(relevant.get(str(i), ())) for i in queries["id"]))


_FINDERS: dict[str, Callable[[Mapping[str, Columns]], dict[str, int]]] = {
    "Classification": _labelled("label"),
    "MultilabelClassification": _labelled("labels"),
    "Clustering": _labelled("label"),
    "PairClassification": _pairs("label"),
    "STS": _pairs("score"),
    "STR": _pairs("score"),
    "BitextMining": _bitext,
    "Retrieval": _retrieval,
    "Reranking": _retrieval,
}
