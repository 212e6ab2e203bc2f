"""What a model's chat template makes of the messages."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError
from stressbed.generate.engines.chat import LocalModel
from stressbed.generate.request import ChatRequest

PLAIN = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}<answer>"
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + PLAIN
)
NOTHING = "{{ raise_exception('closed') }}"


def model(template):
    entry = GeneratorEntry(id="g", engine="transformers", model="./none")
    local = LocalModel(entry, cache=Path(), folder=Path())
    bare = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, unk_token="[UNK]")
    tokenizer.chat_template = template
    local.__dict__["tokenizer"] = tokenizer
    return local


def rendered(template, *messages):
    return model(template)._rendered(ChatRequest(messages, 8))


def test_a_system_message_stands_alone_where_the_template_has_one():
    assert rendered(PLAIN, ("system", "Say it anew."), ("user", "Rain.")) == (
        "<system>Say it anew.\n<user>Rain.\n<answer>"
    )


def test_a_template_without_a_system_role_gets_the_words_before_the_text():
    assert rendered(NO_SYSTEM, ("system", "Say it anew."), ("user", "Rain.")) == (
        "<user>Say it anew.\n\nRain.\n<answer>"
    )
    assert rendered(NO_SYSTEM, ("user", "Rain.")) == "<user>Rain.\n<answer>"


def test_a_template_that_refuses_everything_is_named():
    with pytest.raises(EngineError, match=r"closed[\s\S]*roles system, user"):
        rendered(NOTHING, ("system", "Say it anew."), ("user", "Rain."))
