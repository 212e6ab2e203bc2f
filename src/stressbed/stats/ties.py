"""Which values count as equal: rounding of floating-point numbers must not break a tie."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stressbed.stats.interval import Floats

SAME = 1e-10
"""Neighbours closer than this share of the largest value are tied.

The difference between two scores carries an error of about 1e-16 of the scores. Without a tolerance,
70.3 - 70.1 and 50.3 - 50.1 have different ranks, and a mean over seeds that is zero may not be.
"""


def levels(values: Floats) -> npt.NDArray[np.int64]:
    """Return dense ranks along the last axis, from 0, equal for values that are tied.

    Args:
        values: Any shape; finite.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    tolerance = SAME * np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    found = np.zeros(values.shape, dtype=np.int64)
    rises = np.cumsum(np.diff(ordered, axis=-1) > tolerance, axis=-1)
    np.put_along_axis(found, order[..., 1:], rises, axis=-1)
    return found
