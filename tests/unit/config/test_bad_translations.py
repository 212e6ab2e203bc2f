"""Wrong entries of translated datasets: each is refused alone, with its own message."""

import pytest
from config_cases import Case, Setup, refused

from stressbed.paths import Variant


def german(setup, **changes):
    """Let the run use the pairs in German alone, with changes to their entry."""
    entry = {
        "id": "pairs-deu",
        "translate_dataset": {"source": "pairs", "generator": "llm", "transformation": "say"},
        "task_type": "STS",
        "languages": {"default": ["deu-Latn"]},
        "main_score": "cosine_spearman",
    }
    setup.entries["datasets"].append(entry)
    setup.run["datasets"] = ["pairs-deu"]
    entry.update(changes)
    return entry


def made(setup, **changes):
    """The same with changes to what it is made from."""
    german(setup)["translate_dataset"].update(changes)


def transformation(setup, name):
    return next(t for t in setup.entries["transformations"] if t["id"] == name)


CASES = [
    Case("unknown source", lambda s: made(s, source="pears"), "no dataset is called 'pears'",
         "dataset 'pairs-deu', key 'translate_dataset.source'", do="did you mean 'pairs'"),
    Case("source is a translation", lambda s: (german(s), s.entries["datasets"].append(
        {**s.entries["datasets"][-1], "id": "pairs-fra", "languages": {"default": ["fra-Latn"]},
         "translate_dataset": {"source": "pairs-deu", "generator": "llm", "transformation": "say"}}),
        s.run.update(datasets=["pairs-fra"])), "'pairs-deu' is itself a translation", do="translate 'pairs'"),
    Case("itself", lambda s: made(s, source="pairs-deu"), "'pairs-deu' is itself a translation"),
    Case("unknown translator", lambda s: made(s, generator="lmm"), "no generator is called 'lmm'",
         "translate_dataset.generator", do="did you mean 'llm'"),
    Case("translator to be chosen", lambda s: made(s, generator="auto"),
         "cannot be translated by `auto`", "translate_dataset.generator", "llm", "name a generator"),
    Case("unknown transformation", lambda s: made(s, transformation="sai"),
         "no transformation is called 'sai'", "translate_dataset.transformation", do="did you mean 'say'"),
    Case("no translation", lambda s: made(s, transformation="again"), "'again' is no translation",
         allowed="say"),
    Case("there and back", lambda s: made(s, transformation="back"), "'back' is no translation"),
    Case("one side only", lambda s: (german(s), transformation(s, "say").update(fields="queries")),
         "'say' is no translation of all texts"),
    Case("rows dropped", lambda s: (german(s), transformation(s, "say").update(on_cut="drop")),
         "'say' drops rows (`on_cut`)", do="keeps the original text"),
    Case("another type", lambda s: german(s, task_type="STR"),
         "`task_type` is STR, but that of the source 'pairs' is STS", "key 'task_type'",
         do="write `task_type: STS`"),
    Case("another score", lambda s: german(s, main_score="cosine_pearson"),
         "`main_score` is cosine_pearson", do="write `main_score: cosine_spearman`"),
    Case("other subsets", lambda s: german(s, subsets=["de"], languages={"de": ["deu-Latn"]}),
         "`subsets` is [de]", do="write `subsets: [default]`"),
    Case("other splits", lambda s: german(s, splits=["dev"]), "`splits` is [dev]", do="`splits: [test]`"),
    Case("pairs of translations", lambda s: (german(s, task_type="BitextMining", main_score="f1"),
        s.entries["datasets"][-1]["translate_dataset"].update(source="bitext")), "cannot be translated"),
    Case("the source's language", lambda s: german(s, languages={"default": ["eng-Latn"]}),
         "texts of the source 'pairs' are in 'eng-Latn' already", "key 'languages'", "other than eng-Latn"),
    Case("a variety of the source's language", lambda s: (german(s, languages={"default": ["arz-Arab"]}),
        next(e for e in s.entries["datasets"] if e["id"] == "pairs").update(
            languages={"default": ["arb-Arab"]})), "are in 'arz-Arab' already"),
    Case("no language", lambda s: german(s, languages={"default": ["und"]}),
         "nothing can be translated into 'und'"),
    Case("two languages", lambda s: german(s, languages={"default": ["deu-Latn", "fra-Latn"]}),
         "is in one language, not in 2", "key 'languages'"),
    Case("files of its own", lambda s: german(s, files={"test": "pairs.csv"}),
         "'files' has no effect on a translated dataset"),
    Case("a limit of its own", lambda s: german(s, row_limit=2), "'row_limit' has no effect"),
    Case("a scale of its own", lambda s: german(s, max_score=5), "'max_score' has no effect"),
    Case("unknown key", lambda s: made(s, sources="pairs"), "unknown key 'sources'",
         "translate_dataset.sources", "source, generator, transformation, seed", "did you mean 'source'"),
    Case("the source's own mistake", lambda s: (german(s), next(
        e for e in s.entries["datasets"] if e["id"] == "pairs").update(columns={"scores": "x"})),
        "'scores' is not a standard column", "dataset 'pairs'"),
    Case("the translator's own mistake", lambda s: (german(s), next(
        e for e in s.entries["generators"] if e["id"] == "llm").pop("base_url"),
        s.run.update(generator="local")), "an endpoint needs an address", "generator 'llm', key 'base_url'"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[c.name.replace(" ", "-") for c in CASES])
def test_a_wrong_translated_dataset_is_refused_with_its_own_message(case, tmp_path):
    refused(case, tmp_path)


def test_a_run_uses_what_a_translated_dataset_hangs_on(tmp_path):
    setup = Setup(tmp_path)
    german(setup)
    setup.run["generator"] = "local"
    plan = setup.load()
    assert plan.datasets == ["pairs-deu", "pairs"]
    assert plan.generators == ["local", "llm"]
    assert plan.transformations == ["again", "say"]
    (translation,) = plan.translations
    assert translation.variant == Variant("llm", "say-deu-Latn", 1337)
    assert (translation.source, translation.language) == ("pairs", "deu-Latn")
    assert (translation.entry.pool, translation.entry.exclude) == (["deu-Latn"], "none")
    assert plan.translation("pairs") is None


def change_prompt(setup):
    setup.entries["prompts"][0]["template"] += " Please."


CHANGES = {
    "prompt": change_prompt,
    "translator": lambda s: s.entries["generators"][0].update(model="other"),
    "source": lambda s: s.entries["datasets"][0].update(row_limit=3),
    "seed": lambda s: s.entries["datasets"][-1]["translate_dataset"].update(seed=7),
    "language": lambda s: s.entries["datasets"][-1].update(languages={"default": ["fra-Latn"]}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_all_that_decides_a_translation_is_part_of_the_datasets_identity(name, tmp_path):
    setup = Setup(tmp_path)
    german(setup)
    before = setup.load()
    CHANGES[name](setup)
    after = setup.load()
    assert before.dataset_identity("pairs-deu") != after.dataset_identity("pairs-deu")
    unchanged = before.dataset_identity("pairs") == after.dataset_identity("pairs")
    assert unchanged == (name != "source")


def test_a_pool_or_a_label_does_not_decide_a_translation(tmp_path):
    setup = Setup(tmp_path)
    german(setup)
    before = setup.load().dataset_identity("pairs-deu")
    transformation(setup, "say").update(pool=["tur-Latn", "spa-Latn"], label="Said", order=9)
    setup.entries["generators"][0]["batch_size"] = 3
    assert setup.load().dataset_identity("pairs-deu") == before


def test_other_datasets_keep_the_identity_that_they_had(tmp_path):
    """A store of an earlier version knows its datasets by these."""
    plan = Setup(tmp_path).load()
    assert plan.dataset_identity("hub") == "506ae7faf65673e58c9d5f013f03f053"
