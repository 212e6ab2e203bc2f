"""A dataset in another language: another one's tables with translated texts, frozen like any other."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.dataset.freeze import write_frozen
from stressbed.dataset.layout import slots
from stressbed.dataset.parts import parts_of
from stressbed.dataset.quiet import quiet
from stressbed.dataset.rewrite import rewrite
from stressbed.dataset.thaw import read_manifest, thaw
from stressbed.errors import DataError
from stressbed.rewrites import CONTENT_HASH, DROPPED
from stressbed.store import metadata_of, read_parquet

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import DatasetEntry, GeneratorEntry

log = logging.getLogger("stressbed")

NOT_TRANSLATED = "texts_not_translated"
"""Note: texts that mteb never embeds, which therefore stay in the source's language."""

SAME = "translations_like_the_original"
"""Note: embedded texts that a fallback rule, or the generator itself, left as they were."""


def freeze_translation(
    entry: DatasetEntry, *, source: Path, texts: Path, rewrites: Path, generator: GeneratorEntry, out: Path
) -> dict[str, Any]:
    """Write `out/data/**` and, last, `out/manifest.json` of a translated dataset; return the manifest.

    Rows, labels, ids, judgements and row limits are the source's. Its manifest's key `translation`
    says what was translated by whom, and how well that went.

    Args:
        entry: Catalogue entry of the translated dataset.
        source: Folder of the frozen source.
        texts: The source's `texts.parquet`. Only what mteb embeds is translated.
        rewrites: The source's texts in the other language, as the transform stage writes them.
        generator: Catalogue entry of the translator.
        out: The dataset's folder; an earlier `data` folder in it is replaced.

    Raises:
        DataError: The translations are not those of the source's texts, or rows were dropped.
        StoreError: A file of the source is damaged.
    """
    quiet()
    listed, table = read_parquet(texts).to_pandas(), read_parquet(rewrites)
    metadata = metadata_of(table.schema)
    new = table.to_pandas()
    _check(listed, new, rewrites)
    task = thaw(source)
    n_texts = sum(1 for slot in slots(task) for _ in slot.texts())
    rewrite(task, listed, dict(zip(new["text_id"].tolist(), new["text"].tolist(), strict=True)))
    base = read_manifest(source)
    language = entry.languages[entry.subsets[0]][0]
    manifest = {key: value for key, value in base.items() if key not in {"tables", "content_hash"}} | {
        "dataset": entry.id,
        "languages": {subset: [language] for subset in base["languages"]},
        "field_languages": {},
        "licence": base["licence"] if entry.licence == "unknown" else entry.licence,
        "translation": {
            **_provenance(entry, generator),
            "source_hash": base["content_hash"],
            "source_languages": base["languages"],
            "language": language,
            "rewrites_hash": metadata.get(CONTENT_HASH, ""),
            **_quality(new),
        },
    }
    parts = parts_of(task, entry.id)
    same = int((new["text"] == new["original"]).sum())
    notes = {**base["notes"], NOT_TRANSLATED: n_texts - len(listed), SAME: same}
    for what, n in notes.items():
        parts[0].note(what, n)
    if same:
        log.warning("%s: %d of %d texts are the same as before their translation", entry.id, same, len(new))
    return write_frozen(manifest, parts, out)


def _check(listed: pd.DataFrame, new: pd.DataFrame, rewrites: Path) -> None:
    wanted = dict(zip(listed["text_id"].tolist(), listed["text"].tolist(), strict=True))
    found = dict(zip(new["text_id"].tolist(), new["original"].tolist(), strict=True))
    if wanted != found:
        odd = {i for i in {*wanted, *found} if wanted.get(i) != found.get(i)}
        raise DataError(
            f"{len(odd)} texts and their translations do not belong together",
            where=f"{rewrites}, for example text_id {min(odd)}",
            do="delete this file and run again",
        )
    if n := int((new["outcome"] == DROPPED).sum()):
        raise DataError(
            f"{n} texts were dropped, but a translated dataset keeps all rows of its source",
            where=str(rewrites),
            do="use a transformation whose `on_empty`, `on_cut` and `on_too_long` are not `drop`",
        )


def _provenance(entry: DatasetEntry, generator: GeneratorEntry) -> dict[str, Any]:
    """Return what made the translation, from the catalogue."""
    rule = entry.translate_dataset
    if rule is None:
        raise ValueError(f"{entry.id} is no translated dataset")
    return {
        **rule.model_dump(mode="json"),
        "model": generator.model,
        "model_revision": generator.revision,
        "model_licence": generator.licence,
    }


def _quality(new: pd.DataFrame) -> dict[str, Any]:
    """Return how the translation went: texts by outcome and by error flag."""
    outcomes = new["outcome"].value_counts()
    flags = [str(column) for column in new.columns if new[column].dtype == bool]
    return {
        "texts": len(new),
        "fallbacks": int(outcomes.get("fallback", 0)),
        "outcomes": {str(name): int(n) for name, n in sorted(outcomes.items())},
        "flags": {name: int(new[name].sum()) for name in flags},
    }
