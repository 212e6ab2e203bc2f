"""Errors that a user reads: what was wrong, where, what is allowed, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class StressbedError(Exception):
    """Base of all errors that stressbed raises on purpose.

    Args:
        what: What was wrong, one sentence.
        where: File and key, dataset and row, or cell where it was found.
        allowed: What would have been accepted.
        do: What the user should do now.
    """

    def __init__(self, what: str, *, where: str = "", allowed: str = "", do: str = "") -> None:
        self.what, self.where, self.allowed, self.do = what, where, allowed, do
        super().__init__(self.message())

    def message(self) -> str:
        """Return the text that is shown: one line per part that is known."""
        parts = [self.what]
        for label, value in (("where", self.where), ("allowed", self.allowed), ("do", self.do)):
            if value:
                parts.append(f"  {label}: {value}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        """Make the error survive a process boundary."""
        return (_rebuild, (type(self), self.what, self.where, self.allowed, self.do))


def _rebuild(cls: type[StressbedError], what: str, where: str, allowed: str, do: str) -> StressbedError:
    return cls(what, where=where, allowed=allowed, do=do)


class ConfigError(StressbedError):
    """A run config or a catalogue file is wrong."""


class DataError(StressbedError):
    """A dataset's files or contents are wrong."""


class StoreError(StressbedError):
    """An entry of the store is damaged or missing."""


class EngineError(StressbedError):
    """A generator's engine cannot do what was asked."""


class IncompleteBatchError(EngineError):
    """Some requests of a batch failed for good; the other answers are kept in `done`.

    Attributes:
        done: Completions (`stressbed.generate.request.Completion`) that may be stored, in order.
    """

    def __init__(
        self, what: str, *, where: str = "", allowed: str = "", do: str = "", done: Sequence[Any] = ()
    ) -> None:
        super().__init__(what, where=where, allowed=allowed, do=do)
        self.done = list(done)

    @classmethod
    def of(
        cls, error: EngineError | StoppedError, *, failed: int, done: Sequence[Any]
    ) -> IncompleteBatchError:
        """Return the error of a batch in which `failed` requests failed, the first with `error`."""
        what = f"{failed} of {failed + len(done)} requests failed; the first: {error.what}"
        return cls(what, where=error.where, allowed=error.allowed, do=error.do, done=done)


class StoppedError(StressbedError):
    """The job was asked to end (SIGTERM); what was finished is stored."""


class EmbedError(StressbedError):
    """An embedder cannot do what was asked, or gave unusable vectors."""


class ScoreError(StressbedError):
    """A cell cannot be scored: its data do not allow the metric."""


class Problems(ConfigError):  # noqa: N818  # it is a list of errors
    """Several problems at once, so that a user mends them in one go."""

    def __init__(self, problems: list[StressbedError]) -> None:
        self.problems = problems
        n = len(problems)
        head = f"{n} problem{'s' if n > 1 else ''} found before any work started"
        body = "\n".join(f"{i}. {p.message()}" for i, p in enumerate(problems, 1))
        super().__init__(f"{head}\n{body}")

    def __reduce__(self) -> tuple[object, ...]:
        """Make the error survive a process boundary."""
        return (Problems, (self.problems,))


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the nearest known name, else an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""
