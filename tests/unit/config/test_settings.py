"""Settings: which pairs of embedder and dataset have cells, and mistakes in naming them."""

import pytest
from config_cases import ROOT

from stressbed.analyse.names import Names
from stressbed.check import load_run
from stressbed.config.load import read_config
from stressbed.errors import Problems
from stressbed.paths import SCORE
from stressbed.workflow import Grid


def run(**changes):
    return load_run({**read_config(ROOT / "config" / "test.yaml"), **changes}, base=ROOT)


AXES = {"job_axes": ["embedder", "dataset"]}
TWO = {"a": {"datasets": ["helpdesk-pairs"], "embedders": ["tf"]}, "b": {"datasets": ["helpdesk"]}}


def test_only_pairs_of_a_setting_have_cells_and_jobs():
    grid = Grid.of(run(settings=TWO, **AXES))
    assert grid.plan.pairs == [("random", "helpdesk"), ("tf", "helpdesk-pairs"), ("tf", "helpdesk")]
    cells = grid.all_cells(SCORE)
    assert len(cells) == 3 * 5
    assert not any("/random/helpdesk-pairs/" in c for c in cells)
    jobs = [j for j in grid.all_jobs() if "/embed/" in j]
    assert sorted(j.rsplit("jobs/", 1)[1] for j in jobs) == [
        "embed/random/helpdesk.json", "embed/tf/helpdesk-pairs.json", "embed/tf/helpdesk.json",
    ]  # fmt: skip


def test_without_settings_every_pair_has_cells_in_one_setting():
    plan = run()
    assert len(plan.pairs) == 4
    assert Names.of(plan).setting_order == ["all"]


def test_names_know_settings_members_and_language_groups():
    names = Names.of(run(settings=TWO, **AXES))
    assert names.setting_order == ["a", "b"]
    assert names.embedders_of("a") == ["tf"]
    assert names.embedders_of("b") == ["random", "tf"]
    assert names.in_setting("b") == ["helpdesk"]
    assert set(names.language_groups.values()) == {"english"}


@pytest.mark.parametrize(
    ("settings", "axes", "said"),
    [
        ({"a": {"datasets": ["helpdesk"]}}, {}, "'helpdesk-pairs' belongs to no settings"),
        ({**TWO, "c": {"datasets": ["helpdesk"]}}, AXES, "belongs to 2 settings"),
        ({"a": {"datasets": ["helpdesk", "helpdesk-pair"]}}, {}, "'helpdesk-pairs'"),
        ({"a": {"datasets": ["helpdesk", "helpdesk-pairs"], "embedders": ["tf"]}}, AXES, "'random' belongs"),
        (TWO, {"job_axes": ["embedder"]}, "job_axes: [embedder, dataset]"),
    ],
)
def test_mistakes_in_settings_are_refused(settings, axes, said):
    with pytest.raises(Problems) as e:
        run(settings=settings, **axes)
    assert said in str(e.value)


def test_the_papers_two_settings_are_one_run():
    plan = load_run(read_config(ROOT / "config" / "hteb.yaml"), base=ROOT)
    names = Names.of(plan)
    assert len(plan.pairs) == 19 * 8 + 13 * 5
    groups = {"english": "english", "multilingual": "non_english"}
    assert {d: groups[s] for d, s in names.settings.items()} == names.language_groups
    assert [names.label(s) for s in names.setting_order] == ["English", "Non-English"]
    for setting in ("english", "multilingual"):
        alone = read_config(ROOT / "config" / f"hteb-{setting}.yaml")
        assert names.in_setting(setting) == alone["datasets"]
        assert names.embedders_of(setting) == alone["embedders"]
