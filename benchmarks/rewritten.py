"""A made dataset of any task type with all of HTEB's variants, rewritten by the engine `fake`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "equality"))

from eq_chain import Chain  # noqa: E402

from stressbed.config.catalogue import Catalogue  # noqa: E402
from stressbed.config.entries import EmbedderEntry  # noqa: E402
from stressbed.generate.engines.fake import FakeEngine  # noqa: E402
from stressbed.generate.run import GenerateStats, generate  # noqa: E402
from stressbed.paths import Variant  # noqa: E402
from stressbed.transform.markers import Markers  # noqa: E402
from stressbed.transform.run import transform  # noqa: E402


@dataclass(frozen=True)
class Rewritten:
    """A dataset whose variants lie in files, and what its rewriting took.

    Attributes:
        chain: The dataset and one embedder; its variants are set.
        stats: Of the generate stage.
        tokens: Prompt and output tokens of first attempts that differ.
        tokens_naive: The same if every transformation, seed and step were asked for itself.
    """

    chain: Chain
    stats: GenerateStats
    tokens: int
    tokens_naive: int


def catalogue() -> Catalogue:
    names = ("transformations", "prompts", "generators", "markers")
    return Catalogue.read([ROOT / "config" / "catalogue" / f"{n}.yaml" for n in names])


def rewritten(
    root: Path, kind: str, data: Mapping[str, Any], entry: EmbedderEntry, seeds: Sequence[int]
) -> Rewritten:
    """Freeze data, rewrite them in all eight ways with all seeds, and return what came of it."""
    cat, chain = catalogue(), Chain(root, kind, entry, {"default": dict(data)})
    generator = cat.generators["fake"].model_copy(update={"batch_size": 10_000})
    entries = {t.id: t for t in cat.transformations.values() if t.order < 100}
    variants = [Variant("fake", t, s) for t in entries for s in seeds]
    asked = {v: root / "completions" / f"{v}.parquet" for v in variants}
    made = {v: root / "transforms" / f"{v}.parquet" for v in variants}
    stats = generate(
        dataset=chain.manifest["dataset"], manifest=chain.manifest, texts=chain.texts, generator=generator,
        generator_identity="fake", transformations=list(entries.values()), prompts=cat.prompts, seeds=seeds,
        store_root=chain.store, outputs=asked, open_engine=lambda: FakeEngine(generator),
    )  # fmt: skip
    markers = Markers.of(cat.markers.values())
    for variant in variants:
        transform(
            completions=asked[variant], texts=chain.texts, manifest=chain.manifest, variant=variant,
            entry=entries[variant.transformation], generator=generator, markers=markers, out=made[variant],
        )  # fmt: skip
    chain.variants = made
    tokens, naive = _tokens(list(asked.values()))
    return Rewritten(chain, stats, tokens, naive)


def _tokens(files: Sequence[Path]) -> tuple[int, int]:
    by_key: dict[str, int] = {}
    naive = 0
    for path in files:
        rows = pq.read_table(path, columns=["key", "attempt", "tokens_in", "tokens_out"]).to_pylist()
        for row in rows:
            if row["attempt"] == 0:
                by_key[row["key"]] = row["tokens_in"] + row["tokens_out"]
                naive += by_key[row["key"]]
    return sum(by_key.values()), naive
