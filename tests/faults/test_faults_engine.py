"""Engines and endpoints that fail in the middle of a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loopback_endpoint import Endpoint, Reply, chat
from staged import Run

from stressbed.embed.embedders.baseline import RandomEmbedder
from stressbed.generate.engines.fake import FakeEngine

OUT_OF_MEMORY = [
    MemoryError(),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:119] DefaultCPUAllocator: can't allocate memory: you tried"),
]


def failing_from(number: int, error: BaseException) -> Callable[..., Any]:
    """Return `complete` of an engine that breaks from its n-th batch on."""
    real = FakeEngine.complete
    calls = [0]

    def complete(self: FakeEngine, *args: Any) -> Any:
        calls[0] += 1
        if calls[0] >= number:
            raise error
        return real(self, *args)

    return complete


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=["python", "cuda", "cpu"])
def test_a_generator_that_runs_out_of_memory_says_what_to_lower(run: Run, error: Exception) -> None:
    run.until("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeEngine, "complete", failing_from(3, error))
        ended = run.job("generate")
    assert ended.code == 1
    assert "memory ran out for a batch of 4 requests" in ended.said
    assert "lower `batch_size`" in ended.said
    assert "Traceback" not in ended.said
    assert run.job("generate").counters["sent"] == 24 - 8


def test_an_error_of_the_program_keeps_its_traceback_and_the_batches(run: Run) -> None:
    run.until("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeEngine, "complete", failing_from(3, RuntimeError("device-side assert triggered")))
        ended = run.job("generate")
    assert ended.code == 1
    assert "Traceback" in ended.said
    assert "device-side assert" in ended.said
    assert run.job("generate").counters["sent"] == 24 - 8


def test_an_embedder_that_runs_out_of_memory_goes_on_with_smaller_batches(run: Run, finished: Run) -> None:
    real = RandomEmbedder.encode

    def encode(self: RandomEmbedder, strings: list[str], **more: Any) -> Any:
        if len(strings) > 1:
            raise MemoryError
        return real(self, strings, **more)

    run.until("transform")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RandomEmbedder, "encode", encode)
        ended = run.job("embed")
    assert ended.code == 0
    assert ended.counters["peak_batch"] == 1
    assert "memory ran out with 4 strings at once; going on with 2" in ended.said
    assert run.files("embeddings") == finished.files("embeddings")


def test_vectors_that_are_no_numbers_stop_the_job_and_name_the_string(run: Run, finished: Run) -> None:
    real = RandomEmbedder.encode

    def encode(self: RandomEmbedder, strings: list[str], **more: Any) -> Any:
        vectors = real(self, strings, **more)
        vectors[["bread" in s for s in strings]] = np.nan
        return vectors

    run.until("transform")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RandomEmbedder, "encode", encode)
        ended = run.job("embed")
    assert ended.code == 1
    assert "vectors hold NaN or an infinity" in ended.said
    assert "bread" in ended.said
    assert "Traceback" not in ended.said
    again = run.job("embed")
    assert again.counters["encoded"] < 36  # the batches before it were kept
    assert run.files("embeddings") == finished.files("embeddings")


def at_endpoint(run: Run, endpoint: Endpoint, **options: Any) -> None:
    run.until("texts")
    run.catalogue(
        "generators", engine="openai", base_url=endpoint.url, model="m", concurrency=4, batch_size=8,
        engine_options={"wait_scale": 0.002, "tries": 6, **options},
    )  # fmt: skip


def said(body: dict[str, Any]) -> Reply:
    return chat(body["messages"][-1]["content"].rpartition("\n\n")[2].upper())


@pytest.mark.parametrize(
    "reply",
    [
        Reply(429, '{"error": "rate limit"}', {"retry-after": "0.01"}),
        Reply(500, "internal error"),
        Reply(503, "overloaded"),
        Reply(200, "<html>a proxy's page</html>"),
        Reply(200, '{"choices": [{"mess'),
        Reply(200, '{"choices": []', {"content-length": "400"}),
        Reply(hang_up=True),
    ],
    ids=["429", "500", "503", "a page", "half an answer", "stalled", "hung up"],
)
def test_a_burst_of_failures_is_waited_out_and_nothing_is_asked_twice(
    run: Run, endpoint: Endpoint, reply: Reply
) -> None:
    """The 5th to the 16th requests fail, whatever they ask."""
    at_endpoint(run, endpoint, timeout_s=0.5)
    endpoint.rule = lambda body, n: reply if 4 < len(endpoint.bodies) <= 16 else said(body)
    ended = run.job("generate")
    assert ended.code == 0, ended.said
    assert ended.counters["sent"] == 24
    assert len(endpoint.bodies) == 24 + 12


def test_an_endpoint_that_stays_silent_times_out_and_what_it_answered_is_kept(
    run: Run, endpoint: Endpoint
) -> None:
    at_endpoint(run, endpoint, timeout_s=0.3, tries=2)
    endpoint.rule = lambda body, n: Reply(delay=1.5) if len(endpoint.bodies) > 12 else said(body)
    ended = run.job("generate")
    assert ended.code == 1
    assert "the endpoint failed 2 times, last: ReadTimeout" in ended.said
    assert "look whether the server is up" in ended.said
    assert "Traceback" not in ended.said
    asked = len(endpoint.bodies)
    endpoint.rule = lambda body, n: said(body)
    again = run.job("generate")
    assert again.code == 0
    assert again.counters["reused"] == 12
    assert len(endpoint.bodies) - asked == 12


def test_a_server_that_asks_for_a_year_is_waited_for_no_longer_than_is_set(
    run: Run, endpoint: Endpoint
) -> None:
    """A date in `Retry-After` is compared with this machine's clock, which may be wrong."""
    at_endpoint(run, endpoint, longest_wait_s=0.2)
    far = {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}
    endpoint.rule = lambda body, n: Reply(429, "wait", far) if len(endpoint.bodies) == 1 else said(body)
    ended = run.job("generate")
    assert ended.code == 0
    assert 0.2 <= endpoint.times[-1] - endpoint.times[0] < 10
