"""An OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from stressbed import stopping
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError

log = logging.getLogger("stressbed")

CONCURRENCY = 4
"""Requests in flight."""

ATTEMPTS = 6
FIRST_WAIT = 1.0
"""Seconds before the second attempt; each further wait is twice as long, unless the server names one."""

LONGEST_WAIT = 60.0
TIMEOUT = 120.0
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Status codes after which the same request may succeed."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class EndpointEmbedder(EntryEmbedder):
    """A model behind `POST {base_url}/embeddings`: a few requests in flight, longer waits after failures."""

    @property
    def strings_per_call(self) -> int:
        """As many strings as the requests in flight hold."""
        return self._per_request * CONCURRENCY

    @property
    def _per_request(self) -> int:
        return super().strings_per_call

    @cached_property
    def _client(self) -> Any:
        import httpx

        headers = {}
        if self.entry.api_key_env:
            key = os.environ.get(self.entry.api_key_env, "")
            if not key:
                raise EmbedError(
                    f"the environment variable {self.entry.api_key_env} is not set",
                    where=f"embedder {self.entry.id!r}, key 'api_key_env'",
                    do="export the endpoint's key under this name",
                )
            headers["Authorization"] = f"Bearer {key}"
        host = urlsplit(self.entry.base_url or "").hostname
        if host not in LOOPBACK:
            log.warning("embedder %r: the texts leave this machine, to %s", self.entry.id, host)
        return httpx.Client(headers=headers, timeout=TIMEOUT)

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the vectors of the strings, shape (n, d), float32.

        Raises:
            EmbedError: The endpoint refuses, or keeps failing.
        """
        instruction = self.context(role, manifest)
        texts = [instruction + s for s in strings]
        size = self._per_request
        parts = [texts[i : i + size] for i in range(0, len(texts), size)]
        client = self._client  # made here, so that the threads share one
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            found = list(pool.map(lambda part: self._ask(client, part), parts))
        return self.finish(np.concatenate(found))

    def close(self) -> None:
        """Close the connections."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _ask(self, client: Any, texts: list[str]) -> Floats:
        """Return the vectors of one request's texts, trying again after failures that may pass."""
        import httpx

        body: dict[str, Any] = {"model": self.entry.model, "input": texts, "encoding_format": "float"}
        if self.entry.dimensions:
            body["dimensions"] = self.entry.dimensions
        said = ""
        for attempt in range(ATTEMPTS):
            wait = FIRST_WAIT * 2**attempt
            try:
                answer = client.post(f"{str(self.entry.base_url).rstrip('/')}/embeddings", json=body)
            except httpx.TransportError as e:
                said = f"{type(e).__name__}: {e}"
            else:
                if answer.status_code == 200:
                    return self._read(answer, len(texts))
                said = f"status {answer.status_code}: {answer.text[:300]}"
                if answer.status_code not in PASSING:
                    break
                wait = _named_wait(answer.headers.get("retry-after"), wait)
            if attempt + 1 < ATTEMPTS:
                log.info("embedder %r: %s; next attempt in %.1f s", self.entry.id, said[:80], wait)
                stopping.wait(min(wait, LONGEST_WAIT), "the requests in flight", where=self.entry.id)
        raise EmbedError(
            f"the endpoint gave no vectors: {said}",
            where=f"embedder {self.entry.id!r}, {self.entry.base_url}",
            do="check the address, the model's name and the key; what was embedded so far is kept",
        )

    def _read(self, answer: Any, n: int) -> Floats:
        """Return the vectors in an answer, in the order of the texts."""
        try:
            rows = {int(d["index"]): d["embedding"] for d in answer.json()["data"]}
            vectors = np.asarray([rows[i] for i in range(n)], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as e:
            raise EmbedError(
                f"the endpoint's answer does not hold {n} vectors of one size ({type(e).__name__}: {e})",
                where=f"embedder {self.entry.id!r}, {self.entry.base_url}",
                allowed='{"data": [{"index": 0, "embedding": [...]}, ...]}',
            ) from e
        return vectors


def _named_wait(header: str | None, otherwise: float) -> float:
    """Return the seconds that a `Retry-After` header asks for, or the other value."""
    try:
        return max(0.0, float(header)) if header else otherwise
    except ValueError:
        return otherwise
