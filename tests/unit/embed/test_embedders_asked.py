"""What embedders ask libraries and copies of themselves for; stand-ins answer nothing of their own."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.sharded import ShardedEmbedder
from stressbed.embed.embedders.transformer import set_pooling
from stressbed.embed.supplied import _plain
from stressbed.errors import EmbedError

MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "STS", "subsets": ["a", "b"],
            "splits": ["dev", "test"], "languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]},
            "main_score": "spearman"}  # fmt: skip


def opened(entry: Any) -> Any:
    return open_embedder(entry, catalogue_folder=Path(), fit_texts=list)


@pytest.mark.parametrize("of_hub", [True, False])
def test_a_model_is_loaded_as_its_entry_says(entry_of, monkeypatch, tmp_path, of_hub) -> None:
    import torch

    asked = {}

    def load(source: str, **settings: Any) -> None:
        asked.update(settings, source=source)
        raise OSError("no more than that\nsecond line")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", load)
    name = "nobody/nothing" if of_hub else str(tmp_path)
    entry = entry_of("sentence-transformers", model=name, revision="r1", trust_remote_code=True,
                     dimensions=32, dtype="bfloat16", attention="sdpa")  # fmt: skip
    with pytest.raises(EmbedError, match=r"cannot be loaded: no more than that\n"):
        opened(entry).encode(["a"], role="none", manifest=MANIFEST)
    assert asked == {
        "source": name, "revision": "r1" if of_hub else None, "trust_remote_code": True, "truncate_dim": 32,
        "model_kwargs": {"dtype": torch.bfloat16, "attn_implementation": "sdpa"},
    }  # fmt: skip


class Loaded:
    """A model of mteb's registry: it keeps what it was asked."""

    def __init__(self) -> None:
        self.model = SimpleNamespace(max_seq_length=512)

    def encode(self, inputs: Any, **asked: Any) -> Any:
        self.asked, self.texts = asked, [t for batch in inputs for t in batch["text"]]
        return np.arange(6.0).reshape(2, 3) + 0.1


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, {}),
        ({"dtype": "float32"}, {}),
        ({"attention": "sdpa"}, {"model_kwargs": {"attn_implementation": "sdpa"}}),
        ({"dtype": "bfloat16"}, {"model_kwargs": {"dtype": "bfloat16"}}),
    ],
)
def test_a_registered_model_is_loaded_as_its_entry_says(entry_of, settings, told) -> None:
    import torch

    model, asked = opened(entry_of("mteb", model="m", dimensions=3, max_length=7, **settings)), {}

    def load_model(**more: Any) -> Loaded:
        asked.update(more)
        return Loaded()

    model.__dict__["meta"] = SimpleNamespace(load_model=load_model)
    assert model.model.model.max_seq_length == 7
    if "dtype" in told.get("model_kwargs", {}):
        told = {"model_kwargs": {"dtype": torch.bfloat16}}
    assert asked == {"embed_dim": 3, **told}


@pytest.mark.parametrize(("role", "kind"), [("none", None), ("query", "query"), ("document", "document")])
def test_a_registered_model_is_asked_with_task_and_role(entry_of, role, kind) -> None:
    model, loaded = opened(entry_of("mteb", model="m")), Loaded()
    model.__dict__["model"] = loaded
    vectors = model.encode(["one", "two"], role=role, manifest=MANIFEST)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, (np.arange(6.0).reshape(2, 3) + 0.1).astype(np.float32))
    assert loaded.texts == ["one", "two"]
    asked = {k: loaded.asked[k] for k in ("hf_split", "hf_subset", "batch_size", "show_progress_bar")}
    assert asked == {"hf_split": "dev", "hf_subset": "a", "batch_size": 2, "show_progress_bar": False}
    assert getattr(loaded.asked["prompt_type"], "value", None) == kind
    assert loaded.asked["task_metadata"].name == "d"


def test_a_longest_input_that_cannot_be_set_is_an_error(entry_of) -> None:
    model = opened(entry_of("mteb", model="m", max_length=7))
    model.__dict__["meta"] = SimpleNamespace(load_model=lambda **_: SimpleNamespace(model=object()))
    with pytest.raises(EmbedError, match=r"no longest input[\s\S]*where: embedder 'mteb', key 'max_length'"):
        _ = model.model


@pytest.mark.parametrize("include", [True, False])
def test_another_pooling_leaves_out_what_the_models_own_does(include) -> None:
    import torch
    from sentence_transformers.sentence_transformer.modules import Pooling

    model = torch.nn.Sequential(torch.nn.Identity(), Pooling(8, "mean", include_prompt=include))
    set_pooling(model, "cls", "e")
    assert (model[1].embedding_dimension, model[1].include_prompt) == (8, include)
    assert model[1].get_config_dict()["pooling_mode"] == "cls"
    with pytest.raises(EmbedError, match=r"no pooling layer[\s\S]*where: embedder 'e', key 'pooling'"):
        set_pooling(torch.nn.Sequential(torch.nn.Identity()), "cls", "e")


def test_what_a_loader_is_given_is_told_by_its_content() -> None:
    made = functools.partial(dict, 1, a={"y", "x"}, b=(None, [2.5]))
    assert _plain(made) == ["dict", ["1"], {"a": ["x", "y"], "b": ["None", ["2.5"]]}]
    assert _plain(opened) == "def opened(entry: Any) -> Any:\n" + (
        "    return open_embedder(entry, catalogue_folder=Path(), fit_texts=list)\n"
    )


class Copies:
    """Two workers in this process."""

    def __init__(self, one: Any) -> None:
        self.one, self.asked, self.closed = one, [], False

    def __len__(self) -> int:
        return 2

    def call(self, name: str, parts: list[Any]) -> list[Any]:
        self.asked = [p and p[0] for p in parts]
        return [p and getattr(self.one, name)(p[0], role=p[1], manifest=p[2]) for p in parts]

    def close(self) -> None:
        self.closed = True


def test_strings_are_shared_among_copies_and_come_back_in_order(entry_of) -> None:
    one = opened(entry_of("random", dimensions=4, batch_size=5))
    model = ShardedEmbedder(lambda: one, gpus=2, where="w", visible=lambda: ["0", "1"])
    model._workers = copies = Copies(one)  # type: ignore[assignment]
    assert (model.strings_per_call, model.fitted_on, model.similarity) == (10, "", "cosine")
    for strings in (["a", "b", "c", "d", "e"], ["a"]):
        found = model.encode(strings, role="query", manifest=MANIFEST)
        np.testing.assert_array_equal(found, one.encode(strings, role="query", manifest=MANIFEST))
        assert found.dtype == np.float32
        assert copies.asked == [strings[::2], strings[1::2] or None]
    model.close()
    assert copies.closed
    alone = ShardedEmbedder(lambda: one, gpus=2, where="w", visible=lambda: ["0"])
    assert (alone.strings_per_call, len(alone.encode(["a", "b"], role="none", manifest=MANIFEST))) == (5, 2)
