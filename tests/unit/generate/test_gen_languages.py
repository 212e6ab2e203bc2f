"""Languages: comparison, names and draws."""

from collections import Counter

import pytest
from gen_samples import catalogue, english, hteb, texts_frame
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.config.entries import Step, TransformationEntry
from stressbed.errors import ConfigError
from stressbed.generate.languages import assign, draw, english_name, identity, remaining

POOL = ["spa-Latn", "fra-Latn", "deu-Latn", "tur-Latn", "arb-Arab"]


def entry(**changes):
    base = {
        "id": "t", "label": "T", "axis": "language", "draw": "text", "pool": POOL, "exclude": "source",
        "steps": [Step(prompt="translate", language="target")],
    }  # fmt: skip
    return TransformationEntry.model_validate(base | changes)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("spa-Latn", "Spanish"), ("fra-Latn", "French"), ("deu-Latn", "German"), ("tur-Latn", "Turkish"),
        ("arb-Arab", "Arabic"), ("eng-Latn", "English"), ("ara", "Arabic"), ("ar", "Arabic"),
        ("hau-Latn", "Hausa"), ("zho-Hans", "Chinese"), ("cmn-Hans", "Chinese"), ("kor-Hang", "Korean"),
        ("zho-Hant", "Chinese (Traditional)"), ("srp-Latn", "Serbian (Latin)"), ("srp-Cyrl", "Serbian"),
        ("jpn-Jpan", "Japanese"), ("ory-Orya", "Odia"), ("swh-Latn", "Swahili"), ("pes-Arab", "Persian"),
        ("kin-Latn", "Kinyarwanda"), ("arz-Arab", "Egyptian Arabic"), ("und", "the language of the text"),
    ],
)  # fmt: skip
def test_names_for_prompts(tag, name):
    assert english_name(tag) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [("arb-Arab", "ar"), ("ara", "arz"), ("zho-Hans", "cmn-Hant"), ("fra", "fr"), ("en_US", "eng-Latn"),
     ("nob", "nno-Latn"), ("swa", "swh-Latn")],
)  # fmt: skip
def test_spellings_and_varieties_are_one_language(one, other):
    assert identity(one) == identity(other)


def test_different_languages_stay_apart():
    assert len({identity(t) for t in [*POOL, "eng", "por", "nld", "zul", "xho"]}) == 10


def test_no_language_is_refused():
    with pytest.raises(ConfigError, match="'esp' is not a language"):
        identity("esp")


@settings(deadline=None)
@given(st.integers(0, 10**6), st.text(max_size=20))
def test_draw_ignores_order_and_spelling(seed, place):
    drawn = draw(POOL, seed, "s", place)
    assert draw(POOL[::-1], seed, "s", place) == drawn
    assert identity(draw(["es", "fr", "de", "tr", "ar"], seed, "s", place)) == identity(drawn)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.text(max_size=20))
def test_a_larger_pool_keeps_draws_that_do_not_fall_on_the_new_language(seed, place):
    before, after = draw(POOL, seed, "s", place), draw([*POOL, "por-Latn"], seed, "s", place)
    assert after in {before, "por-Latn"}


def test_draws_are_even():
    counts = Counter(draw(POOL, seed, "s", str(i)) for seed in range(50) for i in range(200))
    chi_square = sum((c - 2000) ** 2 / 2000 for c in counts.values())
    assert chi_square < 18.5  # 0.1 % point for 4 degrees of freedom
    assert len(counts) == 5


def test_remaining_compares_languages():
    assert remaining(POOL, ["arz-Arab", "fr"]) == ["spa-Latn", "deu-Latn", "tur-Latn"]


def test_one_target_per_subset_and_seed():
    texts = texts_frame([(s, "eng-Latn", "both", f"text {i}") for s in "abcdef" for i in range(20)])
    languages = {s: ["eng-Latn"] for s in "abcdef"}
    e = entry(draw="subset", exclude="subset")
    drawn = assign(e, 1337, dataset="d", texts=texts, languages=languages).languages
    by_subset = {s: {drawn[i] for i in range(k * 20, k * 20 + 20)} for k, s in enumerate("abcdef")}
    assert all(len(found) == 1 for found in by_subset.values())
    assert len(set(drawn)) > 1  # not the same for all subsets
    assert drawn != assign(e, 1, dataset="d", texts=texts, languages=languages).languages


def test_translation_excludes_every_language_of_the_subset():
    texts = texts_frame([("eng-fra", "eng-Latn", "both", "a"), ("eng-fra", "fra-Latn", "both", "b")])
    e = entry(draw="subset", exclude="subset", pool=["fra-Latn", "deu-Latn"])
    for seed in range(30):
        a = assign(e, seed, dataset="d", texts=texts, languages={"eng-fra": ["eng-Latn", "fra-Latn"]})
        assert a.languages == ["deu-Latn", "deu-Latn"]


def test_cross_translation_draws_per_text_without_its_own_language():
    rows = [("x", source, "both", f"t{i}") for i in range(100) for source in ("spa-Latn", "arz-Arab")]
    a = assign(entry(), 7, dataset="d", texts=texts_frame(rows), languages={"x": ["spa-Latn", "arz-Arab"]})
    for source, target in zip(a.texts["language"], a.languages, strict=True):
        assert identity(source) != identity(target)
    assert {t for s, t in zip(a.texts["language"], a.languages, strict=True) if s == "spa-Latn"} == {
        "fra-Latn", "deu-Latn", "tur-Latn", "arb-Arab",
    }  # fmt: skip


def test_cross_translation_draws_again_for_each_place_backtranslation_for_each_content():
    texts = texts_frame([("x", "eng-Latn", "both", "the same text")] * 60)
    languages = {"x": ["eng-Latn"]}
    cross = assign(entry(), 7, dataset="d", texts=texts, languages=languages)
    back = entry(
        steps=[
            Step(prompt="translate", language="intermediate"),
            Step(prompt="translate", language="source"),
        ],
        pool=["eng-Latn", *POOL],
    )
    assert len(set(cross.languages)) == 5
    there = assign(back, 7, dataset="d", texts=texts, languages=languages)
    elsewhere = assign(back, 7, dataset="another", texts=texts, languages=languages)
    assert len(set(there.languages)) == 1
    assert there.languages == elsewhere.languages
    assert "eng-Latn" not in there.languages


def test_nothing_left_makes_the_subset_absent_with_a_reason():
    texts = texts_frame([("fr", "fra-Latn", "both", "a"), ("de", "deu-Latn", "both", "b")])
    a = assign(
        entry(pool=["fr"]), 1, dataset="d", texts=texts, languages={"fr": ["fra-Latn"], "de": ["deu-Latn"]}
    )
    assert a.texts["subset"].tolist() == ["de"]
    assert a.languages == ["fr"]
    assert list(a.absent) == ["fr"]
    assert "no language left to draw" in a.absent["fr"]
    assert "French" in a.absent["fr"]


def test_half_a_pair_without_a_choice_makes_its_subset_absent():
    texts = texts_frame([("fr-de", "fra-Latn", "both", "a"), ("fr-de", "deu-Latn", "both", "b")])
    a = assign(entry(pool=["fra"]), 1, dataset="d", texts=texts, languages={"fr-de": ["fra", "deu"]})
    assert len(a.texts) == 0
    assert list(a.absent) == ["fr-de"]


def test_an_unknown_source_cannot_be_translated_back_to():
    cat = catalogue()
    texts = texts_frame([("x", "und", "both", "a")])
    found = {t.id: assign(t, 1, dataset="d", texts=texts, languages={"x": ["und"]}).absent for t in hteb(cat)}
    assert "unknown" in found["backtranslation"]["x"]
    assert not found["paraphrasing"]
    assert not found["translation"]


def test_fields_choose_sides():
    texts = texts_frame([("x", "eng-Latn", side, side) for side in ("query", "document", "both")])
    for fields, sides in {
        "all": ["query", "document", "both"],
        "queries": ["query"],
        "documents": ["document"],
    }.items():
        a = assign(entry(fields=fields), 1, dataset="d", texts=texts, languages={"x": ["eng-Latn"]})
        assert a.texts["side"].tolist() == sides


def test_draws_do_not_depend_on_which_other_texts_there_are():
    texts = english(50)
    whole = assign(entry(), 3, dataset="d", texts=texts, languages={"default": ["eng-Latn"]})
    part = assign(entry(), 3, dataset="d", texts=texts[20:30], languages={"default": ["eng-Latn"]})
    assert part.languages == whole.languages[20:30]
