# Binds the package's getters to the rules; there is no logic here.
import sys

from snakemake.logging import logger

from stressbed import paths
from stressbed.config import load_run
from stressbed.config.load import read_config
from stressbed.errors import StressbedError
from stressbed.report.after import write_report
from stressbed.workflow import Grid, where_results_are

try:
    for file in workflow.overwrite_configfiles:
        read_config(file)
    grid = Grid(load_run(config))
except StressbedError as error:
    # A user's mistake needs its message, not a traceback of the workflow.
    sys.exit(f"\n{error}\n")


wildcard_constraints:
    embedder=paths.ID_PATTERN,
    dataset=paths.ID_PATTERN,
    generator=paths.ID_PATTERN,
    transformation=paths.ID_PATTERN,
    seed=r"\d+",
    variant=r"[^/]+/[^/]+/\d+",
