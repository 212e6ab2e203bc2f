"""Post-processing of answers."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stressbed.generate.clean import clean, quoted


@pytest.mark.parametrize(
    ("answer", "text", "steps"),
    [
        ("plain", "plain", ()),
        ("  spaced\n", "spaced", ("whitespace",)),
        ("<think>hm</think>\n\nrewrite", "rewrite", ("think", "whitespace")),
        ("<think>\n</think>rewrite", "rewrite", ("think",)),
        ("<think>a</think>x <thinking>b</thinking>y", "x y", ("think",)),
        ("I should rephrase.</think>rewrite", "rewrite", ("think",)),
        ("<think>never closed, cut at the limit", "", ("think",)),
        ("Reasoning first.\n[BEGIN FINAL RESPONSE]\nrewrite\n[END FINAL RESPONSE]\n<|end|>", "rewrite",
         ("envelope", "whitespace")),
        ("[BEGIN FINAL RESPONSE]rewrite", "rewrite", ("envelope",)),
        ("[THINK]hm[/THINK]rewrite", "rewrite", ("think",)),
        ("[THINK] never ended", "", ("think",)),
        ("<seed:think>hm</seed:think>\nrewrite", "rewrite", ("think", "whitespace")),
        ("<|channel|>analysis<|message|>never got to the final channel", "", ("think",)),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>rewrite<|return|>",
         "rewrite", ("envelope", "wrapper")),
        ("rewrite<|im_end|>", "rewrite", ("wrapper",)),
        ("rewrite<|im_end|>\n<|im_start|>user\nmore", "rewrite", ("wrapper",)),
        ("<|im_start|>assistant\nrewrite<|im_end|>", "rewrite", ("wrapper",)),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nrewrite<|eot_id|>", "rewrite", ("wrapper",)),
        ("<start_of_turn>model\nrewrite<end_of_turn>", "rewrite", ("wrapper",)),
        ("assistant: rewrite", "rewrite", ("wrapper",)),
        ("Assistant:\nrewrite", "rewrite", ("wrapper",)),
        ("assistant\nrewrite", "rewrite", ("wrapper",)),
        ("```\nrewrite\n```", "rewrite", ("fence",)),
        ("```text\nrewrite\nline two\n```\n", "rewrite\nline two", ("fence",)),
        ('"rewrite"', "rewrite", ("quotes",)),
        ("'rewrite'", "rewrite", ("quotes",)),
        ("'it's a rewrite'", "it's a rewrite", ("quotes",)),
        ("“rewrite”", "rewrite", ("quotes",)),
        ("„rewrite“", "rewrite", ("quotes",)),
        ("« rewrite »", "rewrite", ("quotes", "whitespace")),
        ("‘rewrite’", "rewrite", ("quotes",)),
        ("「rewrite」", "rewrite", ("quotes",)),
        ('```\n"rewrite"\n```', "rewrite", ("fence", "quotes")),
        ("“a “b” c”", "a “b” c", ("quotes",)),
        ('""', "", ("quotes",)),
        ("a\ud800b", "a\ufffdb", ("surrogates",)),
    ],
)  # fmt: skip
def test_what_is_taken_off(answer, text, steps):
    cleaned = clean(answer, "the original")
    assert (cleaned.text, cleaned.steps) == (text, steps)


@pytest.mark.parametrize(
    "answer",
    [
        '"A" and "B"', "“A” and “B”", "'A' and 'B'", "«A» et «B»", '"open only', 'he said "no"',
        "a < b and b > c", "I think so", "the assistant: a play", "```inline``` and more", "5' 3\"",
        "[BEGIN] of it", "assistant professor of law", "'tis the season of the cats' pyjamas",
    ],
)  # fmt: skip
def test_what_is_part_of_the_text_stays(answer):
    assert clean(answer, "the original") == clean(answer, "x")
    assert clean(answer, "the original").text == answer
    assert clean(answer, "the original").steps == ()


@pytest.mark.parametrize(
    ("answer", "original"),
    [
        ('"rewrite"', '"a quoted original"'), ("«réécrit»", '"a quoted original"'),
        ("```\ncode\n```", "```\nold\n```"), ("assistant: hello", "Assistant: hi"),
        ("<think>x</think>y", "what does <think> do?"), ("a</s>b", "the tag </s>"),
    ],
)  # fmt: skip
def test_marks_that_the_original_has_are_left_alone(answer, original):
    assert clean(answer, original).text == answer


def test_quoted_needs_one_pair_around_all():
    assert quoted(' "a" ')
    assert not quoted('"')
    assert not quoted("")
    assert not quoted('"A" or "B"')


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ['"', "'", "“", "”", "<think>", "</think>", "```", "\n", " ", "a", "it's", "<|im_end|>",
             "assistant", ":", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "«", "»", "\ud83d",
             "<|im_start|>"]
        )
    ).map("".join)
)  # fmt: skip
@example("<thi<think></think>nk>")
def test_cleaning_twice_changes_nothing_more(answer):
    once = clean(answer, "original")
    assert clean(once.text, "original").text == once.text
    assert clean(once.text, "original").steps == ()
    once.text.encode("utf-8")  # no lone surrogate is left


@settings(deadline=None)
@given(st.text())
def test_cleaning_never_adds(answer):
    assert len(clean(answer, "original").text) <= len(answer)
