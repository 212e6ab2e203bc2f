"""Numbers as a person reads them: thousands grouped, few digits, `~` before what is assumed."""

from __future__ import annotations

import math

from stressbed.housekeeping import readable


def count(value: float, *, exact: bool) -> str:
    """Return a count: all digits if it is one, three that count and a `~` if it is assumed."""
    if exact:
        return f"{round(value):,}"
    return f"~{rounded(value):,.0f}"


def rounded(value: float, digits: int = 3) -> float:
    """Return a number with so many digits that count."""
    if not value:
        return 0.0
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return round(value, min(places, 0)) if abs(value) >= 10 ** (digits - 1) else round(value, max(places, 0))


def tokens(value: float, *, exact: bool) -> str:
    """Return a number of tokens, in millions where there are many."""
    if value >= 1e6:
        return f"{'' if exact else '~'}{rounded(value / 1e6):,g} M"
    return count(value, exact=exact)


def duration(seconds: float, *, measured: bool) -> str:
    """Return a time in seconds, minutes or hours; one that follows from measured speeds has no `~`."""
    mark = "" if measured or not seconds else "~"
    if seconds < 1:
        return "0 s"
    if seconds < 100:
        return f"{mark}{seconds:.0f} s"
    if seconds < 5400:
        return f"{mark}{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{mark}{hours:.1f} h" if hours < 10 else f"{mark}{rounded(hours, 2):,.0f} h"


def size(value: float) -> str:
    """Return a number of bytes, two digits that count."""
    if not value:
        return "-"
    return readable(rounded(value, 2)).replace(".0 GB", " GB")


def assumed_size(value: float) -> str:
    """Return an assumed number of bytes."""
    return f"~{size(value)}" if value else "-"


def money(value: float) -> str:
    """Return an amount of money; small ones keep two digits that count."""
    return f"{value:,.2f}" if value >= 0.1 or not value else f"{rounded(value, 2):g}"


def percent(share: float) -> str:
    """Return a share in per cent; what is not finished is never 100, what has begun never 0."""
    if 0 < share < 0.01:
        return "<1 %"
    return f"{min(99, round(100 * share)) if share < 1 else 100} %"


def parameters(value: float | None, *, told: bool) -> str:
    """Return the size of a model."""
    if value is None:
        return "-"
    scale, unit = (1e9, "B") if value >= 1e9 else (1e6, "M")
    return f"{'' if told else '~'}{rounded(value / scale, 2):g} {unit}"
