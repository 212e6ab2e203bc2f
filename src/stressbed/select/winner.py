"""What a selection has decided, for those who only need its outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stressbed import paths
from stressbed.config.load import Plan
from stressbed.errors import ConfigError
from stressbed.store import read_json


def outcome(plan: Plan) -> dict[str, Any] | None:
    """Return what the `winner.json` of a run's selection holds; None if there is none yet.

    Raises:
        StoreError: The file is damaged.
    """
    if plan.config.selection is None:
        return None
    try:
        return read_json(winner_path(plan))
    except FileNotFoundError:
        return None


def winner_path(plan: Plan) -> Path:
    """Return where the outcome of a run's selection lies or will lie."""
    return plan.results / paths.WINNER.format(selection=plan.config.selection)


def resolved(plan: Plan) -> Plan:
    """Return the plan in which `generator: auto` is the winner of its selection.

    Raises:
        ConfigError: The selection has not chosen yet.
        StoreError: Its outcome is damaged.
    """
    if not plan.auto:
        return plan
    found = outcome(plan)
    if found is None:
        raise ConfigError(
            f"the selection {plan.config.selection!r} has not chosen a generator yet",
            where=str(winner_path(plan)),
            do="run the workflow with this config first, or name a generator instead of `auto`",
        )
    return plan.with_winner(found["winner"])
