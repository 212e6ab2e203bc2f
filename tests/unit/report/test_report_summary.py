import json

import pandas as pd
import pytest
from fabricate import make_plan, write_cells, write_jobs, write_transforms

from stressbed.collect.cells import collect
from stressbed.errors import DataError
from stressbed.paths import Cell, Variant
from stressbed.report.summary import summary


@pytest.fixture
def plan(tmp_path):
    plan = make_plan(
        tmp_path / "results", transformations=("expansion",), notice="Only a show.\nSecond line."
    )
    lost = Cell("beta", "pairs", Variant("llm", "expansion", 2))

    def score(c):
        if c == lost:
            return None
        if c.variant.is_original:
            return 50.0
        return {"score": 40.0, "n_texts": 20, "flagged": 4, "fallbacks": 1, "dropped": 0, "retried": 2}

    write_cells(plan, score)
    flagged, lost_text = {"truncated": True}, {"text": "an original", "outcome": "fallback"}
    rows = {
        ("pairs", 1): [flagged, flagged, lost_text],
        ("pairs", 2): [flagged, lost_text, {"text": "another", "outcome": "dropped"}],
        ("topics", 1): [{}, {}, lost_text],
        ("topics", 2): [{}, {"target_language": "fra-Latn"}, lost_text],
    }
    for (dataset, seed), texts in rows.items():
        write_transforms(plan, dataset, Variant("llm", "expansion", seed), texts)
    collect(
        plan=plan, scores_out=plan.run_folder / "scores.parquet", items_out=plan.run_folder / "items.parquet"
    )
    return plan


JOBS = [
    ("generate", "pairs", {"seconds": 10.0, "peak_memory_mb": 900.5, "counters": {
        "requests_naive": 100, "unique": 50, "reused": 10, "sent": 40, "retried": 3, "too_long": 0,
        "refused": 2, "broken": 0, "tokens_in": 1000, "tokens_out": 400, "batches": 2, "seconds": 9.9}}),
    ("generate", "topics", {"seconds": 5.0, "peak_memory_mb": 1200.0, "counters": {
        "requests_naive": 60, "unique": 30, "reused": 0, "sent": 30, "retried": 1, "too_long": 1,
        "refused": 0, "broken": 3, "tokens_in": 500, "tokens_out": 100, "batches": 1, "seconds": 4.9}}),
    ("embed", "alpha", {"seconds": 2.5, "peak_memory_mb": 300.0, "started": "2026-01-01T00:00:00+00:00",
        "counters": {"strings_naive": 90, "unique": 45, "reused": 5, "encoded": 40}}),
    ("score", "alpha", {"seconds": 1.0, "counters": {"cells": 12, "reused": 7, "computed": 4}}),
]  # fmt: skip


def run(plan, jobs=JOBS, executions=()):
    write_jobs(plan.results, jobs)
    paths = sorted((plan.results / "jobs").rglob("*.json"))
    out = plan.run_folder / "summary.json"
    found = summary(
        plan=plan,
        scores=plan.run_folder / "scores.parquet",
        jobs=[*paths, plan.results / "jobs/lost.json"],
        out=out,
        executions=executions,
    )
    assert json.loads(out.read_text()) == found
    return found, out


def test_counts_are_sums_over_jobs_and_cells(plan):
    found, _ = run(plan)
    assert found["cells"] == {
        "expected": 12, "ok": 11, "failed": 0, "absent": 0, "missing": 1,
        "reused": 7, "computed": 4, "marked": 7,
    }  # fmt: skip
    assert found["requests"] == {
        "naive": 160, "unique": 80, "reused": 10, "sent": 70, "retried": 4, "too_long": 1,
        "refused": 2, "broken": 3, "batches": 3, "unique_share_of_naive": 0.5,
    }  # fmt: skip
    assert found["tokens"] == {"in": 1500, "out": 500}
    assert found["texts"]["encoded"] == 40
    assert found["texts"]["unique_share_of_naive"] == 0.5
    # Two datasets x two seeds, each counted once and not once per embedder.
    assert found["rewrites"] == {
        "distinct": 6, "distinct_flagged": 1, "distinct_fallbacks": 2, "distinct_dropped": 1,
        "n_texts": 80, "flagged": 16, "retried": 8, "fallbacks": 4, "dropped": 0,
    }  # fmt: skip
    assert found["stages"]["generate"]["seconds"] == 15.0
    assert found["stages"]["generate"]["longest_job_seconds"] == 10.0
    assert found["stages"]["generate"]["peak_memory_mb"] == 1200.0
    assert list(found["stages"]) == ["generate", "embed", "score"]
    assert found["stages"]["score"]["peak_memory_mb"] is None
    assert found["jobs_without_statistics"] == 1


def test_the_total_counts_every_execution_and_the_rest_the_last_one(plan):
    """A job that was done again found all in the store: it has sent nothing, but the run has."""
    first = {
        "stage": "generate", "path": "jobs/generate/pairs.json", "seconds": 100.0,
        "started": "2026-01-01T00:00:00+00:00",
        "counters": {"sent": 40, "tokens_in": 900, "tokens_out": 300},
    }  # fmt: skip
    again = {**first, "seconds": 2.5, "counters": {"sent": 0, "reused": 40, "unique": 40}}
    other = {"stage": "embed", "path": "elsewhere", "seconds": 4.0, "counters": {"encoded": 7}}
    found, out = run(plan, executions=[first, other, again])
    assert found["total"] == {
        "jobs": 3, "seconds": 106.5, "sent": 40, "tokens_in": 900, "tokens_out": 300, "encoded": 7,
        "computed": 0, "started": "2026-01-01T00:00:00+00:00", "finished": None,
    }  # fmt: skip
    # Of the job on `pairs` the last execution, of that on `topics` its statistics: 0 + 30.
    assert found["requests"]["sent"] == 30
    assert found["requests"]["reused"] == 40
    assert "| total | sent | 40 |" in out.with_suffix(".md").read_text()


def test_without_records_the_total_is_that_of_the_statistics(plan):
    found, _ = run(plan)
    assert found["total"] == {
        "jobs": 4, "seconds": 18.5, "sent": 70, "tokens_in": 1500, "tokens_out": 500, "encoded": 40,
        "computed": 4, "started": "2026-01-01T00:00:00+00:00", "finished": None,
    }  # fmt: skip


def test_the_table_holds_the_same_numbers(plan):
    _, out = run(plan)
    table = pd.read_csv(out.with_suffix(".csv")).set_index(["part", "what"])["value"]
    assert table["requests", "naive"] == 160
    assert table["requests", "unique_share_of_naive"] == 0.5
    assert table["generate", "peak_memory_mb"] == 1200
    text = out.with_suffix(".md").read_text()
    assert text.splitlines()[2:4] == ["> Only a show.", "> Second line."]
    assert "| texts | encoded | 40 |" in text
    assert len(table) == text.count("\n| ") - 2


def test_a_run_without_statistics_still_has_a_summary(plan):
    found, _ = run(plan, [])
    assert found["requests"]["naive"] == 0
    assert found["requests"]["unique_share_of_naive"] is None
    assert found["stages"] == {}


@pytest.mark.parametrize("content", ["{", "[]", '{"stage": "embed"}', '{"stage": "embed", "seconds": null}'])
def test_damaged_statistics_are_named(plan, content):
    path = plan.results / "jobs" / "embed" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(DataError, match="statistics are damaged") as e:
        run(plan)
    assert str(path) in str(e.value)
