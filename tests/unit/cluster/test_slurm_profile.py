"""The shipped SLURM profile keeps what the package relies on, and what the default profile decides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from stressbed.cluster.orphans import PREFIX

ROOT = Path(__file__).resolve().parents[3]
PROFILE = ROOT / "profiles" / "slurm" / "profile.yaml"


@pytest.fixture(scope="module")
def profile() -> dict:
    return yaml.safe_load(PROFILE.read_text())


def test_orphans_are_found_by_the_names_that_the_profile_gives_jobs(profile):
    assert profile["slurm-jobname-prefix"] + "_" == PREFIX


def test_squeue_is_asked_often_enough_for_the_usual_memory_of_the_controller(profile):
    assert profile["slurm-status-command"] == "squeue"
    assert 3 * profile["slurm-init-seconds-before-status-checks"] <= 300


def test_only_snakemake_submits_a_job_again(profile):
    assert profile["retries"] >= 1
    assert profile["slurm-no-requeue"] is True
    rules = "".join(p.read_text() for p in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert not re.search(r"^\s+retries:", rules, re.M), "a rule's own retries repeat inside the allocation"


def test_what_the_default_profile_decides_holds_on_a_cluster_too(profile):
    default = yaml.safe_load((ROOT / "profiles" / "default" / "profile.yaml").read_text())
    default.pop("resources")  # one machine's
    assert {k: profile.get(k) for k in default} == default


def test_grouped_rules_exist(profile):
    rules = "".join(p.read_text() for p in (ROOT / "workflow" / "rules").glob("*.smk"))
    for name in profile["groups"]:
        assert re.search(rf"^rule {name}:", rules, re.M), name


def test_every_entry_has_a_comment_above():
    lines = PROFILE.read_text().splitlines()
    last = next(i for i, line in enumerate(lines) if line.startswith("# As in the default profile"))
    for i, line in enumerate(lines[:last]):
        if re.match(r"[a-z-]+:", line):
            assert lines[i - 1].startswith("#"), line


def test_a_job_finds_a_partition_with_and_without_a_gpu():
    partitions = yaml.safe_load((PROFILE.parent / "partitions.yaml").read_text())["partitions"]
    gpus = {name: limits.get("max_gpu", 0) for name, limits in partitions.items()}
    assert min(gpus.values()) == 0 < max(gpus.values())
