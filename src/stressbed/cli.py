"""The `stressbed` command: what is done around a run. The run itself is Snakemake's."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stressbed import __version__, housekeeping, paths
from stressbed.check import load_run
from stressbed.check.run import unusable
from stressbed.config import Plan
from stressbed.config.load import read_config
from stressbed.config.values import given_path
from stressbed.errors import ConfigError, Problems, StressbedError
from stressbed.select.winner import resolved


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 0 done, 1 a problem that its message explains."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    args = _parser().parse_args(argv)
    try:
        _read_paths(args)
        _check_folders(args)
        status = int(args.do(args))
        sys.stdout.flush()
        return status
    except StressbedError as e:
        sys.stderr.write(f"{e}\n")
    except BrokenPipeError:
        # Whoever read the output has gone, as in `stressbed plan CONFIG | head`: nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as e:
        if e.strerror is None:
            raise
        said = ConfigError(
            f"a file or folder cannot be used: {e.strerror}", where=str(e.filename or "")[:200],
            do="check the path, its permissions and the space on the disk",
        )  # fmt: skip
        sys.stderr.write(f"{said}\n")
    return 1


def _read_paths(args: argparse.Namespace) -> None:
    """Put the home folder for `~` where the shell did not: within `--out=~/mine`, or in quotation marks.

    Raises:
        ConfigError: A path holds braces or a variable, or names no home folder.
    """
    for name in ("config", "before", "after", "folder", "out", "results"):
        value: str | Path | list[str] | None = getattr(args, name, None)
        try:
            if isinstance(value, list):
                setattr(args, name, [str(given_path(v)) for v in value])
            elif value is not None:
                setattr(args, name, type(value)(given_path(str(value))))
        except ValueError as e:
            place = f"--{name}" if name in {"out", "results"} else f"command line, {name}"
            raise ConfigError(f"{e}: {value}", where=place) from e


def _check_folders(args: argparse.Namespace) -> None:
    """Refuse folders that cannot be written before any work is done.

    Raises:
        ConfigError: The folder of `--out` or `--results` is a file, or cannot be written or made.
    """
    for option in ("out", "results"):
        folder: Path | None = getattr(args, option, None)
        problem = "" if folder is None else unusable(folder)
        if problem:
            raise ConfigError(
                f"the folder cannot be used: {problem}", where=f"--{option}", do="choose another folder"
            )


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
    text = "say what a run will take and what of it is done: jobs, requests, texts, GPU-hours, disk"
    sub = add("plan", text, _forecast)
    sub.add_argument("--device", help="device class that models run on, such as a100, h100, rtx-4090, cpu")
    sub.add_argument("--out", type=Path, help="folder for the forecast as Markdown, CSV and JSON")
    sub = add("clean-store", "report what no config names in the store; --yes removes it", _clean, many=True)
    sub.add_argument("--yes", action="store_true", help="remove it")
    for name, text, do in (
        ("export-scores", "write the cells as results that mteb loads", _export_scores),
        (
            "export-rewrites",
            "write rewritten texts and LLM answers, for another machine",
            _export_rewrites,
        ),
    ):
        sub = add(name, text, do)
        sub.add_argument("--out", required=True, type=Path, help="folder of the export")
    text = "compare two finished runs: the same model before and after a change"
    sub = commands.add_parser("compare-runs", help=text, description=text)
    sub.add_argument("before", help="config or folder of the run before the change")
    sub.add_argument("after", help="config or folder of the run after it")
    sub.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="an embedder that has another id after it",
    )
    sub.add_argument("--out", type=Path, help="folder for the text and the tables (CSV, Markdown, LaTeX)")
    sub.add_argument("--resamples", type=int, default=2000, help="bootstrap samples of items")
    sub.add_argument("--seed", type=int, default=0, help="seed of these samples")
    sub.set_defaults(do=_compare)
    text = "put exported answers into a results folder's store, so that a run there asks nothing"
    sub = commands.add_parser("import-rewrites", help=text, description=text)
    sub.add_argument("folder", type=Path, help="what `export-rewrites` wrote")
    sub.add_argument("--results", type=Path, default=Path("results"), help="results folder")
    sub.set_defaults(do=_import)
    return parser


def _plan(name: str) -> Plan:
    return load_run(read_config(Path(name)))


def _check(args: argparse.Namespace) -> int:
    plan = _plan(args.config)
    _agree_with_mteb(plan)
    cells = len(plan.pairs) * len(plan.variants)
    what = f"{cells} cells" if cells or not plan.only_selects else "it only selects a generator"
    _say(f"{args.config}: no problem found; {what}")
    return 0


def _agree_with_mteb(plan: Plan) -> None:
    """Refuse entries of mteb's tasks and models that mteb does not know so: a job would.

    Raises:
        Problems: Everything that does not agree.
    """
    problems: list[StressbedError] = []
    tasks = [e for e in (plan.catalogue.datasets[name] for name in plan.datasets) if e.task]
    if tasks:
        from stressbed.dataset.freeze import agreement

        problems += [p for entry in tasks for p in agreement(entry)]
    for entry in (plan.catalogue.embedders[name] for name in plan.config.embedders):
        if entry.backend == "mteb":
            from stressbed.embed.embedders.registered import RegisteredEmbedder

            try:
                _ = RegisteredEmbedder(entry).meta  # asked for only to see whether it is there
            except StressbedError as e:
                problems.append(e)
    if problems:
        raise Problems(problems)


def _prefetch(args: argparse.Namespace) -> int:
    from stressbed.prefetch import prefetch

    prefetch(_plan(args.config))
    return 0


def _forecast(args: argparse.Namespace) -> int:
    from stressbed.plan import show
    from stressbed.plan.build import forecast

    found = forecast(_plan(args.config), device=args.device)
    sys.stdout.write(show.as_text(found))
    if args.out is not None:
        show.write(found, args.out)
        sys.stderr.write(f"wrote {args.out}\n")
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


def _export_scores(args: argparse.Namespace) -> int:
    from stressbed.report.export_scores import export_scores

    _say(f"wrote {args.out}: {export_scores(plan=resolved(_plan(args.config)), out=args.out)}")
    return 0


def _export_rewrites(args: argparse.Namespace) -> int:
    from stressbed.report.export_rewrites import export_rewrites

    _say(f"wrote {args.out}: {export_rewrites(plan=resolved(_plan(args.config)), out=args.out)}")
    return 0


def _compare(args: argparse.Namespace) -> int:
    from stressbed.compare.command import compare_runs, mapped

    found = compare_runs(
        args.before, args.after, mapping=mapped(args.map), resamples=args.resamples, seed=args.seed
    )
    sys.stdout.write(found.text)
    if args.out is not None:
        found.write(args.out)
        sys.stderr.write(f"wrote {args.out}\n")
    return 0


def _import(args: argparse.Namespace) -> int:
    from stressbed.report.export_rewrites import import_rewrites

    _say(f"imported {args.folder}: {import_rewrites(folder=args.folder, results=args.results)}")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
