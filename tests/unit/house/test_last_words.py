"""The last words of a run: where its results are."""

import pytest
from fabricate import make_plan

from stressbed.workflow import where_results_are


@pytest.mark.parametrize(("finished", "there"), [(False, True), (True, False)])
def test_results_of_an_unfinished_run_are_named_until_its_own_are_there(tmp_path, finished, there):
    plan = make_plan(tmp_path)
    (plan.run_folder / "partial").mkdir(parents=True)
    if finished:
        (plan.run_folder / "scores.parquet").touch()
    said = "\n".join(where_results_are(plan))
    assert (f"{plan.run_folder}/partial/" in said) == there
    assert ("scores.parquet" in said) == finished
