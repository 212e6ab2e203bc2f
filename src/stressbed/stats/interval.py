"""An estimate with its interval: what every function of this package returns or holds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class DegenerateWarning(UserWarning):
    """The data leave a statistic without a value; it is NaN."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its interval; NaN where the data do not give one."""

    estimate: float
    low: float
    high: float


NOTHING = Interval(float("nan"), float("nan"), float("nan"))


def degenerate(why: str) -> None:
    """Warn that a statistic has no value."""
    warnings.warn(why, DegenerateWarning, stacklevel=3)


def finite(values: npt.ArrayLike, *, dimensions: int, name: str) -> Floats:
    """Return the values as an array of floats, of the shape that they have.

    Args:
        values: The values.
        dimensions: How many the array must have.
        name: What the values are called in the message.

    Raises:
        ValueError: Another number of dimensions, or values that are not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimensions, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds values that are not finite")
    return array


def check_level(level: float) -> None:
    """Refuse a level that is no probability strictly between 0 and 1.

    Raises:
        ValueError: It is not.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
