"""What chat endpoints answer: only a finished text passes for one, and nothing damaged is kept."""

from __future__ import annotations

import json
import math

import pytest
from loopback_endpoint import Reply, chat

from stressbed.endpoint.connection import asked_wait
from stressbed.errors import EngineError, IncompleteBatchError
from stressbed.generate.asking import LazyEngine, ask_once
from stressbed.generate.completions import CompletionStore
from stressbed.generate.request import ChatRequest, Completion
from stressbed.select.judge import read_answer
from stressbed.stopping import Stop

FAST = {"wait_scale": 0.001, "tries": 3}
USAGE = {"prompt_tokens": 9, "completion_tokens": 4}


def ask(text="a", **kw):
    return ChatRequest((("user", text),), kw.pop("max_tokens", 20), **kw)


def answer(content="fine", finish="stop", message=None, **choice):
    said = {"role": "assistant", "content": content, **(message or {})}
    body = {"choices": [{"index": 0, "message": said, "finish_reason": finish, **choice}], "usage": USAGE}
    return Reply(body=json.dumps(body))


@pytest.fixture
def make(opened):
    def _make(engine_options=None, **kw):
        return opened(engine_options={**FAST, **(engine_options or {})}, **kw)

    return _make


def one(engine, request=None):
    (found,) = engine.complete([request or ask()], ["k"])
    return found


@pytest.mark.parametrize(
    "reply",
    [
        answer("Put oth", "error"),
        answer("Put oth", "stop", error={"code": 502, "message": "upstream"}),
        answer("Put oth", None),
        answer("Put oth", "abort"),
        answer("Put oth", {"type": "stop"}),
        answer(None, "tool_calls", {"tool_calls": [{"id": "1"}]}),
        Reply(body='{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Put oth"}}]}'),
        Reply(body='{"choices": [], "usage": {}}'),
    ],
    ids=["error", "choice-error", "null", "unknown", "no-word", "tool-calls", "missing", "no-choices"],
)
def test_an_answer_without_a_good_end_is_asked_again_and_never_a_text(endpoint, make, reply):
    endpoint.rule = lambda body, n: reply if n < 2 else chat("fine")
    assert one(make()).text == "fine"
    assert len(endpoint.bodies) == 3
    endpoint.rule = lambda body, n: reply
    found = one(make(), ask("always"))
    assert (found.text, found.finish, found.tokens_out) == ("", "broken", 0)
    assert len(endpoint.bodies) == 3 + 3


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (answer("Put", "content_filter"), "filtered"),
        (answer(None, "stop", {"refusal": "I can't help with that."}), "refused"),
        (answer([{"type": "refusal", "refusal": "No."}], "stop"), "refused"),
        (answer("I can't help with that.", "stop", {"refusal": "I can't help with that."}), "refused"),
        (answer("Put", "content_filter: SAFETY"), "filtered"),
        (answer("Put", "PROHIBITED_CONTENT"), "filtered"),
        (answer("Put", "sensitive"), "filtered"),
        (Reply(200, '[{"error": {"code": 400, "message": "blocked by the safety filter"}}]'), "refused"),
        (answer(None, "refusal"), "refused"),
        (Reply(400, '{"error": {"message": "x", "param": "prompt", "code": "content_filter"}}'), "refused"),
        (Reply(400, '{"error": {"message": "Content Exists Risk", "type": "invalid_request"}}'), "refused"),
        (Reply(400, '{"error": {"code": "x", "message": "violating our usage policy"}}'), "refused"),
        (Reply(403, '{"error": {"code": 403, "message": "requires moderation", "metadata": {}}}'), "refused"),
        (Reply(200, '{"error": {"code": "content_filter", "message": "no"}}'), "refused"),
        (Reply(500, '{"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}'), "refused"),
    ],
)  # fmt: skip
def test_a_text_that_is_refused_is_an_outcome_and_the_others_are_answered(
    endpoint, make, caplog, reply, finish
):
    endpoint.rule = lambda body, n: reply if "knife" in body["messages"][0]["content"] else chat("fine")
    found = make().complete([ask("a"), ask("a knife"), ask("c")], ["k0", "k1", "k2"])
    assert [(c.text, c.finish) for c in found] == [("fine", "stop"), ("", finish), ("fine", "stop")]
    assert len(endpoint.bodies) == 3
    assert "1 requests were" in caplog.text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "thinking", "thinking": [{"type": "text"}]}, {"type": "text", "text": "fine"}],
         "fine"),
        ([{"type": "text", "text": "fi"}, {"type": "output_text", "text": "ne"}], "fine"),
        (["fi", "ne"], "fine"),
        ([], ""),
        (None, ""),
    ],
)  # fmt: skip
def test_the_text_parts_of_an_answer_are_its_text(endpoint, make, content, text):
    endpoint.rule = lambda body, n: answer(content)
    assert one(make()).text == text


@pytest.mark.parametrize(
    "content",
    [{"text": "a"}, 5, True, [["a"]], [{"text": "a"}], [{"type": "text", "text": ["a"]}],
     [{"type": "text"}], [None]],
)  # fmt: skip
def test_content_that_is_no_text_is_refused_before_it_is_stored(endpoint, make, tmp_path, content):
    requests = {r.key("g"): r for r in (ask("good"), ask("bad"))}
    bad = True
    endpoint.rule = lambda body, n: (
        answer(content) if bad and body["messages"][0]["content"] == "bad" else answer("fine")
    )
    store = CompletionStore(tmp_path / "completions")
    how = {"store": store, "stop": Stop(), "batch_size": 4, "length": lambda r: 1, "name": "case"}
    with pytest.raises(IncompleteBatchError, match="the content of the endpoint's answer is no text"):
        ask_once(requests, engine=LazyEngine(make), **how)
    assert [c.text for c in store.get_many(requests).values()] == ["fine"]
    bad = False
    found, tally = ask_once(requests, engine=LazyEngine(make), **how)
    assert [c.text for c in found.values()] == ["fine", "fine"]
    assert (tally.reused, tally.sent) == (1, 1)


def test_broken_answers_are_not_kept_and_refused_ones_are(endpoint, make, tmp_path):
    requests = {r.key("g"): r for r in (ask("good"), ask("broken"), ask("refused"))}
    replies = {"good": answer(), "broken": answer("x", "error"), "refused": answer("x", "content_filter")}
    endpoint.rule = lambda body, n: replies[body["messages"][0]["content"]]
    store = CompletionStore(tmp_path / "completions")
    found, _ = ask_once(
        requests, store=store, engine=LazyEngine(make), stop=Stop(), batch_size=4,
        length=lambda r: 1, name="case",
    )  # fmt: skip
    assert [c.finish for c in found.values()] == ["stop", "broken", "filtered"]
    assert [c.finish for c in store.get_many(requests).values()] == ["stop", "filtered"]


def test_lists_that_an_older_version_kept_are_asked_for_again(tmp_path):
    """Line by line: what is no text counts as not there, whichever batch comes first."""
    store = CompletionStore(tmp_path)
    keys = [ask(t).key("g") for t in "abc"]
    parts = [{"type": "text", "text": "x"}]
    store.put_batch([Completion(keys[0], parts, "stop", 1, 1), Completion(keys[1], "fine", "stop", 1, 1)])  # type: ignore[arg-type]
    assert list(CompletionStore(tmp_path).get_many(keys)) == [keys[1]]
    store.put_batch([Completion(keys[0], "new", "stop", 1, 1)])
    assert CompletionStore(tmp_path).get_many(keys)[keys[0]].text == "new"


def test_thinking_that_used_up_the_limit_is_cut_and_said(endpoint, make, caplog):
    endpoint.rule = lambda body, n: answer(None, "length", {"reasoning_content": "hm " * 50})
    found = one(make())
    assert (found.text, found.finish) == ("", "length")
    assert "1 answers reached their limit while the model still thought" in caplog.text


@pytest.mark.parametrize(
    "usage",
    [None, [], "x", {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": 1.5},
     {"prompt_tokens": 10**30, "completion_tokens": 2**31}],
)  # fmt: skip
def test_counts_that_are_none_are_estimated(endpoint, make, usage):
    body = {"choices": [{"message": {"content": "abcdef"}, "finish_reason": "stop"}], "usage": usage}
    endpoint.rule = lambda b, n: Reply(body="  \n\n  " + json.dumps(body))
    found = one(make(), ask("abc"))
    assert (found.text, found.tokens_in, found.tokens_out) == ("abcdef", 1, 2)


@pytest.mark.parametrize("finish", ["refused", "filtered", "broken", "too_long"])
def test_a_judge_that_does_not_answer_gives_no_rating_and_says_why(finish):
    found = read_answer(Completion("k", "", finish, 1, 0), [1, 2, 3], "choice")
    assert found.choice is None
    assert found.reason == finish


@pytest.mark.parametrize(
    ("options", "request_", "sent"),
    [
        ({}, ask(), {"temperature": 0}),
        ({}, ask(temperature=1.0, top_p=1.0), {}),
        ({}, ask(temperature=0.7, top_p=0.9, seed=3), {"temperature": 0.7, "top_p": 0.9, "seed": 3}),
        ({"top_p": None, "seed": None}, ask(temperature=0.7, top_p=0.9, seed=3), {"temperature": 0.7}),
        ({"temperature": None}, ask(), {}),
        ({"top_p": 1.0}, ask(), {"temperature": 0, "top_p": 1.0}),
    ],
)
def test_defaults_and_what_is_null_are_not_sent(endpoint, make, options, request_, sent):
    endpoint.rule = lambda body, n: answer()
    one(make(options), request_)
    assert {
        k: endpoint.bodies[0][k] for k in ("temperature", "top_p", "seed") if k in endpoint.bodies[0]
    } == sent


@pytest.mark.parametrize(
    ("said", "options", "advice"),
    [
        ("'max_tokens' is not supported with this model. Use 'max_completion_tokens'", {},
         "engine_options: {limit_field: max_completion_tokens}"),
        ("'temperature' does not support 0 with this model. Only the default (1) value is supported.", {},
         "engine_options: {temperature: null}"),
        ("`temperature` and `top_p` cannot both be specified for this model.", {},
         "engine_options: {top_p: null, temperature: null}` (or only one of them)"),
        ("unknown field reasoning_effort", {"reasoning_effort": "low"}, "correct 'reasoning_effort' in"),
    ],
)  # fmt: skip
def test_advice_names_the_key(endpoint, make, said, options, advice):
    endpoint.rule = lambda body, n: Reply(400, json.dumps({"error": {"message": said, "type": "x"}}))
    with pytest.raises(EngineError) as e:
        one(make(options), ask(temperature=0.7, top_p=0.9))
    assert advice in e.value.do


@pytest.mark.parametrize(
    ("body", "tries"),
    [
        ({"error": {"code": 502, "message": "Provider returned error"}}, 2),
        ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, 2),
        ({"error": "something"}, 2),
        ({"object": "error", "message": "internal error", "code": 500}, 2),
        ({"error": {"code": 502, "message": "late"}, "choices": [{"message": {"content": "Put"}}]}, 2),
        ({"error": {"code": 429.0, "message": "x"}}, 2),
        ({"error": True, "message": "late"}, 2),
        ([{"error": {"code": 503, "message": "late"}}], 2),
        ({"errors": [{"message": "overloaded"}]}, 2),
        ({"detail": "overloaded"}, 2),
        ({"code": "503", "msg": "busy", "choices": None}, 2),
        ({"type": "error", "message": "overloaded"}, 2),
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}, "choices": None}, 2),
    ],
)
def test_an_error_within_a_good_answer_is_tried_again(endpoint, make, body, tries):
    endpoint.rule = lambda b, n: Reply(200, json.dumps(body)) if n < tries else answer()
    assert one(make()).text == "fine"
    assert len(endpoint.bodies) == tries + 1


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        ({"error": {"code": 401, "message": "no"}}, "api_key_env"),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, "engine_options"),
        ({"error": {"code": "insufficient_quota", "message": "no", "type": "insufficient_quota"}}, ""),
        ({"error": {"code": "404", "message": "no such model"}}, "base_url"),
        ({"error": True, "message": "invalid api key"}, "api_key_env"),
        ({"detail": "Unauthorized"}, "api_key_env"),
        ([{"error": {"code": 401}}], "api_key_env"),
    ],
)
def test_a_final_error_within_a_good_answer_is_final(endpoint, make, body, remedy):
    endpoint.rule = lambda b, n: Reply(200, json.dumps(body))
    with pytest.raises(EngineError, match="refused the request with status") as e:
        one(make())
    assert remedy in e.value.do
    assert len(endpoint.bodies) == 1


def test_of_several_answers_the_first_by_number_is_taken(endpoint, make):
    said = [{"index": i, "message": {"content": f"text {i}"}, "finish_reason": "stop"} for i in (1, 0)]
    endpoint.rule = lambda b, n: Reply(body=json.dumps({"choices": said}))
    assert one(make()).text == "text 0"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("7", 7), ("-7", 0), ("inf", math.inf), ("nan", 0), ("soon", 0), ("", 0),
     ("Mon, 05 Jan 2026 00:00:00 +99999999999999999999", 0), ("Mon, 05 Jan 0001 00:00:00 GMT", 0)],
)  # fmt: skip
def test_no_word_about_waiting_ends_a_job(asked, seconds):
    assert asked_wait({"retry-after": asked}) == seconds


def test_a_wrong_key_is_not_tried_with_every_request(endpoint, make):
    endpoint.rule = lambda body, n: Reply(401, "no")
    with pytest.raises(IncompleteBatchError, match="50 of 50 requests failed"):
        make(concurrency=2).complete([ask(str(i)) for i in range(50)], [f"k{i}" for i in range(50)])
    assert len(endpoint.bodies) <= 2


def test_every_answer_is_told_as_it_comes(endpoint, make):
    endpoint.rule = lambda body, n: (
        answer("x", "content_filter") if "0" in body["messages"][0]["content"] else answer()
    )
    seen = []
    engine = make()
    engine.watch(seen.append)
    engine.complete([ask(str(i)) for i in range(12)], [f"k{i}" for i in range(12)])
    assert seen == [1] * 12
