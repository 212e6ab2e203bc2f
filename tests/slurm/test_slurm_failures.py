"""What the shipped profile makes of a full GPU, jobs that die, a drained node."""

from __future__ import annotations

import pytest
from slurm_project import SlurmProject, rules_project, spans, submitted, wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.timeout(400, method="signal")]

TROUBLES = """
import sys

rule all:
    input: "memory.txt", "time.txt", "cancelled.txt", "gpu-a.txt", "gpu-b.txt"

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

rule cancelled:
    output: "cancelled.txt"
    resources: mem_mb=400
    shell: "[ -e cancelled.tries ] || hold=120; echo $SLURM_JOB_ID >> cancelled.tries;"
           " sleep ${{hold:-0}}; touch {output}"

rule gpu:
    output: "gpu-{name}.txt"
    resources: mem_mb=400, gpu=1
    shell: "echo start {wildcards.name} $(date +%s.%N) >> gpu.log; sleep 4;"
           " echo end {wildcards.name} $(date +%s.%N) >> gpu.log;"
           " echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_PARTITION > {output}"
"""


def tries(project: SlurmProject, name: str) -> list[str]:
    path = project.folder / f"{name}.tries"
    return path.read_text().split() if path.exists() else []


@pytest.fixture(scope="module")
def troubled(whole_cluster, tmp_path_factory) -> tuple[SlurmProject, str]:
    """A run in which everything happens at once, and what it printed: it ends well nevertheless."""
    project = rules_project(tmp_path_factory.mktemp("troubled") / "project", TROUBLES)
    with project.started() as run:
        wait_for(lambda: len(tries(project, "cancelled")) == 1, "the job to cancel", run)
        whole_cluster.ask("scancel", tries(project, "cancelled")[0])
        return project, run.finish(300)


def test_jobs_that_want_the_one_gpu_run_one_after_another(troubled):
    project, _ = troubled
    (_, first_ends), (second_starts, _) = spans(project.folder / "gpu.log")
    assert second_starts >= first_ends
    assert [(project.folder / f"gpu-{n}.txt").read_text().split() for n in "ab"] == [["0", "gpu"]] * 2


def test_a_job_over_its_memory_is_run_again_with_twice_as_much(troubled):
    assert tries(troubled[0], "memory") == ["600", "1200"]


def test_a_job_over_its_time_is_run_again_with_more(troubled):
    assert tries(troubled[0], "time") == ["1", "2"]


def test_a_job_that_somebody_cancels_is_submitted_again(troubled):
    project, said = troubled
    assert len(set(tries(project, "cancelled"))) == 2
    assert len(submitted(said)) == 8  # five jobs, three of them twice


HELD = """
rule held:
    output: "held.txt"
    resources: mem_mb=400
    shell: "echo $SLURM_JOB_ID >> held.tries; [ ! -e hold ] || sleep 120; touch {output}"
"""


@pytest.fixture
def held(cluster, tmp_path) -> SlurmProject:
    """A project whose job lasts as long as a test wants."""
    project = rules_project(tmp_path / "project", HELD)
    (project.folder / "hold").touch()
    return project


def test_a_drained_node_finishes_its_job_and_the_next_one_waits_for_it(cluster, held):
    with held.started() as run:
        wait_for(lambda: tries(held, "held"), "the first try", run)
        cluster.set_node("drain")
        assert len(cluster.queue("R")) == 1
        cluster.ask("scancel", tries(held, "held")[0])
        (held.folder / "hold").unlink()
        wait_for(lambda: [j["state"] for j in cluster.queue()] == ["PENDING"], "the second, waiting", run)
        assert len(tries(held, "held")) == 1
        cluster.set_node("resume")
        run.finish()
    assert len(tries(held, "held")) == 2


def test_a_node_that_goes_down_costs_its_job_a_retry(cluster, held):
    with held.started() as run:
        wait_for(lambda: tries(held, "held"), "the first try", run)
        (held.folder / "hold").unlink()
        cluster.set_node("down")
        wait_for(lambda: not cluster.queue("R"), "the end of the first try", run)
        cluster.set_node("resume")
        run.finish()
    assert len(tries(held, "held")) == 2
