"""POST to an endpoint, repeated while that makes sense: the one way out, for chat and embeddings."""

from __future__ import annotations

import json
import logging
import math
import threading
import urllib.request
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

import numpy as np

from stressbed import stopping
from stressbed.endpoint.address import is_loopback, joined, secrets_in, shown
from stressbed.endpoint.key import key_in, wrong_key
from stressbed.endpoint.verdict import Fault, Kind, advice, fault_of
from stressbed.errors import StressbedError
from stressbed.fingerprint import text_digest
from stressbed.redaction import excerpt, redacted

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

log = logging.getLogger("stressbed")

T = TypeVar("T")

FIRST_WAIT = 0.5
"""Seconds after the first attempt; each further wait is twice as long."""

CONNECT_SECONDS = 20.0

WORTH_SAYING = 5.0
"""Seconds of waiting from which on the log says why."""


class PassingError(Exception, Generic[T]):
    """An attempt without a good answer; the next one may have it.

    Args:
        words: What happened, without secrets.
        wait: Seconds that the server asks to wait for.
        lost: Whether the server may have worked, and charged, for it.
        otherwise: What counts if all attempts end like this; without it, that is an error.
    """

    def __init__(
        self, words: str, *, wait: float = 0.0, lost: bool = False, otherwise: T | None = None
    ) -> None:
        super().__init__(words)
        self.words, self.wait, self.lost, self.otherwise = words, wait, lost, otherwise


class DeclinedError(Exception):
    """The server declines what is asked of it, whoever asks again.

    Attributes:
        kind: `TOO_LONG`, `TOO_MANY` or `REFUSED`.
        said: The server's words, without secrets.
    """

    def __init__(self, kind: Kind, said: str) -> None:
        super().__init__(said)
        self.kind, self.said = kind, said


@dataclass(frozen=True)
class Patience:
    """How often and how long to try; none of it decides what is answered.

    Attributes:
        tries: Attempts per request.
        wait_scale: Factor on our own waiting times; not on those that a server asks for.
        longest_wait_s: No wait is longer, whoever asks for it.
        timeout_s: Seconds without a sign of the server before an attempt is given up.
    """

    tries: int = 8
    wait_scale: float = 1.0
    longest_wait_s: float = 120.0
    timeout_s: float = 120.0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Patience:
        """Return the patience that options of an entry tell; others are not looked at."""
        names = cls.__dataclass_fields__
        return cls(**{name: value for name, value in options.items() if name in names})


class Connection:
    """An endpoint with its key; for any number of threads.

    Args:
        base_url: Its address; paths are appended.
        api_key_env: Name of the environment variable with the key, if it needs one.
        patience: How often and how long to try.
        concurrency: Connections at once.
        where: Whose endpoint it is, for messages.
        error: Error to raise.
        options: Names of the entry's options, for advice.

    Raises:
        StressbedError: The key is missing or cannot be sent, or the address holds a secret.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key_env: str | None,
        patience: Patience,
        concurrency: int,
        where: str,
        error: type[StressbedError],
        options: Collection[str] = (),
    ) -> None:
        self._base_url, self._patience, self._concurrency = base_url, patience, concurrency
        self.where, self._error, self._options = f"{where}, {shown(base_url)}", error, options
        for what in secrets_in(base_url):
            raise error(
                f"the address holds a secret: {what}",
                where=f"{where}, base_url",
                allowed="`api_key_env` with the name of an environment variable that holds the key",
            )
        self._key = _key(api_key_env, where, error)
        self._hopeless: StressbedError | None = None
        self._lock = threading.Lock()

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        read: Callable[[dict[str, Any]], T],
        on_lost: Callable[[], object] = lambda: None,
    ) -> T:
        """Return what is read from the endpoint's answer.

        Args:
            path: Appended to the address.
            body: The request; lone surrogates in its texts are sent as `?`.
            read: Makes something of the JSON object that came. It raises `PassingError` for one that should
                be asked for again, and the connection's error for one that is of no use.
            on_lost: Called for each attempt that ended without an answer though the server may have worked.

        Raises:
            DeclinedError: The request is too long, holds too many texts, or is refused for what it says.
            StressbedError: The endpoint refused the request, or all attempts failed.
            StoppedError: The job was asked to end before an attempt; none is begun any more.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        rng = np.random.default_rng(int(text_digest("backoff", data.decode("utf-8")), 16))

        def attempt() -> T:
            """Return what one attempt gave."""
            try:
                return read(self._once(path, data, body))
            except PassingError as e:
                if e.lost:
                    on_lost()
                raise

        retrying = Retrying(
            retry=retry_if_exception_type(PassingError),
            stop=stop_after_attempt(self._patience.tries),
            wait=lambda state: self._wait(state, rng),
            sleep=lambda seconds: stopping.wait(seconds, "the requests in flight", where=self.where),
            reraise=True,
        )
        stopping.wait(0, "the requests in flight", where=self.where)
        try:
            return retrying(attempt)
        except PassingError as e:
            if e.otherwise is not None:
                otherwise: T = e.otherwise
                return otherwise
            raise self._error(
                f"the endpoint failed {self._patience.tries} times, last: {e.words}",
                where=self.where,
                do="look whether the server is up, lower `concurrency`, and run again: "
                "finished batches are kept",
            ) from None

    def close(self) -> None:
        """Close the connections."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _wait(self, state: RetryCallState, rng: np.random.Generator) -> float:
        """Return the seconds to wait after an attempt: doubling, with jitter, or what the server asks for."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, PassingError) else 0.0
        longest = self._patience.longest_wait_s
        own = min(longest, FIRST_WAIT * 2 ** (state.attempt_number - 1)) * rng.uniform(0.5, 1.0)
        seconds = float(max(own * self._patience.wait_scale, min(asked, longest)))
        level = logging.INFO if seconds >= WORTH_SAYING else logging.DEBUG
        log.log(level, "%s: %s; next attempt in %.1f s", self.where, error, seconds)
        return seconds

    def _once(self, path: str, data: bytes, body: Mapping[str, object]) -> dict[str, Any]:
        """Return the JSON object of one attempt.

        Raises:
            PassingError: No answer, none that is JSON, or an error that may pass.
            DeclinedError: See `post`.
            StressbedError: The endpoint refused the request for good.
        """
        if self._hopeless is not None:  # the same key and address: asking a thousand times more helps nobody
            raise self._hopeless
        answer = self._sent(path, data)
        text = answer.text
        if answer.is_redirect or 300 <= answer.status_code < 400:
            raise self._redirected(answer)
        fault = fault_of(answer.status_code, text)
        if fault is not None:
            raise self._of(fault, answer, body)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            what = "without JSON" if found is None else "with something else than an object"
            raise PassingError(f"status {answer.status_code} {what}: {excerpt(text)}", lost=True)
        return found

    def _sent(self, path: str, data: bytes) -> httpx.Response:
        """Return the response to one attempt."""
        import httpx

        try:
            return self._ready.post(joined(self._base_url, path), content=data)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError) as e:
            # Raised without its cause: h11 shows a header that it refuses, and with it the key.
            raise self._error(
                f"the request cannot be sent: {redacted(str(e))}", where=self.where, do="correct `base_url`"
            ) from None
        except httpx.RequestError as e:
            words = f"{type(e).__name__}: {redacted(str(e))}{self._proxy_words()}"
            raise PassingError(words, lost=True) from None

    def _of(self, fault: Fault, answer: httpx.Response, body: Mapping[str, object]) -> Exception:
        """Return what to raise for an endpoint's error."""
        if fault.kind is Kind.PASSING:
            return PassingError(fault.said, wait=asked_wait(answer.headers))
        if fault.kind is not Kind.FINAL:
            return DeclinedError(fault.kind, fault.said)
        error = self.refusal(fault.said, do=advice(fault, body, self._options))
        if fault.status in {401, 402, 404}:
            self._hopeless = error
        return error

    def refusal(self, said: str, *, do: str) -> StressbedError:
        """Return the error of a request that the endpoint refused."""
        return self._error(f"the endpoint refused the request with {said}", where=self.where, do=do)

    def _redirected(self, answer: httpx.Response) -> StressbedError:
        """Return the error of an answer that sends elsewhere: neither key nor texts follow by themselves."""
        target = shown(answer.headers.get("location", "")) or "an address that it does not name"
        return self._error(
            f"the endpoint redirects (status {answer.status_code}) to {redacted(target)}; "
            "nothing was sent there",
            where=self.where,
            do="if that address is the right one, write it into `base_url`",
        )

    def _proxy_words(self) -> str:
        """Return words about the proxy that requests go through, if one does."""
        parts = urlsplit(self._base_url)
        if is_loopback(self._base_url) or urllib.request.proxy_bypass(parts.netloc):
            return ""
        proxies = urllib.request.getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        return f" (through the proxy {shown(proxy)} of the environment)" if proxy else ""

    @property
    def _ready(self) -> httpx.Client:
        with self._lock:  # threads share one
            return self._client

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        logging.getLogger("httpx").setLevel(logging.WARNING)
        if not is_loopback(self._base_url):
            host = urlsplit(self._base_url).hostname
            log.warning("%s: texts leave this machine: they are sent to %s", self.where, host)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        n = self._concurrency
        try:
            return httpx.Client(
                headers=headers,
                timeout=httpx.Timeout(self._patience.timeout_s, connect=CONNECT_SECONDS),
                limits=httpx.Limits(max_connections=n, max_keepalive_connections=n),
                follow_redirects=False,
                trust_env=not is_loopback(self._base_url),
            )
        except (ValueError, ImportError, httpx.InvalidURL) as e:
            raise self._error(
                f"the environment's proxy cannot be used: {redacted(str(e))}",
                where=self.where,
                do="correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or name the host in NO_PROXY",
            ) from None


def asked_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds that an answer's headers ask to wait for, 0 if they do not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                when = parsedate_to_datetime(value)
            except (ValueError, OverflowError):
                continue
            seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - datetime.now(
                UTC
            ).timestamp()
        return 0.0 if math.isnan(seconds) else max(seconds, 0.0)
    return 0.0


def _key(name: str | None, where: str, error: type[StressbedError]) -> str:
    """Return the key that a variable holds, empty where none is named.

    Raises:
        StressbedError: The variable is empty, or holds something that cannot be sent.
    """
    if name is None:
        return ""
    key = key_in(name)
    if not key:
        raise error(
            f"the environment variable {name} is not set, or is empty",
            where=f"{where}, key 'api_key_env'",
            do=f"export {name}=... with the endpoint's key",
        )
    if problem := wrong_key(key):
        raise error(
            f"the environment variable {name} holds no key that can be sent: {problem}",
            where=f"{where}, key 'api_key_env'",
            do=f"export {name} anew, with the key alone",
        )
    return key
