"""What is refused before any job, in one go: entries, files, models and languages that cannot work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from stressbed.check.run import check
from stressbed.config.load import Plan, read_run
from stressbed.config.words import Spelled

__all__ = ["check", "load_run"]


def load_run(
    config: Mapping[str, Any],
    *,
    base: Path | None = None,
    files: Iterable[Spelled] = (),
    given: Collection[str] = (),
) -> Plan:
    """Return the plan of a run that can work.

    Args:
        config: The run config.
        base: Folder that holds `config/catalogue`; the working directory by default.
        files: The files that `config` was made of, where it is none itself: their words stand in messages.
        given: Keys that stand on the command line, within whose values Snakemake leaves numbers as text.

    Raises:
        Problems: Everything that is wrong with the config, the catalogue, local files and models.
    """
    plan, problems = read_run(config, base=base or Path(), files=files, given=given)
    check(plan, problems)
    return plan
