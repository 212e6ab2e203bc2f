"""Values that a job would stumble over later, or that would name two things: refused before any work."""

import pytest
from config_cases import Case, Setup, refused

LONG = "a" * 300


def rename(setup, kind, old, new):
    """Give an entry another id, in the catalogue and in the run."""
    setup.entry(kind, old).update(id=new)
    setup.run["generator" if kind == "generators" else kind] = [new]


CASES = [
    # what no file system or library takes
    Case("long run", lambda s: s.run.update(run=LONG), "at most 128 characters", "key 'run'"),
    Case("long id", lambda s: s.entries["datasets"].append({**s.entries["datasets"][0], "id": LONG}),
         "at most 128 characters", "key 'id'"),
    Case("long folder", lambda s: s.run.update(results=f"a/{LONG}"), "name of 300 bytes", "key 'results'"),
    Case("null in a folder", lambda s: s.run.update(results="a\0b"), "null character", "key 'results'"),
    Case("no folder", lambda s: s.run.update(results=""), "must not be empty", "key 'results'"),
    Case("blank catalogue", lambda s: s.run.update(catalogue=[" "]),
         "must not be empty", "catalogue.0"),
    Case("long catalogue", lambda s: s.run.update(catalogue=[LONG]),
         "name of 300 bytes", "catalogue.0"),
    Case("file without a name", lambda s: s.entry("datasets", "pairs").update(files={"test": ""}),
         "must not be empty", "files.test"),
    Case("huge seed", lambda s: s.run.update(seeds=[2**32]), "less than or equal to 4294967295", "seeds.0"),
    Case("huge seed of the analysis", lambda s: s.run.update(analysis={"seed": 10**30}),
         "less than or equal to", "analysis.seed"),
    # what fills the memory when all other work is done
    Case("many resamples", lambda s: s.run.update(analysis={"resamples": 10**9}),
         "less than or equal to 100000", "analysis.resamples"),
    Case("many halves", lambda s: s.run.update(analysis={"halves": 10**9}),
         "less than or equal to 100000", "analysis.halves"),
    Case("many resamples of ratings", lambda s: s.run.update(human={"resamples": 10**9}),
         "less than or equal to 100000", "human.resamples"),
    # what is no number
    Case("infinite scale", lambda s: s.entry("datasets", "pairs").update(max_score=float("inf")),
         "finite number", "key 'max_score'"),
    Case("temperature of nothing", lambda s: s.entry("generators", "llm").update(
        sampling={"temperature": float("nan")}), "finite number", "sampling.temperature"),
    Case("encoding with a null", lambda s: s.entry("datasets", "pairs").update(encoding="utf\0"),
         "no encoding is called", "key 'encoding'"),
    Case("encoding of no text", lambda s: s.entry("datasets", "pairs").update(encoding="hex"),
         "no encoding is called 'hex'", "key 'encoding'"),
    # what would have no effect
    Case("words of a table", lambda s: s.entry("datasets", "pairs").update(max_words=5),
         "'max_words' has no effect on tables", "key 'max_words'", "lee and fasttext"),
    Case("scale without ratings", lambda s: s.entry("datasets", "search").update(max_score=5),
         "'max_score' has no effect: Retrieval has no ratings", "key 'max_score'", "STS, STR"),
    # what readers would not see
    Case("empty label", lambda s: s.run.update(labels={"pairs": ""}), "must not be empty", "labels.pairs"),
    Case("blank label", lambda s: s.run.update(labels={"pairs": "  "}), "must not be blank", "labels.pairs"),
    Case("label of two lines", lambda s: s.run.update(labels={"pairs": "a\nb"}),
         "control character U+000A", "labels.pairs"),
    Case("bell in the notice", lambda s: s.run.update(notice="a\x07b"), "control character U+0007", "notice"),
    # names that mean something else already
    Case("transformation called original", lambda s: rename(s, "transformations", "again", "original"),
         "a transformation cannot be called 'original'", "key 'transformations'", do="another id"),
    Case("transformation called like a column",
         lambda s: rename(s, "transformations", "again", "embedder"), "cannot be called 'embedder'"),
    Case("generator called none", lambda s: rename(s, "generators", "llm", "none"),
         "a generator cannot be called 'none'", "key 'generator'"),
    Case("dataset called like an axis", lambda s: rename(s, "datasets", "pairs", "length"),
         "a dataset cannot be called 'length'", "key 'datasets'"),
    Case("one name for two", lambda s: rename(s, "datasets", "pairs", "words"),
         "'words' is a dataset and an embedder of this run", "key 'embedders'", do="another id"),
    Case("setting called like a dataset", lambda s: s.run.update(
        settings={"pairs": {"datasets": s.run["datasets"]}}), "'pairs' is called like a dataset",
         "settings.pairs"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_value_that_would_fail_later_is_refused_before(tmp_path, case):
    refused(case, tmp_path)


def test_a_catalogue_that_is_named_twice_is_read_once(tmp_path):
    setup = Setup(tmp_path)
    setup.run["catalogue"] = [str(tmp_path / "mine.yaml"), str(tmp_path), "config/catalogue"]
    assert setup.problems() == []
