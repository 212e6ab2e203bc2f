"""What an embedder will encode: every different (role, string) of all variants of a dataset, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.record import Key
from stressbed.embed.embedders import open_embedder
from stressbed.embed.protocol import ROLES
from stressbed.embed.strings import Rewrites, fit_texts, read_rewrites, strings_of_variant
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import StressbedError
from stressbed.paths import Variant
from stressbed.plan.assumptions import Assumptions
from stressbed.plan.sample import CLOSE, OPEN, Sample
from stressbed.store import read_parquet


@dataclass
class Strings:
    """The strings of one dataset.

    Attributes:
        naive: Strings of all variants, as they would be encoded variant by variant.
        weights: How many strings each different one stands for.
        tokens: Tokens of each.
        exact: Whether they are counted: all rewritten texts are there.
    """

    naive: float = 0.0
    weights: dict[Key, float] = field(default_factory=dict)
    tokens: dict[Key, int] = field(default_factory=dict)
    exact: bool = False

    @property
    def unique(self) -> float:
        """How many strings differ."""
        return sum(self.weights.values())

    def all_tokens(self, most: int | None = None) -> float:
        """Return the tokens of all different strings, of each at most so many."""
        top = most or 10**9
        return sum(w * min(top, self.tokens[k]) for k, w in self.weights.items())


def strings_of(
    sample: Sample,
    rewrites: Mapping[Variant, Mapping[int, str]],
    given: Mapping[str, int],
    transforms: Mapping[Variant, Path],
    assumed: Assumptions,
) -> Strings:
    """Return the strings of a dataset's variants, the original included.

    Args:
        sample: The dataset's texts.
        rewrites: New texts of each variant by text id, as far as they are there; else made-up ones.
        given: Tokens of made-up texts.
        transforms: Where each variant's finished texts lie or will lie; they count more than `rewrites`.
        assumed: Characters per token.
    """
    sizes = _Sizes(sample, given, assumed)
    found = Strings()
    finished = 0
    original = Variant.parse("none/original/0")
    for variant in [original, *rewrites]:
        path = transforms.get(variant)
        if sample.how == "counted" and sample.folder and path is not None and path.is_file():
            finished += 1
            _add_finished(found, read_rewrites(path), sample, sizes)
        else:
            _add(found, rewrites.get(variant, {}), sample, sizes)
    found.exact = sample.how == "counted" and finished == len(rewrites)
    return found


def _add_finished(found: Strings, rewrites: Rewrites, sample: Sample, sizes: _Sizes) -> None:
    if not rewrites.dropped and not rewrites.absent:
        _add(found, rewrites.replacements, sample, sizes)
        return
    assert sample.folder is not None
    inputs = read_parquet(sample.folder / "inputs.parquet").to_pandas()
    listed = strings_of_variant(rewrites, sample.texts, inputs, sample.folder)
    found.naive += len(listed)
    for key in listed:
        found.weights.setdefault(key, 1.0)
        found.tokens.setdefault(key, sizes.of(key[1]))


def _add(found: Strings, replacements: Mapping[int, str], sample: Sample, sizes: _Sizes) -> None:
    text_of = {**sizes.original, **replacements}
    mine: dict[Key, float] = {}
    for template in sample.templates:
        key = (template.role, template.fill(text_of))
        if key not in mine:
            mine[key] = sizes.weight[template.text_ids[-1]] if template.text_ids else 1.0
            if key not in found.weights:
                found.weights[key] = mine[key]
                found.tokens[key] = sum(sizes.of(text_of[i]) for i in template.text_ids)
    found.naive += sum(mine.values())


class _Sizes:
    """Texts, weights and tokens of a sample."""

    def __init__(self, sample: Sample, given: Mapping[str, int], assumed: Assumptions) -> None:
        ids, texts = sample.texts["text_id"].tolist(), sample.texts["text"].tolist()
        self.original: dict[int, str] = dict(zip(ids, texts, strict=True))
        self.weight: dict[int, float] = dict(zip(ids, sample.texts["weight"].tolist(), strict=True))
        self._languages = sample.languages
        self._usual = next(iter(self._languages.values()), "eng-Latn")
        self._given, self._assumed = {**given, **sample.tokens}, assumed

    def of(self, text: str) -> int:
        """Return the tokens of a text."""
        if text in self._given:
            return self._given[text]
        return self._assumed.tokens(len(text), self._languages.get(text, self._usual))


def encoded(
    strings: Strings, sample: Sample, entry: EmbedderEntry, *, identity: str, origin: Path, store_root: Path
) -> float:
    """Return how many of a dataset's strings have a vector in an embedder's store.

    Args:
        strings: The strings.
        sample: The dataset they are from.
        entry: The embedder.
        identity: Its identity.
        origin: Folder that relative model paths start from.
        store_root: The store.
    """
    if sample.folder is None or not any((store_root / "vectors").glob(f"{identity}*/*.keys")):
        return 0.0
    texts = read_parquet(sample.folder / "texts.parquet").to_pandas()
    inputs = read_parquet(sample.folder / "inputs.parquet").to_pandas()
    try:
        embedder = open_embedder(entry, catalogue_folder=origin, fit_texts=fit_texts(texts, inputs))
        store = VectorStore(store_root, identity, embedder.fitted_on)
    except StressbedError:  # what is damaged or cannot be opened is for the job to say
        return 0.0
    if not len(store):
        return 0.0
    contexts = {role: embedder.context(role, sample.manifest) for role in ROLES}
    real = [k for k in strings.weights if not (OPEN in k[1] and CLOSE in k[1])]
    here = store.has([vector_key(contexts[role], role, string) for role, string in real])
    return sum(strings.weights[k] for k, stored in zip(real, here, strict=True) if stored)


FITTED = frozenset({"tfidf-svd", "bm25"})
"""Backends whose vectors belong to one dataset."""


def shared_strings(
    strings: Strings, sample: Sample, entry: EmbedderEntry, *, origin: Path, earlier: set[int]
) -> float:
    """Return how many of a dataset's strings an earlier dataset has too, under the same instruction.

    Args:
        strings: The strings.
        sample: The dataset they are from; only real texts are compared.
        entry: The embedder.
        origin: Folder that relative model paths start from.
        earlier: Hashes of what earlier datasets have; this dataset's are added.
    """
    if sample.how != "counted" or entry.backend in FITTED:
        return 0.0
    try:
        embedder = open_embedder(entry, catalogue_folder=origin, fit_texts=list)
        contexts = {role: embedder.context(role, sample.manifest) for role in ROLES}
    except StressbedError:
        return 0.0
    mine = {hash((contexts[role], role, string)) for role, string in strings.weights}
    shared = len(mine & earlier)
    earlier |= mine
    return float(shared)
