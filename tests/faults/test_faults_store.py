"""Files of the results that are damaged, lost, foreign or shared, and clocks that jump."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import child, status
from staged import STAGES, Ended, Run, make_run

from stressbed import jobs
from stressbed.errors import ConfigError

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda b: b[: len(b) // 2],
    "garbage": lambda b: bytes(len(b)),
    "one bit": lambda b: b[: len(b) // 2] + bytes([b[len(b) // 2] ^ 1]) + b[len(b) // 2 + 1 :],
}
STORED = {
    "completions": ("generate", ".store/completions/*/batches/*"),
    "token counts": ("generate", ".store/tokens/*/*"),
    "vectors": ("score", ".store/vectors/*/*.npy"),
    "keys of vectors": ("embed", ".store/vectors/*/*.keys"),
    "cells": ("score", ".store/cells/*/*"),
}
MADE = {
    "completions": ("transform", "completions/pairs/llm/paraphrasing/1.parquet"),
    "rewrites": ("embed", "transforms/pairs/llm/paraphrasing/1.parquet"),
    "manifest": ("generate", "datasets/pairs/manifest.json"),
    "texts": ("generate", "datasets/pairs/texts.parquet"),
    "embedding": ("score", "embeddings/vectors/pairs/llm/paraphrasing/1.json"),
}


def refused(ended: Ended, path: Path) -> None:
    assert ended.code == 1, ended.said
    assert str(path) in ended.said
    assert "do: delete" in ended.said or "do: embed again with `snakemake --forcerun embed`" in ended.said
    assert "Traceback" not in ended.said


def some(run: Run, pattern: str) -> Path:
    return sorted(p for p in run.results.glob(pattern) if not p.name.startswith("."))[0]


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("kind", list(STORED))
def test_a_damaged_entry_of_the_store_is_named_and_made_anew_once_deleted(
    finished: Run, tmp_path: Path, kind: str, damage: str
) -> None:
    run = finished.copy(tmp_path / "run")
    stage, pattern = STORED[kind]
    path = some(run, pattern)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    if kind == "vectors":  # they are read only where a cell is not stored
        shutil.rmtree(run.results / ".store/cells")
    refused(run.job(stage), path)
    path.unlink()
    if kind == "vectors":
        path.with_suffix(".keys").unlink()
        run.until("embed")
    again = run.job(stage)
    assert again.code == 0, again.said
    run.until("score")
    assert run.scores() == finished.scores()


@pytest.mark.parametrize("damage", ["empty", "half", "garbage"])
@pytest.mark.parametrize("kind", list(MADE))
def test_a_damaged_result_is_named_by_the_job_that_reads_it(
    finished: Run, tmp_path: Path, kind: str, damage: str
) -> None:
    run = finished.copy(tmp_path / "run")
    stage, name = MADE[kind]
    path = run.results / name
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    refused(run.job(stage), path)
    run.until("score")
    assert run.scores() == finished.scores()


def test_half_written_files_of_a_killed_job_are_not_read(finished: Run, tmp_path: Path) -> None:
    run = finished.copy(tmp_path / "run")
    for _, pattern in STORED.values():
        whole = some(run, pattern)
        whole.with_name(f".{whole.name}.4242.tmp").write_bytes(whole.read_bytes()[:20])
    assert run.until("generate").counters["sent"] == 0
    assert run.job("transform").code == 0
    assert run.job("embed").counters["encoded"] == 0
    assert run.job("score").counters["computed"] == 0


@pytest.mark.parametrize(
    "part", ["", "completions", "vectors", "cells", "tokens"], ids=lambda p: p or "all of it"
)
def test_a_deleted_store_is_made_anew_with_the_same_results(finished: Run, tmp_path: Path, part: str) -> None:
    run = finished.copy(tmp_path / "run")
    shutil.rmtree(run.results / ".store" / part)
    run.until("score")
    assert run.scores() == finished.scores()
    assert run.files("completions", "transforms", "embeddings") == finished.files(
        "completions", "transforms", "embeddings"
    )


def test_vectors_that_are_gone_are_an_error_that_says_what_to_delete(finished: Run, tmp_path: Path) -> None:
    run = finished.copy(tmp_path / "run")
    shutil.rmtree(run.results / ".store/vectors")
    shutil.rmtree(run.results / ".store/cells")
    ended = run.job("score")
    assert ended.code == 1
    assert "6 of 6 vectors are missing" in ended.said
    assert "do: embed again with `snakemake --forcerun embed`" in ended.said
    assert "Traceback" not in ended.said
    run.until("score")
    assert run.scores() == finished.scores()


def test_an_embedding_of_another_variant_is_refused(finished: Run, tmp_path: Path) -> None:
    run = finished.copy(tmp_path / "run")
    folder = run.results / "embeddings/vectors/pairs/llm"
    shutil.copy(folder / "translation/1.json", folder / "paraphrasing/1.json")
    ended = run.job("score")
    assert ended.code == 1
    assert "paraphrasing/1.json" in ended.said
    assert "Traceback" not in ended.said


def both(run: Run, other: Run, stage: str, said: Path) -> None:
    with (
        child(lambda: run.job(stage).code, said / "one") as one,
        child(lambda: other.job(stage).code, said / "two") as two,
    ):
        assert (status(one), status(two)) == (0, 0), (said / "one").read_text() + (said / "two").read_text()


def test_two_jobs_that_ask_the_same_at_once_both_end_with_the_same_answers(
    run: Run, finished: Run, tmp_path: Path
) -> None:
    """Two runs with different configs may share a generator, an embedder and a dataset, and so a store."""
    run.until("texts")
    other = run.copy(tmp_path / "other")
    store = run.results / ".store"
    store.mkdir()
    (other.results / ".store").symlink_to(store)
    both(run, other, "generate", tmp_path)
    assert run.job("generate").counters["reused"] == 24
    assert run.files("completions") == finished.files("completions")
    assert other.files("completions") == run.files("completions")
    assert [one.job("transform").code for one in (run, other)] == [0, 0]
    both(run, other, "embed", tmp_path)
    assert run.job("embed").counters["reused"] == 36
    assert run.job("score").code == 0
    assert run.scores() == finished.scores()


@pytest.mark.parametrize("years", [-30, 5])
def test_files_from_another_time_are_the_same_files(finished: Run, tmp_path: Path, years: int) -> None:
    """The store is found by content; no time is looked at."""
    run = finished.copy(tmp_path / "run")
    when = time.time() + years * 365 * 86_400
    for path in run.results.rglob("*"):
        if path.is_file():
            os.utime(path, (when, when))
    for stage, counter in (("generate", "sent"), ("embed", "encoded"), ("score", "computed")):
        assert run.job(stage).counters[counter] == 0
    assert run.scores() == finished.scores()


def test_a_clock_that_is_set_back_gives_no_negative_times(tmp_path: Path) -> None:
    now = [2e9]

    def backwards() -> float:
        now[0] -= 3600
        return now[0]

    stats = tmp_path / "stats.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", backwards)
        with jobs.job("score", log_file=str(tmp_path / "log"), stats=str(stats)):
            time.sleep(0.01)
    assert 0 < json.loads(stats.read_text())["seconds"] < 60


def test_a_changed_revision_redoes_its_dataset_and_keeps_the_rest(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    before = {s: run.grid.decides(s, {"dataset": "pairs", "generator": "llm"}) for s in STAGES}
    run.catalogue("datasets", revision="another")
    after = {s: run.grid.decides(s, {"dataset": "pairs", "generator": "llm"}) for s in STAGES}
    assert {s for s in STAGES if before[s] != after[s]} == {"dataset"}


def test_changed_texts_are_asked_anew_and_the_others_are_kept(finished: Run, tmp_path: Path) -> None:
    run = finished.copy(tmp_path / "run")
    path = run.folder / "pairs.jsonl"
    path.write_text(path.read_text().replace("bread", "wine"))
    assert run.until("generate").counters["sent"] == 4  # two texts, two transformations
    run.job("transform")
    assert run.job("embed").counters["encoded"] == 2 * 3
    assert run.job("score").counters["computed"] == 3
    assert run.scores() != finished.scores()


def test_a_broken_catalogue_stops_the_run_before_any_job(run: Run) -> None:
    (run.folder / "catalogue.yaml").write_bytes(b"generators:\n\t- id: \xe4\n")
    with pytest.raises(ConfigError, match=r"catalogue\.yaml"):
        run.job("dataset")
