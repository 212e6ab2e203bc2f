"""Stage versions against stage sources: a changed stage must say whether its results changed.

`stages.json` beside this module holds, per stage, the version and a hash of its source that was
accepted with it. When the source changes, either the version rises (results change; cells are
redone) or the new source is accepted with a reason (no change in results):

    python -m stressbed.stages                      # what has changed
    python -m stressbed.stages accept score --why "clearer message, no change in results"
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
RECORD = PACKAGE / "stages.json"
SHARED = (
    "endpoint", "fingerprint.py", "languages.py", "models.py", "paths.py", "rewrites.py", "scripts.py",
    "sources.py", "stats", "visible.py", "webpage.py",
)  # fmt: skip
"""Modules and packages that several stages use; together they count as a stage without a version."""

NO_RESULTS = frozenset(
    {
        "__version__", "caches", "config", "devices", "errors", "fit", "memory", "progress", "redaction",
        "stopping", "store", "workers",
    }
)  # fmt: skip
"""What stages use besides: how work is done and told of, and entries, which are part of what decides jobs."""

STAGES = (
    "dataset", "generate", "transform", "embed", "score", "collect", "analyse", "plot", "report", "select",
    "human",
)  # fmt: skip


def source_hash(files: Sequence[Path]) -> str:
    """Return a hash of the syntax trees without docstrings: comments and layout do not count."""
    h = hashlib.sha256()
    for path in sorted(files):
        h.update(str(path.relative_to(PACKAGE)).encode())
        if path.suffix == ".py":
            h.update(ast.dump(_bare(ast.parse(path.read_text(encoding="utf-8")))).encode())
        else:
            h.update(path.read_bytes())
    return h.hexdigest()[:16]


def current() -> dict[str, dict[str, str]]:
    """Return version and source hash of every stage as they stand in the source."""
    found = {}
    for stage in STAGES:
        folder = PACKAGE / stage
        files = [
            p for p in folder.rglob("*") if p.suffix in {".py", ".yaml", ".json", ".html", ".css", ".js"}
        ]
        version = importlib.import_module(f"stressbed.{stage}").VERSION
        found[stage] = {"version": version, "source": source_hash(files)}
    places = [PACKAGE / name for name in SHARED]
    shared = [f for p in places for f in (p.rglob("*.py") if p.is_dir() else [p])]
    found["shared"] = {"version": "", "source": source_hash(shared)}
    return found


def unexplained() -> list[str]:
    """Return the stages whose source changed though neither version nor record says so."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    found = []
    for stage, now in current().items():
        known = recorded.get(stage, {})
        if {k: known.get(k) for k in now} != now:
            found.append(stage)
    return found


def accept(stage: str, why: str) -> None:
    """Record a stage's present source as accepted with its present version, and why."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    recorded[stage] = {**current()[stage], "why": why}
    RECORD.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _bare(tree: ast.Module) -> ast.Module:
    for node in _bodies(tree):
        first = node.body[0] if node.body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            node.body = node.body[1:]
    return tree


def _bodies(
    tree: ast.Module,
) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def main(argv: Sequence[str] | None = None) -> int:
    """Show or accept changed stages; return 1 if some are unexplained."""
    parser = argparse.ArgumentParser(prog="python -m stressbed.stages", description=__doc__)
    parser.add_argument("action", nargs="?", choices=["show", "accept"], default="show")
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--why", default="")
    args = parser.parse_args(argv)
    if args.action == "accept":
        if not args.why or not args.stages:
            parser.error("name the stages and say --why")
        for stage in args.stages:
            accept(stage, args.why)
    changed = unexplained()
    for stage in changed:
        sys.stdout.write(
            f"{stage}: the source changed. Raise VERSION in stressbed/{stage}/__init__.py if results change,"
            f" then accept it: python -m stressbed.stages accept {stage} --why '...'\n"
        )
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
