"""What becomes of texts whose requests were answered with no text."""

from __future__ import annotations

import pytest

from stressbed.config.entries import Step, TransformationEntry
from stressbed.transform.outcome import resolve

STEP = Step(prompt="p", language="source")


def entry(steps=1, **rules):
    return TransformationEntry(id="t", label="T", axis="length", steps=[STEP] * steps, **rules)


@pytest.mark.parametrize("finish", ["refused", "filtered", "broken"])
def test_a_text_without_an_answer_has_a_reason_of_its_own_and_the_rule_for_empty_ones(finish):
    kept = resolve([[("", finish)]], "the original", entry(on_cut="keep"))
    assert (kept.output, kept.text, kept.reason, kept.rule) == ("", "the original", finish, "original")
    assert kept.outcome(flagged=True) == "fallback"
    dropped = resolve([[("", finish)]], "the original", entry(on_empty="drop"))
    assert (dropped.reason, dropped.outcome(flagged=False)) == (finish, "dropped")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # (text, reason, rule, attempts)
        ([[("", "filtered"), ("new", "stop")]], ("new", "", "", 2)),
        ([[("half", "length"), ("", "filtered")]], ("half", "cut", "keep", 2)),
        ([[("", "filtered"), ("", "stop")]], ("old", "empty", "original", 2)),
        ([[("", "filtered"), ("", "filtered")]], ("old", "filtered", "original", 2)),
        ([[("long", "stop")], [("", "refused")]], ("old", "refused", "original", 1)),
        ([[("", "broken")]], ("old", "broken", "original", 1)),
        ([[("", "too_long")]], ("old", "too_long", "original", 1)),
    ],
)
def test_the_attempt_that_counts_decides(steps, expected):
    result = resolve(steps, "old", entry(len(steps)))
    assert (result.text, result.reason, result.rule, result.attempts) == expected
