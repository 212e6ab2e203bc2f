"""People's ratings as a tidy table; every fault in the files is told in one go."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from stressbed.config.model import HumanStudy
from stressbed.errors import DataError, Problems, StressbedError, suggest
from stressbed.human.files import read_rows
from stressbed.human.sheets import RATINGS, SCALES

log = logging.getLogger("stressbed")

COLUMNS = ("item_id", "rater", "criterion", "rating", "file", "line")
SHOWN = 5
"""Items named in a message about many."""


@dataclass(frozen=True)
class Ratings:
    """What raters said.

    Attributes:
        frame: One row per rating: item_id, rater, criterion (`quality`, `fluency`, `similarity`), rating
            (whole number), file, line.
        unrated: Cells that raters left empty.
        repeated: Ratings that stood twice with the same value; one of each is kept.
    """

    frame: pd.DataFrame
    unrated: int
    repeated: int


def read_ratings(files: Sequence[Path], items: pd.DataFrame, *, study: HumanStudy) -> Ratings:
    """Return the ratings in filled sheets.

    Only `item_id`, `rater` and the rating columns are read: programs change texts, never ids. Without a
    column `rater` the file's name, less its ending, is the rater. An empty cell is not rated.

    Args:
        files: The filled sheets.
        items: `items.parquet` of the sheets.
        study: Says how many raters an item needs.

    Raises:
        Problems: Files that are no sheets, unknown items, ratings off the scale or no whole number,
            one rater's different ratings of one item, missing columns, items with too few raters.
    """
    kinds = dict(zip(items["item_id"], items["kind"], strict=True))
    problems: list[StressbedError] = []
    found: dict[tuple[str, str, str], tuple[int, str, str]] = {}
    unrated = repeated = 0
    for path in files:
        try:
            rows = read_rows(path)
        except DataError as e:
            problems.append(e)
            continue
        problems += _lacking(path, rows, kinds)
        for row in rows:
            where = f"{path}, line {row['']}"
            kind = kinds.get(row["item_id"].strip())
            if kind is None:
                problems.append(_unknown(row["item_id"].strip(), kinds, where))
                continue
            rater = _rater(row, path)
            for criterion in RATINGS[kind]:
                value = _rating(row.get(criterion, ""), kind, criterion, where, problems)
                if value is None:
                    unrated += not row.get(criterion, "").strip()
                    continue
                key = (row["item_id"].strip(), rater, criterion)
                if key not in found:
                    found[key] = (value, str(path), row[""])
                elif found[key][0] == value:
                    repeated += 1
                else:
                    problems.append(_contradiction(key, found[key], value, where))
    frame = pd.DataFrame(
        [(i, r, c, v, f, int(n)) for (i, r, c), (v, f, n) in found.items()], columns=list(COLUMNS)
    )
    problems = problems or _lacking_raters(frame, items, study)
    if problems:
        raise Problems(problems)
    if repeated:
        log.warning("%d ratings stand twice with the same value; each counts once", repeated)
    log.info("%d ratings by %d raters, %d cells left empty", len(frame), frame["rater"].nunique(), unrated)
    order = ["item_id", "criterion", "rater"]
    return Ratings(frame.sort_values(order, kind="stable", ignore_index=True), unrated, repeated)


def _rater(row: dict[str, str], path: Path) -> str:
    # The form puts an apostrophe before a name that a spreadsheet would take for a formula.
    return row.get("rater", "").strip().removeprefix("'") or path.stem


def _lacking(path: Path, rows: Sequence[dict[str, str]], kinds: dict[str, str]) -> Iterator[DataError]:
    """Yield the rating columns that the file's items need and it does not have."""
    if not rows:
        yield DataError("the file holds no row", where=str(path), do="take it out, or save the sheet anew")
        return
    needed = {c for r in rows if (kind := kinds.get(r["item_id"].strip())) for c in RATINGS[kind]}
    for column in sorted(needed - rows[0].keys()):
        yield DataError(
            f"the column {column!r} is missing",
            where=str(path),
            allowed=", ".join(k for k in rows[0] if k),
            do=suggest(column, list(rows[0])) or "do not remove columns from a sheet",
        )


def _unknown(item: str, kinds: dict[str, str], where: str) -> DataError:
    return DataError(
        f"no item is called {item!r}",
        where=where,
        allowed=f"the {len(kinds)} items of this study's items.parquet",
        do=suggest(item, kinds)
        or "this sheet belongs to another study, or to an older draw: make the sheets anew",
    )


_WHOLE = re.compile(r"'?\s*([+-]?\d+)(?:[.,]0+)?\s*")


def _rating(cell: str, kind: str, criterion: str, where: str, problems: list[StressbedError]) -> int | None:
    """Return the rating in a cell; None where it is empty, or wrong (which becomes a problem)."""
    if not cell.strip():
        return None
    low, high = SCALES[kind]
    match = _WHOLE.fullmatch(cell)
    if match is None:
        what = f"{criterion} {cell.strip()!r:.40} is no whole number"
    elif not low <= int(match[1]) <= high:
        what = f"{criterion} {int(match[1])} is off the scale"
    else:
        return int(match[1])
    problems.append(
        DataError(what, where=where, allowed=f"{low} to {high}", do="ask the rater, or empty the cell")
    )
    return None


def _contradiction(
    key: tuple[str, str, str], first: tuple[int, str, str], value: int, where: str
) -> DataError:
    item, rater, criterion = key
    return DataError(
        f"{rater!r} rated the {criterion} of item {item!r} twice: {first[0]} and {value}",
        where=f"{first[1]}, line {first[2]}, and {where}",
        do="keep one of them; if two people have the same name, give each its own",
    )


def _lacking_raters(frame: pd.DataFrame, items: pd.DataFrame, study: HumanStudy) -> list[StressbedError]:
    """Return what is wrong with how often items, and both forms of pairs, were rated."""
    found: list[StressbedError] = list(_too_few(frame, items, study))
    if not found and study.label_preservation is not None:
        found += _half_rated(frame, items, study.label_preservation.raters)
    return found


def _half_rated(frame: pd.DataFrame, items: pd.DataFrame, needed: int) -> Iterator[DataError]:
    """Yield which pairs have too few raters who rated both forms: only they say what a rewrite changed."""
    held = items.loc[items["kind"] == "similarity"]
    raters = frame.groupby("item_id")["rater"].agg(set).to_dict()
    few = []
    for (transformation, pair), part in held.groupby(["transformation", "pair_id"], sort=False):
        both = set.intersection(*(raters.get(i, set()) for i in part["item_id"]))
        if len(both) < needed:
            few.append(f"{pair} ({transformation})")
    if few:
        yield DataError(
            f"{len(few)} pairs have fewer than {needed} raters who rated both the original and the rewrite",
            where=f"pairs {', '.join(few[:SHOWN])}{' ...' if len(few) > SHOWN else ''}",
            do="let the same people rate whole sheets; both forms of a pair stand on the same one",
        )


def _too_few(frame: pd.DataFrame, items: pd.DataFrame, study: HumanStudy) -> Iterator[DataError]:
    """Yield, per kind of sheet, which items have fewer raters than the study asks for."""
    kept = study.label_preservation
    needed = {"quality": study.raters, "similarity": kept.raters if kept else 1}
    counts: Counter[tuple[str, str]] = Counter(zip(frame["item_id"], frame["criterion"], strict=True))
    for kind, n in needed.items():
        listed = items.loc[items["kind"] == kind, "item_id"]
        few = {i: m for i in listed if (m := min(counts[i, c] for c in RATINGS[kind])) < n}
        if few:
            by_number = Counter(few.values())
            said = ", ".join(f"{by_number[m]} have {m}" for m in sorted(by_number))
            yield DataError(
                f"{len(few)} of {len(listed)} {kind} items have fewer than {n} raters ({said})",
                where=f"items {', '.join(list(few)[:SHOWN])}{' ...' if len(few) > SHOWN else ''}",
                do="collect more ratings, or lower `raters` of the study and say so where you report it",
            )
