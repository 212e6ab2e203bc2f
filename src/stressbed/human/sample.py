"""Which rewrites people rate: a seeded draw that more datasets disturb as little as possible."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from stressbed.config.entries import TransformationEntry
from stressbed.config.model import HumanStudy
from stressbed.errors import DataError
from stressbed.fingerprint import digest, text_digest
from stressbed.languages import one_tag
from stressbed.store import read_parquet

log = logging.getLogger("stressbed")

REWRITTEN = ("ok", "flagged", "retried")
"""Outcomes that are rewrites; a fallback is the original itself, and a dropped text is none."""

COLUMNS = [
    "item_id",
    "kind",
    "group",
    "transformation",
    "dataset",
    "subset",
    "split",
    "field",
    "row",
    "position",
    "text_id",
    "source_language",
    "target_language",
    "original",
    "rewrite",
]
"""Columns of the drawn rewrites."""

_TEXT = ["subset", "split", "field", "row", "position", "text_id"]
_PLACE = [*_TEXT, "source_language", "target_language"]
_DRAWN_BY = ["transformation", "dataset", *_TEXT]


def draw_items(
    transforms: Sequence[Path], *, study: HumanStudy, transformations: Mapping[str, TransformationEntry]
) -> pd.DataFrame:
    """Return a random sample of rewrites per transformation, one row each, with `COLUMNS`.

    A text's rank is a hash of its place and the seed, so that a dataset more leaves the order of the
    others as it was. Transformations with the same steps into a drawn language are one group, which
    gets as many texts from each language as it can.

    Args:
        transforms: Files of rewrites, `.../{dataset}/{generator}/{transformation}/{seed}.parquet`.
        study: How many, which seed, which source languages.
        transformations: Catalogue entries by id.

    Raises:
        DataError: Two generators or seeds are mixed.
    """
    frame = read_rewrites(transforms, study=study)
    groups = groups_of(dict.fromkeys(names(p)[1] for p in transforms), transformations)
    drawn = []
    for group, members in groups.items():
        candidates = frame[frame["transformation"].isin(members)].assign(group=group)
        candidates = in_drawn_order(candidates, _DRAWN_BY, "human", study.seed)
        candidates = candidates.drop_duplicates(["source_language", "original"])
        asked = study.per_transformation * len(members)
        found = (
            _stratified(candidates, asked) if is_pooled(transformations[members[0]]) else candidates[:asked]
        )
        if len(found) < asked:
            log.warning("%s: %d rewrites to rate instead of %d: there are no more", group, len(found), asked)
        drawn.append(found)
    items = pd.concat(drawn) if drawn else frame
    items["kind"] = "quality"
    items["item_id"] = [
        item_id("quality", *map(str, key))
        for key in zip(*(items[c].tolist() for c in COLUMNS[2:]), strict=True)
    ]
    return items[COLUMNS].reset_index(drop=True)


def in_drawn_order(frame: pd.DataFrame, columns: Sequence[str], draw: str, seed: int) -> pd.DataFrame:
    """Return the rows in the order in which a draw takes them.

    Args:
        frame: The rows.
        columns: What names a row's place; its rank is a hash of them, whatever rows there are beside it.
        draw: Name of the draw.
        seed: Its seed.
    """
    places = zip(*(frame[c].tolist() for c in columns), strict=True)
    return frame.assign(rank=[digest([draw, seed, *place]) for place in places]).sort_values("rank")


def item_id(*parts: str) -> str:
    """Return an item's short id; it starts with a letter no number has, so no spreadsheet changes it."""
    return "t" + text_digest(*parts)[:10]


def names(path: Path) -> tuple[str, str]:
    """Return the dataset and the transformation of a file of rewrites."""
    return Path(path).parts[-4], Path(path).parts[-2]


def is_pooled(entry: TransformationEntry) -> bool:
    """Return whether the transformation writes in a drawn language."""
    return entry.steps[-1].language == "target"


def groups_of(ids: Iterable[str], transformations: Mapping[str, TransformationEntry]) -> dict[str, list[str]]:
    """Return the transformations that are rated together, by the group's name, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for name in sorted(ids, key=lambda t: (transformations[t].order, t)):
        entry = transformations[name]
        steps = digest([s.model_dump() for s in entry.steps]) if is_pooled(entry) else name
        found.setdefault(steps, []).append(name)
    return {"+".join(members): members for members in found.values()}


def read_rewrites(transforms: Sequence[Path], *, study: HumanStudy) -> pd.DataFrame:
    """Return all rewrites of the files in the languages that the study asks for, without fallbacks.

    Raises:
        DataError: Two files are of the same dataset and transformation.
    """
    parts: list[pd.DataFrame] = []
    seen: set[tuple[str, str]] = set()
    for path in transforms:
        dataset, transformation = names(path)
        if (dataset, transformation) in seen:
            raise DataError(
                "two files hold rewrites of one dataset and transformation",
                where=str(path),
                do="pass the files of one generator and one seed",
            )
        seen.add((dataset, transformation))
        table = read_parquet(path, [*_PLACE, "original", "text", "outcome"]).to_pandas()
        table = table[table["outcome"].isin(REWRITTEN)]
        if study.source_languages:
            wanted = set(map(one_tag, study.source_languages))
            table = table[table["source_language"].map(one_tag).isin(wanted)]
        table = table.rename(columns={"text": "rewrite"}).drop(columns="outcome")
        parts.append(table.assign(dataset=dataset, transformation=transformation))
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    return pd.concat(parts, ignore_index=True)


def _stratified(candidates: pd.DataFrame, asked: int) -> pd.DataFrame:
    """Return the first texts of each language, the same number of each as far as there are enough."""
    targets = sorted(set(candidates["target_language"]))
    left = {t: candidates[candidates["target_language"] == t] for t in targets}
    quota = dict.fromkeys(left, 0)
    for _ in range(asked):
        open_ = [t for t in left if quota[t] < len(left[t])]
        if not open_:
            break
        quota[min(open_, key=quota.__getitem__)] += 1
    found: pd.DataFrame = pd.concat([candidates[:0], *(left[t][: quota[t]] for t in left)])
    return found
