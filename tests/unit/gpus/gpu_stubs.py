"""Stand-ins that worker processes can hold: no GPU and no model is needed."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Sequence

import numpy as np

from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EmbedError
from stressbed.generate.engines.fake import FakeEngine
from stressbed.generate.request import ChatRequest, Completion

TWO = [("cpu",), ("cpu",)]


def fake_engine() -> FakeEngine:
    return FakeEngine(GeneratorEntry(id="fake", engine="fake", model="fake"))


def request(text: str) -> ChatRequest:
    return ChatRequest((("user", text),), 40)


def square(x: int) -> int:
    return x * x


class Stub:
    """Does in its process what a message names."""

    def environment(self, name: str) -> str | None:
        return os.environ.get(name)

    def number(self) -> int:
        return os.getpid()

    def say(self, text: str) -> None:
        logging.getLogger("stressbed").warning(text)

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def leave(self) -> None:
        os._exit(3)

    def refuse(self) -> None:
        raise EmbedError("no such thing", where="here")

    def stumble(self) -> None:
        raise ZeroDivisionError("stub")

    def exhaust(self) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    def processes_of_its_own(self) -> list[int]:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.map(square, [2, 3])


class Unmakeable:
    def __init__(self) -> None:
        raise EmbedError("cannot be made")


class DyingEngine(FakeEngine):
    """Dies of a request that says so."""

    def __init__(self) -> None:
        super().__init__(GeneratorEntry(id="fake", engine="fake", model="fake"))

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        if any("die" in r.messages[0][1] for r in requests):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().complete(requests, keys)


class SmallMemory:
    """An embedder that takes `most` strings at once; a vector is the string's length and first letter."""

    fitted_on = ""
    strings_per_call = 16

    def __init__(self, most: int = 10**9) -> None:
        self.most, self.sizes = most, []

    def context(self, role: str, manifest: object) -> str:
        return ""

    def encode(self, strings, *, role: str, manifest: object):
        self.sizes.append(len(strings))
        if len(strings) > self.most:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return np.array([[len(s), ord(s[0])] for s in strings], dtype=np.float32)

    def close(self) -> None:
        self.most = 0
