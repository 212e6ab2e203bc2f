"""What the shipped profile makes of a full GPU, jobs that die, a drained node, a controller that restarts."""

from __future__ import annotations

import pytest
from slurm_project import rules_project, spans, submitted, wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.timeout(400, method="signal")]

ON_GPU = """
rule all:
    input: "a.txt", "b.txt", "c.txt"
rule on_gpu:
    output: "{name,[ab]}.txt"
    resources: gpu=1, mem_mb=400
    shell: "echo start {wildcards.name} $(date +%s.%N) >> gpu.log; sleep 4;"
           " echo end {wildcards.name} $(date +%s.%N) >> gpu.log; echo $CUDA_VISIBLE_DEVICES > {output}"
rule on_cpu:
    output: "c.txt"
    resources: mem_mb=400
    shell: "echo $SLURM_JOB_PARTITION > {output}"
"""


def test_jobs_that_want_the_one_gpu_run_one_after_another(cluster, tmp_path):
    project = rules_project(tmp_path / "gpu", ON_GPU)
    project.run(timeout=200)
    (_, first_ends), (second_starts, _) = spans(project.folder / "gpu.log")
    assert second_starts >= first_ends
    assert [(project.folder / f).read_text().strip() for f in ("a.txt", "b.txt", "c.txt")] == [
        "0",
        "0",
        "cpu",
    ]


TOO_LARGE_AND_TOO_LONG = """
import sys
rule all:
    input: "memory.txt", "time.txt"
rule memory:
    output: "memory.txt"
    resources: mem_mb=lambda wildcards, attempt: 600 << (attempt - 1)
    params: python=sys.executable
    shell: "echo {resources.mem_mb} >> memory.tries;"
           " {params.python} -c 'import time; x = bytearray(750 << 20); time.sleep(8)';"
           " cp memory.tries {output}"
rule time:
    output: "time.txt"
    resources: mem_mb=400, runtime=lambda wildcards, attempt: attempt
    shell: "echo {resources.runtime} >> time.tries; [ {resources.runtime} -gt 1 ] || sleep 150;"
           " cp time.tries {output}"
"""


def test_a_job_over_its_memory_and_one_over_its_time_are_run_again_with_more(cluster, tmp_path):
    project = rules_project(tmp_path / "more", TOO_LARGE_AND_TOO_LONG)
    said = project.run(timeout=350)
    assert (project.folder / "memory.txt").read_text().split() == ["600", "1200"]
    assert (project.folder / "time.txt").read_text().split() == ["1", "2"]
    assert len(submitted(said)) == 4


LONG = """
rule all:
    input: "first.txt", "second.txt"
rule first:
    output: "first.txt"
    resources: mem_mb=400
    shell: "echo $SLURM_JOB_ID >> tries; [ ! -e hold ] || sleep 120; touch {output}"
rule second:
    input: "first.txt"
    output: "second.txt"
    resources: mem_mb=400
    shell: "touch {output}"
"""


def runs(project) -> list[str]:
    tries = project.folder / "tries"
    return tries.read_text().split() if tries.exists() else []


def test_a_job_that_somebody_cancels_is_submitted_again(cluster, tmp_path):
    project = rules_project(tmp_path / "cancelled", LONG)
    (project.folder / "hold").touch()
    with project.started() as run:
        wait_for(lambda: len(runs(project)) == 1, "the first try", run)
        (project.folder / "hold").unlink()
        cluster.ask("scancel", runs(project)[0])
        run.finish()
    assert len(runs(project)) == 2
    assert (project.folder / "second.txt").exists()


def test_a_drained_node_finishes_its_job_and_the_next_one_waits(cluster, tmp_path):
    project = rules_project(tmp_path / "drained", LONG)
    (project.folder / "hold").touch()
    with project.started() as run:
        wait_for(lambda: len(runs(project)) == 1, "the first job", run)
        node = f"nodename={cluster.node}"
        cluster.ask("scontrol", "update", node, "state=drain", "reason=test")
        (project.folder / "hold").unlink()
        cluster.ask("scancel", runs(project)[0])  # its next try must wait for the node
        wait_for(lambda: [j["state"] for j in cluster.queue()] == ["PENDING"], "a waiting job", run)
        assert len(runs(project)) == 1
        cluster.ask("scontrol", "update", node, "state=resume")
        run.finish()
    assert len(runs(project)) == 2


def test_a_node_that_goes_down_costs_a_retry(cluster, tmp_path):
    project = rules_project(tmp_path / "down", LONG)
    (project.folder / "hold").touch()
    with project.started() as run:
        wait_for(lambda: len(runs(project)) == 1, "the first try", run)
        (project.folder / "hold").unlink()
        cluster.ask("scontrol", "update", f"nodename={cluster.node}", "state=down", "reason=test")
        wait_for(lambda: not cluster.queue("R"), "the end of the first try", run)
        cluster.ask("scontrol", "update", f"nodename={cluster.node}", "state=resume")
        run.finish()
    assert len(runs(project)) == 2
