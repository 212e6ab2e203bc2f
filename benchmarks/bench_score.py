"""Scoring against mteb's own evaluate, per task type: same stored vectors, equal numbers.

    python -m benchmarks score [--types STS Retrieval] [--repeats 5]

Each dataset is frozen and embedded once (384 dimensions). Then its original is scored by mteb's
`task.evaluate` and by the score stage, both with vectors from the same store, alternating. Thawing the
dataset, looking vectors up, items and writing the cell count for the stage; for mteb only `evaluate` counts.

One core: both in one process with one thread; the ratio is of processor seconds (medians), which neighbours
on the machine disturb least. Two cores: two processes at once, the stage's with one thread each, as
the workflow's jobs have, mteb's with as many as it takes; the ratio is of wall-clock seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "equality"))

import pandas as pd  # noqa: E402
from benchmarks.score_data import DATA  # noqa: E402
from benchmarks.table import publish  # noqa: E402
from eq_chain import Chain  # noqa: E402
from mteb.similarity_functions import cos_sim  # noqa: E402

from stressbed.config.entries import EmbedderEntry  # noqa: E402
from stressbed.dataset.quiet import quiet  # noqa: E402
from stressbed.dataset.thaw import thaw  # noqa: E402
from stressbed.embed.vectors import VectorStore  # noqa: E402
from stressbed.fingerprint import digest  # noqa: E402
from stressbed.score.evaluate import limited_threads  # noqa: E402
from stressbed.score.lookup import LookupEncoder  # noqa: E402

ENTRY = EmbedderEntry(id="random", backend="random", model="random", dimensions=384)
TARGETS = {"Classification": 8.0}
"""Ratios that are aimed at; 1 for all other types."""


def chain_of(kind: str, root: Path) -> Chain:
    chain = Chain(root, kind, ENTRY, {"default": DATA[kind]()})
    chain.embed()
    return chain


def reopened(root: Path, kind: str) -> Chain:
    """Return a chain whose files are there already; making one lists all of its texts anew."""
    chain = Chain.__new__(Chain)
    chain.root, chain.kind, chain.entry, chain.data, chain.variants = root, kind, ENTRY, None, {}
    chain.folder = root / "datasets" / f"made-{kind.lower()}"
    chain.manifest = json.loads((chain.folder / "manifest.json").read_text(encoding="utf-8"))
    chain.texts = pd.read_parquet(chain.folder / "texts.parquet")
    chain.identity = digest(ENTRY.model_dump(mode="json"))
    return chain


class Plain(LookupEncoder):
    """The same look-up of vectors, with mteb's own similarity."""

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        return cos_sim(embeddings1, embeddings2)


@dataclass(frozen=True)
class Side:
    """What is measured, and what must be done before each time."""

    run: Callable[[], float]
    prepare: Callable[[], None]


def sides(chain: Chain) -> tuple[Side, Side]:
    """Return what the stage and what mteb does; both return the score."""
    job = chain.jobs()[0]
    embedding = json.loads(job.embedding.read_text(encoding="utf-8"))

    def ours() -> float:
        shutil.rmtree(chain.store / "cells", ignore_errors=True)
        chain.score([job])
        return float(chain.cell()["score"])

    encoder = Plain(VectorStore.open_for(embedding, chain.store), contexts=embedding["contexts"])
    tasks = [thaw(chain.folder)]

    def theirs() -> float:
        threads = limited_threads() if os.environ.get("OMP_NUM_THREADS") else contextlib.nullcontext()
        with threads:
            scores = tasks[0].evaluate(encoder, "test", encode_kwargs={})
        return 100 * float(scores["default"]["main_score"])

    def prepare() -> None:
        tasks[:] = [thaw(chain.folder)]

    return Side(ours, lambda: None), Side(theirs, prepare)


def one_core(chain: Chain, repeats: int) -> tuple[float, float]:
    """Return the medians of processor seconds of the stage and of mteb, one thread each."""
    os.environ["OMP_NUM_THREADS"] = "1"
    ours, theirs = sides(chain)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    scores = []
    for number in range(repeats + 1):
        for name, run in (("ours", ours), ("theirs", theirs)):
            run.prepare()
            start = time.process_time()
            scores.append(run.run())
            if number:  # the first time libraries are imported
                times[name].append(time.process_time() - start)
    if len(set(scores)) != 1:
        raise SystemExit(f"{chain.kind}: the numbers differ: {sorted(set(scores))}")
    return statistics.median(times["ours"]), statistics.median(times["theirs"])


def child(root: Path, kind: str, which: str, repeats: int) -> None:
    """Wait for a line on standard input, then run one side so many times."""
    ours, theirs = sides(reopened(root, kind))
    run = {"ours": ours, "theirs": theirs}[which]
    run.prepare()
    run.run()
    print("ready", flush=True)
    sys.stdin.readline()
    seconds = 0.0
    for _ in range(repeats):
        run.prepare()
        start = time.perf_counter()
        run.run()
        seconds += time.perf_counter() - start
    print(seconds / repeats, flush=True)


def two_cores(root: Path, kind: str, which: str, repeats: int) -> float:
    """Return the mean wall-clock seconds of a cell while two processes score at once."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    env.pop("OMP_NUM_THREADS", None)
    if which == "ours":
        env["OMP_NUM_THREADS"] = "1"
    both = []
    for number in (1, 2):
        copy = root.with_name(f"{root.name}-{number}")
        if not copy.exists():
            shutil.copytree(root, copy)
        command = [
            sys.executable,
            "-m",
            "benchmarks.bench_score",
            "--child",
            str(copy),
            kind,
            which,
            str(repeats),
        ]
        both.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=env,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
    for process in both:
        line = process.stdout.readline()  # type: ignore[union-attr]
        if line.strip() != "ready":
            raise SystemExit(f"{kind}, {which}: a child ended early: {line!r}")
    for process in both:
        process.stdin.write("go\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    return statistics.mean(float(p.communicate()[0]) for p in both)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--types", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one-core", action="store_true", help="leave the two cores out")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    quiet()
    os.environ["TQDM_DISABLE"] = "1"
    for name in ("stressbed", "mteb"):
        logging.getLogger(name).setLevel(logging.ERROR)
    if options.child:
        root, kind, which, repeats = options.child
        child(Path(root), kind, which, int(repeats))
        return
    rows, slow = [], []
    for kind in options.types:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "made"
            mine, other = one_core(chain_of(kind, root), options.repeats)
            both = None
            if not options.one_core:
                both = [two_cores(root, kind, which, options.repeats) for which in ("ours", "theirs")]
        ratio, target = other / mine, TARGETS.get(kind, 1.0)
        double = "" if both is None else f"{both[1] / both[0]:.1f}"
        rows.append(
            [kind, f"{1000 * other:.0f}", f"{1000 * mine:.0f}", f"{ratio:.1f}", double, f"{target:.0f}"]
        )
        print(rows[-1], flush=True)
        if round(ratio, 1) < target:  # as it is printed: a twentieth is within what repeats differ by
            slow.append(f"{kind} {ratio:.2f}")
    columns = ["task type", "mteb, ms", "score stage, ms", "ratio, 1 core", "ratio, 2 cores", "target"]
    publish(
        "score",
        columns,
        rows,
        f"Medians of {options.repeats} cells, alternating; numbers equal. 1.0: less than a twentieth apart.",
    )
    if slow:
        sys.exit(f"slower than the target: {', '.join(slow)}")


if __name__ == "__main__":
    main()
