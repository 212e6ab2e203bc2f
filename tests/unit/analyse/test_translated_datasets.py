"""A dataset beside its translation: drops on the same items, and what is said where one side is lacking."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from fabricate import EIGHT
from study_cases import analysed, made_names, made_scores

from stressbed.analyse.metadata import trained_languages
from stressbed.analyse.names import Names
from stressbed.analyse.statistics.translated import COLUMNS, translated_datasets
from stressbed.check import load_run
from stressbed.config.load import read_config

ROOT = Path(__file__).parents[3]
DROPS = {("a", "sts"): 15.0, ("b", "sts"): 9.0, ("a", "sts-deu"): 10.0, ("b", "sts-deu"): 8.0}
ORIGINALS = {"a": 80.0, "b": 70.0}


def score(e, d, t, s):
    """Every rewritten cell loses the same; German originals are 5 points lower."""
    original = ORIGINALS[e] - 5 * d.endswith("-deu")
    return original if t == "original" else original - DROPS.get((e, d), 0.0)


def made(score=score, *, datasets=("sts", "other", "sts-deu"), translations=None, **more):
    translations = {"sts-deu": "sts"} if translations is None else translations
    pairs, languages = more.pop("pairs", None), more.pop("languages", {})
    names = made_names(["a", "b"], datasets, translations=translations, **more)
    scores = made_scores(names, score, pairs=pairs)
    scores["language"] = ["deu-Latn" if d.endswith("-deu") else "eng-Latn" for d in scores["dataset"]]
    return translated_datasets(replace(analysed(names, scores), languages=languages))


def test_each_embedder_and_their_mean_have_drops_on_both_sides():
    table = made()
    expected = pd.DataFrame(
        [
            ("sts", "sts-deu", "deu-Latn", "a", "", 80.0, 15.0, 75.0, 10.0),
            ("sts", "sts-deu", "deu-Latn", "b", "", 70.0, 9.0, 65.0, 8.0),
            ("sts", "sts-deu", "deu-Latn", "(all)", "", 75.0, 12.0, 70.0, 9.0),
        ],
        columns=COLUMNS[1:],
    )
    pd.testing.assert_frame_equal(table.frame, expected)
    assert len(table.notes) == 3


def test_axes_weigh_the_same_however_many_transformations_they_have():
    lost = {"lexical_stylistic": 3.0, "length": 6.0, "language": 12.0}

    def by_axis(e, d, t, s):
        return 50.0 if t == "original" else 50.0 - lost[EIGHT[t][1]]

    assert made(by_axis).frame["source_drop"].tolist() == pytest.approx([7.0] * 3)


def test_a_lacking_cell_blanks_its_embedder_and_leaves_it_out_of_the_mean():
    table = made(
        lambda e, d, t, s: None if (e, d, t, s) == ("a", "sts-deu", "expansion", 2) else score(e, d, t, s)
    )
    frame = table.frame.set_index("embedder")
    assert pd.isna(frame.loc["a", "translated_drop"])
    assert frame.loc["a", "source_drop"] == 15.0
    assert frame.loc["(all)", ["source_drop", "translated_drop"]].tolist() == [9.0, 8.0]
    assert any("rests on 1 of 2 embedders" in note for note in table.notes)


def test_the_mean_over_nobody_stands_and_is_blank():
    table = made(
        lambda e, d, t, s: None if (d, t, s) == ("sts", "expansion", 2) else score(e, d, t, s),
        languages={"a": frozenset({"deu"})},
    )
    assert table.frame["embedder"].tolist() == ["a", "b", "(all)"]
    means = table.frame.set_index("embedder")
    assert means.loc["(all)", ["source_original", "source_drop", "translated_drop"]].isna().all()
    assert means["translated_drop"].tolist()[:2] == [10.0, 8.0]
    assert "sts-deu: the mean rests on 0 of 2 embedders; others lack a cell." in table.notes


def test_an_embedder_without_cells_on_one_side_has_no_row():
    table = made(pairs={("a", "sts"), ("b", "sts"), ("b", "sts-deu")})
    assert table.frame["embedder"].tolist() == ["b", "(all)"]


def test_generators_are_never_averaged():
    table = made(generators=("one", "two"))
    assert table.frame["generator"].tolist() == ["one"] * 3 + ["two"] * 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"translations": {}}, "no dataset of the run is another one in translation"),
        ({"datasets": ("sts-deu",)}, "sts-deu: left out, its source sts is not part of the run"),
        ({"pairs": {("a", "sts"), ("b", "sts-deu")}}, "no embedder has cells on both it and sts"),
    ],
    ids=["none", "no source", "no common embedder"],
)
def test_what_a_run_lacks_is_said_and_has_no_rows(changes, words):
    table = made(**changes)
    assert table.frame.empty
    assert list(table.frame.columns) == list(COLUMNS[1:])
    assert any(words in note for note in table.notes)


def test_embedders_that_know_the_language_have_a_mean_of_their_own():
    languages = {"a": frozenset({"eng", "zho"}), "b": frozenset({"eng", "deu"})}
    frame = made(languages=languages).frame.set_index("embedder")
    assert frame["trained"].to_dict() == {
        "a": "no", "b": "yes", "(all)": "", "(trained on the language)": "",
        "(not trained on the language)": "",
    }  # fmt: skip
    values = frame[["source_original", "source_drop", "translated_original", "translated_drop"]]
    assert values.loc["(all)"].tolist() == [75.0, 12.0, 70.0, 9.0]
    assert values.loc["(trained on the language)"].tolist() == [70.0, 9.0, 65.0, 8.0]
    assert values.loc["(not trained on the language)"].tolist() == [80.0, 15.0, 75.0, 10.0]


def test_an_embedder_whose_languages_nobody_knows_is_in_neither_group():
    frame = made(languages={"a": frozenset({"deu"})}).frame
    assert frame["embedder"].tolist() == ["a", "b", "(all)", "(trained on the language)"]
    assert frame["trained"].tolist() == ["yes", "", "", ""]


def test_languages_come_from_the_entry_and_else_from_mteb(tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    plan = load_run(read_config(ROOT / "config" / "hteb-german.yaml"), base=ROOT)
    found = trained_languages(plan)
    german = {e for e, known in found.items() if "deu" in known}
    assert german == {
        "f2llm-v2-4b", "qwen3-embedding-8b", "llama-embed-nemotron-8b", "jina-embeddings-v5-text-small"
    }  # fmt: skip
    assert found["all-minilm-l12-v2"] == {"eng"}
    assert found["jasper-token-compression-600m"] == {"eng", "zho"}
    entries = plan.catalogue.embedders
    own = entries["all-minilm-l12-v2"].model_copy(update={"languages": ["deu-Latn", "fra-Latn"]})
    catalogue = replace(plan.catalogue, embedders={**entries, "all-minilm-l12-v2": own})
    assert trained_languages(replace(plan, catalogue=catalogue))["all-minilm-l12-v2"] == {"deu", "fra"}
    untranslated = plan.config.model_copy(update={"datasets": ["stsbenchmark"]})
    assert trained_languages(replace(plan, config=untranslated)) == {}


def test_the_german_run_knows_what_is_translated_from_what():
    plan = load_run(read_config(ROOT / "config" / "hteb-german.yaml"), base=ROOT)
    assert Names.of(plan).translations == {"stsbenchmark-deu": "stsbenchmark"}
