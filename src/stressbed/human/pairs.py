"""Which pairs of an STS dataset people rate, once as they are and once rewritten."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed.config.entries import TransformationEntry
from stressbed.config.model import HumanStudy, LabelPreservation
from stressbed.dataset.thaw import read_manifest, read_table
from stressbed.errors import DataError
from stressbed.human.sample import groups_of, in_drawn_order, item_id, names, read_rewrites

log = logging.getLogger("stressbed")

FIELDS = ("sentence1", "sentence2")
PAIR_COLUMNS = [
    "item_id",
    "kind",
    "group",
    "transformation",
    "dataset",
    "subset",
    "split",
    "row",
    "source_language",
    "target_language",
    "pair_id",
    "form",
    "text1",
    "text2",
    "gold",
]
"""Columns of the drawn pairs; `gold` is on the scale 0 to 5, `form` is `original` or `rewritten`."""

_PAIR = ["transformation", "dataset", "subset", "split", "row", "source_language"]


def draw_pairs(
    transforms: Sequence[Path],
    *,
    study: HumanStudy,
    transformations: Mapping[str, TransformationEntry],
    dataset_folder: Path,
    further: Sequence[Path] = (),
) -> pd.DataFrame:
    """Return two items per drawn pair and transformation, the original and the rewritten one.

    The same pairs are drawn for all transformations as far as both sentences have a rewrite, in the same
    language. Where a language is drawn, a seed may have one for all pairs; so further seeds count too, and
    each pair is taken in the language that has fewest so far.

    Args:
        transforms: Files of rewrites; those of other datasets and transformations are passed over.
        further: The same under further seeds, for transformations that draw a language.
        study: With `label_preservation`.
        transformations: Catalogue entries by id.
        dataset_folder: The frozen dataset, for the gold scores.

    Raises:
        DataError: The dataset is no STS dataset, or its rewrites are not there.
    """
    kept = study.label_preservation
    if kept is None:
        return pd.DataFrame(columns=PAIR_COLUMNS)
    wanted = [p for p in transforms if names(p)[0] == kept.dataset and names(p)[1] in kept.transformations]
    missing = sorted(set(kept.transformations) - {names(p)[1] for p in wanted})
    if missing:
        raise DataError(
            f"there are no rewrites by {', '.join(missing)}",
            where=f"human.label_preservation, dataset {kept.dataset!r}",
            do="name the transformations in the run too",
        )
    matched = _matched(_rewrites([wanted, *_by_seed(further, kept)], study), _gold(dataset_folder))
    groups = {t: t for members in groups_of(kept.transformations, transformations).values() for t in members}
    drawn = []
    for transformation, group in groups.items():
        part = matched[matched["transformation"] == transformation]
        part = in_drawn_order(part, ("dataset", "subset", "split", "row"), "pairs", study.seed)
        part = _spread(part, kept.pairs).assign(group=group)
        if len(part) < kept.pairs:
            log.warning("%s: %d pairs to rate instead of %d: there are no more", group, len(part), kept.pairs)
        drawn.append(part)
    return _two_forms(pd.concat(drawn))


def _by_seed(files: Sequence[Path], kept: LabelPreservation) -> list[list[Path]]:
    """Return the files of a study's pairs, those of one seed together."""
    found: dict[str, list[Path]] = {}
    for path in files:
        dataset, transformation = names(path)
        if dataset == kept.dataset and transformation in kept.transformations:
            found.setdefault(Path(path).stem, []).append(path)
    return list(found.values())


def _rewrites(seeds: Sequence[Sequence[Path]], study: HumanStudy) -> pd.DataFrame:
    """Return the rewrites of all seeds, with the seed's place in `draw`."""
    parts = [read_rewrites(files, study=study).assign(draw=i) for i, files in enumerate(seeds)]
    return pd.concat(parts, ignore_index=True)


def _spread(pairs: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first n pairs in drawn order, each in the target language that has fewest so far."""
    used: Counter[str] = Counter()
    chosen: list[int] = []
    for _, options in pairs.groupby("rank", sort=True):
        if len(chosen) == n:
            break
        # Of languages with as few, the one of the first seed comes first.
        languages = options["target_language_1"].tolist()
        _, best = min((used[language], i) for i, language in enumerate(languages))
        used[languages[best]] += 1
        chosen.append(options.index.tolist()[best])
    found: pd.DataFrame = pairs.loc[chosen]
    return found


def _matched(frame: pd.DataFrame, gold: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    """Return the pairs of which both sentences have a rewrite, in one language."""
    first, second = (frame[frame["field"] == f] for f in FIELDS)
    pairs = first.merge(second, on=[*_PAIR, "draw"], suffixes=("_1", "_2"))
    pairs = pairs[pairs["target_language_1"] == pairs["target_language_2"]]
    keys = list(zip(pairs["dataset"], pairs["subset"], pairs["split"], pairs["row"], strict=True))
    found = [gold.get((s, p, r)) for _, s, p, r in keys]
    if any(g is None for g in found):
        raise DataError(
            "a rewritten pair has no gold score",
            where="human.label_preservation",
            do="run the dataset stage anew: the rewrites are of another state of the dataset",
        )
    pairs = pairs.assign(gold=pd.Series(found, index=pairs.index, dtype="float64"))
    # Equal texts are rated once: in the first of their rows, and there once in each language.
    texts = ["transformation", "original_1", "original_2"]
    once = pairs.drop_duplicates(texts)[_PAIR]
    return pairs.merge(once, on=_PAIR).drop_duplicates([*texts, "target_language_1"])


def _gold(folder: Path) -> dict[tuple[str, str, str], float]:
    """Return the gold score of each (subset, split, row), on 0 to 5."""
    manifest: dict[str, Any] = read_manifest(folder)
    low, high = manifest["min_score"], manifest["max_score"]
    if manifest["task_type"] not in ("STS", "STR") or low is None or high is None:
        raise DataError(
            f"the dataset is {manifest['task_type']}, rated from {low} to {high}",
            where=f"human.label_preservation.dataset: {manifest['dataset']}",
            allowed="an STS dataset with min_score and max_score",
        )
    found: dict[tuple[str, str, str], float] = {}
    for entry in manifest["tables"]:
        if entry["table"] == "rows":
            scores = read_table(folder / entry["path"])["score"][:]
            for row, score in enumerate(scores):
                found[entry["subset"], entry["split"], str(row)] = (float(score) - low) / (high - low) * 5
    return found


def _two_forms(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each pair twice: as it is, and rewritten."""
    rows = []
    for pair in pairs.to_dict("records"):
        place = [str(pair[c]) for c in _PAIR]
        common = {c: pair[c] for c in [*_PAIR, "group", "gold"]} | {
            "kind": "similarity",
            "pair_id": item_id("pair", *place),
            "target_language": pair["target_language_1"],
        }
        for form, column in (("original", "original"), ("rewritten", "rewrite")):
            texts = {"text1": pair[f"{column}_1"], "text2": pair[f"{column}_2"]}
            name = item_id("similarity", form, *place, *texts.values())
            rows.append({**common, **texts, "form": form, "item_id": name})
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)
