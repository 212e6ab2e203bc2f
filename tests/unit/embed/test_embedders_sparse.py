"""Sparse and random embedders against libraries that they do not use, or use differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.sparse import BM25_BUCKETS
from stressbed.embed.words import words
from stressbed.errors import EmbedError

DOCUMENTS = [
    "The cat sat on the mat, and the cat slept.",
    "Dogs and cats don't always live in peace.",
    "It rained for three days; the river rose and rose.",
    "The committee will meet again on Monday to discuss the river.",
    "A mat of reeds floated down the river.",
]
QUERIES = ["where did the cat sleep", "river river rose", "when does the committee meet"]
MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "Retrieval"}


def opened(entry: Any, texts: list[str] = DOCUMENTS) -> Any:
    return open_embedder(entry, catalogue_folder=Path(), fit_texts=lambda: texts)


def test_words_of_every_script() -> None:
    assert words("Don't STOP, 3.5 times!") == ["don't", "stop", "3.5", "times"]
    assert words("นี่คือแมว") == ["นี่", "คือ", "แมว"]
    assert words("日本語のテキスト") == ["日本語", "の", "テキスト"]
    assert words("दुनिया 😀 a𝒳b") == ["दुनिया", "a𝒳b"]
    assert words("half \ud800 pair") == ["half", "pair"]
    assert words(" ") == []


@pytest.mark.parametrize("documents", [DOCUMENTS, DOCUMENTS * 2 + ["", "cat"]])
def test_dot_products_are_the_scores_of_bm25s(entry_of, documents) -> None:
    import bm25s

    model = opened(entry_of("bm25", similarity="dot"), documents)
    ours = (
        model.encode(QUERIES, role="query", manifest=MANIFEST)
        @ model.encode(documents, role="document", manifest=MANIFEST).T
    )
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    reference.index([words(d) for d in documents], show_progress=False)
    vocabulary = set(reference.vocab_dict)
    theirs = [reference.get_scores([w for w in words(q) if w in vocabulary]) for q in QUERIES]
    np.testing.assert_allclose(ours, np.array(theirs), atol=1e-5)
    assert ours.max() > 1


def test_words_that_a_rewrite_brings_still_match_in_bm25(entry_of) -> None:
    model = opened(entry_of("bm25", similarity="dot"))
    query = model.encode(["wo schlief die Katze"], role="query", manifest=MANIFEST)
    documents = model.encode(["Die Katze schlief.", "Der Fluss stieg."], role="document", manifest=MANIFEST)
    scores = (query @ documents.T)[0]
    assert scores[0] > scores[1] == 0


def test_bm25_keeps_the_most_frequent_words_apart(entry_of) -> None:
    model = opened(entry_of("bm25", similarity="dot", dimensions=3))
    vectors = model.encode(["the river", "unheard"], role="query", manifest=MANIFEST)
    assert vectors.shape == (2, 3 + BM25_BUCKETS)
    assert vectors[0, :3].sum() == 2
    assert vectors[1, 3:].sum() == 1


def test_bm25_refuses_what_is_neither_query_nor_document(entry_of) -> None:
    with pytest.raises(EmbedError, match="not the role 'none'"):
        opened(entry_of("bm25", similarity="dot")).encode(["a"], role="none", manifest=MANIFEST)
    with pytest.raises(EmbedError, match="set `similarity: dot`"):
        opened(entry_of("bm25", similarity="cosine"))
    assert opened(entry_of("bm25")).similarity == "dot"


def test_tfidf_svd_is_that_of_scikit_learn(entry_of) -> None:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.preprocessing import normalize

    new = [*QUERIES, "nothing known"]
    ours = opened(entry_of("tfidf-svd", dimensions=3, normalise=True)).encode(
        new, role="none", manifest=MANIFEST
    )
    counts = CountVectorizer(tokenizer=words, lowercase=False, token_pattern=None).fit(DOCUMENTS)
    weights = TfidfTransformer().fit(counts.transform(DOCUMENTS))
    svd = TruncatedSVD(3, random_state=0).fit(weights.transform(counts.transform(DOCUMENTS)))
    theirs = normalize(svd.transform(weights.transform(counts.transform(new))))
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert not ours[3].any()


def test_tfidf_svd_takes_as_many_dimensions_as_there_are(entry_of) -> None:
    vectors = opened(entry_of("tfidf-svd", dimensions=128)).encode(QUERIES, role="none", manifest=MANIFEST)
    assert vectors.shape == (3, 4)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("texts", "message"), [(["one"], "at least 2 texts"), (["...", "a"], "too few different words")]
)
def test_too_little_to_fit_on_is_an_error(entry_of, texts, message) -> None:
    with pytest.raises(EmbedError, match=message):
        opened(entry_of("tfidf-svd"), texts).encode(["a"], role="none", manifest=MANIFEST)


def test_texts_without_any_word_are_an_error(entry_of) -> None:
    with pytest.raises(EmbedError, match="too few different words"):
        opened(entry_of("tfidf-svd"), ["...", "!!!"]).encode(["a"], role="none", manifest=MANIFEST)


def test_term_frequency_has_the_cosines_of_counted_words(entry_of) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    ours = opened(entry_of("tf", dimensions=100_003, normalise=True)).encode(
        DOCUMENTS, role="none", manifest=MANIFEST
    )
    counts = CountVectorizer(analyzer=words).fit_transform(DOCUMENTS)
    np.testing.assert_allclose(ours @ ours.T, cosine_similarity(counts), atol=1e-6)


def test_term_frequency_counts_the_instruction_too(entry_of) -> None:
    plain, told = (
        opened(entry_of("tf", instructions=i)).encode(["a b"], role="query", manifest=MANIFEST)
        for i in ({}, {"query": "find this: "})
    )
    assert (plain.sum(), told.sum()) == (2, 4)


def test_random_vectors_belong_to_the_string(entry_of) -> None:
    texts = [f"text {i}" for i in range(200)]
    a = opened(entry_of("random", dimensions=256, normalise=True)).encode(
        texts, role="query", manifest=MANIFEST
    )
    b = opened(entry_of("random", dimensions=256, normalise=True)).encode(
        texts[::-1], role="none", manifest=MANIFEST
    )
    assert a.tobytes() == np.ascontiguousarray(b[::-1]).tobytes()
    np.testing.assert_allclose(np.linalg.norm(a, axis=1), 1, atol=1e-6)
    cosines = (a @ a.T)[np.triu_indices(200, 1)]
    assert abs(cosines.mean()) < 0.01
    assert cosines.std() == pytest.approx(256**-0.5, rel=0.05)
