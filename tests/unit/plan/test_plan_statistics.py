"""Datasets that are not there: mteb's statistics, what mteb samples, placeholders."""

from __future__ import annotations

import pytest
from plan_runs import ROOT

from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import DatasetEntry
from stressbed.plan.assumptions import assumptions
from stressbed.plan.sample import PLACEHOLDERS, _of_groups
from stressbed.plan.statistics import Group, _drawn_for_training, _embedded, groups_of


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue.read([ROOT / "config" / "catalogue"])


def groups(catalogue, name):
    return groups_of(catalogue.datasets[name], assumptions())[0]


@pytest.mark.parametrize(
    ("name", "but"),
    [
        ("sprint-duplicates", set()), ("twitter-url", set()), ("stsbenchmark", set()), ("summeval", set()),
        ("scidocs-rr", set()), ("arguana", {"corpus.title"}), ("scifact", {"corpus.title"}),
        ("biorxiv-s2s", set()),
        ("sts17", set()), ("semrel24", set()), ("semrel24-eng", set()), ("indic-crosslingual-sts", set()),
        ("rte3", set()), ("mmarco-reranking-ja", set()), ("twitterhjerne", set()),
    ],
)  # fmt: skip
def test_different_texts_are_those_of_the_catalogue(catalogue, name, but):
    entry = catalogue.datasets[name]
    found = sum(g.unique for g in groups(catalogue, name) if g.field not in but)
    assert found == pytest.approx(entry.n_texts, rel=0.002)


def test_every_dataset_of_the_paper_has_statistics(catalogue):
    for name in catalogue.datasets:
        if catalogue.datasets[name].task:
            assert groups_of(catalogue.datasets[name], assumptions())[1] == "mteb's statistics", name


def test_languages_follow_the_sides_of_a_pair(catalogue):
    found = {(g.subset, g.field): g.language for g in groups(catalogue, "sts17")}
    assert found["en-ar", "sentence1"] == "eng-Latn"
    assert found["en-ar", "sentence2"] == "ara-Arab"
    assert found["ko-ko", "sentence2"] == "kor-Hang"


def test_only_a_fraction_of_a_clustering_is_embedded(catalogue):
    (group,) = groups(catalogue, "plsc-s2s")
    assert group.occurrences == int(0.04 * 2048)


def test_training_texts_are_those_that_the_experiments_draw(catalogue):
    train = [g for g in groups(catalogue, "banking77") if g.split == "train"]
    assert 77 * 8 < train[0].occurrences < 77 * 8 * 10
    few = [g for g in groups(catalogue, "isizulu-news") if g.split == "train"]
    assert few[0].occurrences <= 373


def test_drawn_training_texts_are_as_many_as_a_simulation_draws():
    import numpy as np

    class Task:
        samples_per_label, n_experiments = 8, 10

    counts = {"a": 30, "b": 100, "c": 5}
    facts = {"num_samples": 135, "label_statistics": {"labels": {k: {"count": n} for k, n in counts.items()}}}
    rng = np.random.default_rng(0)
    drawn = [
        sum(
            len({i for _ in range(10) for i in rng.choice(n, size=min(8, n), replace=False)})
            for n in counts.values()
        )
        for _ in range(400)
    ]
    assert _drawn_for_training(facts, Task) == pytest.approx(np.mean(drawn), rel=0.01)


def test_a_limit_of_documents_holds_for_the_texts_that_differ_too():
    class Task:
        max_document_to_embed, max_fraction_of_documents_to_embed = 50, None

    group = Group("default", "test", "text", "eng-Latn", 200, 100, 30)
    assert (_embedded(group, Task).occurrences, _embedded(group, Task).unique) == (50, 25)


def test_placeholders_stand_for_as_many_texts_as_their_group():
    entry = DatasetEntry(
        id="d", task_type="Retrieval", languages={"default": ["eng-Latn"]}, main_score="ndcg_at_10"
    )
    made = [
        Group("default", "test", "corpus.text", "eng-Latn", 5000, 4800, 450),
        Group("default", "test", "corpus.title", "eng-Latn", 5000, 1200, 45),
        Group("default", "test", "queries.text", "eng-Latn", 300, 300, 45),
    ]
    sample = _of_groups(entry, made, "", assumptions())
    assert len(sample.texts) <= PLACEHOLDERS + 24
    by_field = sample.texts.drop_duplicates("text").groupby("field")["weight"].sum()
    assert by_field.to_dict() == pytest.approx(
        {"corpus.text": 4800, "corpus.title": 1200, "queries.text": 300}
    )
    documents = [t for t in sample.templates if t.role == "document"]
    assert all(len(t.text_ids) == 2 for t in documents)
    assert sample.tokens[sample.texts["text"][0]] == 100


def test_a_dataset_without_statistics_is_guessed_by_its_entry():
    entry = DatasetEntry(
        id="d", task="NoSuchTask", revision="1", task_type="STS", languages={"default": ["deu-Latn"]},
        main_score="cosine_spearman", n_texts=77,
    )  # fmt: skip
    (group,), basis = groups_of(entry, assumptions())
    assert (group.unique, group.language) == (77, "deu-Latn")
    assert "n_texts" in basis
    (group,), basis = groups_of(entry.model_copy(update={"n_texts": None}), assumptions())
    assert group.unique == assumptions().unknown_texts
    assert "guess" in basis


def test_answers_are_never_longer_than_their_limit():
    a = assumptions()
    assert a.answer_tokens("expand", 100, "eng-Latn", "eng-Latn", 128) == 128
    assert a.answer_tokens("summarise", 100, "eng-Latn", "eng-Latn", 300) == 60
    assert a.answer_tokens("translate", 100, "eng-Latn", "tur-Latn", 300) == 131
    assert a.answer_tokens("summarise", 1, "eng-Latn", "eng-Latn", 300) == 1
