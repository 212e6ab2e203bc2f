"""What a cell says of the code that computed it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import stressbed
from stressbed.score.provenance import versions


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "src" / "stressbed"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    monkeypatch.setattr(stressbed, "__file__", str(folder / "__init__.py"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    versions.cache_clear()
    yield folder
    versions.cache_clear()


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_checkout_is_named_by_its_commit_with_a_mark_if_it_was_changed(package: Path) -> None:
    git(package, "init", "-q")
    git(package, "add", ".")
    git(package, "commit", "-qm", "m")
    commit = git(package, "rev-parse", "HEAD")
    assert len(commit) == 40
    assert versions()["commit"] == commit
    (package / "__init__.py").write_text("changed = 1")
    versions.cache_clear()
    assert versions()["commit"] == f"{commit}+"


def test_a_copy_names_the_commit_it_was_made_of_and_a_bare_folder_none(package: Path) -> None:
    assert "commit" not in versions()
    (package.parent / "COMMIT").write_text("abc+")
    versions.cache_clear()
    assert versions()["commit"] == "abc+"
