"""A stage's source and its version move together."""

from __future__ import annotations

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
