"""Tokens of texts without a model: remembered counts, a tokenizer on this machine, else characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stressbed.config.entries import GeneratorEntry
from stressbed.errors import StressbedError
from stressbed.generate.engines.chat import speakable
from stressbed.generate.tokens import TokenCounts
from stressbed.models import conversion_key
from stressbed.plan.assumptions import Assumptions
from stressbed.sources import PACKAGE, gguf_parts, resolve

Count = Callable[[Sequence[str]], list[int]]


class Remembered(TokenCounts):
    """Counts that earlier jobs kept in the store; what is counted here is not written there."""

    def _save(self, new: dict[bytes, int]) -> None:
        """Keep nothing: a forecast changes no results."""


class Tokens:
    """Tokens of one generator.

    Placeholders and made-up answers have the tokens that they were given (`given`).

    Args:
        entry: The generator.
        folder: `{store}/tokens/{generator_identity}`.
        cache: Root of the store.
        origin: Folder that relative model paths start from.
        assumed: Characters per token where there is no tokenizer.
    """

    def __init__(
        self, entry: GeneratorEntry, *, folder: Path, cache: Path, origin: Path, assumed: Assumptions
    ) -> None:
        self.given: dict[str, int] = {}
        self.languages: Mapping[str, str] = {}
        self._assumed = assumed
        self._own = own_count(entry, cache=cache, origin=origin)
        self._remembered = Remembered(folder, self._count)

    @property
    def exact(self) -> bool:
        """Whether texts never counted before are counted as the engine will."""
        return self._own is not None

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        real = [t for t in dict.fromkeys(texts) if t not in self.given]
        known = dict(zip(real, self._remembered(real), strict=True)) if real else {}
        return [self.given[t] if t in self.given else known[t] for t in texts]

    def _count(self, texts: Sequence[str]) -> list[int]:
        if self._own is not None:
            return self._own(texts)
        return [self._assumed.tokens(len(t), self.languages.get(t, "eng-Latn")) for t in texts]


def own_count(entry: GeneratorEntry, *, cache: Path, origin: Path) -> Count | None:
    """Return how a generator's engine counts tokens, if that needs neither model nor network; else None."""
    if entry.engine in {"fake", "planted", "openai"}:
        from stressbed.generate.engines import open_engine

        try:
            return open_engine(entry, cache=cache, folder=origin).count_tokens
        except StressbedError:  # no key in the environment: the run will say so
            return None
    try:
        file = tokenizer_file(entry, cache=cache, origin=origin)
    except StressbedError:
        return None
    if file is None or not file.is_file():
        return None
    tokenizer = _tokenizer(file)
    return lambda texts: [
        len(e.ids) for e in tokenizer.encode_batch_fast(list(map(speakable, texts)), add_special_tokens=False)
    ]


def tokenizer_file(entry: GeneratorEntry, *, cache: Path, origin: Path) -> Path | None:
    """Return where a generator's tokenizer lies on this machine; nothing is fetched or converted."""
    name = "tokenizer.json"
    local = resolve(entry.model, origin) if entry.model.startswith(PACKAGE) else origin / entry.model
    if local.exists():
        if entry.gguf_file is None:
            return local / name
        gguf = local / entry.gguf_file
        return cache / "models" / conversion_key(gguf) / name if gguf_parts(gguf) else None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(entry.model, name, revision=entry.revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def _tokenizer(file: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
