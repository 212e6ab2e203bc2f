"""What a forecast assumes where nothing was measured: `assumptions.yaml`, checked and looked up."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import Field

from stressbed.config.model import Strict
from stressbed.errors import ConfigError, suggest

FILE = Path(__file__).with_name("assumptions.yaml")


class Device(Strict):
    """A class of devices and its peak."""

    id: str
    label: str
    memory_gb: float
    teraflops: float = Field(gt=0)
    read: float | None = None
    write: float | None = None
    source: str


class Speed(Strict):
    """Shares of a device's peak that models up to a size reach."""

    up_to: float
    read: float = Field(gt=0, le=1)
    write: float = Field(gt=0, le=1)


class Loading(Strict):
    """Seconds before a model works."""

    seconds_per_gb: float
    embedder_seconds: float
    generator_seconds: float


class Language(Strict):
    """How many tokens texts of a language have."""

    characters_per_token: float = Field(gt=0)
    tokens: float = Field(gt=0)


class Answer(Strict):
    """How long answers are."""

    base: float
    factor: float


class Title(Strict):
    """Titles of a corpus: their characters, and different ones per document."""

    characters: float
    distinct: float = Field(gt=0, le=1)


class Cpu(Strict):
    """Seconds on one core."""

    start: float
    freeze_text: float
    transform_row: float
    transform_answer: float
    cell: float
    cell_string: float
    tables_cell: float
    tables_start: float


class Bytes(Strict):
    """Bytes on disk."""

    vector_key: float
    request: float
    completion_row: float
    transform_row: float
    packed: float
    cell: float
    cell_item: float
    text_characters: float
    parameter_16_bit: float
    parameter_4_bit: float


class Assumptions(Strict):
    """All assumptions; see the comments in the file for where each comes from."""

    devices: list[Device]
    default_device: str
    speeds: list[Speed]
    speeds_source: str
    four_bit: float
    loading: Loading
    endpoint_tokens_per_second: float
    cached_prompts: bool
    languages: dict[str, Language]
    scripts: dict[str, Language]
    other_script: Language
    answers: dict[str, Answer]
    other_answer: Answer
    judge_prompt_tokens: int
    embedding_instruction_tokens: int
    titles: dict[str, Title]
    unknown_texts: int
    unknown_characters: int
    cpu: Cpu
    bytes: Bytes

    def device(self, name: str) -> Device:
        """Return a device by its id.

        Raises:
            ConfigError: There is no such device.
        """
        known = {d.id: d for d in self.devices}
        if name not in known:
            raise ConfigError(
                f"no device {name!r} among the assumptions",
                where="--device",
                allowed=", ".join(known),
                do=suggest(name, known),
            )
        return known[name]

    def speed(self, parameters: float, device: Device) -> Speed:
        """Return the shares of a device's peak that a model of a size reaches."""
        found = next((s for s in self.speeds if parameters <= s.up_to), self.speeds[-1])
        own = {k: v for k, v in (("read", device.read), ("write", device.write)) if v is not None}
        return found.model_copy(update=own)

    def language(self, tag: str) -> Language:
        """Return what is assumed of a language: its own figures, those of its script, or any script's."""
        return self.languages.get(tag) or self.scripts.get(tag.rpartition("-")[2], self.other_script)

    def tokens(self, characters: float, language: str) -> int:
        """Return the tokens of a text of so many characters; at least one."""
        return max(1, round(characters / self.language(language).characters_per_token))

    def answer_tokens(self, prompt: str, tokens: int, source: str, target: str, limit: int) -> int:
        """Return the tokens of the answer to a prompt about a text, 1 to the limit.

        Args:
            prompt: Catalogue id.
            tokens: Of the text.
            source: Language of the text.
            target: Language of the answer.
            limit: Tokens at which the answer is cut off.
        """
        rule = self.answers.get(prompt, self.other_answer)
        ratio = self.language(target).tokens / self.language(source).tokens
        return max(1, min(limit, round(rule.base + rule.factor * ratio * tokens)))

    def weight_bytes(self, parameters: float, *, four_bit: bool, full: bool = False) -> float:
        """Return the bytes of a model's files; `full`: weights of 32 bits."""
        per = self.bytes.parameter_4_bit if four_bit else self.bytes.parameter_16_bit * (2 if full else 1)
        return parameters * per


@lru_cache(maxsize=1)
def assumptions() -> Assumptions:
    """Return the assumptions of the file beside this module."""
    return Assumptions.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8")))
