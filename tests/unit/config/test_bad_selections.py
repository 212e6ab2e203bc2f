"""Wrong selections and studies with people: each is refused alone, with its own message."""

import pytest
from config_cases import Case, Setup, refused

PROMPT = {"id": "judge", "template": "{task} {original} {rewrite}", "source": "here"}
SELECTION = {
    "id": "pick", "candidates": ["llm", "local"], "dataset": "pairs", "transformations": ["again"],
    "judge_prompt": "judge",
}  # fmt: skip


def auto(s: Setup) -> Setup:
    """Let the run choose its generator."""
    s.entries.update(judge_prompts=[dict(PROMPT)], selections=[dict(SELECTION)])
    for entry in s.entries["transformations"]:
        entry["task"] = "Say it again."
    s.run.update(generator="auto", selection="pick")
    return s


def pick(s: Setup, **changes: object) -> None:
    auto(s).entries["selections"][0].update(changes)


def study(s: Setup, **changes: object) -> None:
    auto(s).run["human"] = changes


def other_prompt(s: Setup, **changes: object) -> None:
    auto(s).entries["judge_prompts"][0].update(changes)


def untold(s: Setup) -> None:
    study(s)
    s.run.update(generator="llm", selection=None, transformations=["say"])
    s.entries["transformations"][0]["task"] = ""


CASES = [
    Case("auto without a selection", lambda s: auto(s).run.update(selection=None),
         "`generator: auto` needs a selection", "key 'generator'", "pick", "under `selection`"),
    Case("auto and an id", lambda s: auto(s).run.update(generator=["auto", "llm"]),
         "'auto' stands beside other generators", "key 'generator'"),
    Case("a generator called auto", lambda s: auto(s).entries["generators"].append(
        {"id": "auto", "engine": "fake", "model": "fake"}),
         "no generator may be called 'auto'", "mine.yaml, generator 'auto'", do="another id"),
    Case("jobs over several generators", lambda s: auto(s).run.update(generate_job_axes=["dataset"]),
         "the jobs of a generator must be its own", "key 'generate_job_axes'", do="add `generator`"),
    Case("unknown selection", lambda s: auto(s).run.update(selection="pik"),
         "no selection is called 'pik'", "key 'selection'", "pick", "did you mean 'pick'"),
    Case("unknown candidate", lambda s: pick(s, candidates=["llm", "lokal"]),
         "no generator is called 'lokal'", "selection 'pick', key 'candidates'", do="did you mean 'local'"),
    Case("one candidate", lambda s: pick(s, candidates=["llm"]), "at least 2 items", "key 'candidates'"),
    Case("candidate twice", lambda s: pick(s, candidates=["llm", "local", "llm"]), "'llm' stands twice"),
    Case("unknown judge", lambda s: pick(s, judges=["nobody"]), "no generator is called 'nobody'", "judges"),
    Case("unknown screening data", lambda s: pick(s, dataset="pears"), "no dataset is called 'pears'",
         "selection 'pick', key 'dataset'", do="did you mean 'pairs'"),
    Case("unknown transformation", lambda s: pick(s, transformations=["agin"]),
         "no transformation is called 'agin'", "selection 'pick'"),
    Case("unknown prompt", lambda s: pick(s, judge_prompt="juge"), "no judge_prompt is called 'juge'",
         "selection 'pick'", do="did you mean 'judge'"),
    Case("a shortlist of one", lambda s: pick(s, shortlist=1), "greater than or equal to 2"),
    Case("a rating that there is not", lambda s: pick(s, rating="mean"), "'choice' or 'expected'"),
    Case("missing model of a candidate", lambda s: auto(s).entries["generators"][1].update(
        model="./no/such/folder", gguf_file=None), "no such model folder", "generator 'local'"),
    Case("nothing for raters to go by", lambda s: auto(s).entries["transformations"][2].update(task=""),
         "does not say what raters are told", "transformation 'again', key 'task'"),
    Case("a prompt without the rewrite", lambda s: other_prompt(s, template="{task} {original}"),
         "does not say {rewrite}", "judge prompt 'judge'"),
    Case("a prompt with an unknown slot", lambda s: other_prompt(
         s, template="{task} {original} {rewrite} {orig}"),
         "unknown placeholder {orig}", allowed="{original}"),
    Case("a scale upside down", lambda s: other_prompt(s, scale=[5, 4, 3]), "not in order", "key 'scale'"),
    Case("a study in a run that only selects", lambda s: (study(s), [s.run.pop(k) for k in (
        "datasets", "embedders", "transformations", "seeds")]), "only makes a selection", "'human'"),
    Case("a study's language", lambda s: study(s, source_languages=["spnish"]), "not a language",
         "human.source_languages"),
    Case("a study without words", untold, "does not say what raters are told", "transformation 'say'"),
    Case("an embedder of no one", lambda s: study(s, drift_embedder="wordz"), "no embedder of this run",
         "human.drift_embedder", do="did you mean 'words'"),
    Case("pairs of no dataset", lambda s: study(s, label_preservation={"dataset": "pear",
         "transformations": ["again"]}), "no dataset of this run", "label_preservation"),
    Case("pairs of a search", lambda s: (study(s, label_preservation={"dataset": "search", "transformations":
         ["again"]}), s.run.update(datasets=["search"])), "has no rated pairs: it is Retrieval",
         "label_preservation"),
    Case("pairs of no transformation", lambda s: study(s, label_preservation={"dataset": "pairs",
         "transformations": ["agian"]}), "no transformation of this run", do="did you mean 'again'"),
    Case("no ratings", lambda s: study(s, ratings=["no/such/folder"]), "no such file or folder of ratings",
         "human.ratings", do="make the sheets first"),
    Case("a folder without ratings", lambda s: study(s, ratings=["envs/../workflow/rules"]),
         "the folder holds no ratings", "human.ratings", "csv"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_a_mistake_is_refused_alone_and_explained(case, tmp_path):
    refused(case, tmp_path)


def test_the_run_that_the_cases_spoil_is_right(tmp_path):
    setup = auto(Setup(tmp_path))
    setup.run["human"] = {"label_preservation": {"dataset": "pairs", "transformations": ["again"]}}
    plan = setup.load()
    assert plan.auto
    assert plan.generators == ["llm", "local"]
    assert [v.generator for v in plan.with_winner("local").rewrites] == ["local"]


def test_a_selection_needs_nothing_else(tmp_path):
    setup = auto(Setup(tmp_path))
    setup.run = {"run": "only", "selection": "pick"}
    plan = setup.load()
    assert plan.only_selects
    assert plan.datasets == ["pairs"]
