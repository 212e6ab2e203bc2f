"""Guided answers against log probabilities of whole choices, computed one by one on small random models."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from test_decoding import ENDS, model, prompts  # noqa: E402

from stressbed.generate.engines import guided  # noqa: E402
from stressbed.generate.engines.decoding import Row  # noqa: E402
from stressbed.generate.engines.guided import END, Question, choose, from_first_tokens  # noqa: E402

DIGITS = [(11,), (12,), (13,), (14,), (15,)]
WORDS = [(20, 21, 22), (20, 21, 23), (20, 30), (31,)]
__all__ = ["model"]  # the fixture

NESTED = [(11, END), (11, 10, END), (12, END)]


def questions(choices, **kw):
    return [Question(p, choices, ENDS, Row(p, 1, **kw)) for p in prompts(n=12)]


def whole(model, prompt, choices):
    """Probabilities by one run over prompt and choice each, all logits at once."""
    scores = []
    for choice in choices:
        said = [t for t in choice if t != END]
        with torch.inference_mode():
            logs = model(torch.tensor([[*prompt, *said]])).logits[0].double().log_softmax(-1)
        score = sum(float(logs[len(prompt) - 1 + i, t]) for i, t in enumerate(said))
        if choice[-1] == END:
            score += math.log(sum(math.exp(float(logs[-1, e])) for e in ENDS))
        scores.append(score)
    shares = np.exp(np.array(scores) - max(scores))
    return shares / shares.sum()


@pytest.mark.parametrize("choices", [DIGITS, WORDS, NESTED], ids=["digits", "words", "nested"])
def test_equals_the_log_probability_of_each_whole_choice(model, choices):
    asked = questions(choices)
    answers = choose(model, asked)
    for question, answer in zip(asked, answers, strict=True):
        expected = whole(model, question.prompt, choices)
        assert answer.probabilities == pytest.approx(expected, abs=1e-4)
        assert math.isclose(sum(answer.probabilities), 1)
        assert answer.number == expected.argmax()
    assert len({a.number for a in answers}) > 1 or choices is WORDS  # one word is far shorter than the rest


@pytest.mark.parametrize("choices", [DIGITS, WORDS, NESTED], ids=["digits", "words", "nested"])
def test_answers_do_not_depend_on_the_batch(model, choices):
    asked = questions(choices)
    together = choose(model, asked)
    for i in np.random.default_rng(0).permutation(len(asked)):
        (alone,) = choose(model, [asked[i]])
        assert alone.number == together[i].number
        assert alone.probabilities == pytest.approx(together[i].probabilities, abs=1e-4)


def test_a_tie_is_settled_alike_in_every_batch(model):
    head = model.get_output_embeddings().weight
    with torch.no_grad():
        before = head.clone()
        head[12:16] = head[11]  # the five digits are equally good everywhere
    try:
        together = choose(model, questions(DIGITS))
        assert together == [choose(model, [q])[0] for q in questions(DIGITS)]
        assert together[0].probabilities == pytest.approx([0.2] * 5, abs=1e-6)
    finally:
        with torch.no_grad():
            head.copy_(before)


def test_digits_take_one_row_a_prompt_and_words_share_their_beginnings():
    assert questions(DIGITS)[0].beginnings == [()]
    assert questions(WORDS)[0].beginnings == [(), (20,), (20, 21)]


def test_drawn_choices_follow_their_probabilities(model):
    prompt = prompts()[0]
    generator = torch.Generator().manual_seed(1)
    row = Row(prompt, 1, 1.0, 1.0, generator)
    scores = torch.tensor([0.5, 0.2, 0.3]).log()
    drawn = np.bincount([guided._pick(scores, row).number for _ in range(2000)], minlength=3) / 2000
    assert drawn == pytest.approx([0.5, 0.2, 0.3], abs=0.04)


@pytest.mark.parametrize(
    ("choices", "tokens", "expected"),
    [
        (["1", "2"], [("1", math.log(0.6)), ("2", math.log(0.2))], (0.75, 0.25)),
        (["1", "2"], [("1", math.log(0.6)), (" the", math.log(0.4))], (1.0, 0.0)),
        (["good", "bad"], [("go", math.log(0.3)), ("good", math.log(0.3)), ("b", -1.609438)], (0.75, 0.25)),
        (["1", "10"], [("1", math.log(0.9)), ("10", math.log(0.1))], None),
        (["1", "2"], [("x", -0.1), ("", -3.0)], None),
        (["1", "2"], [], None),
    ],
)  # fmt: skip
def test_probabilities_read_off_first_tokens(choices, tokens, expected):
    got = from_first_tokens(choices, tokens)
    assert got == (None if expected is None else pytest.approx(expected))


def test_choices_that_begin_others_get_an_end():
    assert guided.without_ambiguity([[1], [2]]) == [(1,), (2,)]
    assert guided.without_ambiguity([[1], [1, 0]]) == [(1, END), (1, 0, END)]
