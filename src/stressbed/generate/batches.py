"""Cutting requests into batches: the unit of an engine's call, of storage and of resumption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar


class Sized(Protocol):
    """What is put into batches: something with an identity and a length."""

    @property
    def key(self) -> str:
        """The request's identity."""
        ...

    @property
    def length(self) -> int:
        """Tokens of its prompt and of its limit together."""
        ...


T = TypeVar("T", bound=Sized)


def cut(calls: Sequence[T], size: int) -> Iterator[list[T]]:
    """Yield batches of `size` calls of like length, the longest first, the last one smaller.

    The order is by (length, key), so it does not depend on the order of the calls. As whole batches
    are stored in this order, what is missing after a kill is cut at the same places again, and a
    resumed run sees the same batches. The longest first: what is too much for the memory fails
    at once, and the time left is overestimated rather than underestimated.
    """
    ordered = sorted(calls, key=lambda c: (-c.length, c.key))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
