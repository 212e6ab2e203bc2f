"""Records of how files were made, and the comparison with them, in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stressbed.workflow.current import Current, changes
from stressbed.workflow.lines import Deciding, as_text, from_text, of_fields
from stressbed.workflow.made import MOST_INPUTS, Made, executions_of, read_records
from stressbed.workflow.places import Inputs, place_of

FIRST = 1_000_000_000


class Folder:
    """A results folder with jobs that were done in it."""

    def __init__(self, root: Path, run: str = "one") -> None:
        self.root, self.run = root, run
        self.current = Current(Made(root / "results", run))

    def path(self, name: str) -> str:
        return str(self.root / name)

    def write(self, name: str, text: str) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def done(self, outputs: list[str], decides: list[str], inputs: list[str], **stats: object) -> None:
        held = self.current.contents_of(inputs)
        self.current.made.add(self.current.record("rule", outputs, decides, held, stats))

    def why(self, outputs: list[str], decides: list[str], inputs: list[str]) -> list[str]:
        """Return what another process says."""
        return Folder(self.root, self.run).current.why(outputs, decides, inputs)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_rating_file_of_older_time_is_seen_and_its_place_is_not(folder: Folder) -> None:
    ratings = folder.write("sheets/anna.csv", "1,2\n")
    summary = folder.write("results/human/one/summary.json", "{}")
    folder.done([summary], ["config: run = 1"], [ratings])
    moved = folder.write("filled/anna.csv", "1,2\n")
    assert folder.why([summary], ["config: run = 1"], [moved]) == []
    folder.write("sheets/anna.csv", "3,2\n")
    os.utime(ratings, (FIRST, FIRST))
    assert folder.why([summary], ["config: run = 1"], [ratings]) == ["other contents in anna.csv"]
    other = folder.write("sheets/ben.csv", "3,2\n")
    found = folder.why([summary], ["config: run = 1"], [moved, other])
    assert found == ["new: ben.csv"]
    assert folder.why([summary], ["config: run = 1"], []) == ["no longer there: anna.csv"]


def test_two_files_of_one_name_are_told_apart(folder: Folder) -> None:
    inputs = [folder.write("a/test.csv", "1"), folder.write("b/test.csv", "2")]
    out = folder.write("results/datasets/d/manifest.json", "{}")
    folder.done([out], [], inputs)
    assert folder.why([out], [], inputs) == []
    folder.write("b/test.csv", "3")
    assert folder.why([out], [], inputs) == ["other contents in test.csv'"]


def test_only_its_own_variant_model_and_dataset_concern_a_file(folder: Folder) -> None:
    names = [f"results/transforms/{d}/g/{t}/1.parquet" for d in ("x", "y") for t in ("para", "trans")]
    inputs = [folder.write(n, n) for n in names]
    outs = [
        folder.write(f"results/embeddings/e/{d}/g/{t}/1.json", f"{d}{t}")
        for d in "xy"
        for t in ("para", "trans")
    ]
    decides = ["stage embed: version = 1", "embedder e: dtype = 1", "transformation trans: pool = []"]
    folder.done(outs, decides, inputs)
    other = ["stage embed: version = 1", "embedder e: dtype = 1", "transformation style: pool = []"]
    assert folder.why(outs[:1], other, inputs[:1]) == []
    assert folder.why(outs[1:2], other, inputs) == ["transformation trans: pool: gone, was []"]
    folder.write(names[3], "new")
    assert folder.why(outs[:3], decides, inputs) == []
    assert folder.why(outs, decides, inputs) == ["other contents in transforms/y/g/trans/1.parquet"]


def test_run_a_then_b_then_a_again(folder: Folder) -> None:
    """Both make the same file in their own way; what lies there decides whose it is."""
    out = folder.write("results/scores/e/d/g/t/1.json", "a")
    folder.done([out], ["embedder e: max_length = 256"], [])
    other = Folder(folder.root, "two")
    folder.write("results/scores/e/d/g/t/1.json", "b")
    other.done([out], ["embedder e: max_length = 128"], [])
    assert folder.why([out], ["embedder e: max_length = 128"], []) == []
    assert folder.why([out], ["embedder e: max_length = 256"], []) == ["embedder e: max_length: 128 -> 256"]
    folder.write("results/scores/e/d/g/t/1.json", "a")
    assert folder.why([out], ["embedder e: max_length = 256"], []) == []


def test_statistics_and_missing_outputs_decide_nothing(folder: Folder) -> None:
    stats = folder.write("results/jobs/embed/e.json", "{}")
    assert folder.why([stats, folder.path("results/nothing.json")], ["a = 1"], []) == []


def test_what_nobody_knows_of_and_what_was_changed_by_hand(folder: Folder) -> None:
    out = folder.write("results/runs/one/tables/t.csv", "1")
    assert folder.why([out], [], []) == ["no record says how runs/ was made"]
    folder.done([out], [], [])
    folder.write("results/runs/one/tables/t.csv", "2")
    assert folder.why([out], [], []) == ["runs/one/tables/t.csv has other contents than were made"]


def test_very_many_inputs_are_held_by_folder(folder: Folder) -> None:
    inputs = [folder.write(f"results/scores/e/d/g/t/{i}.json", str(i)) for i in range(MOST_INPUTS + 1)]
    out = folder.write("results/runs/one/scores.parquet", "")
    folder.done([out], [], inputs)
    (record,) = read_records(folder.root / "results")
    assert list(record.inputs.contents) == [f"scores/ ({MOST_INPUTS + 1} files)"]
    assert folder.why([out], [], inputs) == []
    folder.write("results/scores/e/d/g/t/7.json", "other")
    assert folder.why([out], [], inputs) == [f"other contents in scores/ ({MOST_INPUTS + 1} files)"]
    assert folder.why([out], [], inputs[:-1])


def test_damaged_records_are_passed_over_and_others_stay(folder: Folder) -> None:
    outs = [folder.write(f"results/runs/one/{n}", n) for n in ("a", "b")]
    for out in outs:
        folder.done([out], ["a = 1"], [])
    (path,) = (folder.root / "results/jobs/made").iterdir()
    lines = path.read_text().splitlines()
    path.write_text("\n".join(["{", "[]", '{"lines": "x", "outputs": 5}', *lines[:-1], lines[-1][:30]]))
    assert folder.why(outs[:1], ["a = 1"], []) == []
    assert folder.why(outs[1:], ["a = 1"], []) == ["no record says how runs/ was made"]


def test_executions_are_those_of_the_run_in_order(folder: Folder) -> None:
    out = folder.write("results/scores/e/d/g/t/1.json", "a")
    for seconds in (3, 1):
        folder.done([out], [], [], stage="score", seconds=seconds)
    Folder(folder.root, "two").done([out], [], [], stage="score", seconds=9)
    folder.done([out], [], [])
    assert [e["seconds"] for e in executions_of(folder.root / "results", "one")] == [3, 1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"max_length": 256}, {"max_length": 128}, ["embedder e: max_length: 256 -> 128"]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ["embedder e: a.b: 1 -> 2"]),
        ({}, {"label": "X y"}, ["embedder e: label: new, X y"]),
        ({"label": ""}, {}, ['embedder e: label: gone, was ""']),
        (
            {"files": {"a.bin": "1"}}, {"files": {"a.bin": "2"}},
            ["embedder e: its file a.bin has other contents"],
        ),
        (
            {"files": {}}, {"files": {"b: c": "2"}},
            ["embedder e: files: gone, was {}", "embedder e: its file b: c is new"],
        ),
        ({"t": "x" * 90}, {"t": "x" * 80 + "yz"}, [f"embedder e: t: ...{'x' * 30} -> ...{'x' * 20}yz"]),
        ({"t": "one\n line"}, {"t": "two\n line"}, ["embedder e: t: one line -> two line"]),
    ],
)  # fmt: skip
def test_changes_are_named_by_key_before_and_after(old: dict, new: dict, said: list[str]) -> None:
    found = changes(of_fields("embedder e", old), of_fields("embedder e", new))
    assert sorted(f.replace('"', "") if "..." in f else f for f in found) == sorted(said)


def test_lines_as_text_and_back() -> None:
    lines = of_fields(
        "generator g", {"limits": {"factor": 2.0}, "prompt": 'a = "b"\n', "none": None, "empty": {}}
    )
    assert list(lines) == [
        "generator g: limits.factor", "generator g: prompt", "generator g: none", "generator g: empty",
    ]  # fmt: skip
    assert from_text(as_text(lines)) == lines


def test_lines_of_other_entries_do_not_concern_a_file() -> None:
    lines = {"embedder a: x": "1", "embedder b: x": "2", "dataset d: y": "3", "stage s: version": "4"}
    found = Deciding(lines).concerning({"embedder": "a", "dataset": "d"})
    assert found == {"embedder a: x": "1", "dataset d: y": "3", "stage s: version": "4"}
    assert Deciding(lines).concerning({}) == lines


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("transforms/d/g/t/1.parquet",
         {"dataset": "d", "generator": "g", "transformation": "t", "seed": "1"}),
        ("select/s/completions/d/g/t/1.parquet",
         {"dataset": "d", "generator": "g", "transformation": "t", "seed": "1"}),
        ("scores/e/d/none/original/0.json",
         {"embedder": "e", "dataset": "d", "generator": "none", "transformation": "original", "seed": "0"}),
        ("datasets/d/manifest.json", {}),
        ("runs/r/scores/e/d/g/t/1.json", {}),
        ("select/s/ratings/j/g.parquet", {}),
        ("pairs.csv", {}),
    ],
)  # fmt: skip
def test_places(name: str, place: dict[str, str]) -> None:
    assert place_of(name) == place


def test_inputs_of_a_cell_are_its_dataset_variant_and_vectors() -> None:
    names = [
        "datasets/d/manifest.json", "datasets/x/manifest.json", "transforms/d/g/t/1.parquet",
        "transforms/d/g/t/2.parquet", "embeddings/e/d/g/t/1.json", "embeddings/f/d/g/t/1.json",
        "elsewhere.csv",
    ]  # fmt: skip
    found = Inputs(dict.fromkeys(names, "")).concerning(place_of("scores/e/d/g/t/1.json"))
    assert set(found) == {names[0], names[2], names[4], names[6]}
