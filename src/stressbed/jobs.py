"""What every job of the workflow does around its work: logging, signals, statistics."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import resource
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stressbed import paths, stopping
from stressbed.errors import StoppedError, StressbedError
from stressbed.redaction import RedactingFormatter, holds_secret
from stressbed.store import write_text

log = logging.getLogger("stressbed")

FOLDER_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES})
"""Full or write-protected disks: the user's to mend, like a wrong config."""

GONE = "a file of the results is gone that was there when the job began"
GONE_REMEDY = (
    "run again: it is made anew, and what is stored is kept. If another run uses this results folder from "
    "another working directory, wait until it has ended: Snakemake's lock does not see it"
)


@dataclass
class Job:
    """One running job; `counters` end up in its statistics file."""

    stage: str
    name: str
    counters: dict[str, float | int | str] = field(default_factory=dict)

    def count(self, values: Mapping[str, Any]) -> None:
        """Add numbers to the counters; other values replace what was there."""
        for key, value in values.items():
            old = self.counters.get(key, 0)
            if isinstance(value, int | float) and isinstance(old, int | float):
                self.counters[key] = old + value
            else:
                self.counters[key] = value


@contextlib.contextmanager
def job(
    stage: str, *, log_file: str, name: str = "", stats: str | None = None, decides: Sequence[str] = ()
) -> Iterator[Job]:
    """Run a job's work with its log and, when it succeeds, write its statistics.

    Args:
        stage: Name of the stage.
        log_file: Everything that is logged goes there, and to standard error.
        stats: Where seconds, peak memory (MB) and counters go, or None.
        name: The job's coordinates, for the log.
        decides: What decided its outputs beside its inputs; kept with the statistics.

    A `StressbedError` ends the process with its message alone: a user's mistake needs no traceback.
    SIGTERM ends it too, where work is done in batches after the one in flight (`stressbed.stopping`).
    """
    this = Job(stage, name)
    started, clock = datetime.now(UTC), time.perf_counter()  # a clock that nobody sets
    try:
        _log_to(log_file)
        log.info("%s %s: started", stage, name)
        with stopping.at_once():
            yield this
            _finish(this, started, clock, stats, decides)
    except StoppedError as e:
        log.error("%s %s: %s", stage, name, e)  # noqa: TRY400  # nothing went wrong
        sys.exit(stopping.STATUS)
    except StressbedError as e:
        log.error("%s %s failed\n%s", stage, name, e)  # noqa: TRY400  # the message is for the user
        sys.exit(1)
    except OSError as e:
        if isinstance(e, FileNotFoundError) and _is_of_results(e.filename, log_file):
            log.error("%s %s failed\n%s", stage, name, GONE)  # noqa: TRY400
            log.error("  where: %s", e.filename)  # noqa: TRY400
            log.error("  do: %s", GONE_REMEDY)  # noqa: TRY400
            sys.exit(1)
        if e.errno not in FOLDER_ERRORS:
            log.exception("%s %s failed", stage, name)
            _end_if_secret(e)
            raise
        log.error("%s %s failed\n%s: %s", stage, name, e.strerror, e.filename or "results")  # noqa: TRY400
        log.error("  do: make room, or the folder writable, and run again: what is stored is kept")  # noqa: TRY400
        sys.exit(1)
    except Exception as e:  # all others go on as they are, but stand in the job's log first
        log.exception("%s %s failed", stage, name)
        _end_if_secret(e)
        raise


def _end_if_secret(error: BaseException) -> None:
    """End the process where Python itself would show a secret: the log has the traceback without it."""
    if holds_secret("".join(traceback.format_exception(error))):
        sys.exit(1)


def _is_of_results(name: object, log_file: str) -> bool:
    """Return whether a file lies in the results that a job's log lies in."""
    logs = next((p for p in Path(log_file).resolve().parents if p.name == "logs"), None)
    if logs is None or not isinstance(name, str | Path):
        return False
    of_run = logs.parents[1].name == Path(paths.RUN_FOLDER).parent.name
    return Path(name).resolve().is_relative_to(logs.parents[2] if of_run else logs.parent)


def _finish(this: Job, started: datetime, clock: float, stats: str | None, decides: Sequence[str]) -> None:
    """Log that a job is done and write its statistics."""
    seconds = time.perf_counter() - clock
    log.info("%s %s: done in %.1f s", this.stage, this.name, seconds)
    if stats is None:
        return
    record = {
        "stage": this.stage,
        "job": this.name,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "peak_memory_mb": peak_memory_mb(),
        "decides": list(decides),
        "counters": this.counters,
    }
    write_text(stats, json.dumps(record, indent=1, sort_keys=True) + "\n")


def peak_memory_mb() -> float:
    """Return the largest resident size so far of this process or of one of its children, in MB."""
    kilobytes = max(
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return round(kilobytes / 1024, 1)


def _log_to(path: str) -> None:
    root = logging.getLogger("stressbed")
    root.setLevel(logging.INFO)
    root.propagate = False
    root.handlers.clear()

    root.addHandler(_formatted(logging.StreamHandler(sys.stderr)))  # first: that the file fails must be said
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    root.addHandler(_formatted(logging.FileHandler(path, mode="a")))


def _formatted(handler: logging.Handler) -> logging.Handler:
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
    return handler
