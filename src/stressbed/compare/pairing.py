"""Which cells of two runs belong together, and which are left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from stressbed.analyse.aggregate import ORIGINAL, paired_totals
from stressbed.collect.schema import ALL
from stressbed.compare.runs import Facts, Run
from stressbed.errors import ConfigError, DataError, suggest

CELL = ["dataset", "generator", "transformation", "seed"]
SHOWN = 5
"""Names that a sentence lists before it only counts."""


@dataclass(frozen=True)
class Pairing:
    """The cells that both runs have.

    Attributes:
        embedders: Embedder of the first run -> of the second.
        cells: One row per pair of cells with a score in both: embedder, became, dataset, generator,
            transformation, axis, seed, metric, task_type, before, after (points), matched, same_texts,
            own_generator_before, own_generator_after (its id in either run).
        generators: Generator of the first run -> of the second.
        left_out: Sentences on what is not compared.
        caveats: Sentences on what a difference may come from besides the embedder.
        facts: (embedder, dataset) -> what decided the original's cell in both runs.
    """

    embedders: Mapping[str, str]
    cells: pd.DataFrame
    generators: Mapping[str, str]
    left_out: Sequence[str] = ()
    caveats: Sequence[str] = ()
    facts: Mapping[tuple[str, str], tuple[Facts, Facts]] = field(default_factory=dict)

    @property
    def datasets(self) -> list[str]:
        """Datasets that are compared, in the first run's order."""
        return [str(d) for d in self.cells["dataset"].unique()]


def pair_runs(first: Run, second: Run, mapping: Mapping[str, str]) -> Pairing:
    """Return the pairs of cells of two runs.

    A cell belongs to that with the same dataset, transformation and seed, of the same embedder or of
    the one that `mapping` names. Cells are compared only on the same data: the frozen dataset's hash must
    be known and equal.

    Args:
        first: The run before the change.
        second: The run after it.
        mapping: Embedders of the first run that have another id in the second.

    Raises:
        ConfigError: The mapping names an embedder that a run does not have, or none is in both.
        DataError: No dataset is the same in both, or no cell has a score in both.
    """
    embedders = pair_embedders(first, second, mapping)
    generators, said = _pair_generators(first, second)
    left_out = [*_alone(first, second, embedders), *said["left_out"]]
    facts, unlike = _same_data(first, second, embedders)
    left_out += unlike
    if not facts:
        raise DataError(
            f"no dataset is the same in {first.name!r} and {second.name!r}",
            where="; ".join(left_out),
            do="run both with the same catalogue entries of the datasets: task, revision, files, row limit",
        )
    cells = _joined(first, second, embedders, generators, list(facts))
    cells, sentences = _scored(cells, first, second)
    left_out += sentences
    cells, changed = _texts(cells, first, second)
    return Pairing(embedders, cells, generators, left_out, [*said["caveats"], *changed], facts)


def pair_embedders(first: Run, second: Run, mapping: Mapping[str, str]) -> dict[str, str]:
    """Return embedder of the first run -> of the second, in the first run's order.

    Raises:
        ConfigError: See `pair_runs`.
    """
    for side, run, names in (("old", first, list(mapping)), ("new", second, list(mapping.values()))):
        for name in names:
            if name not in run.embedders:
                raise ConfigError(
                    f"the run {run.name!r} has no embedder {name!r}", where=f"--map, {side} side",
                    allowed=", ".join(run.embedders), do=suggest(name, run.embedders),
                )  # fmt: skip
    found = {e: mapping.get(e, e) for e in first.embedders if mapping.get(e, e) in second.embedders}
    if not found:
        example = f"{first.embedders[0]}={second.embedders[0]}"
        raise ConfigError(
            f"{first.name!r} and {second.name!r} have no embedder in common",
            where=f"{', '.join(first.embedders)} against {', '.join(second.embedders)}",
            do=f"say which belongs to which, such as `--map {example}`",
        )
    return found


def _pair_generators(first: Run, second: Run) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return generator of the first run -> of the second, and sentences on the rest."""
    common = {g: g for g in first.generators if g in second.generators}
    if common:
        alone = [g for g in [*first.generators, *second.generators] if g not in common]
        said = [f"Generators of one run only: {', '.join(alone)}."] if alone else []
        return common, {"left_out": said, "caveats": []}
    if len(first.generators) == len(second.generators) == 1:
        (a,), (b,) = first.generators, second.generators
        caveat = f"The generators differ, {a} and {b}: differences under rewriting come from both changes."
        return {a: b}, {"left_out": [], "caveats": [caveat]}
    said = ["Rewrites: no generator is in both runs, so only the originals are compared."]
    return {}, {"left_out": said, "caveats": []}


def _alone(first: Run, second: Run, embedders: Mapping[str, str]) -> list[str]:
    """Return sentences on embedders, datasets, transformations and seeds that one run has alone."""
    said = []
    for run, used in ((first, set(embedders)), (second, set(embedders.values()))):
        rest = [e for e in run.embedders if e not in used]
        said += [f"Embedders of {run.name!r} only: {_some(rest)}."] if rest else []
    for what, column in (("Datasets", "dataset"), ("Transformations", "transformation"), ("Seeds", "seed")):
        for run, other in ((first, second), (second, first)):
            theirs = set(other.scores[column])
            rest = [str(v) for v in run.scores[column].unique() if v not in theirs]
            said += [f"{what} of {run.name!r} only: {_some(rest)}."] if rest else []
    return said


def _same_data(
    first: Run, second: Run, embedders: Mapping[str, str]
) -> tuple[dict[tuple[str, str], tuple[Facts, Facts]], list[str]]:
    """Return what decided the originals of each embedder and dataset with the same content, and the rest."""
    found: dict[tuple[str, str], tuple[Facts, Facts]] = {}
    unlike: dict[str, list[str]] = {"other": [], "unknown": []}
    known = [_originals(first), _originals(second)]
    for dataset in (d for d in first.datasets if d in second.datasets):
        for a, b in embedders.items():
            rows = (known[0].get((a, dataset)), known[1].get((b, dataset)))
            if None in rows:
                continue  # one of the runs has no cells of this embedder here
            facts = [run.facts(*row) for run, row in zip((first, second), rows, strict=True) if row]
            if None in facts or len(facts) < 2:
                unlike["unknown"].append(dataset)
            elif facts[0].dataset != facts[1].dataset:  # type: ignore[union-attr]
                unlike["other"].append(dataset)
            else:
                found[a, dataset] = (facts[0], facts[1])  # type: ignore[assignment]
    said = []
    if unlike["other"]:
        names = _some(list(dict.fromkeys(unlike["other"])))
        said.append(f"Other content under the same name (another revision, files or row limit): {names}.")
    if unlike["unknown"]:
        names = _some(list(dict.fromkeys(unlike["unknown"])))
        said.append(f"Content not known, since the cells' files are not there or have no score: {names}.")
    return found, said


def _originals(run: Run) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (embedder, dataset) -> fingerprint and path of the original's cell."""
    rows = run.scores[(run.scores["subset"] == ALL) & (run.scores["transformation"] == ORIGINAL)]
    columns = rows[["embedder", "dataset", "fingerprint", "cell_path"]].itertuples(index=False)
    return {(e, d): (f, p) for e, d, f, p in columns}


def _joined(
    first: Run,
    second: Run,
    embedders: Mapping[str, str],
    generators: Mapping[str, str],
    pairs: Sequence[tuple[str, str]],
) -> pd.DataFrame:
    """Return a row per cell that both runs expect, with or without a score."""
    back = {b: a for a, b in generators.items()}
    kept = [*CELL, "embedder", "axis", "metric", "task_type", "value", "matched", "fingerprint", "cell_path"]
    left = _cells(first, dict(zip(generators, generators, strict=True)))[kept]
    right = _cells(second, back)[[*CELL, "embedder", "value", "matched", "fingerprint", "cell_path"]]
    left = left[pd.MultiIndex.from_frame(left[["embedder", "dataset"]]).isin(pairs)]
    left = left.assign(became=left["embedder"].map(embedders))
    both = left.merge(
        right.rename(columns={"embedder": "became"}), on=["became", *CELL], suffixes=("_before", "_after")
    )
    names = {"value_before": "before", "value_after": "after"}
    return both.rename(columns=names).assign(
        matched=both["matched_before"] | both["matched_after"],
        own_generator_before=both["generator"],
        own_generator_after=both["generator"].map(lambda g: generators.get(g, g)),
    )


def _cells(run: Run, generators: Mapping[str, str]) -> pd.DataFrame:
    """Return the totals of a run, with generators under their common name; others are left out.

    Where no generator is common, only the originals are left.
    """
    totals = paired_totals(run.scores)
    originals = totals[totals["transformation"] == ORIGINAL]
    originals = originals.drop_duplicates(["embedder", "dataset"]).assign(generator="none")
    rewrites = totals[(totals["transformation"] != ORIGINAL) & totals["generator"].isin(generators)]
    rewrites = rewrites.assign(generator=rewrites["generator"].map(generators))
    return pd.concat([originals, rewrites], ignore_index=True)


def _scored(cells: pd.DataFrame, first: Run, second: Run) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells with a score in both runs, and how many have none."""
    lacking = cells["before"].isna() | cells["after"].isna()
    scored = cells[~lacking].reset_index(drop=True)
    if scored.empty:
        raise DataError(
            f"no cell has a score in both {first.name!r} and {second.name!r}",
            do="look at incomplete_cells.csv of both runs",
        )
    said = [f"Cells without a score in one of the runs: {int(lacking.sum())}."] if lacking.any() else []
    return scored, said


def _texts(cells: pd.DataFrame, first: Run, second: Run) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells with `same_texts`: whether both runs embedded the same rewrites.

    Looked up once per dataset and variant, since the texts do not hang on the embedder.
    """
    once = cells.drop_duplicates(CELL)
    same = {}
    for row in once.itertuples(index=False):
        a = first.facts(str(row.fingerprint_before), str(row.cell_path_before))
        b = second.facts(str(row.fingerprint_after), str(row.cell_path_after))
        key = (row.dataset, row.generator, row.transformation, row.seed)
        same[key] = a is not None and b is not None and a.texts == b.texts
    keys = pd.MultiIndex.from_frame(cells[CELL])
    cells = cells.assign(same_texts=[bool(same[k]) for k in keys])
    other = [k for k, s in same.items() if not s]
    rewrites = [k for k in same if k[2] != ORIGINAL]
    if not other:
        return cells, []
    return cells, [
        f"{len(other)} of {len(rewrites)} rewritten variants have other texts in the two runs, or texts that "
        "are not known (`same_texts` in run_cells.csv): there a difference may come from the texts as well."
    ]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
