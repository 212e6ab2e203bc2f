"""Runs that cannot be compared: each ends in an error that names the file, not in a trace."""

import pandas as pd
import pytest
from made_runs import made_run

from stressbed.cli import main
from stressbed.compare.command import compare_runs
from stressbed.errors import ConfigError, StoreError


def score(e, d, t, s):
    return 50.0 + int(d[1:])


@pytest.fixture
def run(tmp_path):
    return made_run(tmp_path, "old", score, n_datasets=2)


def compared(first, second, *, resamples=100, seed=0):
    return compare_runs(str(first), str(second), mapping={}, resamples=resamples, seed=seed)


@pytest.mark.parametrize("content", [b"", b"- a\n- b\n", b"a: [1", b"\xff\xfea\x00", b"run: a\nrun: b\n"])
def test_a_damaged_config_of_a_run_is_named(run, content):
    (run / "config.yaml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        compared(run, run)
    assert str(run / "config.yaml") in caught.value.where


@pytest.mark.parametrize("name", ["scores.parquet", "items.parquet"])
@pytest.mark.parametrize("content", [b"", b"no parquet"])
def test_a_damaged_table_of_a_run_is_named(tmp_path, run, name, content):
    other = made_run(tmp_path / "b", "new", lambda *at: score(*at) + 1, n_datasets=2)
    (run / name).write_bytes(content)
    with pytest.raises(StoreError) as caught:
        compared(run, other)
    assert caught.value.where == str(run / name)


def test_a_table_of_another_kind_is_named(run):
    (run / "items.parquet").replace(run / "scores.parquet")
    with pytest.raises(StoreError, match="not readable") as caught:
        compared(run, run)
    assert caught.value.where == str(run / "scores.parquet")


def test_a_run_without_cells_is_said(run):
    path = run / "scores.parquet"
    pd.read_parquet(path).iloc[:0].to_parquet(path)
    with pytest.raises(ConfigError, match="no cells"):
        compared(run, run)


@pytest.mark.parametrize(
    ("options", "what", "where"),
    [
        ({"seed": -1}, "the seed -1 is negative", "--seed"),
        ({"resamples": 10**12}, "too many", "--resamples"),
        ({"resamples": -5}, "too few", "--resamples"),
    ],
)
def test_numbers_that_cannot_be_drawn_with_are_refused(run, options, what, where):
    with pytest.raises(ConfigError, match=what) as caught:
        compared(run, run, **options)
    assert caught.value.where == where


def test_a_run_has_its_name_from_wherever_it_is_named(run, monkeypatch):
    monkeypatch.chdir(run)
    assert compared(".", "../old").text.startswith("# old → old\n")
    assert compared("scores.parquet", ".").text.startswith("# old → old\n")


def test_a_path_that_no_file_can_have_is_said():
    with pytest.raises(ConfigError, match="too long"):
        compared("a" * 300, ".")


def test_a_folder_that_is_a_file_is_refused_before_the_work(run, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["compare-runs", str(run), str(run), "--out", str(tmp_path / "file" / "x")]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "is not a folder" in printed.err
    assert "--out" in printed.err
