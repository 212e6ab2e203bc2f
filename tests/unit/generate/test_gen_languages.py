"""Languages: comparison, names and draws."""

from collections import Counter

import pytest
from gen_samples import catalogue, english, hteb, texts_frame
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.config.entries import Step, TransformationEntry
from stressbed.errors import ConfigError
from stressbed.fingerprint import text_digest
from stressbed.generate.assign import assign, draw
from stressbed.languages import english_name, language_of, remaining

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
        ("zlm-Latn", "Malay"), ("zsm-Latn", "Malay"), ("ind-Latn", "Indonesian"),
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
    assert language_of(one) == language_of(other)


def test_different_languages_stay_apart():
    assert len({language_of(t) for t in [*POOL, "eng", "por", "nld", "zul", "xho"]}) == 10


def test_no_language_is_refused():
    with pytest.raises(ConfigError, match="'esp' is not a language"):
        language_of("esp")


@settings(deadline=None)
@given(st.integers(0, 10**6), st.text(max_size=20))
def test_draw_ignores_order_and_spelling(seed, place):
    drawn = draw(POOL, seed, "s", place)
    assert draw(POOL[::-1], seed, "s", place) == drawn
    assert language_of(draw(["es", "fr", "de", "tr", "ar"], seed, "s", place)) == language_of(drawn)


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
        assert language_of(source) != language_of(target)
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


def test_one_target_per_dataset_and_a_row_of_that_language_takes_the_next():
    subsets = {
        "en": ["eng-Latn"],
        "es": ["spa-Latn"],
        "fr": ["fra-Latn"],
        "de": ["deu-Latn"],
        "tr": ["tur-Latn"],
    }
    texts = texts_frame([(s, tags[0], "both", f"{s} {i}") for s, tags in subsets.items() for i in range(3)])
    e = entry(draw="dataset", exclude="row")
    seen = set()
    for seed in range(20):
        drawn = assign(e, seed, dataset="d", texts=texts, languages=subsets).languages
        ranking = sorted(POOL, key=lambda t: draw_rank(t, seed), reverse=True)
        expected = [
            next(t for t in ranking if language_of(t) != language_of(source)) for source in texts["language"]
        ]
        assert drawn == expected
        assert len(set(drawn)) <= 2  # the drawn one, and the next for rows in the drawn one
        seen.add(drawn[0])
    assert len(seen) > 2


def draw_rank(tag, seed):
    """The hash that decides a draw, as docs/transformations.md tells it."""
    return text_digest("draw", str(seed), "target", "d", "default", language_of(tag))


def test_a_pair_takes_a_language_that_neither_text_has():
    rows = [("x", "eng-Latn", "query", "a", "0"), ("x", "fra-Latn", "document", "b", "0"),
            ("x", "deu-Latn", "query", "c", "1"), ("x", "spa-Latn", "document", "d", "1")]  # fmt: skip
    texts = texts_frame([r[:4] for r in rows])
    texts["row"] = [r[4] for r in rows]
    e = entry(draw="dataset", exclude="row", pool=["fra-Latn", "deu-Latn", "spa-Latn"])
    for seed in range(20):
        first, second, third, fourth = assign(
            e,
            seed,
            dataset="d",
            texts=texts,
            languages={"x": ["eng-Latn", "fra-Latn", "deu-Latn", "spa-Latn"]},
        ).languages
        assert first == second != "fra-Latn"
        assert third == fourth == "fra-Latn"


def test_a_dataset_of_one_subset_draws_alike_per_dataset_and_per_subset():
    texts = texts_frame([("default", "eng-Latn", "both", "a")])
    for seed in range(20):
        per_dataset, per_subset = (
            assign(
                entry(draw=d, exclude=x), seed, dataset="d", texts=texts, languages={"default": ["eng"]}
            ).languages
            for d, x in (("dataset", "row"), ("subset", "subset"))
        )
        assert per_dataset == per_subset
