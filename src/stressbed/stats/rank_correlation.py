"""Kendall's rank correlation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stressbed.stats.interval import Floats, degenerate, finite
from stressbed.stats.ties import levels

CHUNK = 4_000_000
"""Largest number of pairs held at once."""


def kendall_tau_b(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return Kendall's tau-b (Kendall, 1945, The treatment of ties in ranking problems).

    Concordant minus discordant pairs over the geometric mean of the pairs that are not tied in x and
    those that are not tied in y. NaN, with a warning, with fewer than two values or a constant side.

    Args:
        x: Shape (n,).
        y: Shape (n,).

    Raises:
        ValueError: Not one-dimensional, of different length, or not finite.
    """
    a, b = finite(x, dimensions=1, name="x"), finite(y, dimensions=1, name="y")
    if len(a) != len(b):
        raise ValueError(f"x has {len(a)} values, y has {len(b)}")
    found = float(_taus(a[None], b[None])[0])
    if np.isnan(found):
        degenerate("a rank correlation needs two pairs, and both sides must vary")
    return found


def kendall_taus(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Return Kendall's tau-b of each row of x with the same row of y.

    Memory: n (n - 1) / 2 pairs for each of the rows held at once, meant for rankings of some hundreds.

    Args:
        x: Shape (m, n).
        y: Shape (m, n), or (1, n) for one row against which all are held.

    Returns:
        Shape (m,): NaN, with one warning, where n is below two or a side is constant.

    Raises:
        ValueError: Not two-dimensional, shapes that do not fit, or not finite.
    """
    a, b = finite(x, dimensions=2, name="x"), finite(y, dimensions=2, name="y")
    if a.shape[1] != b.shape[1] or len(b) not in {1, len(a)}:
        raise ValueError(f"x has shape {a.shape}, y has shape {b.shape}")
    b = np.broadcast_to(b, a.shape)
    size = max(1, CHUNK // max(1, a.shape[1] ** 2 // 2))
    parts = [_taus(a[i : i + size], b[i : i + size]) for i in range(0, len(a), size)]
    found: Floats = np.concatenate(parts) if parts else np.empty(0)
    if np.isnan(found).any():
        degenerate(
            f"{int(np.isnan(found).sum())} of {len(found)} rank correlations lack two pairs or vary on one"
            " side only"
        )
    return found


def _taus(x: Floats, y: Floats) -> Floats:
    first, second = np.triu_indices(x.shape[1], k=1)
    signs = []
    for values in (x, y):
        level = levels(values)
        signs.append(np.sign(level[:, first] - level[:, second]).astype(np.int8))
    agreeing = (signs[0] * signs[1]).sum(axis=1)
    # The product of the two counts is taken as float: it outgrows 64 bits for long rows.
    untied = [np.abs(s).sum(axis=1).astype(np.float64) for s in signs]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = agreeing / np.sqrt(untied[0] * untied[1])
    return found
