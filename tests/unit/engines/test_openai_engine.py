"""The engine `openai` against a loopback endpoint that misbehaves in every way we know."""

from __future__ import annotations

import itertools
import logging
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback_endpoint import Reply, chat

from stressbed.endpoint.address import is_loopback
from stressbed.errors import EngineError, IncompleteBatchError
from stressbed.generate.request import ChatRequest

FAST = {"wait_scale": 0.01, "tries": 5}


def ask(text: str, **kw) -> ChatRequest:
    return ChatRequest((("user", text),), kw.pop("max_tokens", 20), **kw)


@pytest.fixture
def make(opened):
    """Open an engine that waits little."""

    def _make(engine_options=None, **kw):
        return opened(engine_options={**FAST, **(engine_options or {})}, **kw)

    return _make


def run(engine, requests):
    return engine.complete(requests, [f"k{i}" for i in range(len(requests))])


def test_answers_come_in_order_with_bounded_concurrency(endpoint, make):
    endpoint.rule = lambda body, n: Reply(
        **{
            **vars(chat(body["messages"][0]["content"][::-1])),
            "delay": 0.05 if "0" in body["messages"][0]["content"] else 0.02,
        }
    )
    out = run(make(concurrency=3), [ask(f"text {i}") for i in range(12)])
    assert [c.text for c in out] == [f"text {i}"[::-1] for i in range(12)]
    assert [c.key for c in out] == [f"k{i}" for i in range(12)]
    assert 2 <= endpoint.most_in_flight <= 3


def test_the_body_holds_what_the_request_says(endpoint, make):
    request = ChatRequest((("system", "Be brief."), ("user", "hé \ud800!")), 33, 0.7, 0.9, 2, 7)
    engine = make(
        engine_options={
            "reasoning_effort": "none",
            "limit_field": "max_completion_tokens",
            "template_enable_thinking": False,
        }
    )
    run(engine, [request, ask("plain")])
    body = next(b for b in endpoint.bodies if len(b["messages"]) == 2)
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hé ?!"}],
        "max_completion_tokens": 33,
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "none",
        "chat_template_kwargs": {"enable_thinking": False},
    }
    plain = next(b for b in endpoint.bodies if len(b["messages"]) == 1)
    assert "seed" not in plain
    assert plain["temperature"] == 0
    assert "top_p" not in plain  # at the interface's own default: some models refuse the very name


def test_finish_reasons_and_usage(endpoint, make):
    replies = {
        "a": chat("x", "length", {"prompt_tokens": 11, "completion_tokens": 5}),
        "b": chat("y" * 7, "stop"),
        "c": chat("", "content_filter", {"prompt_tokens": 3, "completion_tokens": 0}),
    }
    endpoint.rule = lambda body, n: replies[body["messages"][0]["content"]]
    a, b, c = run(make(), [ask("a"), ask("b"), ask("c")])
    assert (a.text, a.finish, a.tokens_in, a.tokens_out) == ("x", "length", 11, 5)
    assert (b.finish, b.tokens_in, b.tokens_out) == ("stop", 1, 3)  # estimated: a third of the characters
    assert (c.text, c.finish, c.tokens_out) == ("", "filtered", 0)


def test_a_null_content_is_an_empty_answer(endpoint, make):
    endpoint.rule = lambda body, n: Reply(
        body='{"choices": [{"message": {"role": "assistant", "content": null}, "finish_reason": "stop"}]}'
    )
    assert run(make(), [ask("a")])[0].text == ""


@pytest.mark.parametrize(
    "trouble",
    [
        Reply(429, '{"error": "slow down"}'),
        Reply(500, "oops"),
        Reply(503, "starting"),
        Reply(200, "<html>proxy</html>"),
        Reply(200, "[1]"),
        Reply(hang_up=True),
    ],
    ids=["429", "500", "503", "html", "list", "hang-up"],
)
def test_passing_trouble_is_waited_out(endpoint, make, trouble):
    endpoint.rule = lambda body, n: trouble if n < 3 else chat("fine")
    out = run(make(), [ask("a"), ask("b")])
    assert [c.text for c in out] == ["fine", "fine"]
    assert len(endpoint.bodies) == 8


def test_a_slow_answer_is_asked_for_again(endpoint, make):
    endpoint.rule = lambda body, n: Reply(delay=1.0) if n == 0 else chat("fine")
    assert run(make(engine_options={"timeout_s": 0.2}), [ask("a")])[0].text == "fine"
    assert len(endpoint.bodies) == 2


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds", "never"])
def test_retry_after_is_honoured(endpoint, make, form, status):
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    header = {
        "seconds": {"retry-after": "0.3"},
        "date": {"retry-after": when},  # more than the longest wait that is set
        "milliseconds": {"retry-after-ms": "300", "retry-after": "60"},
        "never": {"retry-after": "86400"},
    }[form]
    endpoint.rule = lambda body, n: Reply(status, "wait", header) if n == 0 else chat("fine")
    run(make(engine_options={"longest_wait_s": 0.35}), [ask("a")])  # our own waits: a hundredth
    waited = endpoint.times[1] - endpoint.times[0]
    assert waited >= (0.3 if form in {"seconds", "milliseconds"} else 0.35)
    assert waited < 1


def test_backoff_grows_and_differs_between_requests(endpoint, make):
    endpoint.rule = lambda body, n: Reply(500, "x")
    with pytest.raises(EngineError):
        run(make(engine_options={"wait_scale": 0.05, "tries": 5}, concurrency=1), [ask("a"), ask("b")])
    gaps = [y - x for x, y in itertools.pairwise(endpoint.times)]
    first, second = gaps[:4], gaps[5:]
    assert first[3] > 2 * first[0]
    assert max(abs(x - y) for x, y in zip(first, second, strict=True)) > 0.003


def test_a_request_that_fails_for_good_leaves_the_others_answers(endpoint, make):
    endpoint.rule = lambda body, n: (
        Reply(400, "no such parameter") if body["messages"][0]["content"] == "bad" else chat("fine")
    )
    with pytest.raises(IncompleteBatchError, match="1 of 4 requests failed") as e:
        run(make(), [ask("a"), ask("bad"), ask("c"), ask("d")])
    assert [c.key for c in e.value.done] == ["k0", "k2", "k3"]
    assert "status 400" in str(e.value)
    assert "no such parameter" in str(e.value)


def test_repeated_failure_names_status_and_body(endpoint, make):
    endpoint.rule = lambda body, n: Reply(502, "bad gateway " * 100)
    with pytest.raises(EngineError, match=r"failed 5 times, last: status 502: bad gateway") as e:
        run(make(), [ask("a")])
    assert len(endpoint.bodies) == 5
    assert len(str(e.value)) < 800


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "api_key_env"), (403, "another key"), (404, "base_url")]
)
def test_refusals_say_what_to_do_and_are_not_repeated(endpoint, make, status, remedy):
    endpoint.rule = lambda body, n: Reply(status, "no")
    with pytest.raises(EngineError, match=remedy):
        run(make(), [ask("a")])
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, '{"error": {"code": "context_length_exceeded", "message": "..."}}'),
        (400, "This model's maximum context length is 1024 tokens. However, you requested 2000 tokens"),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "The decoder prompt (length 2000) is longer than the maximum model length of 1024."),
        (413, "payload too large"),
    ],
)
def test_a_prompt_that_does_not_fit_is_an_outcome(endpoint, make, status, words):
    endpoint.rule = lambda body, n: Reply(status, words)
    (out,) = run(make(), [ask("x" * 30)])
    assert (out.text, out.finish, out.tokens_in, out.tokens_out) == ("", "too_long", 10, 0)


def test_the_key_is_sent_and_never_shown(endpoint, make, monkeypatch, caplog):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    endpoint.rule = lambda body, n: Reply(401, "bad key sk-very-secret")
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EngineError) as e:
        run(make(api_key_env="MY_KEY"), [ask("a")])
    assert endpoint.headers[0]["authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in str(e.value) + repr(e.value.args) + caplog.text


def test_a_missing_key_is_named(make, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(EngineError, match="MY_KEY"):
        make(api_key_env="MY_KEY")


def test_an_address_is_needed(make):
    with pytest.raises(EngineError, match="needs an address"):
        make(base_url=None)


def test_nobody_at_home(make):
    with pytest.raises(EngineError, match="ConnectError"):
        run(make(base_url="http://127.0.0.1:9/v1", engine_options={"tries": 2}), [ask("a")])


def test_something_else_answers(endpoint, make):
    endpoint.rule = lambda body, n: Reply(body='{"hello": "world"}')
    with pytest.raises(EngineError, match="no chat completion"):
        run(make(), [ask("a")])


def test_texts_that_leave_the_machine_are_announced_once(make, caplog):
    local = make()
    run(local, [ask("a")])
    assert "leave this machine" not in caplog.text
    away = make(base_url="http://llm.invalid/v1", engine_options={"tries": 1})
    for _ in range(2):
        with pytest.raises(EngineError):
            run(away, [ask("a")])
    assert caplog.text.count("texts leave this machine: they are sent to llm.invalid") == 1


@pytest.mark.parametrize(
    ("address", "own"),
    [("http://127.0.0.1:80/v1", True), ("http://localhost/v1", True), ("http://[::1]:8/v1", True),
     ("http://10.0.0.1/v1", False), ("https://api.example.org/v1", False)],
)  # fmt: skip
def test_loopback(address, own):
    assert is_loopback(address) is own


PRICED = {"price_in": 1000.0, "price_out": 2000.0}


def test_the_cap_stops_before_it_is_exceeded(endpoint, make):
    endpoint.rule = lambda body, n: chat("x", usage={"prompt_tokens": 10, "completion_tokens": 5})
    # Worst case of a request: 1 + 16 bytes in, 20 tokens out: 0.057; its real cost: 0.02.
    engine = make(**PRICED, spending_cap=0.14)
    run(engine, [ask("a"), ask("b")])
    run(engine, [ask("c")])
    with pytest.raises(EngineError, match=r"0\.0600 of the cap of 0\.1400 are spent"):
        run(engine, [ask("d"), ask("e")])
    assert len(endpoint.bodies) == 3
    run(engine, [ask("d")])


def test_the_cap_holds_over_processes_and_lost_answers(endpoint, make):
    endpoint.rule = lambda body, n: (
        Reply(hang_up=True) if n == 0 else chat("x", usage={"prompt_tokens": 10, "completion_tokens": 5})
    )
    run(make(**PRICED, spending_cap=0.14), [ask("a")])  # one lost attempt at its worst, one answer: 0.077
    with pytest.raises(EngineError, match=r"0\.0770 of the cap"):
        run(make(**PRICED, spending_cap=0.13), [ask("b")])


def test_the_cap_holds_between_jobs_at_the_same_time(endpoint, make):
    endpoint.rule = lambda body, n: Reply(**{**vars(chat("x")), "delay": 0.4})
    engines = [make(**PRICED, spending_cap=0.1) for _ in range(2)]
    stopped = []

    def job(engine):
        try:
            run(engine, [ask("a")])
        except EngineError as e:
            stopped.append(e)

    jobs = [threading.Thread(target=job, args=(e,)) for e in engines]
    for j in jobs:
        j.start()
    for j in jobs:
        j.join()
    assert len(stopped) == 1
    assert len(endpoint.bodies) == 1


def test_a_cap_needs_prices(make):
    with pytest.raises(EngineError, match="needs prices"):
        make(spending_cap=1.0)


def test_tokens_are_estimated_by_characters(make):
    assert make().count_tokens(["", "abc", "abcd"]) == [0, 1, 2]
