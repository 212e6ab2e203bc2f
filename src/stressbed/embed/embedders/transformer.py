"""Any model of sentence-transformers: from the hub, a folder, or an installed package."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stressbed import devices, fit
from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.protocol import Manifest
from stressbed.embed.shipped import Shipped
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError
from stressbed.models import cached_folder
from stressbed.sources import PACKAGE, resolve

log = logging.getLogger("stressbed")


class SentenceTransformersEmbedder(EntryEmbedder):
    """A sentence-transformers model with the settings of its entry and no others.

    Prompts that the model itself brings are used where the entry says `prompts: shipped`. Else what stands
    before a string is decided by the entry's `instructions`. Models with separate paths for queries and
    documents get the role.
    """

    def __init__(self, entry: EmbedderEntry, catalogue_folder: Path) -> None:
        super().__init__(entry)
        self._catalogue_folder = catalogue_folder
        self._loaded: str | None = None

    @property
    def source(self) -> str:
        """The folder of the model, or its hub id where there is no such folder.

        Raises:
            EmbedError: What names a folder or a package has none.
        """
        folder = resolve(self.entry.model, self._catalogue_folder)
        if folder.is_dir():
            return str(folder)
        if self.entry.model.startswith((PACKAGE, "/", ".", "~")):
            raise EmbedError(
                "the model's folder does not exist",
                where=f"embedder {self.entry.id!r}, key 'model': {folder}",
                allowed="a hub id, a folder, or package:NAME/PATH",
            )
        return self.entry.model

    def context(self, role: str, manifest: Manifest) -> str:
        """Return what is put before a string: one of the model's own prompts, or the entry's instruction."""
        if self.entry.prompts == "shipped":
            return self._shipped.before(str(manifest["task_type"]), role)
        return super().context(role, manifest)

    @cached_property
    def _shipped(self) -> Shipped:
        return Shipped.of_folder(self._files("prompts", "prompts", "write its `instructions`"))

    def _own_similarity(self) -> str | None:
        if self._loaded is not None:
            return self._loaded
        return named_similarity(self._files("similarity function", "similarity", "set `similarity`"))

    def _files(self, what: str, key: str, instead: str) -> Path:
        """Return the folder of the model's files on this machine.

        Raises:
            EmbedError: They are not there; `what` is sought in them for `key`, and `instead` avoids that.
        """
        source = Path(self.source)
        folder = source if source.is_dir() else cached_folder(self.entry)
        if folder is None:
            raise EmbedError(
                f"the model's own {what} cannot be known: its files are not on this machine",
                where=f"embedder {self.entry.id!r}, key {key!r}",
                do=f"{instead}, or run `prefetch` on a machine with a network",
            )
        return folder

    @cached_property
    def model(self) -> Any:
        """The loaded model.

        Raises:
            EmbedError: It does not fit into the device's memory, or its kernel or files are not there.
        """
        entry, source = self.entry, self.source
        from sentence_transformers import SentenceTransformer

        where, folder = f"embedder {entry.id!r}, {source}", Path(source)
        fit.check_kernel(entry.attention, entry.dtype, f"embedder {entry.id!r}", error=EmbedError)
        need = fit.need_of(entry, folder if folder.is_dir() else None)
        fit.check(need, fit.device_memory(), where=where, do=fit.EMBEDDER_ADVICE, error=EmbedError)
        try:
            model = SentenceTransformer(
                source,
                revision=None if folder.is_dir() else entry.revision,
                trust_remote_code=entry.trust_remote_code,
                truncate_dim=entry.dimensions,
                model_kwargs={"dtype": torch_dtype(entry), **attention(entry)},
            )
        except OSError as e:
            raise EmbedError(
                f"the model cannot be loaded: {first_line(e)}",
                where=where,
                do="run `prefetch` on a machine with a network, or correct `model` and `revision`",
            ) from e
        if entry.max_length is not None:
            model.max_seq_length = entry.max_length
        if entry.pooling is not None:
            set_pooling(model, entry.pooling, entry.id)
        _scale_in_32_bits(model)
        self._loaded = str(model.similarity_fn_name)
        _tell_of_prompts(model, entry)
        return model

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the vectors of the strings, shape (n, d), float32."""
        call = {"query": "encode_query", "document": "encode_document"}.get(role, "encode")
        vectors = getattr(self.model, call)(
            list(strings),
            prompt=self.context(role, manifest),
            batch_size=len(strings),
            show_progress_bar=False,
            convert_to_tensor=True,
        ).float()  # before they are scaled: in 16 bits lengths are off by 4 in 1,000
        if self.entry.normalise:
            from torch.nn.functional import normalize

            vectors = normalize(vectors, p=2, dim=1)
        return self.sized(np.asarray(vectors.cpu().numpy(), dtype=np.float32))

    def close(self) -> None:
        """Give back the model's memory."""
        self.__dict__.pop("model", None)
        devices.empty_cache()


def named_similarity(folder: Path) -> str | None:
    """Return the similarity function that a model's files name; None if they name none."""
    path = folder / "config_sentence_transformers.json"
    if not path.is_file():
        return None
    named = json.loads(path.read_text(encoding="utf-8")).get("similarity_fn_name")
    return None if named is None else str(named)


def _scale_in_32_bits(model: Any) -> None:
    """Let a layer that ends the model by scaling vectors to length 1 see them in float32."""
    from sentence_transformers.sentence_transformer.modules import Normalize

    for last in _last_layers(model):
        if isinstance(last, Normalize):
            last.register_forward_pre_hook(_in_32_bits)


def _last_layers(model: Any) -> Iterator[Any]:
    """Yield the layer that ends a model, or one for each path of a model that ends in several."""
    *_, last = model.children()
    paths = getattr(last, "sub_modules", None)
    if paths is None:
        yield last
        return
    for path in paths.values():
        yield from _last_layers(path)


def _in_32_bits(layer: Any, inputs: tuple[dict[str, Any], ...]) -> None:
    features = inputs[0]
    if layer.module_input_name in features:
        features[layer.module_input_name] = features[layer.module_input_name].float()


def torch_dtype(entry: EmbedderEntry) -> Any:
    """Return torch's number type for the entry's `dtype`, or `auto`: that of the model's files."""
    if entry.dtype == "auto":
        return entry.dtype
    import torch

    return getattr(torch, entry.dtype)


def attention(entry: EmbedderEntry) -> dict[str, str]:
    """Return what transformers is told of the entry's attention kernel; nothing if the choice is its own."""
    return {} if entry.attention is None else {"attn_implementation": entry.attention}


def set_pooling(model: Any, mode: str, embedder: str) -> None:
    """Give the model's pooling layer another mode.

    Raises:
        EmbedError: The mode is unknown, or the model has no pooling layer.
    """
    from sentence_transformers.sentence_transformer.modules import Pooling

    where = f"embedder {embedder!r}, key 'pooling'"
    if mode not in Pooling.POOLING_MODES:
        raise EmbedError(
            f"unknown pooling {mode!r}", where=where, allowed=", ".join(sorted(Pooling.POOLING_MODES))
        )
    for name, module in model.named_children():
        if isinstance(module, Pooling):
            new = Pooling(module.embedding_dimension, mode, include_prompt=module.include_prompt)
            setattr(model, name, new)
            return
    raise EmbedError(
        "the model has no pooling layer that could be changed",
        where=where,
        do="take the key out of the entry",
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or its type."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _tell_of_prompts(model: Any, entry: EmbedderEntry) -> None:
    """Warn when the model brings prompts and the entry has no instructions."""
    own = {name: text for name, text in (getattr(model, "prompts", None) or {}).items() if text}
    if own and not entry.instructions and entry.prompts is None:
        log.warning(
            "embedder %r: the model brings prompts for %s, which are not used; copy them to the entry's "
            "`instructions` if its authors mean them to stand before every text",
            entry.id,
            ", ".join(sorted(own)),
        )
