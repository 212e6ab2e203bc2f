"""The ten flags: each rule at its border."""

import random
import re
from pathlib import Path

import gensim
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.config.catalogue import Catalogue
from stressbed.transform import flags as f
from stressbed.transform.flags import FLAGS, Flags, Thresholds, flag
from stressbed.transform.markers import Markers

CATALOGUE = Path(__file__).parents[3] / "config" / "catalogue"
MARKERS = Markers.of(Catalogue.read([CATALOGUE / "markers.yaml"]).markers.values())

NEWS = (Path(gensim.__file__).parent / "test/test_data/lee.cor").read_text(encoding="latin-1")


def set_flags(original, output, kind="rewrite", language="eng-Latn"):
    found = flag(original, output, kind=kind, language=language, markers=MARKERS)
    return {name for name in FLAGS if getattr(found, name)}


def test_a_good_rewrite_has_none():
    assert set_flags("A man plays the guitar.", "The guitar is played by a man.") == set()


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0), ("...", 0), ("one", 1), ("it's a well-known 3.5% rise", 6), ("naïve café", 2),
        ("私は東京に住んでいます。", 8), ("ฉันรักภาษาไทย", 4), ("我爱北京天安门", 4), ("مرحبا بالعالم", 2),
    ],
)  # fmt: skip
def test_words_by_unicode_segmentation(text, n):
    assert f.words(text) == n


def test_words_agree_with_spaces_on_plain_english():
    plain = re.sub(r"[^a-z ]", "", NEWS[:20_000].lower())
    assert f.words(plain) == len(plain.split())


@pytest.mark.parametrize(
    ("original", "output", "expected"),
    [
        ("A Man", "a man", True), ("STRASSE", "straße", True), ("A man", " A man \n", True),
        ("A man.", "A man", False), ("", "x", False),
    ],
)  # fmt: skip
def test_identical(original, output, expected):
    assert f.identical(original, output) is expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [("..", True), ("...", True), ("…", True), (" ... … ", True), (".", False), ("", False), (" ", False),
     ("... and so on", False), ("?", False)],
)  # fmt: skip
def test_ellipsis(output, expected):
    assert f.ellipsis(output) is expected


@pytest.mark.parametrize(
    ("output", "expected"), [("{'a': 1}", True), (" [x]", True), ("a {b}", False), ("(x)", False)]
)
def test_json_fragment(output, expected):
    assert f.json_fragment("x", output) is expected


@pytest.mark.parametrize(
    ("original", "output", "expected"),
    [
        ("x", "Here are my reasoning steps", True), ("x", "Let me think about it.", True),
        ("x", "I'll rewrite it", True), ("x", "I’ll rewrite it", True), ("x", "Step 12: read", True),
        ("x", "First STEP 1 : read", True), ("I'll come.", "I’ll arrive.", False),
        ("I'll come.", "Let me think. I'll arrive.", True), ("x", "Bill'll do", False),
        ("x", "Two steps 1: no", False), ("x", "A step further: no", False), ("x", "让我想想这个句子", True),
        ("x", "Étape 2 : lire", True),
    ],
)  # fmt: skip
def test_reasoning_leak(original, output, expected):
    assert f.reasoning_leak(original, output, MARKERS) is expected


@pytest.mark.parametrize(
    ("original", "output", "expected"),
    [
        ("x", "Translated text: y", True), ("x", "Paraphrased text: y", True), ("x", "summary: y", True),
        ("x", "Translation: y", True), ("x", "**Paraphrase:** y", True), ("x", "## Summary:\ny", True),
        ("x", "Here is the rewritten text:\n\ny", True), ("x", "Sure! Here's a paraphrase: y", True),
        ("x", "Übersetzung: y", True), ("x", "翻译：y", True), ("x", "الترجمة: y", True),
        ("Summary: x", "Summary: y", False), ("Summary: x", "Translation: y", True),
        ("x", "A summary: y", False), ("x", "In summary, y", False), ("x", "Translation is hard", False),
        ("x", "Note: y", False), ("x", "At 10:30 we met", False),
    ],
)  # fmt: skip
def test_prefix_leak(original, output, expected):
    assert f.prefix_leak(original, output, MARKERS) is expected


def test_length_rules_at_their_borders():
    ten = "w " * 10
    assert "runaway" not in set_flags("a b", ten)
    assert "runaway" in set_flags("a b", ten + "w")
    assert "runaway" in set_flags("a b", ten + "w", kind="summarise")
    assert "runaway" not in set_flags("a b", ten * 9, kind="expand")
    assert "truncated" not in set_flags(ten, "v w")
    assert "truncated" in set_flags(ten, "v")
    assert "truncated" in set_flags(ten, "v", kind="expand")
    assert "truncated" not in set_flags(ten, "v", kind="summarise")
    assert "truncated" not in set_flags("a b c", "")  # only inputs of more than three words
    assert "truncated" in set_flags("a b c d", "")
    assert "summary_too_long" not in set_flags("a b c", "d e f", kind="summarise")
    assert "summary_too_long" in set_flags("a b c", "d e f g", kind="summarise")
    assert "summary_too_long" not in set_flags("a b c", "d e f g")


def test_thresholds_are_parameters():
    strict = Thresholds(runaway=1.0)
    assert flag(
        "a b", "a b c", kind="rewrite", language="eng-Latn", markers=MARKERS, thresholds=strict
    ).runaway
    assert not flag("a b", "a b c", kind="rewrite", language="eng-Latn", markers=MARKERS).runaway


def test_an_empty_output():
    assert set_flags("one two", " \n") == {"empty"}
    assert set_flags("one two three four", "") == {"empty", "truncated"}


SENTENCES = {
    "eng-Latn": "A man is playing the guitar in the park with his friends.",
    "spa-Latn": "Un hombre toca la guitarra en el parque con sus amigos.",
    "fra-Latn": "Un homme joue de la guitare dans le parc avec ses amis.",
    "deu-Latn": "Ein Mann spielt im Park mit seinen Freunden Gitarre.",
    "tur-Latn": "Bir adam parkta arkadaşlarıyla gitar çalıyor.",
    "arb-Arab": "رجل يعزف على الجيتار في الحديقة مع أصدقائه.",
    "zho-Hans": "一个男人和他的朋友们在公园里弹吉他。",
    "jpn-Jpan": "男の人が公園で友達とギターを弾いています。",
    "kor-Hang": "한 남자가 공원에서 친구들과 기타를 치고 있다.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_languages_are_told_apart(language):
    for expected in SENTENCES:
        assert f.wrong_language(SENTENCES[language], expected) is (expected != language), expected


@pytest.mark.parametrize(
    ("output", "language"),
    [
        ("ok", "deu-Latn"), ("...", "fra"), ("", "fra"), ("12345 678", "fra"), ("Paris", "deu-Latn"),
        ("Ina zaune a Kano tare da iyalina, kuma ina son aikina", "hau-Latn"),
        ("A man is playing the guitar in the park.", "hau-Latn"),  # Hausa cannot be identified
        ("A man is playing the guitar in the park.", "und"),
        ("Umntwana udlala phandle nabangane bakhe namhlanje", "zul-Latn"),
        ("Jeg bor i Oslo og liker fisk veldig godt", "nno-Latn"), ("የአማርኛ ቋንቋ በኢትዮጵያ ነው", "eng"),
        ("Živim u Zagrebu i volim ribu i kruh.", "srp-Latn"),
    ],
)  # fmt: skip
def test_unknown_is_not_wrong(output, language):
    assert f.wrong_language(output, language) is False


@pytest.mark.parametrize(("n_words", "most_false", "least_found"), [(5, 0.04, 0.75), (12, 0.02, 0.95)])
def test_wrong_language_on_real_news(n_words, most_false, least_found):
    words = NEWS.split()
    rng = random.Random(3)
    starts = [rng.randrange(len(words) - n_words) for _ in range(150)]
    texts = [" ".join(words[i : i + n_words]) for i in starts]
    false = sum(f.wrong_language(t, "eng-Latn") for t in texts) / len(texts)
    found = {tag: sum(f.wrong_language(t, tag) for t in texts) / len(texts) for tag in ("fra", "deu", "spa")}
    print(f"\n{n_words} words: {false:.3f} falsely wrong; found where another was asked for: {found}")
    assert false <= most_false
    assert min(found.values()) >= least_found


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["rewrite", "summarise", "expand"]))
def test_any_texts_can_be_judged(original, output, kind):
    found = flag(original, output, kind=kind, language="hau-Latn", markers=MARKERS)
    assert isinstance(found, Flags)
    assert found.any == any(getattr(found, name) for name in FLAGS)
    assert found.empty or output.strip()
