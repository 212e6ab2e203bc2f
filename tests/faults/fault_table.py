"""The table of faults: what is in it, whether it is complete, and docs/reliability.md, which is made of it.

python -m tests.faults.fault_table            # write the page
python -m tests.faults.fault_table run        # run all tests of the table and note the results first
python -m tests.faults.fault_table without    # take each handling out in a copy: its tests must fail
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "reliability.md"
RESULTS = HERE / "results.json"


@dataclass(frozen=True)
class Fault:
    """One row; the fields are those of faults.yaml."""

    group: str
    fault: str
    happens: str
    lost: str
    reads: Sequence[str]
    tests: Sequence[str]
    says: str = ""
    without: Mapping[str, str] = field(default_factory=dict)


def faults() -> list[Fault]:
    """Return all rows, in order."""
    groups = yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8"))
    return [Fault(group=g["group"], **row) for g in groups for row in g["faults"]]


def test_functions(path: Path) -> list[str]:
    """Return the names of a file's test functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]


def own_tests() -> Iterator[str]:
    """Yield every test of faults in this folder."""
    for path in sorted(HERE.glob("test_faults_*.py")):
        if path.stem != "test_faults_table":
            yield from (f"faults/{path.name}::{name}" for name in test_functions(path))


def messages() -> str:
    """Return all strings of the package, with the fixed parts of those that have slots."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def problems() -> list[str]:
    """Return what is wrong with the table."""
    rows, said = faults(), messages()
    named = {t.partition("[")[0] for row in rows for t in row.tests}
    found = [f"{t}: tests no fault of the table" for t in own_tests() if t not in named]
    for row in rows:
        for test in row.tests:
            name, _, function = test.partition("[")[0].partition("::")
            path = ROOT / "tests" / name
            if not path.is_file() or function not in test_functions(path):
                found.append(f"{row.fault}: there is no test {test}")
        found += [f"{row.fault}: nobody says {words!r}" for words in row.reads if words not in said]
        if row.without:
            text = (ROOT / row.without["file"]).read_text(encoding="utf-8")
            if row.without["old"] not in text:
                found.append(f"{row.fault}: {row.without['old']!r} is not in {row.without['file']}")
    return found


def recorded() -> dict[str, dict[str, str]]:
    """Return the results by fault: `tests` (passed, skipped, failed) and `without` (fails, passes)."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def record(fault: str, **values: str) -> None:
    """Note results of a fault; those of faults that are gone are dropped."""
    kept = recorded()
    kept[fault] = {**kept.get(fault, {}), **values}
    names = [row.fault for row in faults()]
    kept = {name: kept[name] for name in names if name in kept}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def page() -> str:
    """Return docs/reliability.md."""
    rows, results = faults(), recorded()
    caught = sum(results.get(row.fault, {}).get("without") == "fails" for row in rows)
    lines = [HEAD.format(n=len(rows), n_without=caught)]
    for group in dict.fromkeys(row.group for row in rows):
        lines += [
            f"\n## {group}\n",
            "| fault | what happens | you read | lost | tests |",
            "|---|---|---|---|---|",
        ]
        lines += [_line(row, results.get(row.fault, {})) for row in rows if row.group == group]
    return "\n".join(lines) + "\n" + (HERE / "reliability_end.md").read_text(encoding="utf-8")


def _line(row: Fault, result: Mapping[str, str]) -> str:
    words = "; ".join(f"“{w.strip()} ...”" for w in row.reads) or row.says or "nothing, or the log of the job"
    outcome = result.get("tests", "not run")
    if result.get("without") == "fails":
        outcome += ", fail without"
    files = dict.fromkeys(Path(t.partition("::")[0]).stem for t in row.tests)
    cells = [row.fault, row.happens, words, row.lost, f"{', '.join(files)}: {outcome}"]
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


HEAD = """# When something goes wrong

Made by `python -m tests.faults.fault_table` from `tests/faults/faults.yaml`; a test says when it is stale.

{n} faults, each with tests that bring it about. The rule: **what is finished is kept, what is lost is at
most the batch in flight, and every message says what was wrong, where, and what to do.** Run the same command
again and the run goes on. "fail without" in the last column: the handling was taken out of a copy of the
program, and the tests failed, as they must ({n_without} faults)."""


def run_tests(tests: Sequence[str], root: Path = ROOT, *options: str) -> dict[str, str]:
    """Run tests in a checkout and return the outcome of each: passed, skipped or failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        names = [f"tests/{t}" for t in dict.fromkeys(tests)]
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junitxml={report}", *options, *names],
            cwd=root, env={**os.environ, "PYTHONPATH": str(root / "src")}, check=False, capture_output=True,
        )  # fmt: skip
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()  # our own
        outcomes: dict[str, list[str]] = {}
        for case in cases:
            children = {child.tag for child in case}
            how = (
                "failed"
                if children & {"failure", "error"}
                else "skipped"
                if "skipped" in children
                else "passed"
            )
            path = str(case.get("classname")).removeprefix("tests.").replace(".", "/")
            outcomes.setdefault(f"{path}.py::{case.get('name')}", []).append(how)
    found = {}
    for test in tests:
        mine = [h for name, hs in outcomes.items() for h in hs if name == test or name.startswith(f"{test}[")]
        found[test] = (
            "failed" if "failed" in mine or not mine else "skipped" if "skipped" in mine else "passed"
        )
    return found


def run_all(chosen: Sequence[Fault]) -> None:
    """Run the tests of faults and note the results."""
    outcomes = run_tests([t for row in chosen for t in row.tests])
    for row in chosen:
        mine = {outcomes[t] for t in row.tests}
        how = "failed" if "failed" in mine else "skipped" if "skipped" in mine else "passed"
        record(row.fault, tests=how)
        sys.stdout.write(f"{how}: {row.fault}\n")


def run_without(chosen: Sequence[Fault]) -> None:
    """Take each handling out in a copy of the checkout, run its tests there, and note whether they fail."""
    for row in chosen:
        if not row.without or recorded().get(row.fault, {}).get("without") == "fails":
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = _copy(Path(folder) / "copy")
            path = copy / row.without["file"]
            path.write_text(path.read_text().replace(row.without["old"], row.without["new"]))
            quick = [t for t in row.tests if t.startswith("faults/") and "_runs.py" not in t]
            outcomes = run_tests((quick or row.tests)[:1], copy, "-x", "--timeout=200")
        how = "fails" if "failed" in outcomes.values() else "passes"
        record(row.fault, without=how)
        sys.stdout.write(f"{how} without: {row.fault}\n")
        sys.stdout.flush()


def _copy(folder: Path) -> Path:
    for name in ("src", "tests", "workflow", "profiles", "config"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


def main(arguments: Sequence[str]) -> int:
    """Write the page; with `run` or `without` and words of faults, find results first."""
    words = arguments[1:]
    chosen = [row for row in faults() if not words or any(w in row.fault for w in words)]
    actions: dict[str, Any] = {"run": run_all, "without": run_without}
    if arguments:
        actions[arguments[0]](chosen)
    for problem in (found := problems()):
        sys.stdout.write(f"{problem}\n")
    PAGE.write_text(page(), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
