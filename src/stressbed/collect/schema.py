"""Declared schemas of the tidy tables: the only interface between cells and everything a reader sees.

Each column carries its description in the Parquet file itself, so that a table explains itself
wherever it is copied to.
"""

from __future__ import annotations

import pyarrow as pa

ALL = "(all)"
"""Subset, split of a row that stands for the whole cell."""

OK, FAILED, ABSENT, MISSING = "ok", "failed", "absent", "missing"
STATUSES = (OK, FAILED, ABSENT, MISSING)


def _column(name: str, kind: pa.DataType, description: str, *, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"description": description})


def _key(name: str, description: str) -> pa.Field:
    return _column(name, pa.string(), description, nullable=False)


_COORDINATES = [
    _key("run", "Name of the run."),
    _key("embedder", "Catalogue id of the embedder."),
    _key("dataset", "Catalogue id of the dataset."),
]

SCORES = pa.schema(
    [
        *_COORDINATES,
        _key("task", "mteb task, or the dataset's id for local files."),
        _key("task_type", "mteb's task type."),
        _key("subset", f"Subset of the dataset; `{ALL}` stands for the cell's total."),
        _key("split", f"Split of the dataset; `{ALL}` stands for the cell's total."),
        _key("language", "Languages of the row's texts before rewriting, sorted, joined by `+`."),
        _key("generator", "Catalogue id of the LLM; `none` for the original."),
        _key("transformation", "Catalogue id of the transformation, or `original`."),
        _key("axis", "Axis of the transformation, or `original`."),
        _column("seed", pa.int64(), "Seed of the rewriting; 0 for the original.", nullable=False),
        _key("metric", "mteb's main score of the task."),
        _column("higher_is_better", pa.bool_(), "Whether a larger score is better.", nullable=False),
        _column("score", pa.float64(), "Score in points of 100; null unless status is `ok`."),
        _column(
            "original",
            pa.float64(),
            "Score that `delta` is taken against: the original on the same rows and subsets.",
        ),
        _column(
            "delta",
            pa.float64(),
            "Transformed minus original, in points; null for the original and where either is lacking.",
        ),
        _column("n_items", pa.int64(), "Items scored (queries, pairs, rows ...)."),
        _column("n_texts", pa.int64(), "Texts of the dataset that were to be rewritten (totals only)."),
        _key("status", "`ok`; `failed`: not scorable; `absent`: nothing to draw; `missing`: no cell file."),
        _key("error", "Why the status is not `ok`; else empty."),
        _column("fallbacks", pa.int64(), "Texts for which the fallback rule applied (totals only)."),
        _column("fallback_share", pa.float64(), "Fallbacks over texts, 0 to 1 (totals only)."),
        _column("flagged", pa.int64(), "Texts with at least one error flag (totals only)."),
        _column("retried", pa.int64(), "Texts of which a later attempt is used (totals only)."),
        _column("dropped", pa.int64(), "Texts whose rows were left out (totals only)."),
        _column(
            "distinct",
            pa.int64(),
            "Rewrites that no earlier seed of the run has, equal ones counted once (totals only).",
        ),
        _column("distinct_flagged", pa.int64(), "`flagged` among the distinct ones (totals only)."),
        _column("distinct_fallbacks", pa.int64(), "`fallbacks` among the distinct ones (totals only)."),
        _column("distinct_dropped", pa.int64(), "`dropped` among the distinct ones (totals only)."),
        _column("zero_vectors", pa.int64(), "Different texts whose vector is zero (totals only)."),
        _column(
            "marked",
            pa.bool_(),
            "Whether the share of fallbacks and left out texts exceeds the run's `fallback_mark`.",
            nullable=False,
        ),
        _column("matched", pa.bool_(), "Whether `original` is not the full original.", nullable=False),
        _column(
            "drawn",
            pa.string(),
            "Hash of the languages that its texts were asked for in; null for the original or if not known.",
        ),
        _key("fingerprint", "Hash of everything that decides the cell."),
        _key("cell_path", "The cell's file, relative to the results folder."),
    ],
    metadata={"stressbed.table": "scores"},
)

ITEMS = pa.schema(
    [
        *_COORDINATES,
        _key("subset", "Subset of the dataset."),
        _key("split", "Split of the dataset."),
        _key("generator", "Catalogue id of the LLM; `none` for the original."),
        _key("transformation", "Catalogue id of the transformation, or `original`."),
        _column("seed", pa.int64(), "Seed of the rewriting; 0 for the original.", nullable=False),
        _key("unit", "What an item is: query, pair, experiment, document, summary."),
        _key("item", "Id of the item, or its number where it has none."),
        _key("metric", "What `value` measures."),
        _column("value", pa.float64(), "The item's value, in the metric's own unit."),
        _column("original", pa.float64(), "The same item's value in the original."),
        _column("delta", pa.float64(), "Transformed minus original; null for the original."),
        _column(
            "gold", pa.float64(), "What people said of a pair: its similarity score or label; else null."
        ),
        _column(
            "shares",
            pa.string(),
            "Units that the item shares with others (a text, or items that hang together), which are "
            "resampled; null where it shares none.",
        ),
    ],
    metadata={"stressbed.table": "items"},
)

_ITEM = [
    _key("subset", "Subset of the dataset."),
    _key("split", "Split of the dataset."),
    _key("item", "Id of the item, or its number where it has none."),
]
_VARIANT = [
    _key("generator", "Catalogue id of the LLM."),
    _key("transformation", "Catalogue id of the transformation."),
    _column("seed", pa.int64(), "Seed of the rewriting.", nullable=False),
]

ITEM_TEXTS = pa.schema(
    [
        _key("dataset", "Catalogue id of the dataset."),
        *_VARIANT,
        *_ITEM,
        _key("field", "Field of the dataset that the text stands in."),
        _column("position", pa.int64(), "Place within a field that holds a list, else 0.", nullable=False),
        _key("original", "The text before rewriting."),
        _column("rewritten", pa.string(), "The text after rewriting; null where it is left as it is."),
        _column("language", pa.string(), "Language asked for; null where the text is left as it is."),
        _key("outcome", "Outcome of the rewriting; `untouched` where the text is left as it is."),
        _key("flags", "Error flags, joined by commas."),
        _column("length_ratio", pa.float64(), "Characters after per character before."),
        _column("edit_distance", pa.float64(), "Levenshtein distance over the longer text's length, 0 to 1."),
    ],
    metadata={"stressbed.table": "item_texts"},
)

ITEM_DRIFT = pa.schema(
    [
        _key("embedder", "Catalogue id of the embedder."),
        _key("dataset", "Catalogue id of the dataset."),
        *_VARIANT,
        *_ITEM,
        _column(
            "drift", pa.float64(), "1 minus the cosine of the item's text before and after; null unknown."
        ),
    ],
    metadata={"stressbed.table": "item_drift"},
)


def description(schema: pa.Schema, name: str) -> str:
    """Return the description of a column.

    Raises:
        KeyError: The schema has no such column.
    """
    metadata: dict[bytes, bytes] = schema.field(name).metadata
    return metadata[b"description"].decode()


def as_markdown(schema: pa.Schema) -> str:
    """Return a table of a schema's columns, as it stands in the documentation."""
    rows = [f"| `{f.name}` | {f.type} | {description(schema, f.name)} |" for f in schema]
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *rows]) + "\n"
