"""Lists of markers: bad ones are refused before any job, and what changes with them is `transform` alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from stressbed.check import load_run
from stressbed.check.markers import check_markers
from stressbed.config.catalogue import Catalogue, identity
from stressbed.config.entries import FlagThresholds, MarkersEntry
from stressbed.config.load import read_config
from stressbed.transform.flags import DEFAULT, Thresholds
from stressbed.transform.markers import Markers
from stressbed.workflow import Grid

ROOT = Path(__file__).parents[3]


def problems(**keys):
    entry = MarkersEntry.model_validate({"id": "own", "languages": ["eng"], "source": "ours", **keys})
    origin = {("markers", "own"): Path("mine.yaml")}
    return [str(e) for e in check_markers(Catalogue(markers={"own": entry}, origin=origin))]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"reasoning": ["fine", "step (\\d+"]}, "key 'reasoning', item 2"),
        ({"prefixes": ["*summary"]}, "no regular expression: nothing to repeat"),
        ({"prefixes": ["(summary|translation)"]}, "capturing group"),
        ({"reasoning": ["(?:let me think)?"]}, "would flag every output"),
        ({"reasoning": ["(?i)step"]}, "no regular expression"),
        ({}, "the list holds no markers"),
        ({"reasoning": ["x"], "languages": ["klingonish"]}, "not a language"),
    ],
)
def test_bad_lists_are_refused(keys, message):
    (found,) = problems(**keys)
    assert message in found
    assert "mine.yaml, markers 'own'" in found


def test_the_shipped_lists_are_good():
    catalogue = Catalogue.read([ROOT / "config" / "catalogue" / "markers.yaml"])
    assert list(check_markers(catalogue)) == []
    assert len(catalogue.markers) >= 15


def test_no_lists_find_nothing():
    empty = Markers.of([])
    assert not empty.reasons("Let me think")
    assert not empty.labels("Summary: x")


def test_the_configs_thresholds_are_the_rules():
    assert Thresholds(**FlagThresholds().model_dump()) == DEFAULT


def grids(tmp_path):
    config = {**read_config(ROOT / "config" / "quickstart.yaml"), "results": str(tmp_path)}
    plan = load_run(config, base=ROOT)
    catalogue = plan.catalogue
    own = MarkersEntry(id="own", languages=["eng"], reasoning=["hm"], source="ours")
    yield Grid(plan)
    more = {"markers": {**catalogue.markers, "own": own}}
    origin = {**catalogue.origin, ("markers", "own"): Path("mine.yaml")}
    yield Grid(replace(plan, catalogue=replace(catalogue, **more, origin=origin)))
    strict = {
        n: e.model_copy(update={"flag_thresholds": FlagThresholds(runaway=2)})
        for n, e in catalogue.transformations.items()
    }
    yield Grid(replace(plan, catalogue=replace(catalogue, transformations=strict)))
    assert all(
        identity("transformation", e) == identity("transformation", strict[n])
        for n, e in catalogue.transformations.items()
    )


def test_markers_and_thresholds_decide_transform_alone(tmp_path):
    before, *changed = grids(tmp_path)
    config = before.plan.config
    at = {
        "dataset": config.datasets[0], "generator": config.generator[0], "embedder": config.embedders[0],
    }  # fmt: skip
    for after in changed:
        differ = {
            stage
            for stage in ("dataset", "texts", "generate", "transform", "embed", "score", "collect", "analyse")
            if before.decides(stage, at) != after.decides(stage, at)
        }
        assert differ == {"transform"}
    assert '"own"' in changed[0].spec("markers")
