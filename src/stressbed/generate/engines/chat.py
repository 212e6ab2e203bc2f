"""From chat requests to token numbers: what the engines that run a model themselves have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from stressbed.config.engine_options import TEMPLATE
from stressbed.config.entries import GeneratorEntry
from stressbed.errors import EngineError
from stressbed.generate.engines.guided import without_ambiguity
from stressbed.generate.request import ChatRequest, Completion
from stressbed.models import model_folder

BREAK = "\n\n"
"""Blank line: a base model's prompt ends with one, and its answer is the paragraph up to the next."""


def speakable(text: str) -> str:
    """Return the text with lone surrogates, which no tokenizer or wire format takes, replaced by `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


class LocalModel:
    """The files and the tokenizer of a generator that runs on this machine.

    Args:
        entry: The catalogue entry.
        cache: Root of the store.
        folder: Folder that relative model paths start from.
    """

    def __init__(self, entry: GeneratorEntry, *, cache: Path, folder: Path) -> None:
        self.entry = entry
        self._cache, self._folder = cache, folder
        self._breaks: dict[int, bool] = {}

    @cached_property
    def path(self) -> Path:
        """Folder with the model's files."""
        return model_folder(self.entry, cache=self._cache, folder=self._folder)

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer with its chat template."""
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.path, trust_remote_code=self.entry.trust_remote_code)

    @cached_property
    def config(self) -> Any:
        """The configuration of the model's text decoder."""
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(self.path, trust_remote_code=self.entry.trust_remote_code)
        return config.get_text_config(decoder=True)

    @cached_property
    def context(self) -> int:
        """Longest prompt plus output in tokens: the entry's, or the model's own if that is shorter."""
        own = getattr(self.config, "max_position_embeddings", None)
        return min(self.entry.context, own or self.entry.context)

    @cached_property
    def ends(self) -> frozenset[int]:
        """Token numbers that end an answer: those of the model and of its tokenizer."""
        from transformers import GenerationConfig

        try:
            found = GenerationConfig.from_pretrained(self.path).eos_token_id
        except OSError:  # older models have no file for it
            found = self.config.eos_token_id
        ends = set(found) if isinstance(found, list) else {found}
        return frozenset((ends | {self.tokenizer.eos_token_id}) - {None})

    @cached_property
    def template_options(self) -> Mapping[str, object]:
        """Options for the chat template."""
        options = self.entry.engine_options
        return {k.removeprefix(TEMPLATE): v for k, v in options.items() if k.startswith(TEMPLATE)}

    @cached_property
    def engine_options(self) -> dict[str, str | int | float | bool]:
        """Options for the engine itself."""
        options = self.entry.engine_options
        return {k: v for k, v in options.items() if v is not None and not k.startswith(TEMPLATE)}

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens.

        The bare tokenizer file is used where there is one: it loads in 0.1 s, while importing
        transformers takes seconds.
        """
        if not texts:
            return []
        if "tokenizer" not in self.__dict__ and (self.path / "tokenizer.json").is_file():
            return [
                len(e.ids)
                for e in self._bare.encode_batch_fast(list(map(speakable, texts)), add_special_tokens=False)
            ]
        ids = self.tokenizer(list(map(speakable, texts)), add_special_tokens=False)["input_ids"]
        return [len(i) for i in ids]

    @cached_property
    def _bare(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.path / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """Return the token numbers of a request, up to where the answer starts.

        Raises:
            EngineError: The model has no chat template, or its template refuses these roles.
        """
        if not self.entry.chat_template:
            text = "".join(content + BREAK for _, content in request.messages)
            return list(self.tokenizer(speakable(text))["input_ids"])
        if not self.tokenizer.chat_template:
            raise EngineError(
                "the model has no chat template",
                where=f"generator {self.entry.id!r}",
                do="set `chat_template: false` for a base model, or take its instruction-tuned version",
            )
        return list(self.tokenizer(self._rendered(request), add_special_tokens=False)["input_ids"])

    def choice_ids(self, choices: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each choice as the beginning of an answer; none begins another.

        Raises:
            EngineError: A choice is empty, or two are written with the same tokens.
        """
        ids = [list(self.tokenizer(speakable(c), add_special_tokens=False)["input_ids"]) for c in choices]
        if not all(ids) or len({tuple(i) for i in ids}) < len(ids):
            raise EngineError(
                "choices must differ and not be empty",
                where=f"generator {self.entry.id!r}",
                allowed="strings that the model writes with different tokens",
                do=f"correct the scale: {', '.join(map(repr, choices))}",
            )
        return without_ambiguity(ids)

    def _rendered(self, request: ChatRequest) -> str:
        from jinja2.exceptions import TemplateError

        try:
            return self._templated(request.messages)
        except TemplateError as e:
            # Some templates (Gemma 2's) know no system message: its words then begin the user's.
            if [role for role, _ in request.messages] == ["system", "user"]:
                words = BREAK.join(content for _, content in request.messages)
                with contextlib.suppress(TemplateError):
                    return self._templated((("user", words),))
            roles = ", ".join(role for role, _ in request.messages)
            raise EngineError(
                f"the model's chat template refuses the messages: {e}",
                where=f"generator {self.entry.id!r}, roles {roles}",
                do="use prompts with `role: user`",
            ) from e

    def _templated(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return what the model's template makes of messages, up to where the answer starts."""
        chat = [{"role": role, "content": speakable(content)} for role, content in messages]
        return str(
            self.tokenizer.apply_chat_template(
                chat, add_generation_prompt=True, tokenize=False, **self.template_options
            )
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of an answer's tokens, special tokens left out; a base model's first paragraph."""
        text = str(
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )
        return text if self.entry.chat_template else text.partition(BREAK)[0]

    def paragraph_ends(self, ids: Sequence[int]) -> bool:
        """Return whether a base model's answer has come to its blank line with the last token."""
        last = ids[-1]
        if last not in self._breaks:
            self._breaks[last] = "\n" in self.tokenizer.decode([last])
        if not self._breaks[last]:
            return False
        return BREAK in self.tokenizer.decode(list(ids), skip_special_tokens=True)


def too_long(key: str, tokens_in: int) -> Completion:
    """Return the completion of a request that does not fit the model's context."""
    return Completion(key, "", "too_long", tokens_in, 0)


def split_by_context(
    requests: Sequence[ChatRequest], prompts: Sequence[Sequence[int]], context: int
) -> tuple[list[int], list[int]]:
    """Return the numbers of the requests that fit `context` (prompt plus output limit), and of the others."""
    fits = [len(p) + r.max_tokens <= context for r, p in zip(requests, prompts, strict=True)]
    return [i for i, f in enumerate(fits) if f], [i for i, f in enumerate(fits) if not f]
