"""Counts and points in sentences: one and several, a loss as a loss and a gain as a gain."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return `1 dataset`, `2 datasets`; `plural` where it is not the noun with an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def plural(noun: str) -> str:
    """Return what several of a unit are called: `queries`, `shared texts of pairs`."""
    head, of, rest = noun.partition(" of ")
    return (head[:-1] + "ies" if head.endswith("y") else f"{head}s") + of + rest


def shown(value: float, digits: int = 1) -> str:
    """Return a number of a sentence: a true minus, and none before a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def points(value: float, digits: int = 1) -> str:
    """Return the size of a value in points, without its sign: `1.0 point`, `2.5 points`."""
    text = shown(abs(value), digits)
    return f"{text} point" if float(text) == 1 else f"{text} points"


def is_gain(loss: float, digits: int = 1) -> bool:
    """Return whether a loss is a gain as far as its shown decimals tell."""
    return round(loss, digits) < 0


def amount(loss: float, digits: int = 1) -> str:
    """Return a loss in points as `a loss of 2.0 points` or `a gain of 2.0 points`."""
    return f"a {'gain' if is_gain(loss, digits) else 'loss'} of {points(loss, digits)}"


def lose(loss: float, digits: int = 1, *, plural: bool = True) -> str:
    """Return what something does that loses so many points: `lose 2.0 points`, `gains 2.0 points`."""
    verb = "gain" if is_gain(loss, digits) else "lose"
    return f"{verb}{'' if plural else 's'} {points(loss, digits)}"


def span(low: float, high: float, digits: int = 1) -> str:
    """Return the ends of a range of losses, with what is loss and what gain where that needs saying.

    Args:
        low: The smaller loss; negative: a gain.
        high: The larger loss.
        digits: Decimals.
    """
    first, last = (round(v, digits) + 0.0 for v in (low, high))
    if first >= 0:
        return f"{shown(first, digits)} to {shown(last, digits)}"
    if last <= 0:
        return f"a gain of {shown(-last, digits)} to {shown(-first, digits)}"
    return f"a gain of {shown(-first, digits)} to a loss of {shown(last, digits)}"
