"""What the rules of a selection ask for: paths, inputs and params, as plain functions of a plan.

Screening lies below `results/select/{selection}/`, not beside the run's own rewrites: a selection
may have other transformations and seeds. The store keeps that from costing anything twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from stressbed import paths
from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.config.entries import SelectionEntry
from stressbed.select import FIGURES, SCREENING_TABLES, TABLES
from stressbed.store import read_json
from stressbed.workflow import lines
from stressbed.workflow.deciding import version
from stressbed.workflow.lines import Lines, as_text

OF_JUDGES = frozenset({"judges", "judge_prompt", "rating", "resamples", "alpha"})
"""Fields of a selection that matter once its shortlist is there."""

AFTER_TEXTS = OF_JUDGES | {"candidates", "transformations", "seed", "shortlist"}
"""Fields of a selection that matter once the texts that are screened are drawn."""


@dataclass(frozen=True)
class SelectionGrid:
    """The paths and params of the rules of a run's selection."""

    plan: Plan

    @property
    def entry(self) -> SelectionEntry:
        """The selection; only asked for by runs that have one."""
        found = self.plan.selection
        if found is None:
            raise LookupError("the run has no selection")
        return found

    def path(self, pattern: str) -> str:
        """Return a pattern of the path grammar for this selection."""
        return f"{self.plan.results}/{pattern.replace('{selection}', self.entry.id)}"

    def table(self, name: str, suffix: str) -> str:
        """Return the path of a table."""
        return self.path(f"{paths.SELECTION}/tables/{name}.{suffix}")

    def tables(self, *, of_screening: bool, suffixes: tuple[str, ...]) -> list[str]:
        """Return the tables of the screening, or those that the judges' ratings are turned into."""
        names = SCREENING_TABLES if of_screening else TABLES
        return [self.table(name, suffix) for name in names for suffix in suffixes]

    def figures(self, *suffixes: str) -> list[str]:
        """Return the figures."""
        return [self.path(f"{paths.SELECTION}/figures/{f}.{s}") for f in FIGURES for s in suffixes]

    def rewrites(self, pattern: str) -> list[str]:
        """Return the outputs of a screening job; the candidate stays a wildcard."""
        text = self.path(pattern).replace("{variant}", paths.VARIANT).replace("{seed}", str(self.entry.seed))
        text = text.replace("{dataset}", self.entry.dataset)
        return [text.replace("{transformation}", t) for t in self.entry.transformations]

    def rewrites_of(self, pattern: str, generator: str) -> list[str]:
        """Return the files of one candidate."""
        return [p.replace("{generator}", generator) for p in self.rewrites(pattern)]

    def all_rewrites(self, pattern: str) -> list[str]:
        """Return the files of all candidates."""
        return [p for g in self.entry.candidates for p in self.rewrites_of(pattern, g)]

    def dataset(self, pattern: str) -> str:
        """Return a file of the screening dataset."""
        return self.path(pattern).format(dataset=self.entry.dataset)

    def targets(self) -> list[str]:
        """Return the files of the run's selection but the ratings, which hang on the shortlist."""
        if self.plan.selection is None:
            return []
        suffixes = ("csv", "md", "tex")
        return [
            *(self.dataset(p) for p in (paths.MANIFEST, paths.TEXTS)),
            self.path(paths.SELECTION_TEXTS),
            *self.all_rewrites(paths.SELECTION_COMPLETIONS),
            *self.all_rewrites(paths.SELECTION_TRANSFORM),
            self.path(paths.SHORTLIST),
            *self.tables(of_screening=True, suffixes=suffixes),
            *self.tables(of_screening=False, suffixes=suffixes),
            *self.figures("pdf", "svg", "png", "csv"),
            self.path(paths.WINNER),
        ]

    @property
    def winner_files(self) -> list[str]:
        """The file with the outcome, if the run has a selection."""
        return [] if self.plan.selection is None else [self.path(paths.WINNER)]

    def ratings(self, shortlist: str) -> list[str]:
        """Return the ratings of all judges of all generators on a shortlist that has been written."""
        chosen: list[str] = read_json(shortlist)["shortlist"]
        judges = dict.fromkeys([*chosen, *self.entry.judges])
        pattern = self.path(paths.RATINGS)
        return [pattern.format(judge=j, generator=g) for j in judges for g in chosen]

    def stats(self, stage: str, *axes: str) -> str:
        """Return the path of a job's statistics, with its axes as wildcards."""
        return self._job("jobs", stage, axes, "json")

    def log(self, stage: str, *axes: str) -> str:
        """Return the path of a job's log, with its axes as wildcards."""
        return self._job("logs", stage, axes, "log")

    def _job(self, folder: str, stage: str, axes: tuple[str, ...], suffix: str) -> str:
        name = "/".join([folder, "select", self.entry.id, stage, *(f"{{{a}}}" for a in axes)])
        return f"{self.plan.results}/{name}.{suffix}"

    def decides_texts(self) -> list[str]:
        """Return what decides which texts are screened."""
        return as_text(version("select") | self._entry(AFTER_TEXTS))

    def decides_rewrites(self, stage: str, generator: str) -> list[str]:
        """Return what decides a candidate's answers (`generate`) or rewrites (`transform`)."""
        entries = [self.plan.catalogue.transformations[t] for t in self.entry.transformations]
        found = version(stage) | lines.of_generator(self.plan, generator)
        for entry in entries:
            found |= lines.of_transformation(self.plan, entry)
        return as_text(found | (lines.of_flags(self.plan, entries) if stage == "transform" else {}))

    def decides_screening(self) -> list[str]:
        """Return what decides the table of error rates and the shortlist beside their inputs."""
        return as_text(version("select") | self._entry(OF_JUDGES) | self._names())

    def decides_rating(self, judge: str) -> list[str]:
        """Return what decides a judge's ratings beside the rewrites."""
        catalogue = self.plan.catalogue
        prompt = catalogue.judge_prompts[self.entry.judge_prompt]
        words = prompt.model_dump(mode="json", exclude={"id", "source"})
        tasks = {t: catalogue.transformations[t].task for t in self.entry.transformations}
        # How the engine is bound to the scale decides ratings, and nothing else that a generator does.
        guided = {"guided": catalogue.generators[judge].guided}
        return as_text(
            version("select")
            | lines.of_generator(self.plan, judge)
            | lines.of_fields(f"generator {judge}", guided)
            | lines.of_fields(f"judge_prompt {prompt.id}", words)
            | lines.of_fields(f"selection {self.entry.id}", {"tasks": tasks, "rating": self.entry.rating})
        )

    def decides_choice(self) -> list[str]:
        """Return what decides the winner beside the ratings."""
        prompt = self.plan.catalogue.judge_prompts[self.entry.judge_prompt]
        scale = lines.of_fields(f"judge_prompt {prompt.id}", {"scale": prompt.scale})
        return as_text(version("select") | self._entry() | self._names() | scale)

    def _entry(self, without: frozenset[str] = frozenset()) -> Lines:
        fields = self.entry.model_dump(mode="json", exclude={*without, "id", "description"})
        return lines.of_fields(f"selection {self.entry.id}", fields)

    def _names(self) -> Lines:
        """Return what candidates, judges and transformations are called, and their order."""
        names = Names.of_selection(self.plan)
        return lines.of_fields(
            "names", {"generators": names.generators, "transformations": names.transformations}
        )
