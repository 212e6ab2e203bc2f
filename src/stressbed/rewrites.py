"""What a file of rewrites (`transforms/...parquet`) says, in the words of all who write or read one."""

from __future__ import annotations

CONTENT_HASH = "stressbed.content_hash"
"""Key in the metadata: hash of the new texts and of which of them are dropped."""

ABSENT = "stressbed.absent"
"""Key in the metadata, of completions too: JSON, subset -> why no language could be drawn for it."""

DRAWN = "stressbed.drawn"
"""Key in the metadata: hash of the languages asked for, text by text and step by step.

Two seeds with the same hash asked for the same; where no tokens are drawn they are the same variant twice.
"""

DROPPED = "dropped"
"""Outcome of a text whose row is left out."""

UNUSED = frozenset({"fallback", DROPPED})
"""Outcomes of texts without a usable answer."""
