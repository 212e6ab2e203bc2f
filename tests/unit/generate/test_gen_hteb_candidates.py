"""The catalogue's candidates are the paper's: checkpoints and revisions of table 8, names of table 9."""

import csv
from pathlib import Path

import pytest
from gen_samples import CATALOGUE

from stressbed.config.catalogue import Catalogue, identity

DATA = Path(__file__).parents[2] / "data" / "hteb"


def rows(name):
    with (DATA / name).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


@pytest.fixture(scope="module")
def candidates():
    return Catalogue.read([CATALOGUE / "generators-hteb.yaml"]).generators


def test_checkpoints_and_revisions_are_those_of_table_8(candidates):
    paper = {r["checkpoint"]: r["revision"] for r in rows("hteb_table8_generators.csv")}
    assert len(paper) == 16
    assert {g.model: g.revision for g in candidates.values()} == paper


def test_labels_are_those_of_table_9_and_name_the_same_model(candidates):
    assert sorted(g.label for g in candidates.values()) == sorted(
        r["generator"] for r in rows("hteb_table9_screening.csv")
    )
    for g in candidates.values():
        ours = g.label.lower().replace("-int4", "").replace("-it", "")
        assert ours == g.model.partition("/")[2].lower().replace("-it", "").replace("-int4", "")


def test_all_are_asked_as_in_the_paper(candidates):
    for g in candidates.values():
        assert (g.engine, g.sampling.temperature, g.sampling.top_p) == ("vllm", 0, 1)
        assert g.limits.maximum + 1024 <= g.context
        switched_off = g.engine_options.get("template_enable_thinking") is False
        assert switched_off == g.id.startswith("qwen3")
        thinks = "think" in g.id
        assert g.limits.minimum >= 1024 or not thinks  # a thought before a short text needs room


def test_identities_are_what_they_were_so_nothing_is_asked_again(candidates):
    assert identity("generator", candidates["gemma-3-27b-it-int4-awq"]) == "562022ad0781c1a23082181e67fc995c"
    assert identity("generator", candidates["qwen3-8b-awq"]) == "c722aa54b1dd8faa0d8b401ebbacd492"
