"""Snakemake asks stressbed whether a job's outputs are current, instead of its own records and file times.

Snakemake's records (9.27, `.snakemake/metadata`) lie in the working directory and name absolute or relative
paths: they are lost in a fresh clone, or when results are moved, copied or deleted beside them, and a job
without them counts as done. Times say nothing after a copy. So a job's params, the set of its inputs, their
checksums and times are left out of Snakemake's own comparison, and what `results/jobs/made` holds decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from stressbed.workflow.current import Current
from stressbed.workflow.made import joined

ATTRIBUTE = "stressbed_current"
"""Name, on Snakemake's workflow, of what decides whether its jobs' outputs are current."""


def decide_by_contents(workflow: Any, current: Current) -> None:
    """Let records of contents decide which of a workflow's jobs run.

    Args:
        workflow: Snakemake's.
        current: The comparison of the run's files with how they were made.
    """
    from snakemake.settings.enums import RerunTrigger

    setattr(workflow, ATTRIBUTE, _Judge(current))
    settings = workflow.dag_settings
    if (
        settings is not None
    ):  # the question is asked where params are compared, whatever the command line says
        object.__setattr__(settings, "rerun_triggers", frozenset({RerunTrigger.PARAMS}))
    _patch()


class _Judge:
    """What jobs of one process of Snakemake were made from, and whether they are current."""

    def __init__(self, current: Current) -> None:
        self.current = current
        self._begun: dict[Any, dict[str, str]] = {}

    def why(self, job: Any) -> list[str]:
        """Return why a job's outputs are not current; nothing while a checkpoint is to come."""
        from snakemake.exceptions import IncompleteCheckpointException

        try:
            decides = _decides(job)
        except IncompleteCheckpointException:
            return []  # asked again once it is there
        return self.current.why(map(str, job.output), decides, map(str, job.input))

    def begin(self, job: Any) -> None:
        """Note what a job's inputs hold when it is handed out; others are looked at when it has ended."""
        self._begun[job] = self.current.contents_of(map(str, job.input))

    def end(self, job: Any) -> None:
        """Keep how a job's outputs were made."""
        inputs = self.current.contents_of(map(str, job.input)) | self._begun.pop(job, {})
        outputs = [str(f) for f in job.output]
        stats = _statistics(job)
        stats |= {"path": self.current.name(str(job.output.stats))} if stats else {}
        record = self.current.record(job.rule.name, outputs, _decides(job), inputs, stats)
        if record.outputs:
            self.current.made.add(record)


def _decides(job: Any) -> list[str]:
    """Return a job's param `decides`, without its other params, which are dear."""
    given = job.rule.params.get("decides", [])
    return list(given(job.wildcards, None) if callable(given) else given)


def _statistics(job: Any) -> dict[str, Any]:
    path = job.output.get("stats")
    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in found.items() if k != "decides"} if isinstance(found, dict) else {}


def _patch() -> None:
    """Put the questions into Snakemake's classes; calling it again changes nothing."""
    from snakemake.jobs import Job
    from snakemake.persistence import ParamsChange, PersistenceBase

    if hasattr(PersistenceBase.params_changed, "of_stressbed"):
        return

    class Why(ParamsChange):  # type: ignore[misc]  # Snakemake's, without types
        """A change in words."""

        def __str__(self) -> str:
            return joined(sorted(self.only_new))

    def params_changed(judge: _Judge, job: Any, file: Any = None) -> ParamsChange:  # noqa: ARG001
        why = judge.why(job)
        return Why(only_new=set(why), files={str(f) for f in job.output}) if why else ParamsChange()

    _instead(PersistenceBase, "has_metadata", lambda *_, **__: True)
    _instead(PersistenceBase, "has_outdated_metadata", lambda *_, **__: False)
    _instead(PersistenceBase, "params_changed", params_changed)
    _beside(PersistenceBase, "started", _Judge.begin)
    _after(PersistenceBase, "finished", _Judge.end)
    plain = Job.output_mintime

    async def output_mintime(self: Any) -> Any:
        """Return no time: none is compared with it."""
        return None if hasattr(self.dag.workflow, ATTRIBUTE) else await plain.fget(self)

    Job.output_mintime = property(output_mintime)


def _judge(persistence: Any) -> _Judge | None:
    return getattr(persistence.dag.workflow, ATTRIBUTE, None)


def _instead(owner: type, name: str, answer: Callable[..., Any]) -> None:
    plain = getattr(owner, name)

    @wraps(plain)
    def method(self: Any, job: Any, *args: Any, **kwargs: Any) -> Any:
        judge = _judge(self)
        if judge is None or not job.output:
            return plain(self, job, *args, **kwargs)
        return answer(judge, job, *args, **kwargs)

    method.of_stressbed = True  # type: ignore[attr-defined]
    setattr(owner, name, method)


def _beside(owner: type, name: str, also: Callable[[_Judge, Any], None]) -> None:
    plain = getattr(owner, name)

    @wraps(plain)
    def method(self: Any, job: Any, *args: Any, **kwargs: Any) -> Any:
        judge = _judge(self)
        if judge is not None and job.output and self.dag.workflow.is_main_process:
            also(judge, job)
        return plain(self, job, *args, **kwargs)

    setattr(owner, name, method)


def _after(owner: type, name: str, also: Callable[[_Judge, Any], None]) -> None:
    plain = getattr(owner, name)

    @wraps(plain)
    async def method(self: Any, job: Any, *args: Any, **kwargs: Any) -> Any:
        found = await plain(self, job, *args, **kwargs)
        judge = _judge(self)
        if judge is not None and job.output and self.dag.workflow.is_main_process:
            also(judge, job)
        return found

    setattr(owner, name, method)
