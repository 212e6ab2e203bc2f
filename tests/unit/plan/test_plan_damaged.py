"""Statistics of jobs that are not what a job writes: a forecast passes them over."""

import json

import pytest
from plan_runs import small

from stressbed.plan.build import forecast
from stressbed.plan.records import read_records

SOUND = {
    "stage": "embed", "decides": ["embedder tf: model = 1"],
    "counters": {"encoded": 100, "encode_seconds": 50.0},
}  # fmt: skip


@pytest.mark.parametrize(
    "spoiled",
    [
        [], "text", None, {**SOUND, "counters": 5}, {**SOUND, "counters": {"encoded": "many"}},
        {**SOUND, "decides": None}, {**SOUND, "decides": 5}, {**SOUND, "seconds": "long"},
        {**SOUND, "counters": {"encoded": 100, "encode_seconds": []}},
    ],
)  # fmt: skip
def test_statistics_that_no_job_wrote_are_passed_over(tmp_path, spoiled):
    folder = tmp_path / "jobs" / "embed"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps(SOUND))
    (folder / "b.json").write_text(json.dumps(spoiled))
    assert read_records(tmp_path).encoding == {"tf": 0.5}


def test_a_forecast_holds_when_all_statistics_are_damaged(tmp_path):
    plan = small(tmp_path / "results")
    expected = forecast(plan)
    for path in ("embed/tf/helpdesk.json", "generate/helpdesk/fake.json"):
        file = plan.results / "jobs" / path
        file.parent.mkdir(parents=True)
        file.write_text('{"stage": "generate", "counters": 5, "decides": 7}')
    assert forecast(plan).requests == expected.requests
