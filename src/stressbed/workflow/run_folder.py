"""What is made of all cells together: the tables, figures, summary and page in the folder of a run."""

from __future__ import annotations

from dataclasses import dataclass

from stressbed import analyse, plot
from stressbed.config import Plan
from stressbed.report import page
from stressbed.workflow.patterns import files_of

TIDY = ("scores.parquet", "items.parquet", "item_texts.parquet", "item_drift.parquet")
SUMMARY = ("summary.json", "summary.csv", "summary.md")


@dataclass(frozen=True)
class RunFolder:
    """The names and files of what readers and their rules need.

    Attributes:
        plan: The run.
    """

    plan: Plan

    def path(self, name: str) -> str:
        """Return a path in the run's own folder."""
        return f"{self.plan.run_folder}/{name}"

    def files(self) -> list[str]:
        """Return every file of the folder."""
        return [
            *files_of(self.path("tables"), self.all_tables, analyse.SUFFIXES),
            *files_of(self.path("figures"), [*self.figures, *self.cards], plot.SUFFIXES),
            *map(self.path, (*TIDY, *SUMMARY, "findings.md", page.FILE, "config.yaml")),
        ]

    @property
    def tables(self) -> list[str]:
        """Names of the result tables."""
        return [*analyse.TABLES, *(analyse.CROSSCHECK_TABLES if self._several else ())]

    @property
    def item_tables(self) -> list[str]:
        """Names of the tables that are made of single items."""
        return list(analyse.ITEM_TABLES)

    @property
    def conclusions(self) -> list[str]:
        """Names of the tables that are made of other tables."""
        return list(analyse.CONCLUSIONS)

    @property
    def all_tables(self) -> list[str]:
        """Names of all of them."""
        return [*self.analysed_tables, *self.conclusions]

    @property
    def analysed_tables(self) -> list[str]:
        """Names of the tables that conclusions are drawn from."""
        return [*self.tables, *self.item_tables]

    @property
    def figures(self) -> list[str]:
        """Names of the figures."""
        return [*plot.FIGURES, *([plot.CROSSCHECK] if self._several else [])]

    @property
    def cards(self) -> list[str]:
        """Names of the embedders' cards, beside the figures."""
        return [f"{plot.CARDS}/{e}" for e in self.plan.config.embedders]

    @property
    def figure_tables(self) -> list[str]:
        """Names of the run's tables that figures are drawn from."""
        wanted = [*plot.INPUTS, *([f"{plot.CROSSCHECK}_cells"] if self._several else [])]
        return [t for t in wanted if t in self.all_tables]

    @property
    def page_inputs(self) -> list[str]:
        """Tables and findings that the interactive page is made of."""
        shown = [t for t in self.all_tables if t in {*page.TABLES, *page.FURTHER}]
        return [*files_of(self.path("tables"), shown, ("csv", "md")), self.path("findings.md")]

    @staticmethod
    def caption(table: str) -> str:
        """Return the name of a table's caption; the tables of flag rates share one."""
        return next((c for c in ("flag_rates", "crosscheck", "catalogue") if table.startswith(c)), table)

    @staticmethod
    def category(table: str) -> str:
        """Return where a table stands in the report: scores first, then the rewrites behind them."""
        scores = (*analyse.SCORE_TABLES, *analyse.ITEM_TABLES, *analyse.CROSSCHECK_TABLES)
        if table in {*analyse.STATISTIC_TABLES, *analyse.CONCLUSIONS}:
            return "3. Statistics"
        return "2. Scores" if table in scores else "4. Rewrites and models"

    @property
    def _several(self) -> bool:
        """Whether generators can be compared with each other."""
        return len(self.plan.config.generator) > 1
