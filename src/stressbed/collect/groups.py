"""Tables too large for the memory at once, written one after the other into one Parquet file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from stressbed.store import write_atomic


def write_groups(path: Path, schema: pa.Schema, tables: Iterable[pa.Table], *, whole: bool = False) -> int:
    """Write tables in their order into one file, atomically, and return the number of rows.

    Args:
        path: The file.
        schema: Of the file and of every table.
        tables: One or more row groups each; empty ones are left out.
        whole: Whether a table must not be cut into several groups, however long it is.
    """
    rows = 0

    def write(tmp: Path) -> None:
        """Fill the file that `write_atomic` puts in place."""
        nonlocal rows
        with pq.ParquetWriter(tmp, schema, compression="zstd") as writer:
            for table in tables:
                if table.num_rows:
                    writer.write_table(table, row_group_size=table.num_rows if whole else None)
                rows += table.num_rows

    write_atomic(path, write)
    return rows
