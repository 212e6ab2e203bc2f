"""What a reader must know of a rewrite, in words: what became of it, and its error flags."""

from __future__ import annotations

from types import MappingProxyType

CUT = "fallback: cut"
"""Outcome of a text whose answer was cut and is embedded as it came."""
ORIGINAL = "fallback: original"
"""Outcome of a text without a usable answer, so that its original is embedded."""

OUTCOMES = MappingProxyType(
    {
        CUT: "fallback: the answer was cut off and is used as it came",
        ORIGINAL: "fallback: no usable answer, the original stands in its place",
        "retried": "asked more than once",
    }
)
"""Words for outcomes; the others need none."""

FLAGS = MappingProxyType(
    {
        "identical": "same as the original",
        "empty": "empty",
        "ellipsis": "only dots",
        "json_fragment": "looks like JSON",
        "reasoning_leak": "holds reasoning",
        "prefix_leak": "begins with a label",
        "wrong_language": "in another language than asked for",
        "runaway": "far longer than the original",
        "truncated": "far shorter than the original",
        "summary_too_long": "longer than the original",
    }
)
"""Words for error flags."""


def outcome_of(outcome: str, original: str, rewritten: str) -> str:
    """Return an outcome that says of a fallback which of the two it is.

    A rule that replaces an answer puts the text itself in its place; what differs from it is a kept answer.
    """
    if outcome != "fallback":
        return outcome
    return ORIGINAL if rewritten == original else CUT


def remarks(outcome: object, flags: object) -> str:
    """Return what outcomes and flags say in words, joined by semicolons; empty where there is nothing to say.

    Args:
        outcome: Outcomes of `worst_items`, joined by commas; anything but a text says nothing.
        flags: Error flags, joined by commas.
    """
    said = [OUTCOMES.get(o, "") for o in _parts(outcome)]
    said += [FLAGS.get(f, f.replace("_", " ")) for f in _parts(flags)]
    return "; ".join(dict.fromkeys(s for s in said if s))


def _parts(joined: object) -> list[str]:
    return [p.strip() for p in joined.split(",")] if isinstance(joined, str) else []
