"""What `stressbed compare-runs` does: two runs in, a Markdown text out, tables into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import to_markdown, write_table
from stressbed.compare.changes import changes
from stressbed.compare.differences import BEFORE, Sampling, run_cells, run_differences
from stressbed.compare.pairing import Pairing, pair_runs
from stressbed.compare.runs import Run, read_run, told_apart
from stressbed.config.values import MOST_RESAMPLES
from stressbed.errors import ConfigError
from stressbed.store import write_text

SUMMARY = "comparison.md"
FEWEST_RESAMPLES = 100


@dataclass(frozen=True)
class Comparison:
    """Two runs compared.

    Attributes:
        text: All of it as Markdown.
        tables: `run_differences` and `run_cells`.
        names: Labels and orders.
    """

    text: str
    tables: Sequence[Table]
    names: Names

    def write(self, folder: Path) -> list[Path]:
        """Write the text and the tables (CSV, Markdown, LaTeX) and return their paths."""
        path = folder / SUMMARY
        write_text(path, self.text)
        return [path, *(p for table in self.tables for p in write_table(table, folder, self.names))]


def compare_runs(
    first: str, second: str, *, mapping: Mapping[str, str], resamples: int, seed: int
) -> Comparison:
    """Return the comparison of two runs: second minus first.

    Args:
        first: Config or folder of the run before the change.
        second: Config or folder of the run after it.
        mapping: Embedders of the first run that have another id in the second.
        resamples: Bootstrap samples of items, where there are fewer than six datasets.
        seed: Seed of that draw.

    Raises:
        ConfigError: A run is not there or not finished, no embedder is in both, or samples or seed are wrong.
        DataError: No data are the same in both.
        StoreError: A file of the results is damaged.
    """
    if not FEWEST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        much = "few" if resamples < FEWEST_RESAMPLES else "many"
        raise ConfigError(
            f"{resamples} bootstrap samples are too {much}", where="--resamples",
            allowed=f"{FEWEST_RESAMPLES} to {MOST_RESAMPLES}",
        )  # fmt: skip
    if seed < 0:
        raise ConfigError(f"the seed {seed} is negative", where="--seed", allowed="0 or more")
    before, after = told_apart(read_run(first), read_run(second))
    pairing = pair_runs(before, after, mapping)
    names = names_of(before, after, pairing)

    def items(side: str, embedder: str, dataset: str) -> pd.DataFrame:
        return (before if side == BEFORE else after).items(embedder, dataset)

    sampling = Sampling(items, resamples, np.random.default_rng(seed))
    tables = [run_differences(pairing.cells, names, sampling), run_cells(pairing.cells)]
    return Comparison(_text(before, after, pairing, tables[0], names), tables, names)


def names_of(before: Run, after: Run, pairing: Pairing) -> Names:
    """Return labels and orders: the catalogue's where a run's config still fits it, else ids."""
    cells = pairing.cells
    axes = cells[cells["transformation"] != "original"].drop_duplicates("transformation")
    known = [Names.of(r.plan) for r in (after, before) if r.plan is not None]

    def labelled(kind: str, ids: Iterable[str]) -> dict[str, str]:
        return {i: next((label for n in known if (label := getattr(n, kind).get(i))), i) for i in ids}

    return Names(
        embedders=labelled("embedders", [*pairing.embedders, *pairing.embedders.values()]),
        datasets=labelled("datasets", pairing.datasets),
        generators=labelled("generators", pairing.generators),
        transformations=labelled("transformations", axes["transformation"]),
        axes=dict(zip(axes["transformation"], axes["axis"], strict=True)),
    )


def mapped(pairs: Sequence[str]) -> dict[str, str]:
    """Return the mapping that `--map old=new` gives.

    Raises:
        ConfigError: A part is no pair, or an embedder stands twice on one side.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (equals and old and new) or old in found or new in found.values():
            twice = old in found or new in found.values()
            raise ConfigError(
                f"{pair!r} maps an embedder twice" if twice else f"{pair!r} is no pair of embedders",
                where="--map", allowed="old=new, each embedder once", do="such as `--map mine=mine-tuned`",
            )  # fmt: skip
        found[old] = new
    return found


def _text(before: Run, after: Run, pairing: Pairing, table: Table, names: Names) -> str:
    """Return all of a comparison as Markdown."""
    rewritten = pairing.cells["transformation"] != "original"
    counted = (
        f"{len(pairing.cells)} pairs of cells ({int(rewritten.sum())} rewritten) on "
        f"{len(pairing.datasets)} dataset{'s' * (len(pairing.datasets) != 1)}."
    )
    parts = [
        f"# {before.name} → {after.name}",
        f"Before: {before.folder}  \nAfter: {after.folder}  \n{counted}",
        _listed("What differs", changes(before, after, pairing) or ["Nothing that is recorded."]),
        _listed("Read with care", pairing.caveats),
        _listed("Not compared", pairing.left_out),
        to_markdown(table, names).replace("# ", "## ", 1),
    ]
    return "\n\n".join(p.rstrip() for p in parts if p) + "\n"


def _listed(title: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {s}" for s in sentences)]) if sentences else ""
