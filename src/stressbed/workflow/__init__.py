"""What the rules ask for: paths, inputs and params of a run, as plain functions of its plan.

Everything here is cheap and imports no model library: it runs whenever the DAG is built.

Two kinds of params: those that *decide* a result name themselves (``"embedder=ab12"``; Snakemake
compares params as a set of values, so a value must say what it is), and the *spec* that a script
needs to do its work (JSON; its functions take `output`, which keeps Snakemake from comparing it,
so that a changed label or batch size does not rerun a job).

`grid` has the cells and their paths, `run_folder` what is made of all cells, `deciding` and `spec` the
params, `staleness` which cells a job would compute, `closing` the last words of a run; `selection`, `human`
and `translation` have the rules that only some runs have.
"""

from stressbed.workflow.closing import where_results_are
from stressbed.workflow.deciding import VERSIONS
from stressbed.workflow.grid import Grid
from stressbed.workflow.human import HumanGrid
from stressbed.workflow.run_folder import RunFolder
from stressbed.workflow.selection import SelectionGrid
from stressbed.workflow.staleness import cells_to_compute
from stressbed.workflow.translation import TranslationGrid

__all__ = [
    "VERSIONS", "Grid", "HumanGrid", "RunFolder", "SelectionGrid", "TranslationGrid", "cells_to_compute",
    "where_results_are",
]  # fmt: skip
