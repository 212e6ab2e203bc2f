"""The interactive page as a file: what it holds, what it leaves out, how large it becomes."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_tables import make_names, write, write_tables

from stressbed.errors import DataError
from stressbed.report.page import FURTHER, TABLES
from stressbed.report.page.build import embedded, render, write_page
from stressbed.report.page.data import distinct, encode, page_data
from stressbed.report.page.items import LONGEST, Pool, keep_worst, language_name, language_tag, shortened

NOWHERE = Path("no") / "such" / "folder"
HOSTILE = [
    "</script><script>window.hit = 1</script>",
    "<!-- <script> --> &lt; \u2028 \u2029 \x00 \\u003c",
    "@DATA@ @SCRIPTS@",
    "NA",
    "null",
    "=1+1\nsecond line\r\n\ttab",
    "القطة تنام 🙂 中文",
]


def data_of(page):
    """Return what the page's data element holds, as a browser reads it."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    return text, json.loads(text)


def decode(column):
    """Return a column's values."""
    if "values" in column:
        return column["values"]
    return [None if c is None else column["levels"][c] for c in column["codes"]]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_can_neither_end_its_element_nor_change(text):
    found = embedded({"text": text})
    assert not set(found) & set("<>&\u2028\u2029\x00\n")
    assert json.loads(found) == {"text": text}


def test_texts_reach_the_page_as_they_are(tmp_path):
    names = make_names(2, 2)
    frame = write_tables(tmp_path / "tables", names)["worst_items"].head(len(HOSTILE))
    frame = frame.assign(original_text=HOSTILE, rewritten_text=HOSTILE[::-1], item=HOSTILE)
    frame = frame[~frame["original_text"].str.contains("\x00|\r")]  # CSV readers normalise these
    write(tmp_path / "tables", "worst_items", frame, names)
    write_page(tables=tmp_path / "tables", names=names, out=tmp_path / "page.html", run="<b>&")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Robustness of text embedders: &lt;b&gt;&amp;</title>" in page
    _, data = data_of(page)
    columns = data["tables"]["worst_items"]["columns"]
    pairs = {
        (data["texts"][a], data["texts"][b])
        for a, b in zip(decode(columns["original_text"]), decode(columns["rewritten_text"]), strict=True)
    }
    assert pairs == set(zip(frame["original_text"], frame["rewritten_text"], strict=True))
    assert set(decode(columns["item"])) == set(frame["item"])


def test_only_the_pages_own_scripts_may_run_and_nothing_is_loaded():
    page = render(page_data(tables=NOWHERE, names=make_names(), run="made"))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert html.unescape(policy).startswith(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;"
    )
    (scripts,) = re.findall(r"script-src ([^;]*)", policy)
    assert re.fullmatch(r"('sha256-[A-Za-z0-9+/=]{44}' ?){3}", scripts)
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=\"(?!#)|\son[a-z]+=|url\(|@import", markup)


@pytest.mark.parametrize("name", [*TABLES, *FURTHER])
def test_a_table_that_is_missing_has_a_sentence(name):
    table = page_data(tables=NOWHERE, names=make_names())["tables"][name]
    assert table["columns"] == {}
    assert name in table["missing"]


def test_an_empty_table_says_in_its_own_words_why(tmp_path):
    names = make_names(1, 1)
    tables = tmp_path / "tables"
    write_tables(tables, names)
    empty = pd.DataFrame(columns=["transformation", "shift"])
    write(
        tables,
        "shifts",
        empty,
        names,
        notes=[
            "One dataset: nothing to test.",
            "A second sentence.",
            "The first 20 rows; shifts.csv has 3 more.",
        ],
    )
    found = page_data(tables=tables, names=names)["tables"]["shifts"]
    assert found["missing"] == "One dataset: nothing to test. A second sentence."
    assert found["title"] == "Title of shifts"
    assert found["columns"] == {}


def test_a_broken_table_is_named(tmp_path):
    (tmp_path / "shifts.csv").write_text('a,b\n"1,2\n')
    with pytest.raises(DataError, match=r"shifts\.csv"):
        page_data(tables=tmp_path, names=make_names())


@pytest.mark.parametrize("ids", [["007", "1.10"], ["NA", "null"], ["true", "false"], ["1e5", "inf"]])
def test_ids_that_look_like_numbers_or_like_nothing_stay_ids_on_the_page(tmp_path, ids):
    frame = pd.DataFrame({"setting": ids, "embedder": ids, "dataset": ids, "hteb": [1.0, 2.0]})
    (tmp_path / "by_dataset.csv").write_text(frame.to_csv(index=False))
    columns = page_data(tables=tmp_path, names=make_names())["tables"]["by_dataset"]["columns"]
    assert [decode(columns[c]) for c in ("setting", "embedder", "dataset")] == [ids] * 3


def test_values_are_those_of_the_csv_in_its_order(tmp_path):
    names = make_names(3, 4)
    found = write_tables(tmp_path / "tables", names)
    columns = page_data(tables=tmp_path / "tables", names=names)["tables"]["hteb_ranks"]["columns"]
    frame = found["hteb_ranks"].drop(columns=["generator", "setting"])
    assert list(columns) == list(frame.columns)
    assert decode(columns["embedder"]) == list(frame["embedder"])
    np.testing.assert_allclose(decode(columns["hteb_low"]), frame["hteb_low"], atol=5e-7)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, float("nan"), 2.5, float("inf")], {"values": [1, None, 2.5, None]}),
        ([-0.0, 1e-9, 0.1234567], {"values": [0, 0, 0.123457]}),
        ([True, False], {"values": [True, False]}),
        (["a", "b", "a", "a", None], {"codes": [0, 1, 0, 0, None], "levels": ["a", "b"]}),
        (["a", "b", None], {"values": ["a", "b", None]}),
        (["1e5", "007"], {"values": ["1e5", "007"]}),
    ],
)
def test_columns_are_encoded(values, expected):
    assert encode(pd.Series(values)) == expected


def test_the_worst_item_of_everything_comes_before_the_second_of_anything():
    rows = [(e, t, d, f"{e}{t}", f"{e}{t}{d}" * 20) for e in "ab" for t in "xy" for d in (-3, -2, -1)]
    columns = ["embedder", "transformation", "delta", "original_text", "rewritten_text"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["item"] = frame.index.astype(str)
    pool = Pool()
    kept, left = keep_worst(frame, pool, budget=400)
    assert left == 8
    assert set(zip(kept["embedder"], kept["transformation"], kept["delta"], strict=True)) == {
        (e, t, -3) for e in "ab" for t in "xy"
    }
    assert pool.size <= 400
    assert [pool.texts[i] for i in kept["original_text"]] == list(kept["embedder"] + kept["transformation"])
    everything, none = keep_worst(frame, Pool(), budget=10**6)
    assert (len(everything), none) == (12, 0)


def test_an_item_keeps_all_of_its_texts_or_none():
    rows = [("a", "x", -2, "1", field, text, "") for field, text in (("s1", "short"), ("s2", "long " * 50))]
    rows += [("a", "x", -1, "2", field, text, "") for field, text in (("s1", "small"), ("s2", "tiny"))]
    columns = ["embedder", "transformation", "delta", "item", "field", "original_text", "rewritten_text"]
    kept, left = keep_worst(pd.DataFrame(rows, columns=columns), Pool(), budget=100)
    assert list(zip(kept["item"], kept["field"], strict=True)) == [("2", "s1"), ("2", "s2")]
    assert left == 1


def test_a_text_is_held_once_and_not_longer_than_the_limit():
    pool = Pool()
    assert [pool.add("a"), pool.add("b"), pool.add("a")] == [0, 1, 0]
    assert pool.texts == ["a", "b"]
    long = shortened("word " * LONGEST)
    assert len(long) <= LONGEST + 5
    assert long.endswith(" […]")
    assert shortened("short") == "short"


@pytest.mark.parametrize(
    ("code", "tag", "name"),
    [
        ("fra-Latn", "fr", "French"),
        ("ara-Arab", "ar", "Arabic"),
        ("zho-Hans", "zh-Hans", "Chinese"),
        ("", "", ""),
        (None, "", ""),
    ],
)
def test_languages_have_tags_and_names(code, tag, name):
    assert (language_tag(code), language_name(code)) == (tag, name)


def test_equal_labels_are_told_apart_by_their_ids():
    assert distinct({"a": "E5", "b": "E5", "c": "BGE"}) == {"a": "E5 [a]", "b": "E5 [b]", "c": "BGE"}


def test_findings_become_points_and_paragraphs(tmp_path):
    (tmp_path / "findings.md").write_text(
        "# Findings\n\n## Axes\n\n- **Language** costs `most`\n  on English. *(paper: 5 of 11)*\n"
        "- Two\n\nA paragraph \\<b\\>.\n"
    )
    assert page_data(tables=tmp_path, names=make_names())["findings"] == [
        {"kind": "heading", "text": "Axes"},
        {"kind": "point", "text": "Language costs most on English. (paper: 5 of 11)"},
        {"kind": "point", "text": "Two"},
        {"kind": "paragraph", "text": "A paragraph <b>."},
    ]


def test_the_same_tables_give_the_same_page(tmp_path):
    names = make_names(2, 3)
    write_tables(tmp_path / "tables", names)
    pages = [tmp_path / f"{i}.html" for i in range(2)]
    for page in pages:
        write_page(tables=tmp_path / "tables", names=names, out=page, run="made")
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_a_run_of_the_papers_size_stays_below_ten_megabytes(tmp_path):
    names = make_names(16, 32)
    # Chinese takes three bytes per character; no two texts are the same.
    many = "".join(map(chr, range(0x4E00, 0x9FA5)))

    def text(i):
        long = many[i : i + 1400]
        return f"{i} {long}", f"{long[::-1]} {i}", "zho-Hans"

    tables = write_tables(tmp_path / "tables", names, text=text)
    assert len(tables["worst_items"]) == 16 * 32 * 8
    size = write_page(tables=tmp_path / "tables", names=names, out=tmp_path / "page.html", run="large")
    assert 5_000_000 < size < 10_000_000
    assert (tmp_path / "page.html").stat().st_size == size
    _, data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    shown = data["tables"]["worst_items"]
    assert shown["n"] + shown["left_out"] == 16 * 32 * 8
    there = set(zip(*(decode(shown["columns"][c]) for c in ("embedder", "transformation")), strict=True))
    assert len(there) == 16 * 8


def test_a_worst_item_says_in_words_what_became_of_its_rewrite(tmp_path):
    names = make_names(2, 2)
    write_tables(tmp_path / "tables", names)
    columns = page_data(tables=tmp_path / "tables", names=names)["tables"]["worst_items"]["columns"]
    assert not {"outcome", "flags"} & set(columns)
    cut = "fallback: the answer was cut off and is used as it came; far longer than the original"
    assert set(decode(columns["remarks"])) == {"", cut}
