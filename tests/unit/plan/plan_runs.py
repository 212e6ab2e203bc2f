"""Small runs for the tests of forecasts: what the stages themselves do is what must be foreseen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from stressbed import paths
from stressbed.check import load_run
from stressbed.config.load import Plan
from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record
from stressbed.generate.engines import open_engine
from stressbed.generate.run import GenerateStats, generate
from stressbed.store import read_json, read_parquet
from stressbed.workflow import Grid

ROOT = Path(__file__).resolve().parents[3]
OWN = "config/own-data/catalogue.yaml"


def small(results: Path, **changes: Any) -> Plan:
    """Return a run without models on two small local datasets that have texts in common."""
    config: dict[str, Any] = {
        "run": "small", "results": str(results), "datasets": ["helpdesk-pairs", "helpdesk"],
        "embedders": ["random", "tf"], "generator": "fake",
        "transformations": ["paraphrasing", "translation"], "seeds": [1, 2], "catalogue": [OWN],
    }  # fmt: skip
    return load_run({**config, **changes}, base=ROOT)


@dataclass(frozen=True)
class Stages:
    """Runs stages of a plan in this process, as the workflow's scripts do."""

    plan: Plan

    def freeze(self, dataset: str) -> Path:
        folder = self.plan.results / "datasets" / dataset
        entry = self.plan.catalogue.datasets[dataset]
        freeze(entry, self.plan.catalogue.origin["datasets", dataset].parent, folder)
        record(folder)
        self.note("dataset", dataset)
        self.note("texts", dataset)
        return folder

    def note(self, stage: str, dataset: str) -> None:
        """Keep how the files of a stage were made, as the workflow does when a job has ended."""
        grid, at = Grid.of(self.plan), {"dataset": dataset, "generator": self.plan.config.generator[0]}
        inputs = grid.current.contents_of(grid.inputs(stage, at))
        made = grid.current.record(stage, grid.outputs(stage, at), grid.decides(stage, at), inputs, {})
        grid.current.made.add(made)

    def generate(self, dataset: str) -> GenerateStats:
        plan, catalogue = self.plan, self.plan.catalogue
        folder = self.plan.results / "datasets" / dataset
        name = plan.config.generator[0]
        entry = catalogue.generators[name]
        store = plan.results / paths.STORE
        done = generate(
            dataset=dataset,
            manifest=read_json(folder / "manifest.json"),
            texts=read_parquet(folder / "texts.parquet").to_pandas(),
            generator=entry,
            generator_identity=plan.generator_identity(name),
            transformations=[catalogue.transformations[t] for t in plan.config.transformations],
            prompts=catalogue.prompts,
            seeds=plan.config.seeds,
            store_root=store,
            outputs={
                v: plan.results / paths.COMPLETIONS.format(dataset=dataset, variant=str(v))
                for v in plan.rewrites
            },
            open_engine=partial(open_engine, entry, cache=store, folder=ROOT),
        )
        self.note("generate", dataset)
        return done
