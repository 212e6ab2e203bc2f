"""What a loss and its interval mean, in words that need no statistics.

The words are decided by the interval, never by the estimate alone: a loss of 3 points that could as well
be none is no finding, and one of 0.4 points that could as well be 8 is no all-clear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NOTICEABLE = 1.0
"""Points from which a loss counts.

Smaller than the smallest median absolute shift of a transformation in HTEB (1.2 points, section 4.2.3), and
less than models that stand next to each other usually differ by: choosing another model matters more.
"""

LARGE = 5.0
"""Points from which a loss is large.

The four multilingual models of HTEB lose 5.0 points on English data on average over all transformations
(table 5): one kind of rewriting that costs this much costs more than HTEB as a whole does to good models.
"""


@dataclass(frozen=True)
class Loss:
    """A loss in points (original minus transformed) and what is known of it.

    Attributes:
        points: The estimate; NaN where there is none.
        low: Lower end of its interval at 95 %; NaN without one.
        high: Upper end.
        basis: What the interval is over, `12 datasets`.
        remark: What a reader must know besides: why there is no interval, what it leaves out.
    """

    points: float
    low: float = float("nan")
    high: float = float("nan")
    basis: str = ""
    remark: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return not (math.isnan(self.low) or math.isnan(self.high))


def sentence(subject: str, loss: Loss, *, plural: bool = False) -> str:
    """Return the verdict on a loss: how many points, how sure, how bad.

    Args:
        subject: What is done to the texts, `Rewording`.
        loss: What it costs.
        plural: Whether the subject takes a verb in the plural.
    """
    if math.isnan(loss.points):
        return f"{subject}: {loss.remark}"
    verb = ("cost" if plural else "costs") if loss.points >= 0 else ("gain" if plural else "gains")
    head = f"{subject} {verb} {_points(loss.points)}"
    if not loss.has_interval:
        return f"{head}. {loss.remark}"
    said = f"{head} (95 % interval {ends(loss)} over {loss.basis}): {level(loss)}."
    return f"{said} {loss.remark}".strip()


def level(loss: Loss) -> str:
    """Return how bad a loss is, as far as its interval decides that."""
    low, high = loss.low, loss.high
    if low > -NOTICEABLE and high < NOTICEABLE:
        return "negligible"
    if low <= 0 <= high:
        return f"cannot be told apart from no loss; it may be as much as {_points(high)}"
    first, last = sorted((abs(low), abs(high)))
    sizes = list(dict.fromkeys([_size(first), _size(last)]))
    # That there is a loss is certain, how large it is may be open.
    kind = "a gain, " if high < 0 else "a loss, " if first < NOTICEABLE else ""
    return kind + " to ".join(sizes)


def ends(loss: Loss) -> str:
    """Return the ends of a loss's interval in words, where needed with what is loss and what gain."""
    if loss.low >= 0:
        return f"{loss.low:.1f} to {loss.high:.1f}"
    if loss.high <= 0:
        numbers = f"{-loss.high:.1f} to {-loss.low:.1f}"
        return numbers if loss.points < 0 else f"a gain of {numbers}"
    return f"from a gain of {-loss.low:.1f} to a loss of {loss.high:.1f}"


def _size(points: float) -> str:
    return "negligible" if points < NOTICEABLE else "noticeable" if points < LARGE else "large"


def _points(points: float) -> str:
    text = f"{abs(points):.1f}"
    return f"{text} point" if text == "1.0" else f"{text} points"
