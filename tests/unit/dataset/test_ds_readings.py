"""Other readings of a task than mteb's: all subsets as one, a classifier fitted on all rows."""

import zlib

import numpy as np
import pandas as pd
from datasets import Dataset, DatasetDict
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.similarity_functions import cos_sim, pairwise_cos_sim
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression

from stressbed.config.entries import DatasetEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.parts import Part
from stressbed.dataset.pool import pool
from stressbed.dataset.record import record
from stressbed.dataset.thaw import TASK_SEED, fresh_task, install
from stressbed.score.evaluate import evaluate_task


def vector(text):
    return np.random.default_rng(zlib.crc32(text.encode())).standard_normal(16).astype(np.float32)


class Encoder:
    mteb_model_meta = ModelMeta.create_empty(
        overwrites={"name": "made/hash", "revision": "1", "similarity_fn_name": ScoringFunction.COSINE}
    )

    def encode(self, inputs, **_):
        return np.stack([vector(t) for t in inputs.dataset["text"][:]])

    def similarity(self, a, b):
        return cos_sim(a, b)

    def similarity_pairwise(self, a, b):
        return pairwise_cos_sim(a, b)


def manifest():
    return {
        "source": "mteb", "task": "STS17", "revision": None, "subsets": ["en-en", "es-en"],
        "splits": ["test"],
        "languages": {"en-en": ["eng-Latn"], "es-en": ["spa-Latn", "eng-Latn"]}, "dataset": "d",
        "field_languages": {}, "main_score": "cosine_spearman",
        "evaluation": {"pool_subsets": True, "training_rows": "sampled"},
    }  # fmt: skip


def pairs(name, n, low):
    return {
        "sentence1": [f"{name} left {i}" for i in range(n)],
        "sentence2": [f"{name} right {i}" for i in range(n)],
        "score": [low + (i * 7) % n for i in range(n)],
        "lang": [name] * n,
    }


DATA = {
    "en-en": pairs("one", 5, 0.0),
    "es-en": {k: v for k, v in pairs("two", 8, 2.0).items() if k != "lang"},
}


def pooled():
    head = manifest()
    parts = [Part(s, "test", {"rows": Dataset.from_dict(d)}, {"empty_texts": 1}) for s, d in DATA.items()]
    task = fresh_task(head)
    install(task, {(p.subset, p.split): p.tables for p in parts})
    return (head, *pool(task, head, parts))


def test_rows_of_all_subsets_are_one_table_and_keep_their_languages():
    head, parts, spoken = pooled()
    assert [(p.subset, p.split, p.notes) for p in parts] == [("all", "test", {"empty_texts": 2})]
    rows = parts[0].tables["rows"]
    assert rows.column_names == ["sentence1", "sentence2", "score"]
    assert rows["sentence2"][:] == DATA["en-en"]["sentence2"] + DATA["es-en"]["sentence2"]
    assert head["subsets"] == ["all"]
    assert head["languages"] == {"all": ["eng-Latn", "spa-Latn"]}
    assert head["field_languages"] == {}
    of_rows = spoken["all", "test"]
    assert len(of_rows) == 26
    assert {of_rows["rows", c, str(i)] for c in ("sentence1", "sentence2") for i in range(5)} == {"eng-Latn"}
    assert {of_rows["rows", "sentence1", str(i)] for i in range(5, 13)} == {"spa-Latn"}
    assert {of_rows["rows", "sentence2", str(i)] for i in range(5, 13)} == {"eng-Latn"}


def test_the_pooled_score_is_one_correlation_over_all_rows():
    head, parts, _ = pooled()
    task = fresh_task(head)
    install(task, {("all", "test"): parts[0].tables})
    (found,) = evaluate_task(task, Encoder(), subsets=["all"], splits=["test"])
    left, right = ([vector(t) for d in DATA.values() for t in d[c]] for c in ("sentence1", "sentence2"))
    cosines = [float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(left, right, strict=True)]
    gold = [s for d in DATA.values() for s in d["score"]]
    assert found.n_items == 13
    assert abs(found.metrics["cosine_spearman"] - spearmanr(cosines, gold).statistic) < 1e-9


def test_a_classifier_is_fitted_once_on_all_training_rows():
    head = {
        "source": "local", "task": "kinds", "task_type": "Classification", "revision": "local",
        "dataset": "d",
        "subsets": ["default"], "splits": ["test"], "languages": {"default": ["eng-Latn"]},
        "field_languages": {}, "main_score": "accuracy", "min_score": None, "max_score": None,
        "evaluation": {"pool_subsets": False, "training_rows": "all"},
    }  # fmt: skip
    train = {"text": [f"row {i}" for i in range(90)], "label": [int(i % 3 == 0) for i in range(90)]}
    test = {"text": [f"new {i}" for i in range(40)], "label": [int(i % 4 == 0) for i in range(40)]}
    task = fresh_task(head)
    install(
        task, {("default", s): {"rows": Dataset.from_dict(d)} for s, d in (("train", train), ("test", test))}
    )
    assert isinstance(task.dataset, DatasetDict)
    (found,) = evaluate_task(task, Encoder(), subsets=["default"], splits=["test"])
    direct = LogisticRegression(random_state=TASK_SEED, max_iter=100)
    direct.fit([vector(t) for t in train["text"]], train["label"])
    right = direct.predict([vector(t) for t in test["text"]]) == np.array(test["label"])
    assert abs(found.metrics["accuracy"] - right.mean()) < 1e-12
    (experiments,) = found.items
    assert experiments.values["accuracy"] == (right.mean(),)


def test_a_frozen_dataset_is_pooled_and_each_text_keeps_its_language(tmp_path, monkeypatch):
    from mteb.tasks import STS17Crosslingual

    def load_data(self, **_):
        self.dataset = {s: DatasetDict({"test": Dataset.from_dict(d)}) for s, d in DATA.items()}
        self.data_loaded = True

    monkeypatch.setattr(STS17Crosslingual, "load_data", load_data)
    entry = DatasetEntry(
        id="both", task="STS17", revision="0" * 40, task_type="STS", subsets=["en-en", "es-en"],
        languages={"en-en": ["eng-Latn"], "es-en": ["spa-Latn", "eng-Latn"]}, main_score="cosine_spearman",
        evaluation={"pool_subsets": True},
    )  # fmt: skip
    head = freeze(entry, tmp_path, tmp_path / "both")
    record(tmp_path / "both")
    texts = pd.read_parquet(tmp_path / "both" / "texts.parquet")
    assert head["subsets"] == ["all"]
    assert texts["subset"].unique().tolist() == ["all"]
    spoken = texts.groupby(["field", "language"]).size().to_dict()
    assert spoken == {
        ("sentence1", "eng-Latn"): 5, ("sentence1", "spa-Latn"): 8, ("sentence2", "eng-Latn"): 13,
    }  # fmt: skip
    apart = freeze(entry.model_copy(update={"evaluation": None}), tmp_path, tmp_path / "apart")
    assert apart["content_hash"] != head["content_hash"]
    assert apart["subsets"] == ["en-en", "es-en"]
