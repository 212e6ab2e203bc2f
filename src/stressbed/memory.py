"""Whether an error says that memory ran out: Python, torch and its allocators each have their own way."""

from __future__ import annotations

_SAID = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")


def ran_out(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, on the device or in the process."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _SAID)
