"""Sparse baselines: term frequency, TF-IDF with truncated SVD, BM25.

Words are those of `stressbed.embed.words`, so every script works. TF needs no fitting. TF-IDF and BM25
learn their vocabulary and document frequencies from a dataset's original texts, and keep them for all
variants: the numbers say what a rewrite does to a fixed index.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import FitTexts, Manifest
from stressbed.embed.vectors import Floats
from stressbed.embed.words import words
from stressbed.errors import EmbedError
from stressbed.fingerprint import text_digest

TF_DIMENSIONS = 2048
SVD_DIMENSIONS = 256
BM25_COLUMNS = 16384
BM25_BUCKETS = 1024
K1, B = 1.5, 0.75


def open_sparse(entry: EmbedderEntry, fit_texts: FitTexts) -> TermFrequency | TfidfSvd | Bm25:
    """Return the sparse embedder of an entry; nothing is fitted yet."""
    if entry.backend == "tf":
        return TermFrequency(entry)
    return TfidfSvd(entry, fit_texts) if entry.backend == "tfidf-svd" else Bm25(entry, fit_texts)


def bucket(word: str, size: int) -> int:
    """Return the bucket of a word among `size`: the same on every machine and in every process."""
    return zlib.crc32(word.encode("utf-8", "replace")) % size


class TermFrequency(EntryEmbedder):
    """Counts of words in hashed columns (2,048 unless the entry says otherwise)."""

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the counts of each string's words, shape (n, d)."""
        size = self.entry.dimensions or TF_DIMENSIONS
        instruction = self.context(role, manifest)
        out = np.zeros((len(strings), size), dtype=np.float32)
        for row, string in zip(out, strings, strict=True):
            for word, count in Counter(words(instruction + string)).items():
                row[bucket(word, size)] += count
        return self.finish(out)


class _Fitted(EntryEmbedder):
    """An embedder that learns from a dataset's original texts, at the first `encode`."""

    def __init__(self, entry: EmbedderEntry, fit_texts: FitTexts) -> None:
        super().__init__(entry)
        self._fit_texts = fit_texts

    @cached_property
    def _texts(self) -> Sequence[str]:
        texts = self._fit_texts()
        if len(texts) < 2:
            raise EmbedError(
                f"{self.entry.backend} needs at least 2 texts to be fitted on, got {len(texts)}",
                where=f"embedder {self.entry.id!r}",
                do="choose a larger dataset or another embedder",
            )
        return texts

    @cached_property
    def fitted_on(self) -> str:
        """Hash of the texts, in order."""
        return text_digest(*self._texts)


class TfidfSvd(_Fitted):
    """TF-IDF reduced by truncated SVD (256 numbers, or as many as the texts allow)."""

    @cached_property
    def _model(self) -> Any:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        vectoriser = TfidfVectorizer(analyzer=words)
        # scikit-learn has an error of its own for texts without any word, one that names no remedy.
        weights = vectoriser.fit_transform(self._texts) if any(map(words, self._texts)) else None
        size = min(
            self.entry.dimensions or SVD_DIMENSIONS, min(weights.shape) - 1 if weights is not None else 0
        )
        if weights is None or size < 1:
            raise EmbedError(
                "the texts hold too few different words for TF-IDF with SVD",
                where=f"embedder {self.entry.id!r}",
                do="choose a larger dataset or another embedder",
            )
        svd = TruncatedSVD(n_components=size, random_state=0).fit(weights)
        return make_pipeline(vectoriser, svd)

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the reduced TF-IDF vectors of the strings, shape (n, d)."""
        instruction = self.context(role, manifest)
        vectors = self._model.transform([instruction + s for s in strings])
        return self.finish(np.asarray(vectors, dtype=np.float32))


@dataclass(frozen=True)
class _Corpus:
    """What BM25 knows of the original documents: columns, idf by word, idf of other words, mean length."""

    columns: dict[str, int]
    idf: dict[str, float]
    unknown: float
    mean: float


class Bm25(_Fitted):
    """BM25 (Robertson's weights, Lucene's idf, k1 1.5, b 0.75) as a dot product.

    A query's vector holds the counts of its words, a document's the BM25 weights of its words, so that
    their dot product is the BM25 score. Words of the original corpus have a column each, the most
    frequent first, up to 16,384 (or the entry's `dimensions`); all others, such as those that a
    translation brings, share 1,024 hashed columns with the idf of a word that no document holds.
    """

    @cached_property
    def _corpus(self) -> _Corpus:
        documents = [words(t) for t in self._texts]
        frequency = Counter(w for d in documents for w in set(d))
        ranked = sorted(frequency, key=lambda w: (-frequency[w], w))[: self.entry.dimensions or BM25_COLUMNS]
        n = len(documents)
        return _Corpus(
            columns={w: i for i, w in enumerate(ranked)},
            idf={w: math.log1p((n - df + 0.5) / (df + 0.5)) for w, df in frequency.items()},
            unknown=math.log1p((n + 0.5) / 0.5),
            mean=sum(map(len, documents)) / n or 1.0,
        )

    def _own_similarity(self) -> str:
        return "dot"

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return count vectors of queries or weight vectors of documents, shape (n, d).

        Raises:
            EmbedError: The strings are neither queries nor documents.
        """
        if role not in {"query", "document"}:
            raise EmbedError(
                f"BM25 knows queries and documents, not the role {role!r}",
                where=f"embedder {self.entry.id!r}, dataset {manifest.get('dataset', '?')!r}",
                do="use BM25 for Retrieval and Reranking only",
            )
        columns = self._corpus.columns
        out = np.zeros((len(strings), len(columns) + BM25_BUCKETS), dtype=np.float32)
        instruction = self.context(role, manifest)
        for row, string in zip(out, strings, strict=True):
            found = words(instruction + string)
            for word, value in self._weigh(found, role):
                row[columns.get(word, len(columns) + bucket(word, BM25_BUCKETS))] += value
        return out

    def _weigh(self, found: list[str], role: str) -> Iterator[tuple[str, float]]:
        """Yield each word with its count (query) or its BM25 weight (document)."""
        corpus = self._corpus
        for word, count in Counter(found).items():
            if role == "query":
                yield word, float(count)
            else:
                idf = corpus.idf.get(word, corpus.unknown)
                yield word, idf * count / (count + K1 * (1 - B + B * len(found) / corpus.mean))
