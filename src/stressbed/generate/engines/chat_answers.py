"""Reading the answers of chat endpoints: nothing that is not surely a finished text passes for one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stressbed.endpoint.connection import PassingError
from stressbed.errors import EngineError
from stressbed.generate.engines.guided import from_first_tokens
from stressbed.generate.request import ChatRequest, Finish
from stressbed.redaction import excerpt, without_keys

ANSWER = "answer"
"""Key of the choice in a JSON answer."""

ENDS: Mapping[str, Finish] = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length", "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filtered", "safety": "filtered", "refusal": "refused",
    "prohibited_content": "filtered", "blocklist": "filtered", "recitation": "filtered", "spii": "filtered",
    "sensitive": "filtered", "guardrail_intervened": "filtered",
}  # fmt: skip
"""How servers say that an answer ended; all else (`error`, `tool_calls`, nothing at all) is `broken`."""

MOST_TOKENS = 2**31
"""A larger number of tokens is no count; tables could not hold it."""

TEXT_PARTS = frozenset({"text", "output_text"})
"""Types of the parts of an answer that are its text; others hold thinking, or what is no text."""


@dataclass(frozen=True)
class Said:
    """What an endpoint answered.

    Attributes:
        text: The text; empty unless the finish is `stop` or `length`: a piece of a text is none.
        finish: How it ended.
        tokens_in: Tokens of the prompt, where the endpoint tells.
        tokens_out: Tokens of the answer, where the endpoint tells.
        probabilities: Of the request's choices, where the endpoint tells.
        why: Its words for an end that is none, for the log.
        thought: Whether it holds reasoning beside the text.
    """

    text: str
    finish: Finish
    tokens_in: int | None = None
    tokens_out: int | None = None
    probabilities: tuple[float, ...] | None = None
    why: str = ""
    thought: bool = False


def said_in(answer: Mapping[str, Any], request: ChatRequest, *, where: str) -> Said:
    """Return what a chat completion says.

    Args:
        answer: The endpoint's JSON object.
        request: What was asked.
        where: Whose endpoint it is, for messages.

    Raises:
        PassingError: The answer broke off; it holds a `Said` without text for when it always does.
        EngineError: It is no chat completion: nothing of it may be kept.
    """
    choices = answer.get("choices")
    if not isinstance(choices, list):
        raise _no_completion(answer, where)
    if not choices:
        raise _broken("no choices in the answer", answer)
    # One answer was asked for; of several it is the first by number, wherever it stands.
    choice = next((c for c in choices if isinstance(c, dict) and c.get("index") == 0), choices[0])
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise _no_completion(answer, where)
    text = _text(message.get("content"), where)
    reason = choice.get("finish_reason")
    # Some put the filter's own word behind: `content_filter: SAFETY`.
    said = reason.lower().partition(":")[0].strip() if isinstance(reason, str) else ""
    finish = ENDS.get(said, "broken")
    if choice.get("error"):
        finish = "broken"
    elif finish in {"stop", "length"} and _refusal(message):
        finish = "refused"  # whatever stands in the content, too: it is no rewrite
    if finish == "broken":
        raise _broken(f"an answer that ended with finish_reason {reason!r}", choice.get("error") or answer)
    n_in, n_out = _tokens(answer)
    if finish not in {"stop", "length"}:
        return Said("", finish, n_in, n_out, why=excerpt(_refusal(message) or f"finish_reason {reason!r}"))
    if request.choices and request.guided == "json_schema":
        text = unwrapped(text)
    thought = bool(message.get("reasoning_content") or message.get("reasoning"))
    return Said(without_keys(text), finish, n_in, n_out, said_probabilities(choice, request), thought=thought)


def unwrapped(text: str) -> str:
    """Return the choice in a JSON answer, or the answer as it is if it is something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    value = found.get(ANSWER) if isinstance(found, dict) else None
    return value if isinstance(value, str) else text


def said_probabilities(choice: Mapping[str, Any], request: ChatRequest) -> tuple[float, ...] | None:
    """Return the probabilities of the request's choices, where the endpoint tells its first tokens'."""
    if not request.choices or request.guided != "structured_outputs":
        return None
    try:
        tokens = [(t["token"], float(t["logprob"])) for t in choice["logprobs"]["content"][0]["top_logprobs"]]
    except (KeyError, IndexError, TypeError, ValueError):
        return None  # the rating itself is there: only its probabilities are not known
    return from_first_tokens(request.choices, tokens)


def _text(content: object, where: str) -> str:
    """Return the text of a message's content: a string, nothing, or parts of which some are text.

    Raises:
        EngineError: It is something else.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [_part(part) for part in content]
        if None not in parts:
            return "".join(part for part in parts if part)
    raise EngineError(
        f"the content of the endpoint's answer is no text: {excerpt(json.dumps(content))}",
        where=where,
        allowed='a string, null, or parts such as {"type": "text", "text": "..."}',
        do="look whether the server has a setting for plain answers; nothing of this answer was kept",
    )


def _part(part: object) -> str | None:
    """Return the text of a part, empty for parts of other types, None for what is no part."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return None
    if part["type"] not in TEXT_PARTS:
        return ""
    return part["text"] if isinstance(part.get("text"), str) else None


def _refusal(message: Mapping[str, Any]) -> str:
    """Return the words with which a model declines, where they stand apart from its text."""
    parts = message.get("content")
    found = [message.get("refusal")]
    if isinstance(parts, list):
        found += [p.get("refusal") for p in parts if isinstance(p, dict) and p.get("type") == "refusal"]
    return next((words for words in found if isinstance(words, str) and words.strip()), "")


def _broken(words: str, shown: object) -> PassingError[Said]:
    said = f"{words}: {excerpt(json.dumps(shown))}"
    return PassingError(said, lost=True, otherwise=Said("", "broken", why=said))


def _no_completion(answer: Mapping[str, Any], where: str) -> EngineError:
    return EngineError(
        f"the endpoint's answer is no chat completion: {excerpt(json.dumps(answer))}",
        where=where,
        do="check that `base_url` is an OpenAI-compatible address",
    )


def _tokens(answer: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and answer, None where the endpoint does not count them."""
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    found = [counts.get(name) for name in ("prompt_tokens", "completion_tokens")]
    first, second = (n if type(n) is int and 0 <= n < MOST_TOKENS else None for n in found)
    return first, second
