"""Language tags against the script that the texts are written in, and one name per language."""

import json

import pytest

from stressbed.config.entries import DatasetEntry, PromptEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.tags import differing, right_tag
from stressbed.generate.prompts import SLOT, instruction
from stressbed.languages import english_name, one_tag

OROMO = ["Har'a qilleensi bareedaadha.", "Gara mana barumsaa deemna.", "Bunni keenya mi'aawaadha."]


@pytest.mark.parametrize(
    ("tag", "texts", "expected"),
    [
        ("orm-Ethi", OROMO, "orm-Latn"),
        ("orm", OROMO, "orm"),  # the usual script needs no name
        ("orm-Latn", OROMO, "orm-Latn"),
        ("amh-Ethi", ["ዛሬ አየሩ ጥሩ ነው"], "amh-Ethi"),
        ("srp-Latn", ["Добар дан, како сте?"], "srp-Cyrl"),
        ("srp", ["Dobar dan, kako ste?"], "srp-Latn"),
        ("hin", ["main kal dilli ja raha hoon"], "hin-Latn"),
        ("zho-Hans", ["這個問題沒有簡單的答案。"], "zho-Hant"),
        ("zho", ["這個問題沒有簡單的答案。"], "zho-Hant"),
        ("cmn-Hans", ["这个问题没有答案。", "你好"], "cmn-Hans"),
        ("jpn-Jpan", ["東京大学"], "jpn-Jpan"),
        ("kor-Hang", ["오늘은 날씨가 좋다"], "kor-Hang"),
        ("kor-Kore", ["오늘은 날씨가 좋다"], "kor-Kore"),
        ("rus-Cyrl", ["Привет", "hello there", "12"], "rus-Cyrl"),  # no majority
        ("deu-Latn", ["12345", "😂"], "deu-Latn"),
        ("und", ["Привет"], "und"),
        ("mul", ["Привет"], "mul"),
    ],
)
def test_the_texts_decide_the_script(tag, texts, expected):
    assert right_tag(tag, texts) == expected


def local(tmp_path, texts, languages, **more):
    rows = "".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(zip(texts, reversed(texts), strict=True)))
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\n" + rows, encoding="utf-8")
    entry = DatasetEntry(
        id="pairs", task_type="STS", main_score="cosine_spearman", files={"test": "pairs.csv"}, min_score=0,
        max_score=5, languages={"default": languages}, **more,
    )  # fmt: skip
    out = tmp_path / "frozen"
    freeze(entry, tmp_path, out)
    return json.loads((out / "manifest.json").read_text(encoding="utf-8"))


def test_freezing_puts_the_right_script_and_says_so(tmp_path):
    manifest = local(tmp_path, OROMO, ["orm-Ethi"])
    assert manifest["languages"] == {"default": ["orm-Latn"]}
    note = "language of default: orm-Latn, since its texts are not written as orm-Ethi says"
    assert manifest["notes"][note] == 6
    words = instruction(PromptEntry(id="p", template=f"In {SLOT}.", source="made"), "orm-Latn")
    assert words == "In Oromo."
    assert english_name("orm-Ethi") == "Oromo (Ethiopic)"


def test_each_side_of_a_pair_has_a_tag_of_its_own(tmp_path):
    rows = "Dobar dan kako ste,Добар дан како сте,3\nLaku noć svima,Лаку ноћ свима,2\n"
    rows += "Hvala vam puno,Хвала вам пуно,1\n"
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\n" + rows, encoding="utf-8")
    entry = DatasetEntry(
        id="pairs", task_type="STS", main_score="cosine_spearman", files={"test": "pairs.csv"}, min_score=0,
        max_score=5, languages={"default": ["hrv-Cyrl", "srp-Latn"]},
        field_languages={"default": {"sentence1": "hrv-Cyrl", "sentence2": "srp-Latn"}},
    )  # fmt: skip
    freeze(entry, tmp_path, tmp_path / "frozen")
    manifest = json.loads((tmp_path / "frozen" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["languages"] == {"default": ["hrv-Latn", "srp-Cyrl"]}
    assert manifest["field_languages"] == {"default": {"sentence1": "hrv-Latn", "sentence2": "srp-Cyrl"}}


def test_where_the_catalogue_corrects_mteb_a_note_says_so():
    theirs = {"orm": ["orm-Ethi"], "amh": ["amh-Ethi"], "x": ["eng-Latn"]}
    notes = list(differing({"orm": ["orm-Latn"], "amh": ["amh-Ethi"]}, theirs))
    assert notes == ["language of orm: orm-Latn, where mteb says orm-Ethi"]


@pytest.mark.parametrize(
    ("spellings", "expected"),
    [
        (["ara", "arb", "ar", "arb-Arab", "ara-Arab"], "ara-Arab"),
        (["zho", "cmn", "zh", "zho-Hans", "cmn-Hans"], "zho-Hans"),
        (["zho-Hant", "cmn-Hant", "zh-Hant"], "zho-Hant"),
        (["nor", "nob", "no", "nb-Latn"], "nor-Latn"),
        (["swa", "swh", "sw"], "swa-Latn"),
        (["fas", "pes", "fa"], "fas-Arab"),
        (["msa", "zsm", "zlm", "ms"], "msa-Latn"),
        (["est", "ekk"], "est-Latn"),
        (["lav", "lvs"], "lav-Latn"),
        (["mon", "khk", "mn-Cyrl"], "mon-Cyrl"),
        (["kor", "ko", "kor-Hang", "kor-Kore"], "kor-Hang"),
        (["jpn", "ja-Jpan"], "jpn-Jpan"),
        (["eng", "en", "en-US", "eng_Latn"], "eng-Latn"),
        (["orm", "gaz"], "orm-Latn"),
        (["hin-Latn"], "hin-Latn"),
        (["ary-Arab"], "ary-Arab"),  # Moroccan Arabic is not what `ara` means
        (["nno"], "nno-Latn"),
        (["yue"], "yue-Hant"),
        (["und"], "und"),
        (["no-such-tag"], "no-such-tag"),
    ],
)
def test_a_language_has_one_name_in_tables(spellings, expected):
    assert {one_tag(t) for t in spellings} == {expected}
