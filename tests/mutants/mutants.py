"""Changes the modules that make numbers, one place at a time, and counts the changes that no test notices.

    make mutants SEED=7 N=300 CORES=2

Nothing is written into the working tree: each process works in a copy under build/mutants. What was found is
kept there by content: a run that was ended goes on, and one after new tests asks only survivors again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import random
import shutil
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import mutant_tests as running
import yaml
from mutant_points import OPERATORS, Point, find, settle

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("stats", "analyse", "score", "collect", "embed", "select", "human")
FOLDERS = (*(f"tests/unit/{name}" for name in PACKAGES), "tests/equality")
SLOW = "tests/equality"
"""Asked only where a test of it executes the changed line."""
KNOWN = Path(__file__).with_name("survivors.yaml")
LONGEST = 6.0
"""Tests that take longer are left out, in seconds: they check rates, which the short ones fix by values."""
ENOUGH = 0.9


@dataclass(frozen=True)
class Job:
    """Work for one copy.

    Args:
        name: Of its log.
        work: What a child does; returns what is kept.
        seconds: After which it is ended.
        change: A module and its changed source, for as long as the child works.
    """

    name: str
    work: Callable[[], dict[str, Any]]
    seconds: float
    change: tuple[str, str] | None = None
    about: Any = None


def pool(jobs: deque[Job], copies: list[Path], logs: Path) -> Iterator[tuple[Job, dict[str, Any] | None]]:
    """Yield each job with what it returned, None where it was ended; jobs may be added meanwhile."""
    busy: dict[Path, tuple[Job, int, float, contextlib.ExitStack]] = {}
    while jobs or busy:
        for copy in [c for c in copies if c not in busy][: len(jobs)]:
            job, stack = jobs.popleft(), contextlib.ExitStack()
            if job.change:
                stack.enter_context(running.changed(copy / job.change[0], job.change[1]))
            result = logs / f"{job.name}.json"
            result.unlink(missing_ok=True)
            child = running.in_child(copy, logs / f"{job.name}.log", job.work)
            busy[copy] = (job, child, time.monotonic() + job.seconds, stack)
        for copy, (job, child, until, stack) in list(busy.items()):
            if not running.has_ended(child, until):
                continue
            stack.close()
            del busy[copy]
            result = logs / f"{job.name}.json"
            yield job, json.loads(result.read_text()) if result.exists() else None
        time.sleep(0.02)


def digest(root: Path, paths: Iterable[Path]) -> str:
    """Return one digest of files' names and contents."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@dataclass
class TestMap:
    """Which tests execute which lines, and how long they take."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    caught: Counter[str] = field(default_factory=Counter)
    """Changes that each file has caught so far."""

    @cached_property
    def seconds(self) -> dict[str, float]:
        return {t: s for file in self.files.values() for t, s in file["seconds"].items()}

    @cached_property
    def failing(self) -> set[str]:
        return {t for file in self.files.values() for t in file["failed"]}

    def first(self, point: Point) -> list[str]:
        """Return the tests that execute a point's lines; those of its module where an import does."""
        wanted = set(range(point.lines[0], point.lines[1] + 1))
        hits, imported = set(), False
        for file in self.files.values():
            for test, lines in file["lines"].get(point.path, {}).items():
                if wanted & set(lines):
                    hits.add(test)
                    imported |= test == ""
        if imported:
            hits |= {t for file in self.files.values() for t in file["lines"].get(point.path, {})}
        return self._usable(hits)

    def second(self, point: Point) -> list[str]:
        """Return all tests of the files in which one does: it may have filled what others read."""
        wanted = set(range(point.lines[0], point.lines[1] + 1))
        hits = set()
        for file in self.files.values():
            if any(wanted & set(lines) for lines in file["lines"].get(point.path, {}).values()):
                hits |= {t for t in file["seconds"] if not t.startswith(SLOW)}
        return self._usable(hits)

    def _usable(self, tests: Iterable[str]) -> list[str]:
        return [
            t for t in tests if t in self.seconds and t not in self.failing and self.seconds[t] <= LONGEST
        ]

    def ordered(self, tests: Iterable[str]) -> list[str]:
        """Return tests by file: first those that catch much for the time that they take."""
        by_file: dict[str, list[str]] = {}
        for test in sorted(tests, key=lambda t: (self.seconds[t], t)):
            by_file.setdefault(test.partition("::")[0], []).append(test)
        cost = {f: self.files[f]["setup"] + sum(self.seconds[t] for t in mine) for f, mine in by_file.items()}
        order = sorted(by_file, key=lambda f: (cost[f] / (1 + self.caught[f]), f))
        return [t for f in order for t in by_file[f]]


def measure(copies: list[Path], state: Path, folders: Iterable[str]) -> TestMap:
    """Return what each test executes; only files that changed, or all when the package did, are run again."""
    root = copies[0]
    source = digest(root, (root / "src").rglob("*.py"))
    helpers = digest(root, (p for p in (root / "tests").rglob("*.py") if not p.name.startswith("test_")))
    kept = {}
    jobs: deque[Job] = deque()
    for path in sorted(p for folder in folders for p in (root / folder).glob("test_*.py")):
        name = str(path.relative_to(root))
        at = state / "map" / f"{path.stem}-{source}-{helpers}-{digest(root, [path])}.json"
        if at.exists():
            kept[name] = json.loads(at.read_text())
        else:
            work = partial(running.measure, name, PACKAGES, str(state / "logs" / f"{path.stem}.coverage"))
            jobs.append(Job(path.stem, work, 900, about=(name, at)))
    (state / "map").mkdir(exist_ok=True)
    for job, result in pool(jobs, copies, state / "logs"):
        name, at = job.about
        if result is None:
            raise SystemExit(f"{name} did not end: see {state / 'logs' / job.name}.log")
        say(f"{name}: {len(result['seconds'])} tests, {len(result['failed'])} fail")
        at.write_text(json.dumps(result))
        kept[name] = result
    return TestMap(kept)


def draw(root: Path, seed: int, count: int, packages: Iterable[str]) -> list[Point]:
    """Return points by chance, each kind of change equally often while it lasts."""
    kinds: dict[str, list[Point]] = {kind: [] for kind in OPERATORS}
    for package in packages:
        for path in sorted((root / "src/stressbed" / package).rglob("*.py")):
            for point in find(root, str(path.relative_to(root))):
                kinds[point.kind].append(point)
    say("places: " + ", ".join(f"{kind} {len(points)}" for kind, points in kinds.items()))
    generator = random.Random(seed)
    for points in kinds.values():
        generator.shuffle(points)
    drawn: list[Point] = []
    while len(drawn) < count and any(kinds.values()):
        drawn.extend(points.pop() for points in kinds.values() if points)
    return drawn[:count]


def settled(root: Path, points: Iterable[Point]) -> Iterator[tuple[Point, str]]:
    """Yield points with the lines they change and the changed source, module by module."""
    by_path: dict[str, list[Point]] = {}
    for point in points:
        by_path.setdefault(point.path, []).append(point)
    for same in by_path.values():
        yield from settle(root, same)


def judge(
    points: list[tuple[Point, str]], tests: TestMap, copies: list[Path], state: Path
) -> dict[str, dict[str, Any]]:
    """Return for each point's key whether a test failed, and which; what is known is not asked again."""
    book = state / "results.jsonl"
    known = {r["key"]: r for r in map(json.loads, book.read_text().splitlines())} if book.exists() else {}
    root = copies[0]
    suite = digest(
        root, (p for p in (root / "tests").rglob("*") if p.suffix in {".py", ".csv", ".md", ".json"})
    )
    jobs: deque[Job] = deque()
    for point, source in points:
        old = known.get(point.key)
        if (
            old is None
            or old["module"] != digest(root, [root / point.path])
            or not (old["caught"] or old["suite"] == suite)
        ):
            known.pop(point.key, None)
            jobs.append(_job(point, source, tests.first(point), tests, 1))
    say(f"{len(points)} changes, {len(jobs)} to try")
    with book.open("a") as out:
        for job, result in pool(jobs, copies, state / "logs"):
            point, source, asked, level = job.about
            survived = result is not None and result["code"] in {0, 5}
            more = tests.second(point) if survived and level == 1 else []
            if set(more) - set(asked):
                jobs.append(_job(point, source, [t for t in more if t not in set(asked)], tests, 2))
                continue
            by = "ended" if result is None else (result["failed"] or ["collection"])[0]
            row = {
                "key": point.key, "caught": not survived, "by": None if survived else by, "suite": suite,
                "module": digest(root, [root / point.path]), **asdict(point),
            }  # fmt: skip
            known[point.key] = row
            tests.caught[by.partition("::")[0]] += not survived
            out.write(json.dumps(row) + "\n")
            out.flush()
            fate = "SURVIVED" if survived else "caught  "
            say(f"{len(jobs):4d} left  {fate} {point.path}:{point.lines[0]} {point.kind}")
    return known


def _job(point: Point, source: str, asked: list[str], tests: TestMap, level: int) -> Job:
    shared = sum(tests.files[name]["setup"] for name in {t.partition("::")[0] for t in asked})
    seconds = 60 + 5 * (shared + sum(tests.seconds[t] for t in asked))
    work = partial(_run, tests, asked)
    return Job(point.key, work, seconds, (point.path, source), (point, source, asked, level))


def _run(tests: TestMap, asked: list[str]) -> dict[str, Any]:
    """Run tests in the order that is best by now; called in a child."""
    return running.run_tests(tests.ordered(asked))


def listed() -> dict[tuple[str, str, str, str], Mapping[str, str]]:
    """Return the survivors that are known, by content: module, function, lines before and after."""
    entries = yaml.safe_load(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else []
    return {
        (e["module"], e.get("function", ""), e["before"].strip(), e["after"].strip()): e
        for e in entries or []
    }


def report(points: list[Point], results: Mapping[str, Mapping[str, Any]], state: Path, title: str) -> bool:
    """Write what was found; return whether enough of the changes that matter were caught."""
    known = listed()
    rows = [(p, results[p.key], known.get((p.path, p.function, p.before, p.after))) for p in points]
    harmless = [r for r in rows if not r[1]["caught"] and r[2] and r[2]["changes"] == "nothing"]
    survived = [r for r in rows if not r[1]["caught"] and r not in harmless]
    caught = sum(r[1]["caught"] for r in rows)
    share = caught / max(caught + len(survived), 1)
    text = [
        f"# {title}", "",
        f"{len(rows)} changes drawn; {len(harmless)} of them change nothing that a user reads.",
            f"{caught} of the other {caught + len(survived)} were caught ({100 * share:.1f} %).", "",
            "| kind | caught | survived | change nothing |", "|---|---|---|---|",
    ]  # fmt: skip
    for kind in OPERATORS:
        counts = [sum(r[0].kind == kind for r in group) for group in (rows, survived, harmless)]
        text.append(f"| {kind} | {counts[0] - counts[1] - counts[2]} | {counts[1]} | {counts[2]} |")
    for name, group in (("Survived", survived), ("Change nothing", harmless)):
        text += ["", f"## {name}", ""]
        for point, _, entry in sorted(group, key=lambda r: (r[0].path, r[0].lines)):
            reason = entry["reason"] if entry else "not listed in tests/mutants/survivors.yaml"
            text += [
                f"`{point.path}:{point.lines[0]}` {point.function} ({point.kind}): {reason}",
                "",
                "```diff",
            ]
            text += [f"-{line}" for line in point.before.splitlines()]
            text += [*(f"+{line}" for line in point.after.splitlines()), "```", ""]
    (state / "report.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    say("\n".join(text[2:17]) + f"\nsurvivors: {state / 'report.md'}")
    return share >= ENOUGH


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    """Draw, run, report; the exit status is 1 when fewer than 9 of 10 were caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--packages", default=",".join(PACKAGES))
    parser.add_argument("--tests", default=",".join(FOLDERS))
    parser.add_argument("--state", type=Path, default=ROOT / "build/mutants")
    options = parser.parse_args()
    state = options.state.resolve()
    (state / "logs").mkdir(parents=True, exist_ok=True)
    copies = [state / f"copy{i}" for i in range(options.cores)]
    for copy in copies:
        shutil.rmtree(copy, ignore_errors=True)
        running.copy_tree(ROOT, copy)
    running.load_libraries()
    tests = measure(copies, state, options.tests.split(","))
    # The working tree may change meanwhile; what counts is the copy.
    drawn = draw(copies[0], options.seed, options.n, options.packages.split(","))
    points = list(settled(copies[0], drawn))
    results = judge(points, tests, copies, state)
    title = f"Seed {options.seed}, {options.n} changes"
    return 0 if report([p for p, _ in points], results, state, title) else 1


if __name__ == "__main__":
    sys.exit(main())
