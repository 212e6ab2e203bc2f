"""Draw the texts that the candidates of a selection rewrite."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.select.sample import sample_texts
from stressbed.store import read_parquet, write_atomic

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("select texts", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    entry = plan.catalogue.selections[str(plan.config.selection)]
    table = read_parquet(snakemake.input[0])
    chosen = sample_texts(table.to_pandas(), rows=entry.rows, seed=entry.sample_seed)
    written = pa.Table.from_pandas(chosen, schema=table.schema, preserve_index=False)
    write_atomic(Path(snakemake.output.texts), lambda tmp: pq.write_table(written, tmp))
