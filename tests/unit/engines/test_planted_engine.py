"""The synthetic generator: words stay, the prompt leaves its mark."""

from pathlib import Path

import pytest

from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import GeneratorEntry
from stressbed.errors import ConfigError, EngineError
from stressbed.generate.engines import open_engine
from stressbed.generate.prompts import messages
from stressbed.generate.request import ChatRequest

ROOT = Path(__file__).parents[3]
CATALOGUE = Catalogue.read([ROOT / "config" / "catalogue", ROOT / "config" / "planted" / "catalogue.yaml"])
HTEB = [t for t in CATALOGUE.transformations.values() if t.order < 100]


def engine(options=None):
    entry = CATALOGUE.generators["planted"]
    if options is not None:
        entry = GeneratorEntry(id="g", engine="planted", model="planted", engine_options=options)
    return open_engine(entry, cache=Path(), folder=Path())


def answer(prompt, text, *, seed=1, opened=None):
    request = ChatRequest(messages(CATALOGUE.prompts[prompt], "spa-Latn", text), 128, 1.0, seed=seed)
    [completion] = (opened or engine()).complete([request], ["key"])
    return completion.text


def marks(transformation):
    text = "rain cloud"
    for step in transformation.steps:
        text = answer(step.prompt, text)
    return "+".join(word[1:] for word in text.split() if word[0] == "@")


def test_every_transformation_of_the_paper_leaves_its_marks():
    assert {t.id: marks(t) for t in HTEB} == {
        "paraphrasing": "paraphrase", "backtranslation": "translate+translate",
        "style_change": "change-style",
        "expansion": "expand", "summarisation": "summarise", "summarised_expansion": "expand+summarise",
        "translation": "translate", "cross_translation": "translate",
    }  # fmt: skip


def test_the_words_stay_and_the_seed_gives_another_text():
    first, same, other = (answer("expand", "rain, cloud", seed=s) for s in (1, 1, 2))
    assert first == same != other
    assert first.split()[:3] == other.split()[:3] == ["rain,", "cloud", "@expand"]


def test_a_system_prompt_is_recognised_too():
    request = ChatRequest((("system", "Expand this."), ("user", "rain cloud")), 128)
    assert engine().complete([request], ["k"])[0].text.startswith("rain cloud @expand #")


def test_an_answer_beyond_the_limit_is_cut():
    request = ChatRequest((("user", "Expand.\n\na b c d"),), 3)
    [completion] = engine().complete([request], ["k"])
    assert (completion.text, completion.finish, completion.tokens_out) == ("a b c", "length", 3)


def test_an_unknown_prompt_is_an_error_and_no_silent_null():
    with pytest.raises(EngineError, match="no mark belongs to the prompt") as caught:
        answer("paraphrase", "rain", opened=engine({"expand": "Expand"}))
    assert "expand: 'Expand'" in caught.value.allowed


def test_it_does_not_judge():
    with pytest.raises(EngineError, match="rates nothing"):
        engine().complete([ChatRequest((("user", "Expand"),), 8, choices=("1", "2"))], ["k"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no marks"),
        ({"Expand": "Expand"}, "is no mark"),
        ({"expand": 3}, "is no mark"),
        ({"expand": ""}, "is no mark"),
        ({"long": "Make it longer", "make": "Make it"}, "begin alike"),
    ],
)
def test_marks_that_cannot_tell_prompts_apart_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        engine(options)
