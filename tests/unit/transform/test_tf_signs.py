"""What is no rewrite: refusals, echoes, answers to a question, one output for many texts."""

from pathlib import Path

import pandas as pd
import pytest
import tf_no_rewrites as made
import tf_refusals
from test_tf_flag_examples import MARKERS
from test_tf_run import one, texts_of

from stressbed.config.entries import MarkersEntry, PromptEntry
from stressbed.transform.flags import FLAGS, flag
from stressbed.transform.markers import Markers
from stressbed.transform.signs import answered, echo, refused, repeated

NAMES = {
    "eng": "English",
    "fra": "French",
    "deu": "German",
    "jpn": "Japanese",
    "zho": "Chinese",
    "ara": "Arabic",
}
RULES = {
    "refused": lambda language, original, output: refused(original, output, MARKERS),
    "echo": lambda language, o, output: echo(o, output, made.TOLD.format(language=NAMES[language])),
    "answered": lambda language, original, output: answered(original, output, language, language),
}
FOUND = {"refused": made.REFUSED, "echo": made.ECHO, "answered": made.ANSWERED}
LEFT = {"refused": made.NOT_REFUSED, "echo": made.NOT_ECHO, "answered": made.NOT_ANSWERED}


@pytest.mark.parametrize(("rule", "example"), [(r, e) for r in FOUND for e in FOUND[r]])
def test_found(rule, example):
    assert RULES[rule](*example)


@pytest.mark.parametrize(("rule", "example"), [(r, e) for r in LEFT for e in LEFT[r]])
def test_left_alone(rule, example):
    assert not RULES[rule](*example)


@pytest.mark.parametrize("language", tf_refusals.REFUSALS)
def test_refusals_in_more_words_and_languages(language):
    given = tf_refusals.REFUSALS[language]
    assert [r for r in given if not refused(tf_refusals.SAID, r, MARKERS)] == []
    assert [r for r in given if refused(r, r, MARKERS)] == []


def test_what_somebody_else_cannot_do_is_no_refusal():
    said = tf_refusals.SOMEBODY
    assert [r for r in said if refused("Mi tarjeta no sirve.", r, MARKERS)] == []


@pytest.mark.parametrize("output", ["I'm sorry, but I can't help with killing a running process on Linux.",
                                    f"I'm sorry, but I can't translate \"{tf_refusals.SAID}\""])  # fmt: skip
def test_a_refusal_that_names_its_text_is_one(output):
    assert refused(tf_refusals.SAID, output, MARKERS)


@pytest.mark.parametrize(("language", "output"), tf_refusals.INSTRUCTED)
def test_an_instruction_or_label_in_any_language_is_a_leak(language, output):
    found = flag("The kettle is on the stove.", output, kind="rewrite", language=language, markers=MARKERS)
    assert found.prefix_leak or found.reasoning_leak


@pytest.mark.parametrize(("language", "original", "output"), tf_refusals.TOLD_BY_THE_TEXT)
def test_an_instruction_of_the_text_is_none(language, original, output):
    found = flag(original, output, kind="rewrite", language=language, markers=MARKERS)
    assert not found.prefix_leak
    assert not found.reasoning_leak


def test_enough_examples():
    for examples in (*FOUND.values(), *LEFT.values()):
        assert len(set(examples)) >= 12
        assert len({language for language, _, _ in examples}) >= 4
    assert {language for language, _, _ in made.REFUSED} == {
        "eng", "fra", "spa", "deu", "tur", "ara", "zho", "jpn", "por", "ita", "nld", "pol", "rus", "hin",
        "kor", "ind",
    }  # fmt: skip


def test_an_answer_in_another_language_is_not_judged():
    question, answer = made.ANSWERED[0][1:]
    assert answered(question, answer, "eng-Latn", "en")
    assert not answered(question, answer, "eng-Latn", "deu-Latn")
    assert not answered(question, answer, "und", "und")


UNLIKE = [
    "The bridge opens at noon.",
    "My printer is out of paper.",
    "Rain is expected tonight.",
    "Apples are red.",
]
SETTINGS = "You can do that in the settings menu."


@pytest.mark.parametrize(
    ("originals", "outputs", "expected"),
    [
        (UNLIKE, [SETTINGS, SETTINGS.upper(), f" {SETTINGS}", "Red apples."], [True, True, True, False]),
        (UNLIKE[:2], [SETTINGS] * 2, [False] * 2),  # two may be chance
        (["Hi", "Hello there", "Good morning"], ["Bonjour"] * 3, [False] * 3),
        (["A man plays guitar.", "A man is playing a guitar.", "The man plays the guitar."],
         ["A man is playing the guitar."] * 3, [False] * 3),
        ([UNLIKE[0]] * 5, [SETTINGS] * 5, [False] * 5),  # one text, five times
        (["Die Brücke öffnet mittags.", "Heute regnet es.", "Der Drucker braucht Papier."],
         ["Das geht in den Einstellungen unter Konto."] * 3, [True] * 3),
        (["桥中午开放。", "今晚会下雨。", "打印机没有纸了。"], ["请到设置菜单里操作。"] * 3, [True] * 3),
    ],
)  # fmt: skip
def test_one_output_for_many_different_texts(originals, outputs, expected):
    assert repeated(originals, outputs) == expected


def test_in_a_large_variant_more_must_share_an_output():
    others = [f"Text {i} about {i * 7}" for i in range(396)]
    assert not any(repeated([*UNLIKE[:3], *others], [SETTINGS] * 3 + others))
    assert sum(repeated([*UNLIKE, *others], [SETTINGS] * 4 + others)) == 4


def table(tmp_path, answer, **rules):
    pairs = pd.read_csv(Path(__file__).parents[2] / "data/failing/26-refusals-count-as-rewrites/pairs.csv")
    texts = [*pairs["sentence1"], *pairs["sentence2"]]
    answers = [(i, 1, 0, answer(t), "stop") for i, t in enumerate(texts)]
    return one(tmp_path, "paraphrasing", answers, texts_of(*texts), **rules).to_pandas()


def test_refused_texts_fall_back_and_say_why(tmp_path):
    found = table(tmp_path, lambda _: "I'm sorry, but I can't help with that request.")
    assert len(found) == 10
    assert found["outcome"].eq("fallback").all()
    assert found["reason"].eq("refused").all()
    assert found["text"].equals(found["original"])
    assert found["repeated"].all()
    dropped = table(tmp_path, lambda _: "I can't help with that.", on_empty="drop")
    assert dropped["outcome"].eq("dropped").all()


def test_one_answer_for_all_texts_is_flagged_and_stays(tmp_path):
    found = table(tmp_path, lambda _: "You can do that in the settings menu under Account.")
    assert found["outcome"].eq("flagged").all()
    assert found["repeated"].all()
    assert not found[list(FLAGS)].to_numpy().any()  # none of the ten
    assert found["text"].eq("You can do that in the settings menu under Account.").all()


def test_copies_thinking_and_rewrites_of_the_same_texts(tmp_path):
    copies = table(tmp_path, lambda t: t)
    assert copies["identical"].all()
    assert copies["outcome"].eq("flagged").all()
    thought = table(tmp_path, lambda t: f"thought\nI should rewrite.\n\nPut otherwise, {t}")
    assert thought["reasoning_leak"].all()
    good = table(tmp_path, lambda t: f"◁think▷ I should rewrite this. ◁/think▷Put otherwise, {t}")
    assert good["outcome"].eq("ok").all()
    assert good["cleaned"].eq("think").all()


def test_a_refused_first_step_is_a_refusal(tmp_path):
    answers = [
        (0, 1, 0, "I'm sorry, but I can't help with that.", "stop"),
        (0, 2, 0, "A short text.", "stop"),
    ]
    (row,) = one(tmp_path, "summarised_expansion", answers).to_pylist()
    assert (row["outcome"], row["reason"]) == ("fallback", "refused")


def test_marks_that_are_left_are_reasoning():
    for output in ("<|thoughts_begin|>hm", "◁mull▷hm", "thought\nhm", "Thinking:\nhm", "a </my_thinking> b",
                   "<think/>A.", "{think}hm{/think}A.", "<tool_call>hm</tool_call>A.", "[NOTES]hm[/NOTES]A.",
                   "**Reasoning:** hm\n\n**Answer:** A.", "### Reasoning\nhm\n\n### Answer\nA.",
                   "Hm.\n\nFinal answer: A.", "<unused95>A.", "A.<｜mark｜>"):  # fmt: skip
        assert flag("A text.", output, kind="rewrite", language="eng", markers=MARKERS).reasoning_leak, output
    for output in ("I thought\nso.", "a | b", "Thought leaders met.", "<b>bold</b>", "<code>a</code>",
                   "[1] A text.", "Analysis: rates rise.", "Ask.\nAnswer the call."):  # fmt: skip
        assert not flag("A text.", output, kind="rewrite", language="eng", markers=MARKERS).reasoning_leak
    text = "The token <|endofpart|> ends it."
    assert not flag(text, "It is ended by <|endofpart|>.", kind="rewrite", language="eng",
                    markers=MARKERS).reasoning_leak  # fmt: skip


def test_lists_of_ones_own():
    entry = MarkersEntry(id="x", languages=["eng"], source="made", refusals=["no can do"])
    assert refused("A text.", "No can do, friend.", Markers.of([entry]))
    assert not refused("A text.", "It is no can do.", Markers.of([entry]))


def test_an_echo_stands_in_the_table(tmp_path):
    prompt = PromptEntry(id="p", template=made.TOLD.replace("{language}", "{target_language}"), source="made")
    (row,) = one(
        tmp_path, "paraphrasing", [(0, 1, 0, made.ECHO[1][2], "stop")], prompts={"p": prompt}
    ).to_pylist()
    assert (row["echo"], row["outcome"], row["text"]) == (True, "flagged", made.ECHO[1][2])
