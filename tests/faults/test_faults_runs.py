"""Faults of whole runs, with Snakemake: what it says, and that the next run goes on where this one ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from workflow_project import Project, make_project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

CELLS = 2  # of an embedder: the original and one rewritten variant


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose dataset is frozen and listed; nothing is asked or embedded yet."""
    project = make_project(tmp_path_factory.mktemp("fresh") / "project")
    project.config(embedders=["random", "tf"], transformations=["paraphrasing"], seeds=[1])
    project.run("--until", "texts")
    return project


@pytest.fixture
def project(fresh: Project, tmp_path: Path) -> Project:
    return fresh.copy(tmp_path / "project")


@contextlib.contextmanager
def running(project: Project, *args: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        project.command(*args), cwd=project.folder, env=project.env(), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None or time.monotonic() > until:
            said = process.stdout.read() if process.poll() is not None and process.stdout else ""
            raise AssertionError(f"it did not happen; the run said:\n{said[-3000:]}")
        time.sleep(0.02)


def job_of(project: Project, stage: str) -> list[int]:
    """Return the processes that run a stage's script of this project."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            here = (entry / "cwd").readlink() == project.folder
            if here and any(w.endswith(f"{stage}.py".encode()) for w in words):
                found.append(int(entry.name))
    return found


def slow(project: Project, seconds: float) -> None:
    """Let each batch of the generator take its time."""
    project.edit(
        "src/stressbed/generate/engines/fake.py",
        "        return [self._answer(r, k) for r, k in zip(requests, keys, strict=True)]\n",
        "        import time\n\n"
        f"        time.sleep({seconds})\n"
        "        return [self._answer(r, k) for r, k in zip(requests, keys, strict=True)]\n",
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nowhere.yaml", None, "no such run config"),
        ("latin-1.yaml", b"run: caf\xe9\n", "the run config is not UTF-8: byte 8 cannot be read"),
        ("tabs.yaml", b"run: x\nseeds:\n\t- 1\n", "the run config is not valid YAML"),
        ("workflow", None, "the run config cannot be read: Is a directory"),
    ],
    ids=["missing", "not UTF-8", "tabs", "a folder"],
)
def test_a_config_that_cannot_be_read_has_a_message_and_no_traceback(
    fresh: Project, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (fresh.folder / name).write_bytes(content)
    command = [w if w != "run.yaml" else name for w in fresh.command("-n")]
    done = subprocess.run(
        command, cwd=fresh.folder, env=fresh.env(), capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert words in said
    assert name in said
    assert "Traceback" not in said


def test_a_second_run_on_the_same_results_is_refused_and_a_dead_ones_lock_can_be_taken_off(
    project: Project,
) -> None:
    slow(project, 5)
    locks = project.folder / ".snakemake/locks"
    with running(project, "--until", "generate") as first:
        wait_for(lambda: any(locks.glob("*")) and job_of(project, "generate"), first)
        same = project.run("--until", "generate", check=False)
        assert "Directory cannot be locked" in same
        other = project.folder / "other.yaml"
        other.write_text((project.folder / "run.yaml").read_text().replace("run: tiny", "run: other"))
        command = [w if w != "run.yaml" else "other.yaml" for w in project.command("--until", "generate")]
        done = subprocess.run(
            command, cwd=project.folder, env=project.env(), capture_output=True, text=True, check=False
        )
        assert done.returncode != 0
        assert "Directory cannot be locked" in done.stdout + done.stderr
    killed = project.run("--until", "generate", check=False)
    assert "Directory cannot be locked" in killed
    assert "--unlock" in killed
    project.run("--unlock")
    project.run("--until", "generate")


def test_sigterm_to_a_job_is_answered_with_another_attempt_that_goes_on(project: Project) -> None:
    """As SLURM does it: the job gets the signal, ends itself, counts as failed and is submitted again."""
    slow(project, 0.7)
    batches = project.folder / "results/.store/completions"
    with running(project, "--until", "generate", "--retries", "1") as process:
        wait_for(lambda: len(list(batches.glob("*/batches/*"))) >= 2, process)
        for pid in job_of(project, "generate"):
            os.kill(pid, signal.SIGTERM)
        said, _ = process.communicate(timeout=200)
        assert process.returncode == 0, said
    assert "stopped on request (SIGTERM) after" in said
    assert "run again: what is finished is kept" in said
    done = project.counters("generate")
    assert done["reused"] >= 8
    assert done["reused"] + done["sent"] == done["unique"]


def test_vectors_that_are_no_numbers_fail_their_job_and_no_other(project: Project) -> None:
    name, line = "src/stressbed/embed/embedders/baseline.py", "    def encode(self"
    source = (project.folder / name).read_text()
    assert line in source
    with (project.folder / name).open("a") as f:
        f.write(
            "\n\n_right = RandomEmbedder.encode\n\n\n"
            "def _wrong(self, strings, **more):\n"
            "    return _right(self, strings, **more) * float('nan')\n\n\n"
            "RandomEmbedder.encode = _wrong\n"
        )
    said = project.run("--until", "score", check=False)
    assert "vectors hold NaN or an infinity" in said
    assert "check the model with this string" in said
    assert "What was finished is kept; run again to go on." in said
    cells = project.cells()
    assert len(cells) == CELLS
    assert all(name.startswith("tf/") for name in cells)
    (project.folder / name).write_text(source)
    project.run("--until", "score")
    assert len(project.cells()) == 2 * CELLS
    assert {n: c for n, c in project.cells().items() if n.startswith("tf/")} == cells


def test_results_of_another_user_stop_the_run_before_any_job(fresh: Project) -> None:
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv: it is not installed")
    with tempfile.TemporaryDirectory() as folder:  # outside pytest's own, which nobody else may enter
        Path(folder).chmod(0o755)
        project = fresh.copy(Path(folder) / "project")
        results = project.folder / "results"
        for path in (results, *results.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        home = Path(folder) / "home"
        home.mkdir()
        for path in (home, project.folder, project.folder / ".snakemake"):
            path.chmod(0o777)
        as_nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 else []
        done = subprocess.run(
            [*as_nobody, *project.command("-n")], cwd=project.folder,
            env={**project.env(), "HOME": str(home), "XDG_CACHE_HOME": str(home)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        for path in (results, *results.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "results cannot be written: Permission denied" in said
    assert "do: choose another folder" in said
    assert "Traceback" not in said
