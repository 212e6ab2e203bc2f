"""An estimate with its interval: what every function of this package returns or holds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


FEWEST = 6
"""Fewest independent observations of which an interval is made: datasets, embedders, texts, pairs.

With fewer even the range of the data, the widest interval that an exact method for a shift could give,
covers less than 95 %, and a percentile bootstrap aimed at 95 % covers 50 to 84 %. Every table, figure,
sentence and page asks here, by `enough` or by the functions that make intervals, and shows none below it.
"""


class DegenerateWarning(UserWarning):
    """The data leave a statistic without a value; it is NaN."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its interval; NaN where the data do not give one."""

    estimate: float
    low: float
    high: float


NOTHING = Interval(float("nan"), float("nan"), float("nan"))


def enough(n: int) -> bool:
    """Return whether n independent observations give an interval."""
    return n >= FEWEST


def too_few(n: int, noun: str, plural: str = "") -> str:
    """Return why n observations have no interval: `5 datasets are too few for an interval, which needs 6`.

    Empty where they have one.

    Args:
        n: Independent observations.
        noun: What they are, `dataset`.
        plural: The same for several; by default with an s.
    """
    if enough(n):
        return ""
    are = f"one {noun} is" if n == 1 else f"{n or 'no'} {plural or noun + 's'} are"
    return f"{are} too few for an interval, which needs {FEWEST}"


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
