"""Command line of the exports: `python -m stressbed.report.export {scores,rewrites,import} ...`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from stressbed.config.load import Plan, load_run, read_config
from stressbed.errors import StressbedError
from stressbed.report.export_rewrites import export_rewrites, import_rewrites
from stressbed.report.export_scores import export_scores


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one export or import and return the exit status: 0, or 1 after an error that is shown."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    given = _parser().parse_args(arguments)
    try:
        if given.command == "import":
            import_rewrites(folder=given.folder, results=given.results)
        elif given.command == "scores":
            export_scores(plan=_plan(given.config), out=given.out)
        else:
            export_rewrites(plan=_plan(given.config), out=given.out)
    except StressbedError as e:
        logging.getLogger("stressbed").error("%s", e)  # noqa: TRY400  # the message is for the user
        return 1
    return 0


def _plan(config: Path) -> Plan:
    return load_run(read_config(config))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stressbed.report.export", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (
        ("scores", "cells as results that mteb loads"),
        ("rewrites", "rewritten texts and the LLM's answers, for another machine"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument(
            "--config", type=Path, required=True, help="run config, e.g. config/quickstart.yaml"
        )
        command.add_argument("--out", type=Path, required=True, help="folder of the export")
    command = commands.add_parser("import", help="put exported answers into a results folder's store")
    command.add_argument("folder", type=Path, help="what `rewrites` wrote")
    command.add_argument("--results", type=Path, default=Path("results"), help="results folder")
    return parser


if __name__ == "__main__":
    sys.exit(main())
