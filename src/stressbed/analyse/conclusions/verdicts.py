"""What a loss and its interval mean, in words that need no statistics.

The words are decided by the interval, never by the estimate alone: a loss of 3 points that could as well
be none is no finding, and one of 0.4 points that could as well be 8 is no all-clear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stressbed.analyse.words import is_gain, points, shown, span

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
        words: What the interval is called.
    """

    points: float
    low: float = float("nan")
    high: float = float("nan")
    basis: str = ""
    remark: str = ""
    words: str = "95 % interval"

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
    verb = "gain" if is_gain(loss.points) else "cost"
    head = f"{subject} {verb}{'' if plural else 's'} {points(loss.points)}"
    if not loss.has_interval:
        return f"{head}. {loss.remark}"
    said = f"{head} ({loss.words} {ends(loss)} over {loss.basis}): {level(loss)}."
    return f"{said} {loss.remark}".strip()


def level(loss: Loss) -> str:
    """Return how bad a loss is, as far as its interval decides that."""
    low, high = loss.low, loss.high
    if low > -NOTICEABLE and high < NOTICEABLE:
        return "negligible"
    if low <= 0 <= high:
        return f"cannot be told apart from no loss; it may be as much as {points(high)}"
    first, last = sorted((abs(low), abs(high)))
    sizes = list(dict.fromkeys([_size(first), _size(last)]))
    # That there is a loss is certain, how large it is may be open.
    kind = "a gain, " if high < 0 else "a loss, " if first < NOTICEABLE else ""
    return kind + " to ".join(sizes)


def ends(loss: Loss) -> str:
    """Return the ends of a loss's interval in words, where needed with what is loss and what gain."""
    low, high = (round(v, 1) + 0.0 for v in (loss.low, loss.high))
    if low < 0 < high:
        return f"from {span(low, high)}"
    if low < 0 and is_gain(loss.points):
        return f"{shown(-high)} to {shown(-low)}"  # the verb has said that it is a gain
    return span(low, high)


def _size(loss: float) -> str:
    return "negligible" if loss < NOTICEABLE else "noticeable" if loss < LARGE else "large"
