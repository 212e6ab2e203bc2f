"""Two formats of public data that packages bring along."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.dataset.tables import lines_of
from stressbed.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import DatasetEntry

LABEL = "__label__"
FASTTEXT = re.compile(rf"{LABEL}(?P<label>\S+)\s+(?P<text>\S.*)")
"""A line of a `fasttext` file, without blanks around."""


def _needs(
    entry: DatasetEntry, paths: Mapping[str, Path], names: tuple[str, ...], task_types: tuple[str, ...]
) -> None:
    if set(paths) != set(names):
        raise DataError(
            f"the files are {', '.join(sorted(paths))}",
            where=f"dataset {entry.id!r}, key 'files'",
            allowed=", ".join(names),
        )
    if entry.task_type not in task_types:
        raise DataError(
            f"this format does not hold data for {entry.task_type}",
            where=f"dataset {entry.id!r}, key 'task_type'",
            allowed=", ".join(task_types),
        )


def lee(entry: DatasetEntry, paths: Mapping[str, Path]) -> pd.DataFrame:
    """Return sentence pairs with ratings: the upper triangle of the documents that are kept.

    `corpus` holds one document per line; `ratings` is a square matrix of similarities between
    0 and 1, tab-separated, whose upper triangle counts (Lee, Pincombe, Welsh 2005).
    n documents give n(n-1)/2 pairs: the first `row_limit` of those with at most `max_words` words.

    Raises:
        DataError: The matrix is not square or not of the corpus' size, or a value is no number.
    """
    import pandas as pd

    _needs(entry, paths, ("corpus", "ratings"), ("STS", "STR"))
    lines = lines_of(paths["corpus"], entry.encoding)
    documents = [line.strip() for line in lines if line.strip()]
    matrix = _matrix(entry, paths["ratings"])
    if len(matrix) != len(documents):
        raise DataError(
            f"{len(documents)} documents but ratings of {len(matrix)}",
            where=f"dataset {entry.id!r}: {paths['corpus']} and {paths['ratings']}",
        )
    kept = [i for i, text in enumerate(documents) if _short_enough(entry, text)][: entry.row_limit]
    if len(kept) < 3:
        raise DataError(
            "at least 3 documents are needed for pairs",
            where=f"dataset {entry.id!r}, row_limit and max_words",
        )
    try:
        pairs = [
            (documents[i], documents[j], float(matrix[i][j])) for i, j in itertools.combinations(kept, 2)
        ]
    except ValueError as e:
        raise DataError(
            f"the matrix holds no number: {e}", where=f"dataset {entry.id!r}: {paths['ratings']}"
        ) from None
    return pd.DataFrame(pairs, columns=["sentence1", "sentence2", "score"])


def _short_enough(entry: DatasetEntry, text: str) -> bool:
    return entry.max_words is None or len(text.split()) <= entry.max_words


def _matrix(entry: DatasetEntry, path: Path) -> list[list[str]]:
    rows = [line.split() for line in lines_of(path, entry.encoding) if line.strip()]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows):
            raise DataError(
                f"the matrix has {len(rows)} rows, but this row {len(row)} values",
                where=f"dataset {entry.id!r}: {path}, row {number}",
            )
    return rows


def fasttext(entry: DatasetEntry, paths: Mapping[str, Path]) -> dict[str, pd.DataFrame]:
    """Return train and test tables from lines such as `__label__neg the text`.

    Of each class, every other line goes to training, so both halves have the classes' shares; with
    `row_limit` n, both halves together hold n rows. Texts of more than `max_words` words are left out.

    Raises:
        DataError: A line has no label, or a class has fewer than two lines.
    """
    import pandas as pd

    from stressbed.dataset.limit import draw_stratified, generator

    _needs(entry, paths, ("all",), ("Classification",))
    rows: list[tuple[str, str]] = []
    for number, line in enumerate(lines_of(paths["all"], entry.encoding), 1):
        if not line.strip():
            continue
        match = FASTTEXT.fullmatch(line.strip())
        if match is None:
            raise DataError(
                "a line must be a label, a blank and a text",
                where=f"dataset {entry.id!r}: {paths['all']}, line {number}",
                allowed=f"{LABEL}NAME the text",
            )
        if _short_enough(entry, match["text"]):
            rows.append((match["text"], match["label"]))
    if entry.row_limit:
        try:
            kept = draw_stratified([label for _, label in rows], entry.row_limit, generator("all", "all"))
        except ValueError as e:
            raise DataError(
                f"row_limit is too small: {e}", where=f"dataset {entry.id!r}, row_limit"
            ) from None
        rows = [rows[i] for i in kept]
    seen: dict[str, int] = {}
    halves: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for text, label in rows:
        halves[seen.get(label, 0) % 2].append((text, label))
        seen[label] = seen.get(label, 0) + 1
    if lonely := [label for label, n in seen.items() if n < 2]:
        raise DataError(
            f"the class {lonely[0]!r} has one line only, two halves need two",
            where=f"dataset {entry.id!r}: {paths['all']}",
        )
    columns = ["text", "label"]
    return {
        "train": pd.DataFrame(halves[0], columns=columns),
        "test": pd.DataFrame(halves[1], columns=columns),
    }
