"""Whole records of cells by task type, with rows that were dropped and subsets that are absent."""

from __future__ import annotations

import json
import random
from statistics import fmean

import pytest
from approved import approve
from eq_chain import ORIGINAL, Chain

from stressbed import embed
from stressbed.config.entries import EmbedderEntry
from stressbed.score import cell as cells
from stressbed.score.cell import body
from stressbed.score.items import Evaluated, _watch_clustering, f1_of_each
from stressbed.score.variant import VariantFacts

ENTRY = EmbedderEntry(
    id="random", backend="random", model="random", dimensions=16, instructions={"query": "Find: "}
)
KINDS = ("STS", "STSMany", "PairClassification", "Retrieval", "Reranking", "Summarization", "BitextMining")
"""Experiments take seconds and have no rows of their own: `tests/equality` holds them beside mteb."""
KEPT = (
    "task", "task_type", "status", "error", "metric", "higher_is_better", "score",
    "n_items", "n_texts", "fallbacks", "flagged", "retried", "dropped", "vectors", "zero_vectors",
    "original_matched",
)  # fmt: skip


def shown(record: dict) -> str:
    """Return what a record says, floats to eight decimals; long lists of items by a few of them."""
    lines = [json.dumps({k: record[k] for k in KEPT})]
    for part in record["subsets"]:
        metrics = dict(sorted(part["metrics"].items())[:6])
        lines.append(json.dumps({k: v for k, v in part.items() if k in PART} | {"metrics": metrics}))
    for items in record["items"]:
        kept = {k: v for k, v in items.items() if k not in {"ids", "values"}}
        ids = items["ids"] and [*items["ids"][:5], len(items["ids"])]
        values = [*items["values"][:5], len(items["values"])]
        lines.append(json.dumps(kept | {"ids": ids, "values": values}))
    return "\n".join(rounded(line) for line in lines) + "\n"


PART = {"subset", "split", "languages", "score", "n_items", "status", "reason", "original_matched"}


def rounded(line: str) -> str:
    return json.dumps(json.loads(line, parse_float=lambda x: round(float(x), 6)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_is_approved(kind, tmp_path):
    chain = Chain(tmp_path, kind, ENTRY)
    rng = random.Random(kind)
    ids = chain.texts["text_id"].tolist()
    outcomes = {i: rng.choice(["ok", "ok", "fallback", "flagged", "retried"]) for i in ids}
    plain = chain.add(1, outcomes=outcomes)
    rows = chain.texts[chain.texts["split"] == "test"]
    gone = rows[~rows["field"].str.startswith("corpus")].drop_duplicates(["subset", "row"])["text_id"]
    short = chain.add(2, dropped=gone.tolist()[1:6:2], flagged=ids[:7])
    absent = {"de": "nothing to draw"} if "de" in chain.manifest["subsets"] else {}
    third = chain.add(3, absent=absent, new={ids[0]: "another text"})
    chain.embed()
    chain.score()
    found = [f"{v}\n{shown(chain.cell(v))}" for v in (ORIGINAL, plain, short, third)]
    approve(f"score/{kind}.txt", "\n".join(found), within=2e-5)


def subset(name, split, main, n, error="", **metrics):
    undefined = ["m"] if main is None and not error else []
    kept = {} if error or main is None else {"m": main, **metrics}
    return {
        "subset": name, "split": split, "n_items": n, "error": error, "metrics": kept, "undefined": undefined,
    }  # fmt: skip


def block(name, split, unit, ids, **values):
    return {"subset": name, "split": split, "unit": unit, "ids": ids, "values": values}


MANIFEST = {
    "task": "T", "task_type": "STS", "main_score": "m", "splits": ["test", "dev"], "subsets": ["a", "b", "c"],
    "languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]},
}  # fmt: skip
FACTS = VariantFacts(
    "h", {"c": "nothing to draw"}, {"ok": 5, "fallback": 3, "dropped": 2}, 10, flagged=4, retried=1
)
FOUND = [
    subset("a", "test", 0.5, 7, other=0.25), subset("b", "test", 0.25, 5), subset("a", "dev", 0.125, 3),
    subset("b", "dev", 0.0, 2),
]  # fmt: skip
MATCHED = [
    subset("b", "dev", 0.5, 2), subset("a", "test", 0.75, 7), subset("a", "dev", 0.625, 3),
    subset("b", "test", 0.375, 5),
]  # fmt: skip
ITEMS = [
    block("a", "test", "query", ["3", "5"], m=[0.5, 0.25], other=[0.1, 0.2]),
    block("b", "test", "query", None, m=[1.0]),
]


def made(found=FOUND, matched=MATCHED, facts=FACTS, *, vectors=9, zero=2, lexical=False):
    evaluation = {
        "subsets": found, "matched": matched, "items": ITEMS, "vectors": vectors, "zero_vectors": zero,
    }  # fmt: skip
    return body(evaluation, manifest=MANIFEST, facts=facts, embedder="e", lexical=lexical)


def test_a_record_adds_up_its_parts():
    record = made()
    assert record["score"] == pytest.approx(100 * fmean([0.5, 0.25, 0.125, 0.0]))
    assert record["original_matched"] == pytest.approx(100 * fmean([0.5, 0.75, 0.625, 0.375]))
    assert (record["status"], record["error"], record["metric"]) == ("ok", "", "m")
    counts = ("n_items", "n_texts", "fallbacks", "flagged", "retried", "dropped", "vectors", "zero_vectors")
    assert [record[k] for k in counts] == [17, 10, 3, 4, 1, 2, 9, 2]
    keys = ("subset", "split", "score", "original_matched", "n_items")
    assert [tuple(s[k] for k in keys) for s in record["subsets"]] == [
        ("a", "test", 50.0, 75.0, 7), ("b", "test", 25.0, 37.5, 5), ("a", "dev", 12.5, 62.5, 3),
        ("b", "dev", 0.0, 50.0, 2), ("c", "test", None, None, 0), ("c", "dev", None, None, 0),
    ]  # fmt: skip
    assert [s["status"] for s in record["subsets"]] == ["ok"] * 4 + ["absent"] * 2
    assert [s["reason"] for s in record["subsets"]] == [""] * 4 + ["nothing to draw"] * 2
    assert [s["languages"] for s in record["subsets"]] == [
        ["eng-Latn"], ["deu-Latn"], ["eng-Latn"], ["deu-Latn"], [], [],
    ]  # fmt: skip
    assert record["subsets"][0]["metrics"] == {"m": 0.5, "other": 0.25, "main_score": 0.5}


def test_a_part_that_failed_fails_its_cell_and_says_where():
    failed = [
        FOUND[0], subset("b", "test", None, 5, "one class"), FOUND[2], subset("b", "dev", None, 2),
    ]  # fmt: skip
    record = made(failed)
    assert (record["status"], record["score"], record["original_matched"]) == ("failed", None, None)
    assert record["error"] == "b/test: one class; b/dev: m is undefined on these data"
    assert [s["status"] for s in record["subsets"]] == ["ok", "failed", "ok", "failed", "absent", "absent"]
    assert {(i["subset"], i["split"]) for i in record["items"]} == {("a", "test")}


def test_a_matched_original_that_failed_fails_its_part():
    wrong = subset("b", "test", None, 5, "one class")
    record = made(matched=[*MATCHED[:3], wrong])
    assert record["status"] == "failed"
    assert record["error"] == "b/test: the matched original: one class"
    part = record["subsets"][1]
    said = "the matched original: one class"
    assert (part["score"], part["status"], part["reason"]) == (None, "failed", said)
    own = [FOUND[0], subset("b", "test", None, 5, "its own"), *FOUND[2:]]
    assert made(own, [*MATCHED[:3], wrong])["error"] == "b/test: its own"


def test_a_cell_of_which_all_is_absent_says_so_for_each_part():
    facts = VariantFacts("h", dict.fromkeys("abc", "nothing"), {}, 0)
    record = made([], None, facts, vectors=0, zero=0)
    assert (record["status"], record["score"], record["n_items"]) == ("absent", None, 0)
    places = [f"{s}/{p}: nothing" for p in ("test", "dev") for s in "abc"]
    assert record["error"] == "; ".join(places)
    assert record["original_matched"] is None


def test_without_a_matched_original_there_is_none():
    record = made(matched=None)
    assert (record["score"], record["original_matched"]) == (21.875, None)
    assert [s["original_matched"] for s in record["subsets"]] == [None] * 6


@pytest.mark.parametrize(
    ("zero", "lexical", "original", "status"),
    [
        (8, False, False, "ok"), (9, False, False, "failed"), (9, True, False, "ok"),
        (9, True, True, "failed"), (0, False, False, "ok"),
    ],
)  # fmt: skip
def test_vectors_that_are_all_zero_say_nothing_of_a_model(zero, lexical, original, status):
    facts = VariantFacts("h") if original else FACTS
    record = made(facts=facts, zero=zero, lexical=lexical)
    assert record["status"] == status
    assert ("every vector of e is zero" in record["error"]) == (status == "failed")


def test_experiments_of_clustering_are_those_of_each_score():
    """By level of the labels they are put together; what mteb gives no experiments of is one value."""
    scores = {
        "v_measure": 0.5, "v_measures": {"Level 0": [0.25, 0.5], "Level 1": [0.75]}, "main_score": 0.5,
        "v_measure_std": 0.125, "nmi": 1, "nmi_scores": [0.5, 1.5], "ari": 0.375, "exact": True, "seed": "4",
    }  # fmt: skip
    (items,) = _watch_clustering(None)(Evaluated(scores, 17)).items
    expected = {"v_measure": (0.25, 0.5, 0.75), "nmi": (0.5, 1.5), "ari": (0.375,)}
    assert (items.unit, items.ids, items.values) == ("experiment", None, expected)
    assert _watch_clustering(None)(Evaluated(scores, 17)).n_items == 17


def test_cells_that_earlier_runs_stored_are_found_again(monkeypatch):
    """Who renames what a fingerprint is made of has every cell scored anew: then the version must rise."""
    monkeypatch.setattr(cells, "VERSION", "1")
    monkeypatch.setattr(embed, "VERSION", "2")
    manifest = {
        "content_hash": "c", "main_score": "m", "subsets": ["s", "t"], "splits": ["test"],
        "stage_version": "3",
    }  # fmt: skip
    embedding = {"fitted_on": "f", "contexts": {"query": "Find: ", "none": ""}, "similarity": "dot"}
    assert cells.fingerprint(manifest, FACTS, "e", embedding) == "3f1d511e6a437e9c9f915f004bf21223"
    del manifest["stage_version"], embedding["fitted_on"]
    assert cells.fingerprint(manifest, FACTS, "e", embedding) == "c603fcf705d4374512587de39cd8dc87"


def test_the_f1_of_a_sentence_falls_where_others_find_its_translation_too():
    assert f1_of_each(["x", "x", "y", "z"], ["x", "w", "y", "y"]) == (2 / 3, 0.0, 2 / 3, 2 / 3)
