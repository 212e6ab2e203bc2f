"""Every table and sentence of a run that has two of everything, beside approved files."""

from __future__ import annotations

import json
import os
from statistics import fmean, median, stdev

import numpy as np
import pandas as pd
import pytest
from approved import FOLDER, approve
from fabricate import EIGHT
from rich_run import DATASETS, GENERATORS, MEMBERS, SEEDS, TRANSFORMATIONS, write_run
from scipy.stats import kendalltau, pearsonr, wilcoxon

from stressbed.analyse import run as analysis
from stressbed.analyse.conclusions.run import conclude
from stressbed.analyse.items.run import analyse_items
from stressbed.collect.cells import collect
from stressbed.collect.drifts import collect_drift
from stressbed.collect.texts import collect_texts

TIDY = ("scores", "items", "item_texts", "item_drift")


def known_training(plan):
    """Stand in for mteb's record of training data: one pair in three is not known."""
    return {p: (True, False, None)[i % 3] for i, p in enumerate(plan.pairs)}


def run_of(results, **more):
    """Write a run and everything that is made of it; return its folder."""
    plan, transforms = write_run(results, **more)
    folder = plan.run_folder
    scores, items, texts, drift = (folder / f"{n}.parquet" for n in TIDY)
    made = {"plan": plan, "scores": scores}
    collect(plan=plan, scores_out=scores, items_out=items)
    collect_texts(plan=plan, out=texts)
    collect_drift(plan=plan, store_root=plan.results / ".store", out=drift)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "zero_shot_pairs", known_training)
        analysis.analyse(**made, transforms=transforms, folder=folder / "tables")
    analyse_items(**made, items=items, texts=texts, drift=drift, folder=folder / "tables")
    conclude(**made, items=items, tables=folder / "tables", out=folder / "findings.md")
    return folder


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("rich"))


def some_rows(text: str, first: int, every: int) -> str:
    """Return a table's first and last rows, every so many of the others, and how many it has."""
    lines = text.rstrip("\n").split("\n")
    kept = [x for i, x in enumerate(lines) if i < first or i >= len(lines) - 8 or i % every == 0]
    return "\n".join([*kept, f"{len(lines)} lines"]) + "\n"


def test_every_table_is_approved(tables):
    """The CSV has all values; Markdown shows rounding, marks, bold, labels and notes."""
    written = sorted((tables / "tables").iterdir())
    if not os.environ.get("STRESSBED_APPROVE"):
        assert {p.stem for p in written} == {p.stem for p in (FOLDER / "rich").iterdir()} - {
            "findings",
            *(f"tidy_{n}" for n in TIDY),
        }
    for path in written:
        if path.suffix == ".csv":
            approve(f"rich/{path.name}", some_rows(path.read_text(encoding="utf-8"), 45, 17))
        if path.suffix == ".md":
            approve(f"rich/{path.name}", some_rows(path.read_text(encoding="utf-8"), 16, 60))


def test_every_tidy_table_is_approved(tables):
    for name in TIDY:
        frame = pd.read_parquet(tables / f"{name}.parquet")
        written = frame.to_csv(index=False, float_format="%.8f", lineterminator="\n")
        approve(f"rich/tidy_{name}.csv", some_rows(written, 10, {"items": 199}.get(name, 41)))


def test_every_finding_is_approved(tables):
    approve("rich/findings.md", (tables / "findings.md").read_text(encoding="utf-8"))


class Cells:
    """The scores in the cells' files, and plain means of them."""

    def __init__(self, folder):
        self.score, self.parts = {}, {}
        for path in (folder.parents[1] / "scores").rglob("*.json"):
            cell = json.loads(path.read_text())
            at = tuple(cell[k] for k in ("embedder", "dataset", "generator", "transformation", "seed"))
            matched, original = cell["original_matched"], self.original(folder, *at[:2])
            # Where rows were dropped a cell counts as the full original and its own difference.
            self.score[at] = cell["score"] if matched is None else original + cell["score"] - matched
            self.parts[at] = cell["subsets"]

    def original(self, folder, embedder, dataset):
        place = folder.parents[1] / "scores" / embedder / dataset / "none/original/0.json"
        return json.loads(place.read_text())["score"]

    def of(self, embedder, dataset, generator, transformation):
        """Return the mean over seeds; None where a cell is lacking."""
        if transformation == "original":
            return self.score[embedder, dataset, "none", "original", 0]
        found = [self.score.get((embedder, dataset, generator, transformation, s)) for s in SEEDS]
        return None if None in found else fmean(found)

    def delta(self, *at):
        value = self.of(*at)
        return None if value is None else value - self.of(*at[:3], "original")


@pytest.fixture(scope="module")
def cells(tables):
    return Cells(tables)


AXES = {
    a: [t for t in TRANSFORMATIONS if EIGHT[t][1] == a] for a in ("lexical_stylistic", "length", "language")
}
GROUPS = [
    (g, s, e, [d for d in DATASETS if d[0] == s[0]])
    for g in GENERATORS
    for s, m in MEMBERS.items()
    for e in m
]


def csv(tables, name, *index):
    return pd.read_csv(tables / "tables" / f"{name}.csv").set_index(list(index))


def near(found, expected):
    if expected is None:
        return np.isnan(found)
    return found == pytest.approx(expected, abs=2e-6)


def strict(values):
    found = list(values)
    return None if None in found else fmean(found)


def test_scores_of_each_generator_setting_and_embedder_are_plain_means(tables, cells):
    found = csv(tables, "hteb_scores", "generator", "setting", "embedder")
    deltas = csv(tables, "delta_by_transformation", "generator", "setting", "embedder")
    assert len(found) == len(deltas) == 12
    for g, s, e, datasets in GROUPS:
        mean = {t: strict(cells.of(e, d, g, t) for d in datasets) for t in (*TRANSFORMATIONS, "original")}
        axes = {a: strict(mean[t] for t in members) for a, members in AXES.items()}
        total = strict(axes.values())
        expected = {"original": mean["original"], **axes, "hteb": total}
        expected["drop"] = None if total is None else mean["original"] - total
        for column, value in expected.items():
            assert near(found.loc[(g, s, e), column], value), (g, s, e, column)
        for t in TRANSFORMATIONS:
            value = strict(cells.delta(e, d, g, t) for d in datasets)
            assert near(deltas.loc[(g, s, e), t], value), (g, s, e, t)


def test_shifts_are_those_of_dataset_means(tables, cells):
    found = csv(tables, "shifts", "generator", "setting", "transformation")
    for g in GENERATORS:
        for s, members in MEMBERS.items():
            for t in TRANSFORMATIONS:
                datasets = [d for d in DATASETS if d[0] == s[0]]
                means = [strict(cells.delta(e, d, g, t) for e in members) for d in datasets]
                kept = [m for m in means if m is not None]
                walsh = [(a + b) / 2 for i, a in enumerate(kept) for b in kept[i:]]
                row = found.loc[(g, s, t)]
                assert row["n"] == len(kept)
                assert near(row["shift"], median(walsh))
                assert near(row["median_abs"], median(map(abs, kept)))
                assert near(row["p"], wilcoxon(kept, mode="exact").pvalue)


def test_spreads_over_seeds_are_those_of_the_pairs_that_differ(tables, cells):
    found = csv(tables, "seed_spread", "generator", "setting", "transformation")
    for g, t in (("warm", "expansion"), ("warm", "translation"), ("cool", "translation")):
        for s, members in MEMBERS.items():
            spreads = []
            for d in (d for d in DATASETS if d[0] == s[0]):
                if g == "cool" and d == "e-pair":  # its seeds drew the same languages
                    continue
                for e in members:
                    pair = [cells.score.get((e, d, g, t, seed)) for seed in SEEDS]
                    spreads.append(stdev(pair))
            row = found.loc[(g, s, t)]
            assert row["n_cells"] == len(spreads)
            assert near(row["sd_mean"], fmean(spreads))
            assert near(row["sd_max"], max(spreads))


def test_taus_are_means_over_datasets_of_scipys(tables, cells):
    found = csv(tables, "rank_stability", "generator", "setting", "row")
    for g in GENERATORS:
        for s, members in MEMBERS.items():
            for t in ("paraphrasing", "cross_translation"):
                taus = []
                for d in (d for d in DATASETS if d[0] == s[0]):
                    ranked = [e for e in members if all(cells.of(e, d, g, x) for x in TRANSFORMATIONS)]
                    before, after = ([cells.of(e, d, g, x) for e in ranked] for x in ("original", t))
                    taus.append(kendalltau(before, after).statistic)
                taus = [x for x in taus if x == x]
                row = found.loc[(g, s, t)]
                assert near(row["tau_mean"], fmean(taus)), (g, s, t)
                assert near(row["tau_sd"], stdev(taus))
                assert row["n_datasets"] == len(taus)


def test_taus_within_are_those_of_two_seeds_that_differ(tables, cells):
    found = csv(tables, "rank_stability", "generator", "setting", "row")
    for g, t in (("warm", "expansion"), ("cool", "translation")):
        for s, members in MEMBERS.items():
            taus = []
            for d in (d for d in DATASETS if d[0] == s[0]):
                if g == "cool" and d == "e-pair":  # its seeds drew the same languages
                    continue
                ranked = [e for e in members if all(cells.of(e, d, g, x) for x in TRANSFORMATIONS)]
                one, two = ([cells.score[e, d, g, t, seed] for e in ranked] for seed in SEEDS)
                taus.append(kendalltau(one, two).statistic)
            taus = [x for x in taus if x == x]
            row = found.loc[(g, s, t)]
            assert near(row["within_mean"], fmean(taus)), (g, s, t)
            assert row["n_within"] == len(taus)


def test_generators_are_compared_on_the_cells_that_both_have(tables, cells):
    found = csv(tables, "crosscheck", "group")
    for t in TRANSFORMATIONS:
        pairs = [
            (cells.delta(e, d, "cool", t), cells.delta(e, d, "warm", t))
            for _, _, e, datasets in GROUPS[:6]
            for d in datasets
        ]
        both = [p for p in pairs if None not in p]
        row = found.loc[t]
        assert (row["n"], row["left_out"]) == (len(both), len(pairs) - len(both))
        assert near(row["mean_first"], fmean(a for a, _ in both))
        assert near(row["mean_second"], fmean(b for _, b in both))
        assert near(row["difference"], fmean(a - b for a, b in both))
        assert near(row["pearson"], pearsonr(*zip(*both, strict=True)).statistic)


def test_every_cells_drop_is_its_own(tables, cells):
    found = csv(tables, "drops_by_cell", "generator", "setting", "embedder", "dataset", "transformation")
    for g, s, e, datasets in GROUPS:
        for d in datasets:
            for t in TRANSFORMATIONS:
                value = cells.delta(e, d, g, t)
                if value is None:
                    assert (g, s, e, d, t) not in found.index
                    continue
                row = found.loc[(g, s, e, d, t)]
                assert near(row["drop"], -value)
                assert near(row["original"], cells.of(e, d, g, "original"))


def test_languages_are_means_over_subsets_then_datasets(tables, cells):
    found = csv(tables, "by_language", "generator", "source_language", "embedder")
    for language in ("deu-Latn", "swa-Latn", "fra-Latn"):
        by_dataset = {}
        for d in (d for d in DATASETS if d[0] == "m"):
            scores = [
                p["score"]
                for p in cells.parts["wide", d, "none", "original", 0]
                if "+".join(sorted(p["languages"])) == language
            ]
            if scores:
                by_dataset[d] = fmean(scores)
        row = found.loc[("cool", language, "wide")]
        assert row["n_datasets"] == len(by_dataset)
        assert near(row["original"], fmean(by_dataset.values()))


SMALL = {
    "one-dataset": {"datasets": ["e-ret"], "generator": ["cool"], "settings": {}},
    "one-embedder": {
        "datasets": ["e-ret", "e-sts", "m-sts", "m-told"], "embedders": ["wide"], "generator": ["warm"],
        "settings": {}, "transformations": ["paraphrasing", "expansion", "translation"],
    },
    "one-axis": {
        "datasets": ["e-sts", "e-rank", "e-pair", "e-clu", "e-cls", "e-cls2"], "embedders": ["small", "wide"],
        "generator": ["warm"], "transformations": ["style_change"], "settings": {},
    },
}  # fmt: skip
"""Runs that lack what many sentences rest on, so that they say something else, or what is lacking."""


@pytest.mark.parametrize("name", SMALL)
def test_what_small_runs_say_is_approved(name, tmp_path):
    folder = run_of(tmp_path, **SMALL[name])
    approve(f"rich-{name}/findings.md", (folder / "findings.md").read_text(encoding="utf-8"))
    for table in ("recommendation", "statistical_tests", "hteb_scores", "hteb_ranks", "fallbacks"):
        text = (folder / "tables" / f"{table}.md").read_text(encoding="utf-8")
        approve(f"rich-{name}/{table}.md", some_rows(text, 30, 50))
    notes = [
        f"{path.stem}: {line}"
        for path in sorted((folder / "tables").glob("*.md"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line and not line.startswith(("|", "#"))
    ]
    approve(f"rich-{name}/notes.txt", "\n".join(notes) + "\n")
