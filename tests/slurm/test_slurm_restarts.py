"""Jobs in the queue while their run is killed, restarted, edited, or cut off from the controller."""

from __future__ import annotations

import subprocess
from itertools import groupby

import pandas as pd
import pytest
from slurm_project import SlurmProject, submitted, wait_for, whole_project
from workflow_project import Project

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.timeout(500, method="signal"),
]

BEAT = """
# Writes its number as long as `hold` is there, and does not die of a SIGTERM.
rule beat:
    output: "{name,beat|other}.txt"
    resources: mem_mb=400
    shell: "trap '' TERM; while true; do echo $SLURM_JOB_ID >> {wildcards.name}.log;"
           " [ -e hold ] || break; sleep 0.2; done; touch {output}"


onstart:"""


@pytest.fixture
def project(tmp_path) -> SlurmProject:
    """The tiny run, and one more rule whose job lasts as long as a test wants."""
    project = whole_project(tmp_path / "project")
    project.edit("Snakefile", "\nonstart:", BEAT)
    (project.folder / "hold").touch()
    return project


def beats(project: SlurmProject, name: str = "beat") -> list[str]:
    log = project.folder / f"{name}.log"
    return log.read_text().split() if log.exists() else []


def let_go(project: SlurmProject) -> None:
    (project.folder / "hold").unlink()


def test_a_restarted_run_ends_the_jobs_of_the_killed_one_before_its_own_start(cluster, project):
    with project.started("beat.txt") as run:
        wait_for(lambda: beats(project), "a running job", run)
        run.kill()
    seen = len(beats(project))
    wait_for(lambda: len(beats(project)) > seen, "the orphan to work on")
    project.run("--unlock", check=False)
    with project.started("beat.txt") as run:
        wait_for(lambda: len(set(beats(project))) == 2, "the new job", run)
        let_go(project)
        said = run.finish()
    assert "a killed run left behind" in said
    assert len([number for number, _ in groupby(beats(project))]) == 2, "the two jobs wrote at the same time"


def test_a_run_leaves_the_jobs_of_a_living_one_alone(cluster, project):
    with project.started("beat.txt") as first:
        wait_for(lambda: beats(project), "the first run's job", first)
        with project.started("other.txt") as second:
            wait_for(lambda: beats(project, "other"), "the second run's job", second)
            let_go(project)
            second.finish()
        said = first.finish()
    assert "a killed run left behind" not in said
    assert len(set(beats(project))) == 1


def test_a_controller_that_is_away_for_a_while_loses_no_job(cluster, project):
    with project.started("beat.txt") as run:
        wait_for(lambda: beats(project), "a running job", run)
        cluster.stop_controller()
        # The executor then turns to sacct, which has no answer either, and by itself forgets the job.
        wait_for(lambda: "Falling back to 'sacct'" in run.said, "a question without an answer", run)
        cluster.start_controller()
        let_go(project)
        run.finish(200)
    assert len(set(beats(project))) == 1


def test_snakemake_may_itself_be_a_job(cluster, project):
    let_go(project)
    command = " ".join(project.command("beat.txt"))
    out = project.folder / "driver.log"
    number = subprocess.run(
        ["sbatch", "--parsable", "--mem=700", "--time=10", f"--output={out}", f"--wrap={command}"],
        cwd=project.folder, env=project.env(), capture_output=True, text=True, timeout=30, check=True,
    ).stdout.strip()  # fmt: skip
    try:
        wait_for((project.folder / "beat.txt").exists, "the inner job")
        cluster.wait_until_empty(100)
    except AssertionError as e:
        raise AssertionError(out.read_text()) from e
    assert len(submitted(out.read_text())) == 1
    assert number not in set(beats(project))


COMPLETIONS = "results/completions/helpdesk-pairs/slow-fake/translation/1.parquet"


def answers(project) -> pd.DataFrame:
    return pd.read_parquet(project.folder / COMPLETIONS)


def test_jobs_use_what_their_run_was_started_with_whatever_is_edited(cluster, project, tmp_path):
    plain = Project(whole_project(tmp_path / "plain").folder)
    cluster.set_node("drain")
    with project.started(COMPLETIONS) as run:
        wait_for(cluster.queue, "a waiting job", run)
        started = project.folder / "run.yaml"
        config = started.read_text()
        started.write_text("run: [broken")
        broken = "raise SystemExit('edited')\n"
        for name in ("workflow/scripts/generate.py", "src/stressbed/generate/run.py", "Snakefile"):
            path = project.folder / name
            path.write_text(broken + path.read_text())
        project.edit("config/catalogue/prompts.yaml", "Translate the", "Shout the")
        cluster.set_node("resume")
        run.finish(300)
    plain.run(COMPLETIONS)
    pd.testing.assert_frame_equal(answers(project), answers(plain))
    # The next run follows the edits: here, of the prompts.
    started.write_text(config)
    for name in ("workflow/scripts/generate.py", "src/stressbed/generate/run.py", "Snakefile"):
        project.edit(name, broken, "")
    said = project.run("-n", COMPLETIONS)
    assert "Params have changed" in said
    assert "generate: ask the LLM" in said
