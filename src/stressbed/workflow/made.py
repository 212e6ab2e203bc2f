"""How the files of a results folder were made: what decided each, what it was made from, what it holds.

Every run of Snakemake that finishes jobs adds one file, `results/jobs/made/<run>-<time>-<process>.jsonl`,
and no other process writes to it. A record speaks of contents, so that it does not matter which of two runs
that share a file was last, nor where results were moved or copied to: a file is current if there is a record
of these very contents, made by what decides them now from what its inputs hold now.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from stressbed.fingerprint import digest
from stressbed.workflow.lines import Deciding
from stressbed.workflow.places import Inputs

FOLDER = "jobs/made"
"""Where records lie, below the results."""

MOST_INPUTS = 200
"""Of a job with more inputs those of one folder are held as one hash."""


@dataclass(frozen=True)
class Record:
    """One job that was done.

    Attributes:
        rule: Its rule.
        outputs: Content of each output, by its path below the results.
        inputs: Content of each input, by its path below the results, or its name if it lies elsewhere.
        decides: What decided them beside the inputs.
        run: The run that it was done for.
        stats: The job's statistics, if it keeps some.
    """

    rule: str
    outputs: Mapping[str, str]
    inputs: Inputs
    decides: Deciding
    run: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)


class Made:
    """All records of a results folder; they are read when they are first asked for.

    Args:
        results: The results folder.
        run: Name of the run that further records are made for.
    """

    def __init__(self, results: Path, run: str) -> None:
        self.results, self.run = results, run
        stamp = f"{run}-{time.time_ns():x}-{os.getpid()}"
        self._own = results / FOLDER / f"{stamp}.jsonl"
        self._written: set[str] = set()

    @cached_property
    def _by_output(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = defaultdict(list)
        for record in read_records(self.results):
            for output in record.outputs:
                found[output].append(record)
        return found

    def of(self, output: str) -> list[Record]:
        """Return the records of an output (its path below the results), the latest first."""
        return self._by_output.get(output, [])[::-1]

    @property
    def executions(self) -> int:
        """How many jobs with statistics were done for the run."""
        return len(executions_of(self.results, self.run))

    def add(self, record: Record) -> None:
        """Keep a record, in this object and on disk."""
        for output in record.outputs:
            self._by_output[output].append(record)
        key = digest(record.decides.lines)
        lines = [] if key in self._written else [{"lines": key, "decides": record.decides.lines}]
        lines.append(
            {
                "rule": record.rule, "run": record.run, "outputs": dict(record.outputs),
                "inputs": record.inputs.contents, "lines": key, "stats": dict(record.stats),
            }
        )  # fmt: skip
        self._own.parent.mkdir(parents=True, exist_ok=True)
        with self._own.open("a", encoding="utf-8") as f:
            f.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        self._written.add(key)


def read_records(results: Path) -> Iterator[Record]:
    """Yield the records of a results folder, oldest first; lines that are damaged are passed over.

    A file whose record is lost is made anew, so nothing else has to be done about it.
    """
    files = sorted((results / FOLDER).glob("*.jsonl"), key=_began)
    for path in files:
        decides: dict[str, Deciding] = {}
        for line in _objects(path):
            if "decides" in line:
                decides[str(line["lines"])] = Deciding(
                    {str(k): str(v) for k, v in dict(line["decides"]).items()}
                )
            elif line.get("lines") in decides and isinstance(line.get("outputs"), dict):
                yield Record(
                    rule=str(line.get("rule", "")),
                    outputs=line["outputs"],
                    inputs=Inputs(line.get("inputs") or {}),
                    decides=decides[str(line["lines"])],
                    run=str(line.get("run", "")),
                    stats=line.get("stats") or {},
                )


def executions_of(results: Path, run: str) -> list[dict[str, Any]]:
    """Return the statistics of every job that was ever done for a run, repetitions included, oldest first.

    Args:
        results: The results folder.
        run: Name of the run.
    """
    return [dict(r.stats) for r in read_records(results) if r.run == run and r.stats]


def _began(path: Path) -> tuple[int, str]:
    parts = path.stem.rsplit("-", 2)
    try:
        return int(parts[1], 16), path.name
    except (IndexError, ValueError):
        return 0, path.name


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:  # cut off when its process was killed
            continue
        if isinstance(found, dict):
            yield found


def grouped(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return a job's inputs; very many are held as one hash for each of their first folders."""
    if len(inputs) <= MOST_INPUTS:
        return dict(inputs)
    folders: dict[str, dict[str, str]] = defaultdict(dict)
    for name, content in inputs.items():
        folders[name.partition("/")[0]][name] = content
    return {f"{folder}/ ({len(held)} files)": digest(held) for folder, held in folders.items()}


def joined(names: Iterable[str], most: int = 5) -> str:
    """Return some of many names, and how many others there are."""
    listed = list(names)
    rest = f"; and {len(listed) - most} more" if len(listed) > most else ""
    return "; ".join(listed[:most]) + rest
