"""Model files: where they lie on this machine, and GGUF files turned into ordinary folders.

Both generators and embedders come through `model_folder`. Heavy libraries are imported only
when something has to be downloaded or converted.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config.entries import ModelSource
from stressbed.errors import EngineError
from stressbed.fingerprint import digest, file_digest
from stressbed.sources import PACKAGE, gguf_parts, resolve

if TYPE_CHECKING:
    from filelock import BaseFileLock

log = logging.getLogger("stressbed")

CONVERSION = 2
"""Version of the GGUF conversion: raise it when a converted folder would come out differently."""

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
SKIPPED = (
    "*.onnx", "onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.tflite", "coreml/*",
    "original/*", "*.mlmodel", "*.gguf",
)  # fmt: skip
"""Files of a hub repository that neither transformers nor vLLM reads."""

ONE_DIGIT_A_TOKEN = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell"})
"""GGUF pre-tokenizer names that split every digit off before the GPT-2 pattern."""


def model_folder(source: ModelSource, *, cache: Path, folder: Path | None = None) -> Path:
    """Return the folder on this machine from which the model can be loaded without a network.

    Args:
        source: A hub id with its revision, a folder, or `package:NAME[/PATH]`; a GGUF file in
            it is converted once to an ordinary folder (float32 safetensors and tokenizer). The
            file may also lie in parts in packages beside this one (see `gguf_parts`).
        cache: Root of the store; converted models lie in `cache/models/<key>`.
        folder: Where relative paths start from; the working directory by default.

    Raises:
        EngineError: The model cannot be found, fetched or converted.
        ConfigError: The package is not installed.
    """
    place, gguf = _locate(source, folder or Path.cwd())
    if gguf is None:
        if not (place / "config.json").is_file() and not (place / "modules.json").is_file():
            raise EngineError(
                "this folder holds no model",
                where=str(place),
                allowed="a folder with config.json and weights, or one with a GGUF file named by `gguf_file`",
                do="correct `model` (and `gguf_file`) in the catalogue",
            )
        return place
    if not gguf_parts(gguf):
        raise EngineError(
            "the GGUF file is missing", where=str(gguf), do="correct `gguf_file` in the catalogue"
        )
    return _converted(gguf, cache)


def cached_folder(source: ModelSource) -> Path | None:
    """Return the folder of a hub model that the hub's cache on this machine holds, without asking the hub."""
    if not HUB_ID.fullmatch(source.model):
        return None
    from huggingface_hub.constants import HF_HUB_CACHE

    kept = Path(HF_HUB_CACHE) / f"models--{source.model.replace('/', '--')}"
    revision = source.revision or "main"
    named = kept / "refs" / revision
    commit = named.read_text(encoding="utf-8").strip() if named.is_file() else revision
    folder = kept / "snapshots" / commit
    return folder if folder.is_dir() else None


def quiet_transformers() -> None:
    """Turn off the progress bars that transformers draws while it loads weights."""
    logging_module: Any = importlib.import_module("transformers.utils.logging")
    logging_module.disable_progress_bar()


def _locate(source: ModelSource, folder: Path) -> tuple[Path, Path | None]:
    """Return the folder of the files, and the GGUF file if the model is one."""
    name = source.model
    if name.startswith(PACKAGE):
        place = resolve(name, folder)
    else:
        place = folder / Path(name).expanduser()
        if not place.exists():
            if name.startswith((".", "/", "~")) or not HUB_ID.fullmatch(name):
                raise EngineError("the model's folder does not exist", where=str(place), do="correct `model`")
            place = _from_hub(source)
    if place.suffix == ".gguf":
        return place.parent, place
    return place, place / source.gguf_file if source.gguf_file else None


def _from_hub(source: ModelSource) -> Path:
    """Return the snapshot folder of a hub model, downloaded unless it is there already."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    where = f"model {source.model}, revision {source.revision or 'main'}"
    try:
        return Path(
            snapshot_download(
                source.model,
                revision=source.revision,
                allow_patterns=[source.gguf_file, "*.json"] if source.gguf_file else None,
                ignore_patterns=None if source.gguf_file else list(SKIPPED),
            )
        )
    except GatedRepoError as e:
        raise EngineError(
            "the hub asks for an agreement before this model may be downloaded",
            where=where,
            do="accept the terms on the model's page, set HF_TOKEN, and run `prefetch` again",
        ) from e
    except (RepositoryNotFoundError, RevisionNotFoundError) as e:
        raise EngineError(
            "the hub does not know this model or revision", where=where, do="correct the entry"
        ) from e
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as e:
        raise EngineError(
            "the model is not on this machine and could not be downloaded",
            where=where,
            do="run `prefetch` on a machine with a network, or name a folder in `model`",
        ) from e


def conversion_key(gguf: Path) -> str:
    """Return the name of the folder below `models` that a GGUF file is converted to."""
    parts = [file_digest(p) for p in gguf_parts(gguf)]
    return digest([parts[0] if len(parts) == 1 else parts, CONVERSION])


def _assemble(gguf: Path, target: Path) -> None:
    """Write a GGUF file from its parts and check it against the package's SHA-256.

    Raises:
        EngineError: The package names no SHA-256 for the file, or the parts make another file.
    """
    sums = gguf.parent / "data" / "SHA256SUMS"
    lines = [line.split() for line in sums.read_text().splitlines()] if sums.is_file() else []
    wanted = {name.lstrip("*"): value for value, name in (line for line in lines if len(line) == 2)}
    found = hashlib.sha256()
    with target.open("wb") as out:
        for part in gguf_parts(gguf):
            with part.open("rb") as f:
                while block := f.read(2**22):
                    found.update(block)
                    out.write(block)
    if found.hexdigest() != wanted.get(gguf.name):
        raise EngineError(
            "the parts of the GGUF file do not make the file that the package promises",
            where=f"{gguf}, SHA-256 {found.hexdigest()}",
            allowed=wanted.get(gguf.name, f"a line for {gguf.name} in {sums}"),
            do="install the package and all of its parts again, in one version",
        )


def _converted(gguf: Path, cache: Path) -> Path:
    """Return the ordinary folder made of a GGUF file, making it first if need be."""
    target = cache / "models" / conversion_key(gguf)
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.parent / f".{target.name}.lock"):
        if target.is_dir():
            return target
        log.info("converting %s once to %s", gguf.name, target)
        partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            if gguf.is_file():
                _convert(gguf, partial)
            else:
                partial.mkdir()
                whole = partial / gguf.name
                _assemble(gguf, whole)
                _convert(whole, partial)
                whole.unlink()  # the packages still have it, and so does the converted folder
            _sync(partial)
            partial.rename(target)
        except OSError:
            # Without working locks on a shared file system another job may have been first.
            if not target.is_dir():
                raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


@contextmanager
def _lock(path: Path) -> Iterator[BaseFileLock]:
    """Hold a lock between processes, so that two jobs do not convert the same file."""
    from filelock import FileLock

    with FileLock(path) as lock:
        yield lock


def _sync(folder: Path) -> None:
    """Flush a folder's files to disk, so that the rename never shows half a model."""
    for path in folder.iterdir():
        with path.open("rb") as f:
            os.fsync(f.fileno())


def _convert(gguf: Path, target: Path) -> None:
    """Write the model of a GGUF file as float32 safetensors with tokenizer and chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    quiet_transformers()
    try:
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent,
            gguf_file=gguf.name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    except (ValueError, RuntimeError, NotImplementedError, ImportError) as e:
        raise EngineError(
            f"the GGUF file could not be read: {e}",
            where=str(gguf),
            allowed="an architecture that transformers reads from GGUF",
            do="use the model's ordinary folder or hub id instead",
        ) from e
    _as_ordinary(model)
    _mend_pretokenizer(tokenizer, gguf)
    _mend_beginning(tokenizer, gguf)
    target.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    (target / "converted.json").write_text(json.dumps({"from": gguf.name, "version": CONVERSION}) + "\n")


def _as_ordinary(model: Any) -> None:
    """Take the marks of quantisation off a dequantised model, so that it can be saved and loaded."""
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.is_quantized = False
    model.hf_quantizer = None


def _mend_pretokenizer(tokenizer: Any, gguf: Path) -> None:
    """Give a GPT-2 style tokenizer back the digit splitting that transformers drops on reading GGUF.

    Without it a digit after several blanks or line breaks (`prompt, blank line, 7 dwarfs`) is
    tokenized in a way that the model never saw in training.
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    pre = GGUFReader(gguf).fields.get("tokenizer.ggml.pre")
    if pre is None or pre.contents() not in ONE_DIGIT_A_TOKEN:
        return
    backend = tokenizer.backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )


def _mend_beginning(tokenizer: Any, gguf: Path) -> None:
    """Let a tokenizer put the token that begins a text where the GGUF file says so.

    transformers drops this on reading GGUF, and a Gemma model without it writes nonsense.
    """
    from gguf import GGUFReader
    from tokenizers import processors

    adds = GGUFReader(gguf).fields.get("tokenizer.ggml.add_bos_token")
    bos = tokenizer.bos_token
    if adds is None or not adds.contents() or bos is None:
        return
    if tokenizer("a")["input_ids"][:1] == [tokenizer.bos_token_id]:
        return
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A {bos} $B", special_tokens=[(bos, tokenizer.bos_token_id)]
    )
