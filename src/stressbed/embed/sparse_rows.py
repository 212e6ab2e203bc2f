"""Rows that are mostly zeros, kept as the numbers that are not: counts and weights of words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

DENSITY = 0.25
"""Rows with a smaller share of non-zeros are kept sparse: a column number costs as much as a value."""


def is_sparse(rows: Floats) -> bool:
    """Return whether the rows take less room as non-zeros."""
    return bool(rows.size > 0 and np.count_nonzero(rows) < DENSITY * rows.size)


@dataclass(frozen=True)
class SparseRows:
    """A matrix in compressed row form: row i has `values[starts[i]:starts[i + 1]]` in its `columns`."""

    values: Floats
    columns: NDArray[np.int32]
    starts: Ints
    dimension: int

    @classmethod
    def of(cls, rows: Floats) -> SparseRows:
        """Return the sparse form of rows, shape (n, d)."""
        at, columns = np.nonzero(rows)
        starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(rows)))])
        return cls(rows[at, columns], columns.astype(np.int32), starts.astype(np.int64), rows.shape[1])

    def __getitem__(self, numbers: Ints) -> Floats:
        """Return some of the rows as they were, shape (len(numbers), d)."""
        out = np.zeros((len(numbers), self.dimension), dtype=np.float32)
        for row, number in zip(out, numbers, strict=True):
            part = slice(self.starts[number], self.starts[number + 1])
            row[self.columns[part]] = self.values[part]
        return out

    def save(self, path: Path) -> None:
        """Write the parts as an uncompressed `.npz` file."""
        with path.open("wb") as f:
            np.savez(f, values=self.values, columns=self.columns, starts=self.starts,
                     dimension=np.int64(self.dimension))  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> SparseRows:
        """Return the rows in a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as parts:
            return cls(parts["values"], parts["columns"], parts["starts"], int(parts["dimension"]))
