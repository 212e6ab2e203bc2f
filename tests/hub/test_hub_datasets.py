"""The real download code against a loopback hub: freeze online, then everything without it."""

from __future__ import annotations

import pytest
from hub_repos import ENTRIES, MADE, REVISIONS
from hub_run import child
from loopback import Hub

pytestmark = pytest.mark.slow  # fresh processes that import torch, mteb and datasets

MANIFEST = "manifest.json"


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Freeze and evaluate directly while the hub is up; thaw and evaluate once it is gone."""
    folder = tmp_path_factory.mktemp("hub")
    out = {name: str(folder / "datasets" / name) for name in ENTRIES}
    with Hub(folder / "root") as hub:
        for repo, make in MADE.items():
            hub.add("datasets", repo, REVISIONS[repo], make())
        steps = [["freeze", [entry, out[n]]] for n, entry in ENTRIES.items()]
        steps += [["direct", [e["task"], e.get("subsets", ["default"])]] for e in ENTRIES.values()]
        online = child(steps, hub.url, folder / "home")
        asked = list(hub.requests)
    steps = [["thawed", [out[n]]] for n in ENTRIES] + [["listed", [out[n]]] for n in ENTRIES]
    offline = child(steps, hub.url, folder / "empty-home", HF_HUB_OFFLINE="1")
    n = len(ENTRIES)
    return {
        "manifests": dict(zip(ENTRIES, online[:n], strict=True)),
        "direct": dict(zip(ENTRIES, online[n:], strict=True)),
        "thawed": dict(zip(ENTRIES, offline[:n], strict=True)),
        "listed": dict(zip(ENTRIES, offline[n:], strict=True)),
        "asked": asked,
    }


@pytest.mark.parametrize("name", list(ENTRIES))
def test_frozen_scores_equal_mteb_straight_from_the_hub(story, name):
    assert story["thawed"][name] == story["direct"][name]
    assert story["listed"][name]["strings"] == story["direct"][name]["strings"]


@pytest.mark.parametrize("name", list(ENTRIES))
def test_the_manifest_says_what_was_frozen(story, name):
    manifest, entry = story["manifests"][name], ENTRIES[name]
    assert "error" not in manifest
    assert (manifest["task"], manifest["revision"]) == (entry["task"], entry["revision"])
    subsets = ["parallel"] if name == "ntrex" else entry.get("subsets", ["default"])
    assert {t["subset"] for t in manifest["tables"]} == set(subsets)
    assert all(t["rows"] for t in manifest["tables"])
    tables = {t["table"] for t in manifest["tables"]}
    expected = {
        "arguana": {"corpus", "queries", "qrels"},
        "ubuntu": {"corpus", "queries", "qrels", "top_ranked"},
    }
    assert tables == expected.get(name, {"rows"})


def test_a_cross_lingual_pair_has_a_language_on_each_side(story):
    assert story["listed"]["sts17"]["languages"] == {
        "en-en/sentence1": ["eng-Latn"],
        "en-en/sentence2": ["eng-Latn"],
        "en-de/sentence1": ["eng-Latn"],
        "en-de/sentence2": ["deu-Latn"],
        "es-en/sentence1": ["spa-Latn"],
        "es-en/sentence2": ["eng-Latn"],
    }


def test_columns_of_parallel_languages_have_their_languages_and_unused_ones_are_left_out(story):
    assert story["listed"]["ntrex"]["languages"] == {
        "parallel/afr_Latn": ["afr-Latn"],
        "parallel/dan_Latn": ["dan-Latn"],
        "parallel/deu_Latn": ["deu-Latn"],
    }
    assert story["manifests"]["ntrex"]["sides"] == {
        "test.afr_Latn": "both",
        "test.dan_Latn": "document",
        "test.deu_Latn": "query",
    }


def test_pairs_in_one_row_of_lists_become_rows(story):
    assert [t["rows"] for t in story["manifests"]["sprint"]["tables"]] == [20]


def test_the_data_came_from_the_hub_at_the_pinned_revision(story):
    for repo, revision in REVISIONS.items():
        assert any(f"/datasets/{repo}/resolve/{revision}/" in r for r in story["asked"]), repo


@pytest.fixture(scope="module")
def troubles(tmp_path_factory):
    """What happens when the hub does not give the data."""
    folder = tmp_path_factory.mktemp("troubles")
    sts, banking = ENTRIES["stsb"], ENTRIES["banking"]
    out = {
        k: folder / k
        for k in ("missing", "revision", "gated", "broken", "resumed", "offline", "subset", "type")
    }
    with Hub(folder / "root") as hub:
        sts_repo = hub.add(
            "datasets", "mteb/stsbenchmark-sts", sts["revision"], MADE["mteb/stsbenchmark-sts"]()
        )
        hub.add("datasets", "mteb/banking77", banking["revision"], MADE["mteb/banking77"](), gated=True)
        sts_repo.broken["test.jsonl.gz"] = 10_000
        steps = [
            ["freeze", [ENTRIES["arguana"], str(out["missing"])]],
            ["freeze", [{**sts, "revision": "f" * 40}, str(out["revision"])]],
            ["freeze", [banking, str(out["gated"])]],
            [
                "freeze",
                [{**ENTRIES["sts17"], "subsets": ["en-xx"], "languages": {"en-xx": ["eng-Latn"]}}, "unused"],
            ],
            ["freeze", [{**sts, "task_type": "Classification"}, "unused"]],
            ["freeze", [{**sts, "task": "STSBenchmrk"}, "unused"]],
            ["freeze", [sts, str(out["broken"])]],
        ]
        names = ["missing", "revision", "gated", "subset", "type", "name", "broken"]
        said = dict(zip(names, child(steps, hub.url, folder / "home"), strict=True))
        sts_repo.broken["test.jsonl.gz"] = 1
        said["resumed"] = child([["freeze", [sts, str(out["broken"])]]], hub.url, folder / "home")[0]
    said["offline"] = child(
        [["freeze", [sts, str(out["offline"])]]], hub.url, folder / "new", HF_HUB_OFFLINE="1"
    )[0]
    said["left"] = [k for k in ("missing", "revision", "gated", "offline") if (out[k] / MANIFEST).exists()]
    said["frozen"] = (out["broken"] / MANIFEST).exists()
    return said


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("missing", ["no such repository", "arguana"]),
        ("revision", ["no such revision", "f" * 40, "revision"]),
        ("gated", ["gated", "accept the terms", "banking77"]),
        ("broken", ["broke off", "run again"]),
        ("offline", ["switched off", "prefetch"]),
        ("subset", ["no subset 'en-xx'", "en-de"]),
        ("type", ["mteb says STS"]),
        ("name", ["no task 'STSBenchmrk'", "did you mean 'STSBenchmark"]),
    ],
)
def test_an_error_says_what_and_what_to_do(troubles, case, words):
    message = troubles[case]["error"]
    assert all(w in message for w in words), message


def test_an_interrupted_download_leaves_nothing_and_a_rerun_completes(troubles):
    assert troubles["left"] == []
    assert "error" not in troubles["resumed"], troubles["resumed"]
    assert troubles["frozen"]
