"""Post-processing of answers."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.clean import clean, quoted
from stressbed.generate.marks import Marks


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
         "rewrite", ("think", "envelope", "wrapper")),
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


A, SOURCE = "At six the shop closes.", "The shop shuts at six."


@pytest.mark.parametrize(
    "answer",
    [
        f"◁think▷hm◁/think▷{A}",
        f"<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>{A}<|END_RESPONSE|>",
        f"<|begin_of_thought|>hm<|end_of_thought|><|begin_of_solution|>{A}<|end_of_solution|>",
        f"<|channel>thought\nhm<channel|>{A}",
        f"thought\nhm<channel|>{A}",
        f"<think>hm</think><answer>{A}</answer>",
        f"<thinking>hm</thinking>\n<output>{A}</output>",
        f"<reasoning>hm</reasoning><response>{A}</response>",
        f"<scratchpad>hm</scratchpad>\n\n<final_answer>\n{A}\n</final_answer>",
        f"<thinking>hm<reflection>no</reflection>hm</thinking>{A}",
        f"<think>a<think>b</think>c</think>{A}",
        f"<think>a</think>{A}<think>was that right?",
        f"<think budget='9'>a</think >{A}",
        f"<longcat_think>a</longcat_think>{A}",
        f"◁think▷a◁/think▷<think>b</think>{A}",
        f"a◁/think▷{A}",
        f"a<|end_of_thought|>{A}",
        f"<|inner_prefix|>a<|inner_suffix|>{A}",
        f"Here is my thought process:\nhm\n\nHere is my response:\n{A}",
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{A}",
        f"<think>never closed [BEGIN FINAL RESPONSE]{A}[END FINAL RESPONSE]",
        f"<answer>{A}",
        f"{A}</answer>",
        f"<answer>At six it closes.</answer>\nBetter: <answer>{A}</answer>",
        f"<response><answer>{A}</answer></response>",
        f"Sure, here it is: <rewritten_text>{A}</rewritten_text> I hope it helps.",
        f"<text>{A}</text>",
        f"<|begin_of_box|>{A}<|end_of_box|>",
        f"< think >hm</ think >{A}",
        f"&lt;think&gt;hm&lt;/think&gt;{A}",
        f"<think>hm<\\think>{A}",
        f"<think_faster>hm</think_faster>{A}",
        f"<internal>hm</internal>{A}",
        f"<monologue>hm</monologue>{A}",
        f"<plan>hm</plan>{A}",
        f"<思考>hm</思考>{A}",
        f"【思考】hm【/思考】{A}",
        f"[ANALYSIS]hm[/ANALYSIS]{A}",
        f"[THOUGHTS]hm[/THOUGHTS][FINAL]{A}[/FINAL]",
        f"hm[/REASONING]{A}",
        f"```thinking\nhm\n```\n\n{A}",
        f"Thinking...\nhm\n...done thinking.\n\n{A}",
        f'<details type="reasoning" done="true">\n<summary>Thought for 2 s</summary>\nhm\n</details>\n{A}',
        f"<unused94>thought\nhm<unused95>{A}",
        f"analysisThe user wants a paraphrase.\n\nOf it.assistantfinal{A}",
        f"<think>hm</think>{A}<|endofresponse|>",
        f"<｜Assistant｜>hm</think>{A}<｜end▁of▁sentence｜>",
        f"{A}<turn|>",
        f"<answer></answer>{A}",
    ],
)  # fmt: skip
def test_thinking_and_answers_in_the_marks_of_public_models(answer):
    assert clean(answer, SOURCE).text == A


@pytest.mark.parametrize("answer", ["◁think▷endless", "<|START_THINKING|>endless", "<|channel>thought\nhm"])
def test_thinking_that_was_never_closed_is_no_answer(answer):
    assert clean(answer, SOURCE).text == ""


@pytest.mark.parametrize(
    ("answer", "original", "text"),
    [
        ("The tag ◁think▷ opens a block.", "◁think▷ begins a block.", "The tag ◁think▷ opens a block."),
        (
            "Write <answer>x</answer> please.",
            "Put it in <answer>x</answer>.",
            "Write <answer>x</answer> please.",
        ),
        # The input's marks are of one kind; the generator's own, of another, still go.
        ("◁think▷hm◁/think▷Use <think> here.", "Here <think> is used.", "Use <think> here."),
        ("Press <text> now or <b>later</b>.", SOURCE, "Press <text> now or <b>later</b>."),
        ("a <text>b</text> c", SOURCE, "a <text>b</text> c"),
        ("The response </b> was clear.", SOURCE, "The response </b> was clear."),
        ("I had thought\nof six.", SOURCE, "I had thought\nof six."),
    ],
)
def test_marks_of_the_text_itself_stay(answer, original, text):
    assert clean(answer, original).text == text


def test_a_generators_entry_names_marks_of_its_own():
    entry = GeneratorEntry.model_validate(
        {"id": "g", "engine": "fake", "model": "g",
         "thinking_marks": [{"open": "«mull»", "close": "«done»"}, {"open": "thought\n", "close": "\n\n"}],
         "answer_marks": [{"open": "[[", "close": "]]"}]}
    )  # fmt: skip
    marks = Marks.of(entry)
    assert clean(f"«mull»hm\n«done»[[{A}]]", SOURCE, marks).text == A
    assert clean(f"thought\nI should rewrite.\n\n{A}", SOURCE, marks).text == A
    assert clean(f"{A}\n\nLine two.", SOURCE, marks).text == f"{A}\n\nLine two."
    assert clean(f"<think>hm</think>{A}", SOURCE, marks).text == A
    assert clean("«mull» is kept", "«mull» was there", marks).text == "«mull» is kept"
    assert clean(f"«mull»hm«done»{A}", SOURCE).text != A
