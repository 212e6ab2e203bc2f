"""Say what the run will take and what of it is done, before anything is paid."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.plan import show
from stressbed.plan.build import forecast

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("plan", log_file=snakemake.log[0]) as this:
    found = forecast(Plan.parse(snakemake.params.plan))
    show.write(found, Path(snakemake.params.folder))
    sys.stdout.write(show.as_text(found))
