"""What the store keeps of a cell: all metrics and values per item, so that any main score can be read off.

An entry is a line of JSON with everything but the items, and the items as compressed JSON: retrieval has
dozens of metrics per query.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

ITEMS = "items"


def pack(evaluation: Mapping[str, Any]) -> bytes:
    """Return an evaluation (`stressbed.score.compute.compute_cell`) as the bytes of its entry."""
    head = {key: value for key, value in evaluation.items() if key != ITEMS}
    items = json.dumps(evaluation[ITEMS], allow_nan=False, separators=(",", ":"))
    return json.dumps(head, allow_nan=False).encode() + b"\n" + zlib.compress(items.encode(), 1)


def head_of(entry: bytes) -> dict[str, Any]:
    """Return what an entry says without its items."""
    return dict(json.loads(entry.partition(b"\n")[0]))


def unpack(entry: bytes) -> dict[str, Any]:
    """Return the evaluation that `pack` made an entry of."""
    head, _, items = entry.partition(b"\n")
    return {**json.loads(head), ITEMS: json.loads(zlib.decompress(items))}
