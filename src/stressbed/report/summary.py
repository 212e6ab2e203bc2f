"""What a run did: cells, requests, tokens, texts, seconds and memory, as JSON and as a table."""

from __future__ import annotations

import json
import logging
import platform
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import stressbed
from stressbed.analyse.write import escape_markdown, to_csv
from stressbed.collect.schema import ALL, STATUSES
from stressbed.config.load import Plan
from stressbed.errors import DataError
from stressbed.store import read_json, read_parquet, write_text

logger = logging.getLogger("stressbed")

STAGES = ("dataset", "texts", "generate", "transform", "embed", "score", "collect", "analyse", "plot")
"""Stages in the order of the run."""

NOTES = (
    "Requests, texts and seconds are those of each job's last execution; a job that was done again and found "
    "its results in the store has sent nothing.",
    "",
    "- total: all that was done for this run so far, repeated jobs each time. Jobs that failed or were "
    "killed are not in it; what they stored is reused.",
    "- naive: if every text, transformation and seed were asked or encoded for itself; unique: those that "
    "differ.",
    "- reused: found in the store, or the same as another one of this run; seeds that cannot differ share "
    "their cells.",
    "- distinct: each rewrite once; n_texts counts equal texts and seeds that cannot differ again. flagged: "
    "at least one error flag, whatever the outcome; retried: a later attempt is used.",
    "- fallbacks: texts without a usable answer, of which a cut one or the original was embedded; marked: "
    "cells with more of them, and of texts left out, than the run allows (fallback_mark).",
)
"""What stands below the table."""

Record = dict[str, Any]


def summary(
    *,
    plan: Plan,
    scores: Path,
    jobs: Sequence[Path],
    out: Path,
    executions: Sequence[Record] = (),
    selection: Path | None = None,
) -> Record:
    """Write `summary.json`, `.csv` and `.md` of a run and return what the JSON holds.

    Numbers of requests, texts and seconds are those of each job's last execution for this run: a job that
    was run again and found everything in the store has sent nothing. The total of all stands beside.

    Args:
        plan: The run.
        scores: Its `scores.parquet`.
        jobs: Statistics files of its jobs; one that does not exist is counted as lacking.
        out: `summary.json`; the table goes beside it.
        executions: Statistics of every job that was done for the run, repetitions included, oldest first;
            each with `path`, that of its statistics file below the results.
        selection: `winner.json` of the run's selection, if it has one.

    Raises:
        DataError: A statistics file is damaged.
        StoreError: The scores are.
    """
    frame = read_parquet(scores).to_pandas()
    last = {plan.results / str(e.get("path")): e for e in executions}
    # Another run may have done a job that both share since: its statistics file speaks of that one.
    records = [_sound(last[p], p) if p in last else _read(p) for p in sorted(jobs) if p.is_file()]
    found: Record = {
        "run": plan.config.run,
        "description": plan.config.description,
        "notice": plan.config.notice,
        "cells": _cells(frame, records),
        "requests": _requests(records),
        "tokens": _pick(records, "generate", {"in": "tokens_in", "out": "tokens_out"}),
        "texts": _texts(records),
        "rewrites": _rewrites(frame),
        "stages": _stages(records),
        "total": _total([_sound(e, out) for e in executions] or records),
        "jobs_without_statistics": sum(not p.is_file() for p in jobs),
        "versions": {"stressbed": stressbed.__version__, "python": platform.python_version()},
    }
    if selection is not None:
        found["selection"] = {"selection": plan.config.selection, **read_json(selection)}
    write_text(out, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    table = summary_table(found)
    write_text(out.with_suffix(".csv"), to_csv(table))
    write_text(out.with_suffix(".md"), _markdown(found, table))
    c = found["cells"]
    logger.info("summary: %d of %d cells scored, %d failed", c["ok"], c["expected"], c["failed"])
    return found


def summary_table(found: Mapping[str, Any]) -> pd.DataFrame:
    """Return a summary's numbers as a table with the columns part, what, value."""
    rows: list[tuple[str, str, object]] = []
    for part in ("cells", "requests", "tokens", "texts", "rewrites", "total"):
        rows += [
            (part, name, value) for name, value in found[part].items() if name not in {"started", "finished"}
        ]
    for stage, numbers in found["stages"].items():
        rows += [(stage, n, v) for n, v in numbers.items() if n not in {"started", "finished"}]
    frame = pd.DataFrame(rows, columns=["part", "what", "value"])
    return frame.assign(value=frame["value"].map(lambda v: "" if v is None else _plain(v)))


def _cells(frame: pd.DataFrame, records: Sequence[Record]) -> dict[str, int]:
    status = Counter(frame.loc[frame["subset"] == ALL, "status"])
    counters = _counters(records, "score")
    by_status = {s: int(status[s]) for s in STATUSES}
    return {
        "expected": int(status.total()),
        **by_status,
        "reused": int(counters.get("reused", 0)),
        "computed": int(counters.get("computed", 0)),
        "marked": int(frame.loc[frame["subset"] == ALL, "marked"].sum()),
    }


def _requests(records: Sequence[Record]) -> dict[str, int | float | None]:
    kept = ("unique", "reused", "sent", "retried", "too_long", "refused", "broken", "batches")
    names = {n: n for n in kept}
    counts = _pick(records, "generate", {"naive": "requests_naive", **names})
    return counts | {"unique_share_of_naive": _share(counts["unique"], counts["naive"])}


def _texts(records: Sequence[Record]) -> dict[str, int | float | None]:
    names = {"naive": "strings_naive", "unique": "unique", "reused": "reused", "encoded": "encoded"}
    counts = _pick(records, "embed", names)
    return counts | {"unique_share_of_naive": _share(counts["unique"], counts["naive"])}


def _rewrites(frame: pd.DataFrame) -> dict[str, int]:
    """Return what became of rewritten texts, each variant of each dataset counted once.

    Distinct rewrites come first: what is asked once is counted once there.
    """
    rows = frame[(frame["subset"] == ALL) & (frame["transformation"] != "original")]
    rows = rows.dropna(subset=["n_texts"])
    columns = [
        "distinct", "distinct_flagged", "distinct_fallbacks", "distinct_dropped",
        "n_texts", "flagged", "retried", "fallbacks", "dropped",
    ]  # fmt: skip
    once = rows.groupby(["dataset", "generator", "transformation", "seed"])[columns].first()
    return {c: int(once[c].sum()) for c in columns}


def _stages(records: Sequence[Record]) -> dict[str, Record]:
    by_stage: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_stage[record["stage"]].append(record)
    order = [s for s in STAGES if s in by_stage] + sorted(set(by_stage) - set(STAGES))
    return {stage: _stage(by_stage[stage]) for stage in order}


def _stage(jobs: Sequence[Record]) -> Record:
    memory = [j["peak_memory_mb"] for j in jobs if j.get("peak_memory_mb") is not None]
    return {
        "jobs": len(jobs),
        "seconds": round(sum(j["seconds"] for j in jobs), 1),
        "longest_job_seconds": round(max(j["seconds"] for j in jobs), 1),
        "peak_memory_mb": max(memory, default=None),
        "started": min((j["started"] for j in jobs if j.get("started")), default=None),
        "finished": max((j["finished"] for j in jobs if j.get("finished")), default=None),
    }


def _total(executions: Sequence[Record]) -> Record:
    """Return what all jobs took that were done for the run, repetitions included."""
    counts = {
        **_pick(
            executions, "generate", {"sent": "sent", "tokens_in": "tokens_in", "tokens_out": "tokens_out"}
        ),
        **_pick(executions, "embed", {"encoded": "encoded"}),
        **_pick(executions, "score", {"computed": "computed"}),
    }
    times = (
        _stage(executions) if executions else {"jobs": 0, "seconds": 0.0, "started": None, "finished": None}
    )
    return {"jobs": times["jobs"], "seconds": times["seconds"], **counts} | {
        name: times[name] for name in ("started", "finished")
    }


def _counters(records: Sequence[Record], stage: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for record in records:
        if record["stage"] == stage:
            total.update({k: v for k, v in record.get("counters", {}).items() if isinstance(v, int | float)})
    return total


def _pick(records: Sequence[Record], stage: str, names: Mapping[str, str]) -> dict[str, int | float | None]:
    counters = _counters(records, stage)
    return {shown: int(counters.get(name, 0)) for shown, name in names.items()}


def _share(part: float | None, whole: float | None) -> float | None:
    return round(part / whole, 4) if part is not None and whole else None


def _read(path: Path) -> Record:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as e:
        raise _damaged(path, e) from e
    return _sound(record, path)


def _sound(record: Any, path: Path) -> Record:
    """Return a job's statistics with numbers where numbers belong."""
    try:
        counters = dict(record.get("counters") or {})
        own = {"stage": str(record["stage"]), "seconds": float(record["seconds"]), "counters": counters}
        return {**record, **own}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _damaged(path, e) from e


def _damaged(path: Path, why: Exception) -> DataError:
    return DataError(
        f"a job's statistics are damaged: {why}", where=str(path), do="delete this file and run again"
    )


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and not value.is_integer() else f"{int(value)}"  # type: ignore[call-overload]  # numbers only


def _markdown(found: Mapping[str, Any], table: pd.DataFrame) -> str:
    lines = [f"# Summary of the run {escape_markdown(found['run'])}", ""]
    lines += [f"> {escape_markdown(line)}" for line in str(found["notice"]).splitlines()]
    if "selection" in found:
        lines += ["", f"Generator: {found['selection']['sentence']}"]
    lines += ["", "| part | what | value |", "| --- | --- | ---: |"]
    lines += [f"| {r.part} | {str(r.what).replace('_', ' ')} | {r.value} |" for r in table.itertuples()]
    lines += ["", *NOTES]
    return "\n".join(lines) + "\n"
