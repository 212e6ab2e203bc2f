"""From cells to tidy tables: `scores.parquet` and `items.parquet`."""

VERSION = "5"
