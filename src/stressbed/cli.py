"""The `stressbed` command: what is done around a run. The run itself is Snakemake's."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from stressbed import __version__, housekeeping, paths
from stressbed.config import Plan, load_run
from stressbed.config.load import read_config
from stressbed.errors import StressbedError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 0 done, 1 a problem that its message explains."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    args = _parser().parse_args(argv)
    try:
        return int(args.do(args))
    except StressbedError as e:
        sys.stderr.write(f"{e}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stressbed", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, text: str, do: object, *, many: bool = False) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument("config", nargs="+" if many else None, help="run config")
        sub.set_defaults(do=do)
        return sub

    add("check", "check a run config, its catalogue and its local files", _check)
    add("prefetch", "bring datasets, tokenizers and weights, so that the run needs no network", _prefetch)
    sub = add("clean-store", "report what no config names in the store; --yes removes it", _clean, many=True)
    sub.add_argument("--yes", action="store_true", help="remove it")
    sub = add("export", "write scores in mteb's result format and the rewrites as a folder", _export)
    sub.add_argument("--out", required=True, type=Path, help="folder to write")
    sub = add("import-rewrites", "take over the rewrites that another machine exported", _import)
    sub.add_argument("--from", dest="source", required=True, type=Path, help="exported folder")
    return parser


def _plan(name: str) -> Plan:
    return load_run(read_config(Path(name)))


def _check(args: argparse.Namespace) -> int:
    plan = _plan(args.config)
    cells = len(plan.config.embedders) * len(plan.config.datasets) * len(plan.variants)
    _say(f"{args.config}: no problem found; {cells} cells")
    return 0


def _prefetch(args: argparse.Namespace) -> int:
    from stressbed.prefetch import prefetch

    prefetch(_plan(args.config))
    return 0


def _clean(args: argparse.Namespace) -> int:
    plans = [_plan(c) for c in args.config]
    roots = sorted({p.results for p in plans})
    for root in roots:
        chosen = [p for p in plans if p.results == root]
        entries = housekeeping.survey(root / paths.STORE, chosen)
        _say(f"{root / paths.STORE}, against {len(chosen)} configs\n{housekeeping.report(entries)}")
        if args.yes:
            _say(f"removed {housekeeping.readable(housekeeping.remove(entries))}")
        elif any(not e.named for e in entries):
            _say("nothing was removed; add --yes to remove what no config names")
    return 0


def _export(args: argparse.Namespace) -> int:
    from stressbed.report.export import export_rewrites, export_scores

    plan = _plan(args.config)
    export_scores(plan, args.out / "mteb")
    export_rewrites(plan, args.out / "rewrites")
    _say(f"wrote {args.out}/mteb (loads with mteb) and {args.out}/rewrites (for `stressbed import-rewrites`)")
    return 0


def _import(args: argparse.Namespace) -> int:
    from stressbed.report.export import import_rewrites

    import_rewrites(args.source, _plan(args.config))
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
