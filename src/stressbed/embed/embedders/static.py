"""WordLlama: static token vectors, averaged. Everything comes from the installed package."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import Manifest
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError
from stressbed.sources import PACKAGE, resolve

TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
WEIGHTS = "weights/l2_supercat_256.safetensors"


class WordLlamaEmbedder(EntryEmbedder):
    """The mean of a text's token vectors (256 numbers in the package's model).

    The files are read directly: the package's own loader looks for the tokenizer in a folder
    that its wheel does not have and then asks the hub.
    """

    def __init__(self, entry: EmbedderEntry, catalogue_folder: Path) -> None:
        super().__init__(entry)
        name = entry.model if entry.model.startswith(PACKAGE) or "/" in entry.model else f"{PACKAGE}wordllama"
        self.folder = resolve(name, catalogue_folder)

    @cached_property
    def _model(self) -> Any:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        for name in (WEIGHTS, TOKENIZER):
            if not (self.folder / name).is_file():
                raise EmbedError(
                    "a file of the model is missing",
                    where=str(self.folder / name),
                    do="install the package `wordllama`, which brings weights and tokenizer",
                )
        weights = load_file(self.folder / WEIGHTS)["embedding.weight"]
        tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        size = self.entry.dimensions
        return _inference_class()(weights[:, :size] if size else weights, tokenizer)

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the mean token vectors of the strings, shape (n, d)."""
        instruction = self.context(role, manifest)
        texts = [(instruction + s).encode("utf-8", "replace").decode() for s in strings]
        vectors = self._model.embed(texts, norm=False, batch_size=len(texts))
        return self.finish(np.asarray(vectors, dtype=np.float32))

    def close(self) -> None:
        """Give back the weights."""
        self.__dict__.pop("_model", None)


def _inference_class() -> Any:
    """Return the package's class; its import sets up the root logger, which is undone here."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    module = importlib.import_module("wordllama.inference")
    root.setLevel(level)
    for handler in [h for h in root.handlers if h not in handlers]:
        root.removeHandler(handler)
    return module.WordLlamaInference
