# Binds the package's getters to the rules; there is no logic here.
import sys
from pathlib import Path

from snakemake.logging import logger

from stressbed import paths
from stressbed.cluster.frozen import thaw
from stressbed.cluster.start import begin, snakefile
from stressbed.check import load_run
from stressbed.config.load import read_config
from stressbed.errors import StressbedError
from stressbed.report.after import write_report
from stressbed.resources import Needs
from stressbed.workflow import (
    Grid,
    HumanGrid,
    RunFolder,
    SelectionGrid,
    TranslationGrid,
    cells_to_compute,
    where_results_are,
)
from stressbed.workflow.hook import decide_by_contents

try:
    files = [read_config(file) for file in workflow.overwrite_configfiles]
    given = workflow.config_settings.config
    grid = Grid.of(
        thaw(Path(workflow.basedir)) or load_run(config, files=files, given=given)
    )
except StressbedError as error:
    # A user's mistake needs its message, not a traceback of the workflow.
    sys.exit(f"\n{error}\n")


decide_by_contents(workflow, grid.current)
run_folder = RunFolder(grid.plan)
selection, people = SelectionGrid(grid.plan), HumanGrid(grid.plan)
translations = TranslationGrid(grid.plan)
needs = Needs(grid.plan)


def shortlisted():
    """The shortlist, once the screening has written it."""
    return checkpoints.select_shortlist.get().output[0]


def chosen():
    """The run's grid; with `generator: auto`, once the selection has chosen."""
    if grid.plan.auto and grid.plan.config.embedders:
        checkpoints.select_winner.get()
        return grid.with_winner()
    return grid


wildcard_constraints:
    embedder=paths.ID_PATTERN,
    dataset=paths.ID_PATTERN,
    judge=paths.ID_PATTERN,
    # With `auto` a generator is a wildcard of the cells; `none` is the original's.
    generator=grid.generator_pattern,
    transformation=paths.ID_PATTERN,
    seed=r"\d+",
    variant=r"[^/]+/[^/]+/\d+",
