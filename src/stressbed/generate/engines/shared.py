"""An engine that several datasets of one job use, so that a model is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stressbed.generate.request import ChatRequest, Completion, Engine, Progress, Watched


class SharedEngine:
    """An engine that is opened by its first use and stays open until `close_for_good`."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open = open_engine
        self._engine: Engine | None = None
        self._progress: Progress | None = None

    def get(self) -> Engine:
        """Return this engine; what one dataset closes stays open for the next."""
        return self

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return self._opened().count_tokens(texts)

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order."""
        return self._opened().complete(requests, keys)

    def watch(self, progress: Progress) -> None:
        """Tell of each answer from now on, where the engine can."""
        self._progress = progress
        if isinstance(self._engine, Watched):
            self._engine.watch(progress)

    def close(self) -> None:
        """Do nothing: others may still need the engine."""

    def close_for_good(self) -> None:
        """Close the engine if it was opened."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._open()
            if self._progress is not None and isinstance(self._engine, Watched):
                self._engine.watch(self._progress)
        return self._engine
