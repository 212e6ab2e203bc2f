"""What YAML, the shell and Snakemake make of a word: as it was meant, or a message says how to write it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from config_cases import ENTRIES, ROOT, RUN, Setup

from stressbed.check import load_run
from stressbed.cli import main
from stressbed.config.before import look_at_config_files, wrong_settings
from stressbed.config.catalogue import Catalogue
from stressbed.config.load import read_config
from stressbed.config.yamlfile import read_mapping
from stressbed.errors import ConfigError, Problems
from stressbed.sources import resolve

FAILING = ROOT / "tests" / "data" / "failing"


def told(tmp_path, entry):
    """Return what is said about one catalogue entry, written as it is: (key, what to do)."""
    path = tmp_path / "cat.yaml"
    path.write_text(f"datasets:\n  - {entry}\n", encoding="utf-8")
    with pytest.raises(Problems) as error:
        Catalogue.read([path])
    return [(p.where.rsplit("key ", 1)[1].strip("'\""), p.do) for p in error.value.problems]


REST = "task_type: STS, files: {test: a.csv}, main_score: cosine_spearman"
LANGUAGES = "languages: {default: [eng-Latn]}"


@pytest.mark.parametrize(
    ("entry", "key", "do"),
    [
        (f"{{id: no, {LANGUAGES}, {REST}}}", "id", "YAML reads no as false: write 'no' in quotes"),
        (f"{{id: On, {LANGUAGES}, {REST}}}", "id", "YAML reads On as true: write 'On' in quotes"),
        (f"{{id: 2024, {LANGUAGES}, {REST}}}", "id",
         "YAML reads 2024 as the number 2024: write '2024' in quotes"),
        (f"{{id: 1_0, {LANGUAGES}, {REST}}}", "id", "YAML reads 1_0 as the number 10: write '1_0' in quotes"),
        (f"{{id: 0x1F, {LANGUAGES}, {REST}}}", "id",
         "YAML reads 0x1F as the number 31: write '0x1F' in quotes"),
        (f"{{id: 2024-01-02, {LANGUAGES}, {REST}}}", "id",
         "YAML reads 2024-01-02 as the date 2024-01-02: write '2024-01-02' in quotes"),
        (f"{{id: ~, {LANGUAGES}, {REST}}}", "id", "YAML reads ~ as nothing: write '~' in quotes"),
        (f"{{id: x, languages: {{default: [no]}}, {REST}}}", "languages.default.0",
         "YAML reads no as false: write 'no' in quotes (or nob, for Norwegian)"),
        (f"{{id: x, languages: {{default: no}}, {REST}}}", "languages.default",
         "YAML reads no as false: write ['no']"),
        (f"{{id: x, languages: {{no: [nob]}}, {REST}}}", "languages.0.[key]",
         "YAML reads no as false: write 'no' in quotes (or nob, for Norwegian)"),
        (f"{{id: x, languages: {{default: nob}}, {REST}}}", "languages.default", "write [nob]"),
        (f"{{id: x, {LANGUAGES}, {REST}, revision: 1.10}}", "revision",
         "YAML reads 1.10 as the number 1.1: write '1.10' in quotes"),
        (f"{{id: x, {LANGUAGES}, {REST}, licence: off}}", "licence",
         "YAML reads off as false: write 'off' in quotes"),
        (f"{{id: x, {LANGUAGES}, {REST}, row_limit: 1e3}}", "row_limit",
         "YAML reads 1e3 as a word: write 1000"),
        (f"{{id: x, {LANGUAGES}, {REST}, max_score: 1e-1}}", "max_score",
         "YAML reads 1e-1 as a word: write 0.1"),
        (f"{{id: x, {LANGUAGES}, {REST}, row_limit: '9'}}", "row_limit", "write 9 without quotes"),
        (f"{{id: x, {LANGUAGES}, {REST}, columns: {{score: yes}}}}", "columns.score",
         "YAML reads yes as true: write 'yes' in quotes"),
        (f"{{id: x, {LANGUAGES}, {REST}, row_limit: yes}}", "row_limit",
         "YAML reads yes as true: write a number"),
        (f"{{id: x, {LANGUAGES}, {REST}, row_limit: 5.0}}", "row_limit", "write 5"),
        (f"{{id: x, {LANGUAGES}, {REST}, max_score: 2024-01-02}}", "max_score",
         "YAML reads 2024-01-02 as the date 2024-01-02: write a number"),
        (f"{{id: x, {LANGUAGES}, {REST}, splits: }}", "splits", "write [...] with at least one value"),
        (f"{{id: x, {LANGUAGES}, {REST}, y: 1, on: 2}}", "1", "YAML reads on as true: write 'on' in quotes"),
    ],
)  # fmt: skip
def test_every_word_that_yaml_reads_otherwise_has_its_remedy(tmp_path, entry, key, do):
    found = dict(told(tmp_path, entry))
    assert found[key] == do


def test_a_value_that_may_be_of_several_types_has_one_complaint(tmp_path):
    path = tmp_path / "cat.yaml"
    options = "engine_options: {x: 2024-01-02, y: .nan}"
    path.write_text(f"generators: [{{id: g, engine: openai, model: m, {options}}}]\n", encoding="utf-8")
    with pytest.raises(Problems) as error:
        Catalogue.read([path])
    first, second = error.value.problems
    assert (first.where.rsplit("key ", 1)[1], first.allowed) == (
        "'engine_options.x'", "a word or a whole number or a number or true or false",
    )  # fmt: skip
    assert first.do == "YAML reads 2024-01-02 as the date 2024-01-02: write '2024-01-02' in quotes"
    assert "got nan" in second.what


def test_an_anchor_inside_itself_is_refused_as_a_value(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("run: r\nlabels: &a {tf: *a}\n", encoding="utf-8")
    with pytest.raises(Problems, match=r"labels\.tf"):
        load_run(read_config(path), base=ROOT)


def test_the_remedies_of_a_case(tmp_path):
    (folder,) = FAILING.glob("27-*")
    for name, run in (
        ("run.yaml", None),
        ("other.yaml", {"run": "case"}),
        ("list.yaml", {"embedders": "tf,random"}),
    ):
        config = read_config(folder / "run.yaml")
        config["catalogue"] = [str(folder / "cat.yaml")]
        config["results"] = str(tmp_path)
        config.update(run or {})
        with pytest.raises(Problems) as error:
            load_run(config, base=ROOT)
        said = {p.do for p in error.value.problems}
        assert "YAML reads no as false: write 'no' in quotes (or nob, for Norwegian)" in said, name
        assert ("YAML reads 2024 as the number 2024: write '2024' in quotes" in said) == (
            name != "other.yaml"
        )
        assert ("write [tf, random]" in said) == (name == "list.yaml")


@pytest.mark.parametrize(("text", "said"), [
    ("a: 010\n", "line 1: YAML reads 010 as the number 8"),
    ("a: [1,\n  1:30]\n", "line 2: YAML reads 1:30 as the number 90"),
    ("a: {010: x}\n", "YAML reads 010 as the number 8"),
    ("a: 1:30.5\n", "line 1: YAML reads 1:30.5 as the number 90.5"),
])  # fmt: skip
def test_numbers_to_another_base_are_refused(tmp_path, text, said):
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        read_mapping(path)


@pytest.mark.parametrize(
    "text", ["a: '010'\n", "a: 10\n", "a: 0\n", "a: 0o10\n", "a: 1.30\n", "a: &x [*x]\n"]
)
def test_others_pass(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    assert "a" in read_mapping(path)


# all in one go


def test_run_config_catalogue_and_files_are_told_in_one_go(tmp_path):
    setup = Setup(tmp_path)
    setup.entry("datasets", "pairs")["row_limit"] = 0
    setup.run.update(seeds=[-1], datasets=["pairs", "classes", "clases"], labels={"pairs": "Pairs"})
    setup.files["test.jsonl"] = "{}\n"
    first = [p.what for p in setup.problems()]
    assert [p[:40] for p in first] == [
        "Input should be greater than or equal to", "Input should be greater than 0, got 0",
    ]  # fmt: skip
    setup.run["seeds"] = [1]
    assert [p.what for p in setup.problems()] == [
        "Input should be greater than 0, got 0",
        "no dataset is called 'clases'",
        "the column 'text' is missing",
        "the column 'label' is missing",
    ]


# the command line


def run_of(tmp_path, **more):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(ENTRIES), encoding="utf-8")
    setup = Setup(tmp_path)
    for name, content in setup.files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return {**RUN, "results": str(tmp_path / "r"), "catalogue": [str(tmp_path / "mine.yaml")], **more}


def test_nested_values_of_the_command_line_are_numbers(tmp_path):
    run = run_of(tmp_path, analysis={"halves": "50", "resamples": 300}, colours={"words": "#000000"},
                 fallback_mark="0.5", human={"threshold": "2.5", "raters": "2"})  # fmt: skip
    given = ["analysis", "human", "fallback_mark"]
    with pytest.raises(Problems, match="does not say what raters are told"):
        load_run(run, base=ROOT, given=given)
    plan = load_run({**run, "human": "null"}, base=ROOT, given=given)
    assert (plan.config.analysis.halves, plan.config.analysis.resamples) == (50, 300)
    assert plan.config.fallback_mark == 0.5
    assert plan.config.human is None


@pytest.mark.parametrize(
    ("given", "halves"),
    [([], "50"), *((["analysis"], word) for word in ("fifty", "5.5", "0120", "1:30", "1e2"))],
)
def test_what_is_no_number_or_stands_in_a_file_is_none(tmp_path, given, halves):
    with pytest.raises(Problems, match=r"Input should be a valid integer"):
        load_run(run_of(tmp_path, analysis={"halves": halves}), base=ROOT, given=given)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (1000.0, "do: it was read as the number 1000.0: write such a word in quotes into a run config"),
        (12, "do: it was read as the number 12: write such a word in quotes"),
        ("1:30", "got '1:30'"),
    ],
)
def test_a_number_of_the_command_line_that_should_be_a_word(tmp_path, run, said):
    """Snakemake makes numbers of 1e3 and 012, whatever quotation marks are around them."""
    with pytest.raises(Problems) as error:
        load_run(run_of(tmp_path, run=run), base=ROOT, given=["run"])
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("words", "do"),
    [
        (["--config", "analysis:halves=50"], "write 'analysis={halves: 50}'"),
        (["--config", "run=x", "analysis.halves=50", "-n"], "write 'analysis={halves: 50}'"),
        (["-C", "human:label_preservation:pairs=5"], "write 'human={label_preservation: {pairs: 5}}'"),
        (["--config", "seeds=[1,", "2]"], "write '2]=VALUE'"),
        (["--config", "1x=3"], "write KEY=VALUE"),
    ],
)
def test_settings_that_snakemake_cannot_read(words, do):
    (problem,) = wrong_settings(["-n", *words])
    assert problem.do.startswith(do)


@pytest.mark.parametrize(
    "words", [["--config", "analysis={halves: 50}", "seeds=[1, 2]", "run=a:b=c"], ["x=1"], []]
)
def test_settings_that_it_can_read(words):
    assert list(wrong_settings([*words, "-n", "a=b"])) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--directory=~/x"], "the shell has left '~/x' as it is"),
        (["-d", "$HOME/x"], "variables are not filled in here"),
        (["--configfile=~/x.yaml"], "the shell has left '~/x.yaml' as it is"),
    ],
)
def test_no_folder_is_called_like_the_home_folder(monkeypatch, words, said):
    monkeypatch.setattr(sys, "argv", ["snakemake", *words])
    with pytest.raises(SystemExit, match=said.replace("$", r"\$")):
        look_at_config_files()


# paths


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("$HOME/out", "variables are not filled in here"),
        ("${HOME}/out", "variables are not filled in here"),
        ("res{1}", "a path must not hold { or }"), ("res{", "a path must not hold {"),
        ("a/~/b", "`~` is the home folder at the beginning"),
        ("~no-such-user/x", "there is no user 'no-such-user'"),
        ("\u200b", "a path must not be empty"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["results", "catalogue", "ratings", "files", "model", "gguf_file"])
def test_paths_that_mean_something_else_are_refused_everywhere(tmp_path, monkeypatch, path, said, key):
    monkeypatch.chdir(tmp_path)
    setup = Setup(tmp_path)
    if key == "results":
        setup.run["results"] = path
    elif key == "catalogue":
        setup.run["catalogue"] = [str(tmp_path / "mine.yaml"), path]
    elif key == "ratings":
        setup.run["human"] = {"ratings": [path]}
    elif key == "files":
        setup.entry("datasets", "pairs")["files"]["test"] = path
    elif key == "model":
        setup.entry("embedders", "mine")["model"] = path
    else:
        setup.entry("generators", "local")["gguf_file"] = path
    (problem,) = setup.problems()
    assert said in problem.what
    assert not {"~", "$HOME"} & {p.name for p in tmp_path.iterdir()}


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "sheets", work):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    run = run_of(home, results="~/out", catalogue=["~/mine.yaml"])
    entries = yaml.safe_load((home / "mine.yaml").read_text())
    entries["datasets"][0]["files"] = {"test": "~/pairs.csv"}
    (home / "mine.yaml").write_text(yaml.safe_dump(entries))
    plan = load_run(run, base=ROOT)
    assert plan.results == home / "out"
    assert plan.local_files("pairs") == [home / "pairs.csv"]
    # The entry keeps what stands there: it is the same for all users.
    assert plan.catalogue.datasets["pairs"].files == {"test": "~/pairs.csv"}
    assert resolve("~/model", Path("elsewhere")) == home / "model"
    assert list(work.iterdir()) == []


def test_ratings_may_lie_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = run_of(tmp_path, human={"ratings": ["~/sheets"]})
    with pytest.raises(Problems) as error:
        load_run(run, base=ROOT)
    assert f"no such file or folder of ratings: {tmp_path}/sheets" in [p.what for p in error.value.problems]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["plan", "run.yaml", "--out", "a{b}"],
            "a path must not hold { or }: the workflow reads braces as names of wildcards",
        ),
        (["export-scores", "run.yaml", "--out", "$HOME/x"], "variables are not filled in here"),
        (["check", "$HOME/run.yaml"], "variables are not filled in here"),
        (["import-rewrites", "x", "--results", "a/~/b"], "`~` is the home folder at the beginning"),
        (["clean-store", "a.yaml", "b{.yaml"], "a path must not hold {"),
        (["compare-runs", "a.yaml", "~no-such-user/b.yaml"], "there is no user"),
    ],
)
def test_the_commands_refuse_such_paths_too(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_commands_know_the_home_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = run_of(tmp_path)
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    assert main(["check", "~/run.yaml"]) == 0
    assert f"{tmp_path}/run.yaml: no problem found; 2 cells" in capsys.readouterr().out


def test_a_home_in_which_snakemake_keeps_no_cache_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n"])
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "home").mkdir()
    look_at_config_files()
    monkeypatch.setattr(os, "access", lambda place, mode: tmp_path / "home" != Path(place))
    with pytest.raises(SystemExit, match="export XDG_CACHE_HOME=") as error:
        look_at_config_files()
    assert f"{tmp_path}/home cannot be written" in str(error.value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    look_at_config_files()


def test_snakemake_takes_them_as_they_are_meant(tmp_path):
    """One dry run and one setting that it cannot read, by the real program."""
    (folder,) = FAILING.glob("18-*")
    for part in ("Snakefile", "workflow", "config", "profiles"):
        (tmp_path / part).symlink_to(ROOT / part)
    home = tmp_path / "home"
    home.mkdir()
    command = [
        shutil.which("snakemake") or "snakemake", "-n", "--quiet", "all", "--cores", "1",
        "--configfile", str(folder / "run.yaml"), "--config", f"catalogue=[{folder / 'cat.yaml'}]",
    ]  # fmt: skip
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home)}

    def said(*settings):
        done = subprocess.run(
            [*command, *settings], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, text = said("results=~/out", "analysis={halves: 50}")
    assert code == 0, text
    code, text = said("analysis:halves=50")
    assert code == 1
    assert "write 'analysis={halves: 50}'" in text
    assert "Traceback" not in text
    assert not {"~", "$HOME"} & {p.name for p in tmp_path.iterdir()}


def test_the_check_asks_mteb_what_a_job_would_ask_it(tmp_path, monkeypatch, capsys):
    setup = Setup(tmp_path)
    setup.entry("datasets", "hub").update(subsets=["defualt"], languages={"defualt": ["eng-Latn"]})
    entry = {**setup.entries["datasets"][-1], "id": "other", "task": "STSBenchmrk", "subsets": ["default"],
             "languages": {"default": ["eng-Latn"]}}  # fmt: skip
    third = {**entry, "id": "third", "task": "STSBenchmark", "splits": ["tset"]}
    setup.entries["datasets"] += [entry, third]
    setup.run["datasets"] = ["hub", "other", "third"]
    setup.entries["embedders"].append(
        {"id": "unknown", "backend": "mteb", "model": "intfloat/e5-smal-v2", "revision": "1"}
    )
    setup.run["embedders"] = [*setup.run["embedders"], "unknown"]
    setup.load()
    run = {**setup.run, "results": str(tmp_path / "r"), "catalogue": [str(tmp_path / "mine.yaml")]}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    assert main(["check", str(tmp_path / "run.yaml")]) == 1
    said = capsys.readouterr().err
    assert "the task has no subset 'defualt'" in said
    assert "has no task 'STSBenchmrk'" in said
    assert "mteb does not evaluate the split 'tset'" in said
    assert "mteb has no loader for 'intfloat/e5-smal-v2'" in said
    assert "did you mean 'intfloat/e5-small-v2'" in said
