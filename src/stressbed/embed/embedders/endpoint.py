"""An OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import base64
import logging
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any

import numpy as np

from stressbed.config.engine_options import EMBEDDINGS, with_defaults
from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.endpoint.connection import Connection, DeclinedError, Patience
from stressbed.endpoint.verdict import Kind
from stressbed.errors import EmbedError

log = logging.getLogger("stressbed")

ALLOWED = '{"data": [{"index": 0, "embedding": [0.1, ...]}, ...]}'


class EndpointEmbedder(EntryEmbedder):
    """A model behind `POST {base_url}/embeddings`: a few requests in flight, of as many texts as it takes."""

    def __init__(self, entry: EmbedderEntry) -> None:
        super().__init__(entry)
        self._options = with_defaults(EMBEDDINGS, entry.endpoint_options)
        self._concurrency = int(self._options["concurrency"])
        self._most = self._per_request
        self._dimension = entry.dimensions
        self._where = f"embedder {entry.id!r}, {entry.base_url}"

    @property
    def strings_per_call(self) -> int:
        """As many strings as the requests in flight hold."""
        return self._per_request * self._concurrency

    @property
    def _per_request(self) -> int:
        return super().strings_per_call

    @cached_property
    def _connection(self) -> Connection:
        return Connection(
            str(self.entry.base_url),
            api_key_env=self.entry.api_key_env,
            patience=Patience.of(self._options),
            concurrency=self._concurrency,
            where=f"embedder {self.entry.id!r}",
            error=EmbedError,
        )

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the vectors of the strings, shape (n, d), float32.

        Raises:
            EmbedError: The endpoint refuses, keeps failing, or gives something else than vectors.
        """
        instruction = self.context(role, manifest)
        texts = [instruction + s for s in strings]
        self._where = self._connection.where  # made here, so that the threads share one
        parts = [texts[i : i + self._most] for i in range(0, len(texts), self._most)]
        with ThreadPoolExecutor(self._concurrency) as pool:
            found = [part for parts_of in pool.map(self._ask, parts) for part in parts_of]
        return self.finish(self.sized(np.concatenate(found)))

    def close(self) -> None:
        """Close the connections."""
        connection = self.__dict__.pop("_connection", None)
        if connection is not None:
            connection.close()

    def _ask(self, texts: list[str]) -> list[Floats]:
        """Return the vectors of some texts, by smaller requests where the endpoint takes no more at once."""
        if len(texts) > self._most:  # another request has found out meanwhile
            return self._in_halves(texts)
        body: dict[str, Any] = {"model": self.entry.model, "input": texts, "encoding_format": "float"}
        if self.entry.dimensions:
            body["dimensions"] = self.entry.dimensions
        try:
            return [self._connection.post("/embeddings", body, read=partial(self._read, texts=texts))]
        except DeclinedError as e:
            if len(texts) == 1:
                raise self._declined(e, texts[0]) from None
            half = (len(texts) + 1) // 2
            if e.kind is Kind.TOO_MANY and half < self._most:
                self._most = half
                log.info("%s: %d texts a request from now on (`batch_size`): %s", self._where, half, e.said)
            return self._in_halves(texts)

    def _in_halves(self, texts: list[str]) -> list[Floats]:
        half = (len(texts) + 1) // 2
        return [*self._ask(texts[:half]), *self._ask(texts[half:])]

    def _declined(self, error: DeclinedError, text: str) -> EmbedError:
        """Return the error of a text that the endpoint does not take even alone."""
        what = (
            "refuses a text for what it says"
            if error.kind is Kind.REFUSED
            else "finds a single text too long"
        )
        return EmbedError(
            f"the endpoint {what}: {error.said}",
            where=f"{self._where}, {len(text)} characters: {text[:80]!r}",
            do="leave this text out of the dataset (`row_limit`, `max_words`, your own file) or use a model "
            "that takes it; what was embedded so far is kept",
        )

    def _read(self, answer: Mapping[str, Any], texts: Sequence[str]) -> Floats:
        """Return the vectors in an answer, in the order of the texts.

        Raises:
            EmbedError: There is not one finite vector of the same size for each text.
        """
        data = answer.get("data")
        if (
            not isinstance(data, list)
            or len(data) != len(texts)
            or not all(isinstance(d, dict) for d in data)
        ):
            raise self._unusable(f"it does not hold {len(texts)} vectors of one size")
        order = self._order([d.get("index") for d in data])
        rows = [self._vector(data[i].get("embedding"), text) for i, text in zip(order, texts, strict=True)]
        sizes = sorted({len(row) for row in rows} | ({self._dimension} if self._dimension else set()))
        if len(sizes) > 1:
            raise self._unusable(f"it does not hold {len(texts)} vectors of one size: {sizes} numbers")
        self._dimension = sizes[0]
        return np.stack(rows)

    def _order(self, numbers: Sequence[object]) -> list[int]:
        """Return where the vector of each text stands: where its number says, or in order if none has one."""
        if all(n is None for n in numbers):
            return list(range(len(numbers)))
        place = {n: i for i, n in enumerate(numbers) if type(n) is int}
        if sorted(place) != list(range(len(numbers))):
            raise self._unusable(f"its vectors are numbered {str(list(numbers))[:80]}")
        return [place[n] for n in range(len(numbers))]

    def _vector(self, value: object, text: str) -> Floats:
        """Return a vector: a list of numbers, or base64 of them as OpenAI writes it.

        Raises:
            EmbedError: It is neither, or a number is not finite in 32 bits.
        """
        if isinstance(value, str):
            try:
                vector: Any = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
            except ValueError:
                vector = np.empty(0)
        elif isinstance(value, list) and all(type(v) in {int, float} for v in value):
            with np.errstate(over="ignore"):
                vector = np.asarray([_float(v) for v in value]).astype(np.float32)
        else:
            vector = np.empty(0)
        if not len(vector):
            raise self._unusable(f"a vector is {str(value)[:60]}", text)
        if not np.isfinite(vector).all():
            raise self._unusable("a vector holds NaN or an infinity", text)
        return np.asarray(vector, dtype=np.float32)

    def _unusable(self, what: str, text: str = "") -> EmbedError:
        return EmbedError(
            f"the endpoint's answer is of no use: {what}",
            where=self._where + (f", text {text[:80]!r}" if text else ""),
            allowed=ALLOWED,
            do="look at the server and `dimensions`; nothing of this answer was kept",
        )


def _float(value: float) -> float:
    """Return a number as a float; a whole number of hundreds of digits is an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
