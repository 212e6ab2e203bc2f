"""Ratings from an endpoint: how it is told the choices, what is read off, and trouble on the way."""

from __future__ import annotations

import json
import math

import pytest
from loopback_endpoint import Reply, chat

from stressbed.errors import IncompleteBatchError
from stressbed.fingerprint import text_digest
from stressbed.generate.asking import LazyEngine, ask_once
from stressbed.generate.completions import CompletionStore
from stressbed.generate.request import ChatRequest
from stressbed.stopping import Stop

SCALE = ("1", "2", "3", "4", "5")


def rating(i=0, **kw):
    return ChatRequest((("user", f"Rate text {i}."),), 16, choices=SCALE, **kw)


@pytest.fixture
def make(opened):
    """Open an engine that tries often and waits little."""

    def _make(engine_options=None, **kw):
        return opened(engine_options={"wait_scale": 0.002, "tries": 12, **(engine_options or {})}, **kw)

    return _make


def with_logprobs(text, tokens):
    answer = json.loads(chat(text).body)
    top = [{"token": t, "logprob": math.log(p)} for t, p in tokens.items()]
    answer["choices"][0]["logprobs"] = {"content": [{"token": text, "top_logprobs": top}]}
    return Reply(body=json.dumps(answer))


@pytest.mark.parametrize("guided", ["auto", "none"])
def test_without_a_way_to_guide_the_answer_is_free(endpoint, make, guided):
    endpoint.rule = lambda body, n: chat("I would say 4.")
    (answer,) = make().complete([rating(guided=guided)], ["k"])
    assert (answer.text, answer.probabilities) == ("I would say 4.", None)
    assert not {"structured_outputs", "response_format", "logprobs"} & endpoint.bodies[0].keys()


def test_vllms_field_and_the_probabilities_of_the_first_token(endpoint, make):
    endpoint.rule = lambda body, n: with_logprobs("4", {"4": 0.5, "5": 0.25, "\n": 0.2, "3": 0.05})
    (answer,) = make().complete([rating(guided="structured_outputs")], ["k"])
    assert endpoint.bodies[0]["structured_outputs"] == {"choice": list(SCALE)}
    assert endpoint.bodies[0]["logprobs"] is True
    assert answer.text == "4"
    assert answer.probabilities == pytest.approx((0, 0, 0.0625, 0.625, 0.3125))


@pytest.mark.parametrize(
    "broken", [None, {}, {"content": []}, {"content": [{"top_logprobs": [{"token": "4"}]}]}]
)
def test_a_rating_counts_though_its_probabilities_are_missing(endpoint, make, broken):
    def rule(body, n):
        answer = json.loads(chat("4").body)
        answer["choices"][0]["logprobs"] = broken
        return Reply(body=json.dumps(answer))

    endpoint.rule = rule
    (answer,) = make().complete([rating(guided="structured_outputs")], ["k"])
    assert (answer.text, answer.probabilities) == ("4", None)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ('{"answer": "4"}', "4"),
        ('{"answer": 4}', '{"answer": 4}'),
        ("four", "four"),
        ("[4]", "[4]"),
        ("", ""),
    ],
)
def test_a_json_schema_names_the_choices(endpoint, make, said, read):
    endpoint.rule = lambda body, n: chat(said)
    (answer,) = make().complete([rating(guided="json_schema")], ["k"])
    schema = endpoint.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == list(SCALE)
    assert endpoint.bodies[0]["max_tokens"] == 16 + 64
    assert answer.text == read


def test_a_free_request_is_sent_as_ever(endpoint, make):
    make().complete([ChatRequest((("user", "a"),), 5, guided="structured_outputs")], ["k"])
    assert set(endpoint.bodies[0]) == {"model", "messages", "max_tokens", "temperature"}


def half_of_the_time(body, n):
    """Fail by a hash of what is asked and how often: half of all attempts, in five ways."""
    mark = int(text_digest(body["messages"][-1]["content"], str(n))[:4], 16)
    if mark % 2:
        return chat(SCALE[int(text_digest(body["messages"][-1]["content"])[:4], 16) % 5])
    troubles = [
        Reply(500, "oops"),
        Reply(429, "slow"),
        Reply(200, "<html>"),
        Reply(hang_up=True),
        Reply(503, ""),
    ]
    return troubles[mark // 2 % 5]


def ask(requests, store, engine):
    return ask_once(
        requests, store=store, engine=LazyEngine(lambda: engine), stop=Stop(), batch_size=40,
        length=lambda r: 1, name="judge",
    )  # fmt: skip


def test_an_endpoint_that_fails_half_of_the_time_loses_nothing(endpoint, make, tmp_path):
    endpoint.rule = half_of_the_time
    requests = {rating(i).key("g"): rating(i) for i in range(200)}
    store = CompletionStore(tmp_path / "completions")
    answers, tally = ask(requests, store, make())
    assert (tally.sent, tally.reused) == (200, 0)
    for key, request in requests.items():
        assert answers[key].text == SCALE[int(text_digest(request.messages[0][1])[:4], 16) % 5]
    sent = [b["messages"][0]["content"] for b in endpoint.bodies]
    assert 340 < len(sent) < 470  # two attempts a rating on average
    # Every attempt but the last of each failed: no answer that came was asked for again.
    for i in range(200):
        said = f"Rate text {i}."
        replies = [half_of_the_time({"messages": [{"content": said}]}, n) for n in range(sent.count(said))]
        assert [r.status == 200 and r.body.startswith("{") for r in replies] == [False] * (
            len(replies) - 1
        ) + [True]
    again, tally = ask(requests, store, make())
    assert again == answers
    assert (tally.sent, tally.reused, len(endpoint.bodies)) == (0, 200, len(sent))


def test_where_patience_ends_the_next_run_asks_only_for_what_is_missing(endpoint, make, tmp_path):
    endpoint.rule = half_of_the_time
    requests = {rating(i).key("g"): rating(i) for i in range(60)}
    store = CompletionStore(tmp_path / "completions")
    answers = None
    for _ in range(40):
        try:
            answers, _ = ask(requests, store, make(engine_options={"tries": 2}))
            break
        except IncompleteBatchError:
            pass
    assert answers is not None
    assert set(answers) == set(requests)
    paid = [
        b["messages"][0]["content"]
        for i, b in enumerate(endpoint.bodies)
        if (
            r := half_of_the_time(b, [c["messages"] for c in endpoint.bodies[:i]].count(b["messages"]))
        ).status
        == 200
        and r.body.startswith("{")
    ]
    assert sorted(paid) == sorted(r.messages[0][1] for r in requests.values())  # each exactly once
