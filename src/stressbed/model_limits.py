"""What a model's own files say of its limits: how many tokens it takes, how long its vectors are.

Read from the small JSON files of a folder, and from the head of a GGUF file; no model library is imported.
What the files do not say is None: nothing is refused on a guess.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

BEFORE_THE_FIRST = frozenset(
    {
        "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "xmod",
        "roberta-prelayernorm", "data2vec-text",
    }
)  # fmt: skip
"""Architectures whose positions begin after that of the padding token."""

WITHOUT_POSITIONS = frozenset({"t5", "mt5", "umt5", "longt5", "switch_transformers", "bloom", "mpt"})
"""Architectures that look at distances only; what their files call positions limits nothing."""

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value in a GGUF file by its type; strings (8) and lists (9) say their own length."""

_WHOLE = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_STRING, _LIST = 8, 9


def positions(folder: Path) -> int | None:
    """Return the longest input in tokens that a model in a folder has positions for."""
    config = _json(_transformer(folder) / "config.json")
    own = config.get("text_config")
    config = {**config, **own} if isinstance(own, dict) else config
    kind = str(config.get("model_type", ""))
    if kind in WITHOUT_POSITIONS or config.get("alibi") or config.get("position_embedding_type") == "alibi":
        return None
    if config.get("relative_attention") and config.get("position_biased_input") is False:
        return None  # DeBERTa without absolute positions
    number = config.get("max_position_embeddings") or config.get("n_positions")
    if not isinstance(number, int) or number <= 0:
        return None
    padding = config.get("pad_token_id")
    if kind in BEFORE_THE_FIRST:
        return number - (padding if isinstance(padding, int) else 1) - 1
    return _stretched(number, config)


def _stretched(number: int, config: Mapping[str, Any]) -> int:
    """Return the positions after the stretching of rotary ones that a configuration asks for."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    factor, first = scaling.get("factor"), scaling.get("original_max_position_embeddings")
    if not isinstance(factor, int | float):
        return number
    return max(number, int(factor * (first if isinstance(first, int) else number)))


def dimensions(folder: Path, *, pooling: str | None = None) -> int | None:
    """Return the size of the vectors of a sentence-transformers model in a folder.

    Args:
        folder: The model's folder.
        pooling: Way of pooling that replaces the model's own, if any.
    """
    modules = _json(folder / "modules.json", [])
    if not modules:
        size = _json(folder / "config.json").get("hidden_size")
        return size if isinstance(size, int) else None
    found: int | None = None
    for module in modules:
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        config = _json(folder / str(module.get("path", "")) / "config.json")
        if kind == "Pooling":
            found = _pooled(config, pooling)
        elif kind == "Dense":
            found = config.get("out_features", found)
        elif kind not in {"Transformer", "Normalize", "Dropout", "LayerNorm"}:
            found = None  # a module that may change the size in a way of its own
    return found


def _pooled(config: Mapping[str, Any], pooling: str | None) -> int | None:
    size = config.get("word_embedding_dimension") or config.get("embedding_dimension")
    mode = config.get("pooling_mode")
    if pooling is not None:
        ways = 1
    elif mode is not None:
        ways = len(mode) if isinstance(mode, list | tuple) else 1
    else:
        ways = sum(value is True for key, value in config.items() if key.startswith("pooling_mode_"))
    return size * max(ways, 1) if isinstance(size, int) else None


def columns(weights: Path, tensor: str) -> int | None:
    """Return the columns of a tensor in a safetensors file."""
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        shape = json.loads(file.read(length)).get(tensor, {}).get("shape")
    return int(shape[1]) if shape and len(shape) == 2 else None


def gguf_context(file: Path) -> int | None:
    """Return the longest context that the head of a GGUF file names."""
    with file.open("rb") as f:
        if f.read(4) != b"GGUF":
            return None
        _, _, pairs = struct.unpack("<IQQ", f.read(20))
        for _ in range(pairs):
            name = f.read(struct.unpack("<Q", f.read(8))[0])
            (kind,) = struct.unpack("<I", f.read(4))
            if name.endswith(b".context_length") and kind in _WHOLE:
                return int(struct.unpack(_WHOLE[kind], f.read(_SIZES[kind]))[0])
            _skip(f, kind)
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    """Go past one value of a GGUF file."""
    if kind == _STRING:
        file.seek(struct.unpack("<Q", file.read(8))[0], 1)
    elif kind == _LIST:
        of, count = struct.unpack("<IQ", file.read(12))
        if of in _SIZES:
            file.seek(count * _SIZES[of], 1)
            return
        for _ in range(count):
            _skip(file, of)
    else:
        file.seek(_SIZES[kind], 1)


def _transformer(folder: Path) -> Path:
    """Return the folder of a sentence-transformers model's first module, or the folder itself."""
    modules = _json(folder / "modules.json", [])
    return folder / str(modules[0].get("path", "")) if modules else folder


def _json(path: Path, otherwise: Any = None) -> Any:
    """Return what a JSON file holds; `otherwise`, or nothing, where it is missing or not readable."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {} if otherwise is None else otherwise
