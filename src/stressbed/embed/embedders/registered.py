"""Models as mteb registers them: mteb's own loader decides prompts, pooling and number types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from stressbed import devices, fit
from stressbed.embed.embedders.common import EntryEmbedder
from stressbed.embed.embedders.transformer import attention, first_line, named_similarity, torch_dtype
from stressbed.embed.protocol import Manifest
from stressbed.embed.supplied import supplied
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError, suggest
from stressbed.models import cached_folder

LOADERS_OWN = frozenset({"auto", "float32"})
"""Number types for which nothing is passed on: the loader's own is taken."""


class RegisteredEmbedder(EntryEmbedder):
    """A model of mteb's registry, called as mteb calls it: with the task and the prompt type.

    What a loader puts before a text depends on the task, its type, the role and the prompts that mteb
    has for it; a loader has ways of its own to choose among them. So all that it may choose from stands in
    the key, in the place of an instruction (`stressbed.embed.supplied`).
    """

    def context(self, role: str, manifest: Manifest) -> str:
        """Return the task, its type, and the hash of what mteb supplies to the loader for a role."""
        metadata = _task_metadata(manifest)
        return f"mteb:{manifest['task_type']}:{metadata.name}:{supplied(self.meta, metadata, role)}"

    def _own_similarity(self) -> str | None:
        """Return what mteb's registry says, else what the model's own files do, as mteb goes about it."""
        named = self.meta.similarity_fn_name
        if named is not None:
            return str(getattr(named, "value", named))
        folder = cached_folder(self.entry)
        return None if folder is None else named_similarity(folder)

    @cached_property
    def meta(self) -> Any:
        """The model in mteb's registry.

        Raises:
            EmbedError: mteb does not know the model, or another revision of it, or it runs code of its
                own that the entry does not allow.
        """
        from mteb.models.get_model_meta import get_model_meta
        from mteb.models.model_implementations import MODEL_REGISTRY

        entry, where = self.entry, f"embedder {self.entry.id!r}, key 'model'"
        if entry.model not in MODEL_REGISTRY:
            raise EmbedError(
                f"mteb has no loader for {entry.model!r}",
                where=where,
                do=suggest(entry.model, MODEL_REGISTRY) or "use the backend `sentence-transformers`",
            )
        try:
            meta = get_model_meta(entry.model, entry.revision)
        except ValueError as e:
            raise EmbedError(first_line(e), where=where, do="use the revision that mteb pins") from e
        if meta.loader_kwargs.get("trust_remote_code") and not entry.trust_remote_code:
            raise EmbedError(
                "this model runs code that comes with it",
                where=where,
                do="read that code, then set `trust_remote_code: true`",
            )
        return meta

    @cached_property
    def model(self) -> Any:
        """The loaded model.

        Raises:
            EmbedError: It does not fit into the device's memory, its kernel or files are not there, or its
                loader failed.
        """
        entry = self.entry
        where = f"embedder {entry.id!r}"
        fit.check_kernel(entry.attention, entry.dtype, where, error=EmbedError)
        fit.check(
            fit.need_of(entry, None),
            fit.device_memory(),
            where=f"{where}, {entry.model}",
            do=fit.EMBEDDER_ADVICE,
            error=EmbedError,
        )
        told = {} if entry.dtype in LOADERS_OWN else {"dtype": torch_dtype(entry)}
        told |= attention(entry)
        extra = {"model_kwargs": told} if told else {}
        try:
            model = self.meta.load_model(embed_dim=entry.dimensions, **extra)
        except (OSError, ImportError) as e:
            raise EmbedError(
                f"mteb's loader failed: {first_line(e)}",
                where=where,
                do="run `prefetch` on a machine with a network, or install what the message names",
            ) from e
        if entry.max_length is not None:
            inner: Any = getattr(model, "model", None)
            if not hasattr(inner, "max_seq_length"):
                raise EmbedError(
                    "mteb's loader of this model has no longest input that could be set",
                    where=f"{where}, key 'max_length'",
                    do="take the key out of the entry",
                )
            inner.max_seq_length = entry.max_length
        return model

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return the vectors of the strings, shape (n, d), float32."""
        from mteb._create_dataloaders import _create_dataloader_from_texts
        from mteb.types import PromptType

        vectors = self.model.encode(
            _create_dataloader_from_texts(list(strings), batch_size=len(strings)),
            task_metadata=_task_metadata(manifest),
            hf_split=str(manifest["splits"][0]),
            hf_subset=str(manifest["subsets"][0]),
            prompt_type=None if role == "none" else PromptType(role),
            batch_size=len(strings),
            show_progress_bar=False,
        )
        detach = getattr(vectors, "detach", None)
        dense = detach().cpu().float().numpy() if detach is not None else vectors
        return self.finish(self.sized(np.asarray(dense, dtype=np.float32)))

    def close(self) -> None:
        """Give back the model's memory."""
        self.__dict__.pop("model", None)
        devices.empty_cache()


def _task_metadata(manifest: Manifest) -> Any:
    """Return mteb's metadata of the dataset's task; for local files, of a task of its type."""
    if manifest["source"] != "local":
        import mteb

        return mteb.get_task(manifest["task"]).metadata
    from mteb.abstasks.task_metadata import TaskMetadata

    return TaskMetadata(
        name=str(manifest["dataset"]),
        description="local files",
        dataset={"path": "local", "revision": "local"},
        type="STS" if manifest["task_type"] == "STR" else manifest["task_type"],
        eval_splits=list(manifest["splits"]),
        eval_langs=dict(manifest["languages"]),
        main_score=str(manifest["main_score"]),
        reference=None, category=None, modalities=["text"], date=None, domains=None, task_subtypes=None,
        license=None, annotations_creators=None, dialect=None, sample_creation=None, bibtex_citation=None,
    )  # fmt: skip
