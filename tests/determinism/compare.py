"""The same run under other circumstances: how far answers, vectors and scores move.

python tests/determinism/compare.py            # all circumstances, a few minutes each on two busy cores
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "determinism.md"
MEASURED = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Circumstance:
    """What is different from the first run."""

    name: str
    threads: int = 1
    generators: Mapping[str, Any] = field(default_factory=dict)
    embedders: Mapping[str, Any] = field(default_factory=dict)


FIRST = Circumstance("the first run")
AGAIN = Circumstance("the same again, in new processes")
THREADS = Circumstance("two threads", threads=2)
FOUR = Circumstance("four threads", threads=4)
BATCHES = Circumstance("batches of 5", generators={"batch_size": 5}, embedders={"batch_size": 5})
ALONE = Circumstance("one at a time", generators={"batch_size": 1}, embedders={"batch_size": 1})
VLLM = Circumstance(
    "generator with `vllm` (CPU build), float32",
    generators={"engine": "vllm", "engine_options": {"enforce_eager": True, "max_model_len": 1024}},
)
HALF = Circumstance("generator in bfloat16", generators={"dtype": "bfloat16"})
HALF_BATCHES = Circumstance(
    "generator in bfloat16, batches of 5", generators={"dtype": "bfloat16", "batch_size": 5}
)
ALL = (AGAIN, THREADS, FOUR, BATCHES, ALONE, VLLM, HALF, HALF_BATCHES)
EXACT = (AGAIN, THREADS, FOUR, BATCHES, ALONE, VLLM)
"""In float32 answers must be the same; scores may differ by `BOUND`."""

BOUND = 1e-3
"""Points of 100 by which a score may differ where only threads, batches or the engine do."""

VECTOR_BOUND = 1e-5


@dataclass(frozen=True)
class Difference:
    """How far a run is from the first one.

    Attributes:
        answers: Answers of the generator.
        other_answers: Of these, those that differ.
        vector: Largest difference of a component, over strings that both runs embedded.
        score: Largest difference of a cell's score, in points of 100.
        item: Largest difference of an item's value.
        identical: Whether the cells are equal byte by byte.
    """

    answers: int
    other_answers: int
    vector: float
    score: float
    item: float
    identical: bool


def made(what: Circumstance, folder: Path, models: Path) -> dict[str, Any]:
    """Return what a run under these circumstances gives, in a process of its own."""
    folder.mkdir(parents=True)
    changes = json.dumps({"generators": dict(what.generators), "embedders": dict(what.embedders)})
    threads = {f"{name}_NUM_THREADS": str(what.threads) for name in ("OMP", "MKL", "OPENBLAS")}
    env = {**os.environ, **threads, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    command = [sys.executable, str(Path(__file__).with_name("chain.py")), str(folder), str(models), changes]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise AssertionError(f"{what.name}:\n{done.stderr[-4000:]}")
    return dict(json.loads((folder / "made.json").read_text()))


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> Difference:
    """Return how far two runs are apart."""
    a, b = first["answers"], second["answers"]
    assert a.keys() == b.keys()
    shared = sorted(first["vectors"].keys() & second["vectors"].keys())
    vectors = [np.array([run["vectors"][k] for k in shared]) for run in (first, second)]
    cells = [(first["cells"][v], second["cells"][v]) for v in first["cells"]]
    scores = [abs(x["score"] - y["score"]) for x, y in cells]
    items = [
        abs(p - q)
        for x, y in cells
        for i, j in zip(x["items"], y["items"], strict=True)
        for p, q in zip(i["values"], j["values"], strict=True)
    ]
    return Difference(
        answers=len(a),
        other_answers=sum(a[k] != b[k] for k in a),
        vector=float(np.abs(vectors[0] - vectors[1]).max()),
        score=max(scores),
        item=max(items, default=0.0),
        identical=values(first) == values(second),
    )


def values(run: Mapping[str, Any]) -> str:
    """Return all cells without what names the circumstances themselves (fingerprints, identities)."""
    named = {"fingerprint", "embedder_identity", "versions"}
    cells = {v: {k: x for k, x in c.items() if k not in named} for v, c in run["cells"].items()}
    return json.dumps(cells, sort_keys=True)


HEAD = """# The same run again

Made by `python tests/determinism/compare.py`, which measures; `tests/determinism` tests what is promised.

- **Same machine, same config: the same scores to the last digit**, and the same answers and vectors, with
  the embedded engine in float32. Cells are equal byte by byte but for their times.
- **Other thread counts and batch sizes, and vLLM in float32: the same answers, and scores within {bound}
  points of 100.** Vectors differ in their last bits (components by less than {vector} at length 1), since
  sums are taken in another order.
- In bfloat16 answers change with the engine and the batch: two tokens are often closer than its rounding.
  That is why the shipped generator computes in float32, and why batches are fixed by the plan: a run that
  is resumed sees the batches that it would have seen.

Measured with SmolLM2-135M-Instruct and all-MiniLM-L6-v2 on {n} requests (8 pairs of sentences, paraphrased
and translated), each circumstance in processes and results of its own, against a first run with
`transformers` in float32, one thread, batches of 16:

| circumstance | answers that differ | vectors: largest difference | scores: largest, in points | cells |
|---|---|---|---|---|
"""


def page(found: Sequence[tuple[str, Difference]]) -> str:
    """Return docs/determinism.md."""
    lines = [HEAD.format(bound=BOUND, vector=VECTOR_BOUND, n=found[0][1].answers).rstrip("\n")]
    for name, d in found:
        cells = "equal byte by byte" if d.identical else f"items differ by {d.item:.1g} at most"
        lines.append(
            f"| {name} | {d.other_answers} of {d.answers} | {d.vector:.1g} | {d.score:.1g} | {cells} |"
        )
    lines.append("\nVectors are compared for strings that both runs embedded.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all circumstances."""
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "models"
        models.mkdir()
        first = made(FIRST, Path(folder) / "first", models)
        found = []
        for i, what in enumerate(ALL):
            found.append((what.name, difference(first, made(what, Path(folder) / str(i), models))))
            sys.stdout.write(f"{what.name}: {found[-1][1]}\n")
            sys.stdout.flush()
    MEASURED.write_text(json.dumps([[name, asdict(d)] for name, d in found], indent=1) + "\n")


def measured() -> list[tuple[str, Difference]]:
    """Return what was measured last."""
    return [(name, Difference(**d)) for name, d in json.loads(MEASURED.read_text())]


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        main()
    PAGE.write_text(page(measured()), encoding="utf-8")
