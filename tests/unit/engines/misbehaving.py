"""Rules of a loopback endpoint: the ways in which endpoints were seen to misbehave, by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from loopback_endpoint import Reply

Rule = Callable[[dict[str, Any], int], Reply]

ERRFIN = {"finish_reason": "error", "error": {"code": 502, "message": "upstream"}}
FILTERED = {
    "message": "The response was filtered: the prompt triggered the content management policy.",
    "type": None, "param": "prompt", "code": "content_filter", "status": 400,
}  # fmt: skip
BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
FIELD = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
ONLY_DEFAULT = "'temperature' does not support 0 with this model. Only the default (1) value is supported."


def reply(
    content: Any, finish: Any = "stop", *, message: dict[str, Any] | None = None, **choice: Any
) -> Reply:
    said = {"role": "assistant", "content": content, **(message or {})}
    choices = [{"index": 0, "message": said, "finish_reason": finish, **choice}]
    return Reply(
        body=json.dumps({"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 10}})
    )


def error(status: int, **fields: Any) -> Reply:
    return Reply(status, json.dumps({"error": fields}))


def text_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"].split("\n\n", 1)[-1])


def rewrite(text: str) -> str:
    return f"Put otherwise, {text[:1].lower()}{text[1:]}"


def chat_rule(mode: str) -> Rule:
    """Return the rule of a chat endpoint that misbehaves in one way, for texts about a knife or for all."""
    asked = [0]

    def rule(body: dict[str, Any], n: int) -> Reply:
        asked[0] += 1
        text = text_of(body)
        new, knife = rewrite(text), "knife" in text
        temperature, both = body.get("temperature", 1), {"top_p", "temperature"} <= set(body)
        if mode == "err200" and asked[0] % 3 == 1:
            return error(200, message="Provider returned error", code=502)
        if mode == "topp" and both:
            return error(400, type="invalid_request_error", message=BOTH)
        if mode == "o1" and "max_tokens" in body:
            return error(400, message=FIELD, param="max_tokens", code="unsupported_parameter")
        if mode == "o1" and temperature != 1:
            return error(400, message=ONLY_DEFAULT, param="temperature", code="unsupported_value")
        if knife and mode == "filter400":
            return Reply(400, json.dumps({"error": FILTERED}))
        if knife and mode == "filterfin":
            return reply("Put", "content_filter")
        if knife and mode == "errfin":
            return reply("Put oth", **ERRFIN)
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me think"}]}
        return {
            "nullthink": reply(None, "length", message={"reasoning_content": "hm " * 50}),
            "parts": reply([thinking, {"type": "text", "text": new}]),
            "refusalfield": reply(None, message={"refusal": "I can't help with that."}),
            "space": Reply(body=f"   \n\n  {reply(new).body}"),
            "emptychoices": Reply(body='{"choices": [], "usage": {}}'),
        }.get(mode, reply(new))

    return rule


def vector_of(text: str) -> list[float]:
    return [(b - 127) / 128 for b in hashlib.sha256(text.encode()).digest()[:8]]


def embedding_rule(mode: str) -> Rule:
    """Return the rule of an embeddings endpoint that misbehaves in one way."""

    def rule(body: dict[str, Any], n: int) -> Reply:
        texts = body["input"]
        if mode == "batch4" and len(texts) > 4:
            said = f"batch size {len(texts)} > maximum allowed batch size 4"
            return Reply(413, json.dumps({"message": said, "code": 413}))
        if mode == "err200" and n == 0:
            return error(200, message="upstream overloaded", code=502)
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": i, "embedding": vector_of(t)} for i, t in enumerate(texts)
        ]
        if mode == "null":
            data[0]["embedding"] = None
        if mode == "noindex":
            data = [{"embedding": d["embedding"]} for d in data]
        return Reply(body=json.dumps({"data": data[::-1] if mode == "shuffled" else data}))

    return rule
