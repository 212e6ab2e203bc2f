"""Which of a model's own prompts stands before a string."""

import json

import pytest

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.transformer import SentenceTransformersEmbedder
from stressbed.embed.shipped import Shipped
from stressbed.errors import EmbedError

OWN = Shipped(
    {"query": "Q: ", "passage": "P: ", "STS": "same? ", "clustering": "group: ", "Classification": "class: "}
)


@pytest.mark.parametrize(
    ("task_type", "role", "words"),
    [
        ("Retrieval", "query", "Q: "),
        ("Retrieval", "document", "P: "),
        ("Reranking", "document", "P: "),
        ("STS", "none", "same? "),
        ("STR", "none", "same? "),
        ("Clustering", "none", "group: "),
        ("Classification", "none", "class: "),
        ("PairClassification", "none", "class: "),
        ("Summarization", "none", ""),
        ("BitextMining", "none", ""),
    ],
)
def test_by_role_for_search_by_task_elsewhere(task_type, role, words):
    assert OWN.before(task_type, role) == words


def test_the_default_stands_where_there_is_no_other():
    own = Shipped({"query": "Q: ", "all": "any: "}, default="all")
    places = (("Retrieval", "query"), ("Retrieval", "document"), ("STS", "none"))
    assert [own.before(t, r) for t, r in places] == ["Q: ", "any: ", "any: "]


def test_an_embedder_takes_the_prompts_of_its_files_where_its_entry_says_so(tmp_path):
    config = {"prompts": {"query": "find: ", "document": ""}, "default_prompt_name": None}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(config))
    manifest = {"task": "t", "dataset": "d", "task_type": "Retrieval"}

    def context(role, **more):
        entry = EmbedderEntry(id="e", backend="sentence-transformers", model=str(tmp_path), **more)
        return SentenceTransformersEmbedder(entry, tmp_path).context(role, manifest)

    assert (context("query", prompts="shipped"), context("document", prompts="shipped")) == ("find: ", "")
    assert (context("query"), context("document")) == ("", "")


@pytest.mark.parametrize(("key", "what"), [("prompts", "prompts"), ("similarity", "similarity function")])
def test_what_a_model_says_of_itself_is_unknown_before_it_is_there(tmp_path, monkeypatch, key, what):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    entry = EmbedderEntry(id="e", backend="sentence-transformers", model="nobody/nothing", prompts="shipped")
    model = SentenceTransformersEmbedder(entry, tmp_path)
    said = rf"own {what} cannot be known[\s\S]*where: embedder 'e', key '{key}'[\s\S]*run `prefetch`"
    with pytest.raises(EmbedError, match=said):
        _ = model.similarity if key == "similarity" else model.context("none", {"task_type": "STS"})


def test_a_model_without_prompts_has_none(tmp_path):
    assert Shipped.of_folder(tmp_path).before("Retrieval", "query") == ""
