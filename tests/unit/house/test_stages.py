"""A stage's source and its version move together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from stressbed import stages


def test_every_changed_stage_is_explained() -> None:
    assert stages.unexplained() == [], "see python -m stressbed.stages"


def test_comments_and_docstrings_do_not_count_but_code_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "PACKAGE", tmp_path)
    module = tmp_path / "m.py"
    module.write_text('"""One."""\n\ndef f(x):\n    """Return x."""\n    return x  # as it is\n')
    first = stages.source_hash([module])
    module.write_text('"""Two."""\n\n\ndef f(x):\n    """Give x."""\n    return x\n')
    assert stages.source_hash([module]) == first
    module.write_text('"""Two."""\n\n\ndef f(x):\n    """Give x."""\n    return -x\n')
    assert stages.source_hash([module]) != first


def test_a_change_without_a_reason_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        stages.main(["accept", "score"])
    assert "--why" in capsys.readouterr().err


def _imported(path: Path) -> Iterator[str]:
    """The parts of the package that a module imports: modules and packages right under it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "stressbed":
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stressbed."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("stressbed."))


def test_whatever_a_stage_uses_is_known_to_decide_results_or_not() -> None:
    known = {n.removesuffix(".py") for n in stages.SHARED} | stages.NO_RESULTS | set(stages.STAGES)
    files = [p for s in stages.STAGES for p in (stages.PACKAGE / s).rglob("*.py")]
    used = {name for path in files for name in _imported(path)}
    assert used - known == set()
    assert used >= stages.NO_RESULTS
