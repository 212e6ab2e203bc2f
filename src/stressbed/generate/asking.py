"""Asking for what is planned: from the store where it is there, else batch by batch from the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from stressbed import memory
from stressbed.errors import EngineError, IncompleteBatchError
from stressbed.generate import batches
from stressbed.generate.clean import clean
from stressbed.generate.completions import CompletionStore
from stressbed.generate.plan import Call, Planner
from stressbed.generate.request import ChatRequest, Completion, Engine, Finish, Watched
from stressbed.progress import Progress
from stressbed.stopping import Stop

log = logging.getLogger("stressbed")

Attempt = tuple[Call, Completion]


class Asked(batches.Sized, Protocol):
    """A request with its identity and length, ready to be cut into batches."""

    @property
    def request(self) -> ChatRequest:
        """What is sent."""
        ...


AskedT = TypeVar("AskedT", bound=Asked)


class LazyEngine:
    """An engine that is opened by its first use: planning from cached counts needs none."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open = open_engine
        self._engine: Engine | None = None

    def get(self) -> Engine:
        """Return the engine, opened."""
        if self._engine is None:
            self._engine = self._open()
        return self._engine

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return self.get().count_tokens(texts)

    def close(self) -> None:
        """Close the engine if it was opened."""
        if self._engine is not None:
            self._engine.close()


@dataclass
class Tally:
    """What asking cost so far."""

    unique: set[str] = field(default_factory=set)
    reused: int = 0
    sent: int = 0
    retried: int = 0
    too_long: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    batches: int = 0


class Asker:
    """Gets the answers of planned calls with all their retries, each answer once."""

    def __init__(
        self, *, planner: Planner, store: CompletionStore, engine: LazyEngine, stop: Stop, name: str
    ) -> None:
        self.planner, self.store, self.engine, self.stop, self.name = planner, store, engine, stop, name
        self.tally = Tally()
        self._done: dict[str, list[Attempt]] = {}

    def ask(self, wanted: Mapping[str, tuple[Call, str]], what: str) -> dict[str, list[Attempt]]:
        """Return all attempts at each first call, in order.

        Args:
            wanted: Key of a first attempt -> (call, the text it was given).
            what: Which step this is, for the log.
        """
        self.tally.unique |= wanted.keys()
        open_calls = {key: call for key, (call, _) in wanted.items() if key not in self._done}
        for key in open_calls:
            self._done[key] = []
        while open_calls:
            answers = self._answers({c.key: c for c in open_calls.values()}, what)
            following: dict[str, Call] = {}
            for first, call in open_calls.items():
                answer = answers[call.key]
                self._done[first].append((call, answer))
                text = clean(answer.text, wanted[first][1], self.planner.marks).text
                nxt = self.planner.retry(call, answer, text)
                if nxt is not None:
                    following[first] = nxt
            open_calls = following
        return {key: self._done[key] for key in wanted}

    def ended(self, finishes: Collection[Finish]) -> int:
        """Return how many of the different first attempts came, after all retries, to one of some ends."""
        return sum(attempts[-1][1].finish in finishes for attempts in self._done.values() if attempts)

    def _answers(self, calls: Mapping[str, Call], what: str) -> dict[str, Completion]:
        """Return one completion per key, asking only for those that the store does not have."""
        found = self.store.get_many(k for k, c in calls.items() if c.fits)
        first = next(iter(calls.values())).request.attempt == 0
        missing = [c for k, c in calls.items() if c.fits and k not in found]
        for key, call in calls.items():
            if not call.fits:
                found[key] = Completion(key, "", "too_long", call.tokens, 0)
                self.tally.too_long += 1
        self.tally.reused += len(calls) - len(missing) - sum(not c.fits for c in calls.values())
        if missing:
            found |= self._send(missing, what if first else f"{what}, retry")
            if first:
                self.tally.sent += len(missing)
            else:
                self.tally.retried += len(missing)
        return found

    def _send(self, calls: Sequence[Call], what: str) -> list[tuple[str, Completion]]:
        sender = Sender(self.store, self.engine, self.stop, self.planner.generator.batch_size, self.name)
        return sender.send(calls, what, self.tally)


@dataclass(frozen=True)
class Sender:
    """Sends requests batch by batch; each batch is in the store before the next begins.

    Attributes:
        store: Where answers are kept.
        engine: What answers.
        stop: Says between batches whether to end.
        batch_size: Requests per batch.
        name: Whose requests these are, for the log.
    """

    store: CompletionStore
    engine: LazyEngine
    stop: Stop
    batch_size: int
    name: str

    def send(self, calls: Sequence[AskedT], what: str, tally: Tally) -> list[tuple[str, Completion]]:
        """Return the engine's answers by key and count them in the tally.

        Raises:
            EngineError: The engine failed.
            StoppedError: The job was asked to end.
        """
        cut = list(batches.cut(calls, self.batch_size))
        log.info("%s, %s: %d requests in %d batches", self.name, what, len(calls), len(cut))
        out: list[tuple[str, Completion]] = []
        engine = self.engine.get()
        progress = Progress(f"{self.name}, {what}", len(calls), "requests")
        if isinstance(engine, Watched):
            engine.watch(progress.add)
        for i, batch in enumerate(cut):
            self.stop.check(f"{i} of {len(cut)} batches ({what})", where=self.name)
            answers = self._complete(engine, batch)
            out += [(a.key, a) for a in answers]
            tally.tokens_in += sum(a.tokens_in for a in answers)
            tally.tokens_out += sum(a.tokens_out for a in answers)
            tally.batches += 1
            progress.reach(len(out))
        return out

    def _complete(self, engine: Engine, batch: Sequence[AskedT]) -> list[Completion]:
        """Return a batch's answers, stored; of a batch that fails, those that came are stored first.

        Raises:
            EngineError: The engine failed, or its answers are not those of the requests.
            StoppedError: The engine left requests of the batch unsent, since the job was asked to end.
        """
        keys = [c.key for c in batch]
        try:
            answers = engine.complete([c.request for c in batch], keys)
        except IncompleteBatchError as e:
            done: list[Completion] = [a for a in e.done if a.key in set(keys)]
            if done:  # they may have been paid for: the next run must not ask for them again
                self._keep(done)
                log.warning(
                    "%s: %d of %d answers of a failed batch are kept", self.name, len(done), len(keys)
                )
            self.stop.check(f"{len(done)} of {len(keys)} answers of a batch", where=self.name)
            raise
        except (MemoryError, RuntimeError) as e:
            if not memory.ran_out(e):
                raise
            raise EngineError(
                f"memory ran out for a batch of {len(keys)} requests",
                where=self.name,
                do="lower `batch_size` in the generator's entry (and, of engine `transformers`, the option "
                "`cache_gib`), then run again: finished batches are kept",
            ) from e
        if [a.key for a in answers] != keys:
            raise EngineError("the engine's answers do not fit the requests", where=self.name)
        self._keep(answers)
        return answers

    def _keep(self, answers: Sequence[Completion]) -> None:
        """Store answers, but none that broke off: whoever needs it next may be luckier."""
        kept = [a for a in answers if a.finish != "broken"]
        if kept:
            self.store.put_batch(kept)


@dataclass(frozen=True)
class _Once:
    """A request that is asked once, whatever the answer."""

    key: str
    request: ChatRequest
    length: int


def ask_once(
    requests: Mapping[str, ChatRequest],
    *,
    store: CompletionStore,
    engine: LazyEngine,
    stop: Stop,
    batch_size: int,
    length: Callable[[ChatRequest], int],
    name: str,
) -> tuple[dict[str, Completion], Tally]:
    """Return the answer to each request, in order, and what that cost; nothing is asked again.

    What is in the store comes from there. The rest is sent in batches, each stored before the next
    begins. Whether a request fits the model is left to the engine (`too_long`).

    Args:
        requests: Key of each request under the generator's identity -> the request.
        store: Where answers are kept.
        engine: Opened only if something has to be asked.
        stop: Says between batches whether to end.
        batch_size: Requests per batch.
        length: Tokens of a request's prompt and limit together, or anything that grows with them:
            requests of like length share a batch.
        name: Whose requests these are, for the log.

    Raises:
        EngineError: The engine failed; finished batches are kept.
        StoppedError: The job was asked to end; finished batches are kept.
        StoreError: A batch in the store is damaged.
    """
    found = store.get_many(requests)
    tally = Tally(unique=set(requests), reused=len(found))
    missing = [_Once(k, r, length(r)) for k, r in requests.items() if k not in found]
    if missing:
        found |= Sender(store, engine, stop, batch_size, name).send(missing, "ratings", tally)
        tally.sent = len(missing)
    tally.too_long = sum(c.finish == "too_long" for c in found.values())
    return {key: found[key] for key in requests}, tally
