"""What earlier runs recorded in the results folder: seconds per token, string, text and cell."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEAST_SECONDS = 1.0
"""Jobs that worked for less than this together say nothing of a speed."""


@dataclass(frozen=True)
class Records:
    """Measured speeds.

    Attributes:
        writing: Generator -> seconds per token of its answers, all of a job included.
        encoding: Embedder -> seconds per string.
        jobs: How many jobs this rests on.
    """

    writing: dict[str, float]
    encoding: dict[str, float]
    jobs: int


def read_records(results: Path) -> Records:
    """Return the speeds that the jobs of a results folder recorded.

    Only jobs that did the work count, not those that found it in the store, and only jobs of a
    single generator or embedder. Damaged files are passed over: a forecast repairs nothing.
    """
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    jobs = 0
    for record in _read_all(results / "jobs"):
        stage, counters = record.get("stage"), record.get("counters") or {}
        if stage == "generate" and counters.get("sent"):
            jobs += _add(sums, ("generate", _single(record, "generator")), counters, "seconds", "tokens_out")
        elif stage == "embed":
            name = _single(record, "embedder")
            if counters.get("encoded"):
                jobs += _add(sums, ("embed", name), counters, "encode_seconds", "encoded")
    rate = {place: s / n for place, (s, n) in sums.items() if n and s >= LEAST_SECONDS}
    return Records(
        writing={name: r for (stage, name), r in rate.items() if stage == "generate"},
        encoding={name: r for (stage, name), r in rate.items() if stage == "embed"},
        jobs=jobs,
    )


def rate_of(paths: Iterable[str], seconds: str, units: str) -> float | None:
    """Return the seconds per unit that some jobs recorded; None if they did not work for long enough.

    Args:
        paths: Their statistics files; missing ones are passed over.
        seconds: Counter of the seconds, or `job` for all of a job's.
        units: Counter of the units.
    """
    spent, made = 0.0, 0.0
    for record in map(_read, paths):
        counters = (record or {}).get("counters") or {}
        if record is not None and counters.get(units):
            spent += float(record.get("seconds", 0.0) if seconds == "job" else counters.get(seconds, 0.0))
            made += float(counters[units])
    return spent / made if made and spent >= LEAST_SECONDS else None


def _add(
    sums: dict[tuple[str, str], list[float]], place: tuple[str, str | None], counters: dict[str, Any],
    seconds: str, units: str,
) -> int:  # fmt: skip
    stage, name = place
    if name is None or not counters.get(seconds) or not counters.get(units):
        return 0
    sums[stage, name][0] += float(counters[seconds])
    sums[stage, name][1] += float(counters[units])
    return 1


def _single(record: dict[str, Any], kind: str) -> str | None:
    """Return the one generator or embedder of a job; None if there are several."""
    lines = [str(line) for line in record.get("decides", [])]
    names = {line.split(" ", 1)[1].partition(":")[0] for line in lines if line.startswith(f"{kind} ")}
    return names.pop() if len(names) == 1 else None


def _read_all(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*.json")):
        record = _read(path)
        if record is not None:
            yield record


def _read(path: str | Path) -> dict[str, Any] | None:
    """Return a job's statistics; None if there are none, or if they are not what a job writes."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict):
        return None
    counters, decides = record.get("counters") or {}, record.get("decides", [])
    sound = isinstance(counters, dict) and isinstance(decides, list)
    numbers = [record.get("seconds", 0.0), *(counters.get(k, 0) for k in NUMBERS if sound)]
    return record if sound and all(isinstance(n, int | float) for n in numbers) else None


NUMBERS = ("sent", "encoded", "seconds", "encode_seconds", "tokens_out")
"""Counters that a forecast reads."""
