"""A result that was cut off is an error that names the file; a dry run goes on and calls it stale."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fabricate import make_plan

from stressbed.analyse.run import analyse
from stressbed.collect.rewrites import rewrite_counts, rewrite_examples
from stressbed.embed.strings import read_rewrites
from stressbed.errors import StoreError
from stressbed.paths import Cell, Variant
from stressbed.score.run import CellJob, stale_cells
from stressbed.score.variant import read_facts, read_texts
from stressbed.store import read_json, read_parquet
from stressbed.transform.flags import FLAGS

VARIANT = Variant("gen", "paraphrasing", 1)
READERS: dict[str, Callable[[Path], object]] = {
    "any table": read_parquet,
    "what decides a cell": read_facts,
    "texts to score": read_texts,
    "texts to embed": read_rewrites,
    "counts": lambda p: rewrite_counts([p]),
    "examples": lambda p: rewrite_examples([p], seed=1),
    "scores": lambda p: analyse(plan=make_plan(p.parent), scores=p, transforms=[], folder=p.parent),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut off": lambda b: b[: len(b) // 2],
    "end only": lambda b: b[len(b) // 2 :],
    "another file": lambda _: b"<!doctype html>",
    "zeros in it": lambda b: b[:4] + bytes(len(b) - 12) + b[-8:],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data" / f"{VARIANT}.parquet"
    path.parent.mkdir(parents=True)
    found = pa.table({"text_id": [1, 2], "text": ["a b", "c"], "outcome": ["ok", "ok"], "attempts": [1, 1]})
    for name in FLAGS:
        found = found.append_column(name, pa.array([False, False]))
    pq.write_table(found.replace_schema_metadata({"stressbed.content_hash": "h" * 32}), path)
    return path


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("reader", list(READERS))
def test_a_damaged_table_is_named_with_the_remedy(table: Path, reader: str, damage: str) -> None:
    table.write_bytes(DAMAGES[damage](table.read_bytes()))
    with pytest.raises(StoreError) as e:
        READERS[reader](table)
    assert e.value.where == str(table)
    assert "delete this file and run again" in e.value.do
    assert len(e.value.what) < 300


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": 1}}', "\x00\x00"])
def test_a_damaged_record_is_named_with_the_remedy(tmp_path: Path, content: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(StoreError, match="is not readable") as e:
        read_json(path)
    assert e.value.where == str(path)


def test_what_is_missing_is_not_called_damaged(tmp_path: Path) -> None:
    for read in (read_json, read_parquet, read_facts):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nowhere")


def test_a_dry_run_calls_a_cell_of_damaged_texts_stale(table: Path, tmp_path: Path) -> None:
    embedding = tmp_path / "embedding.json"
    embedding.write_text(json.dumps({"embedder_identity": "e", "texts_hash": "h" * 32}))
    job = CellJob(Cell("emb", "data", VARIANT), embedding, table, tmp_path / "score.json")
    for damage in DAMAGES.values():
        whole = table.read_bytes()
        table.write_bytes(damage(whole))
        found = stale_cells(manifest={}, embedder_identity="e", cells=[job], store_root=tmp_path)
        assert found == [str(VARIANT)]
        table.write_bytes(whole)
