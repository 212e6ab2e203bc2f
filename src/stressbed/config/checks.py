"""Checks of a run before any job: names, files, languages, secrets, the results folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stressbed.errors import ConfigError, Problems, StressbedError

if TYPE_CHECKING:
    from stressbed.config.load import Plan


def check(plan: Plan) -> None:
    """Refuse a run that cannot work.

    Raises:
        Problems: Everything that was found, in one go.
    """
    problems: list[StressbedError] = []
    c = plan.config
    for kind, names in (
        ("datasets", c.datasets),
        ("embedders", c.embedders),
        ("generators", c.generator),
        ("transformations", c.transformations),
    ):
        for name in names:
            try:
                plan.catalogue.get(kind, name, f"run config, key {kind!r}")
            except ConfigError as e:
                problems.append(e)
    if problems:
        raise Problems(problems)
