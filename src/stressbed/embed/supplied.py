"""What mteb supplies to a model's loader for a task: prompts of its registry and of its tasks' metadata."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from stressbed.fingerprint import digest


def supplied(meta: Any, metadata: Any, role: str) -> str:
    """Return the hash of all that decides what a loader puts before a text.

    That is the task's own prompt and that of its class, the model's prompts and templates, and what mteb's
    ways of choosing make of them. Prompts that come with a model's files are fixed by its revision.

    Args:
        meta: The model in mteb's registry.
        metadata: mteb's metadata of the task.
        role: `query`, `document` or `none`.
    """
    from mteb.abstasks.abstask import get_abstask_prompt

    prompt = metadata.prompt
    if isinstance(prompt, dict) and role in {"query", "document"}:
        prompt = prompt.get(role)
    settings = {**(meta.loader_kwargs or {}), **(getattr(meta, "experiment_kwargs", None) or {})}
    return digest(
        {
            "task": metadata.name,
            "type": metadata.type,
            "prompt": prompt,
            "of_class": get_abstask_prompt(metadata.name),
            "loader": _plain(meta.loader),
            "settings": {key: _plain(value) for key, value in settings.items()},
            "chosen": _chosen(settings, metadata, role),
        }
    )


def _chosen(settings: dict[str, Any], metadata: Any, role: str) -> list[str | None]:
    """Return what mteb's two ways of choosing a prompt give with a loader's settings."""
    from mteb.models.abs_encoder import AbsEncoder, get_prompt
    from mteb.types import PromptType

    class Asked(AbsEncoder):
        """An encoder that is only asked for its instruction."""

        prompts_dict = settings.get("prompts_dict")

        def encode(self, inputs: Any, **_: Any) -> Any:
            """Never called."""
            raise NotImplementedError

    kind = None if role == "none" else PromptType(role)
    return [
        get_prompt(settings.get("model_prompts"), metadata, kind),
        Asked().get_instruction(metadata, kind),
    ]


def _plain(value: Any) -> object:
    """Return a loader's setting as JSON can hold it; of a function, its source."""
    if isinstance(value, functools.partial):
        return [_plain(value.func), _plain(list(value.args)), _plain(value.keywords)]
    if isinstance(value, dict):
        return {str(key): _plain(of_key) for key, of_key in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return _source(value) if callable(value) else str(value)


def _source(function: Any) -> str:
    """Return a function's source; of a class and of what was made at run time, the name."""
    name = str(getattr(function, "__qualname__", function))
    try:
        return inspect.getsource(function) if inspect.isfunction(function) else name
    except OSError:
        return name
