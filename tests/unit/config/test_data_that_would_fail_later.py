"""Data that a job would stumble over, or score wrongly: said before any work, all in one go."""

import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from config_cases import CORPUS, QRELS, ROOT, TRAIN, Case, Setup, jsonl, refused

from stressbed.check import load_run
from stressbed.config.entries import DatasetEntry
from stressbed.dataset.tables import read_table
from stressbed.errors import DataError, Problems

FAILING = ROOT / "tests" / "data" / "failing"


def case(name, tmp_path, **more):
    """Load a case as its run config says."""
    (folder,) = FAILING.glob(f"{name}-*")
    run = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    return load_run(
        {**run, "results": str(tmp_path / "results"), "catalogue": [str(folder / "cat.yaml")], **more},
        base=ROOT,
    )


def problems(name, tmp_path):
    with pytest.raises(Problems) as error:
        case(name, tmp_path)
    return error.value.problems


def put(dataset, **files):
    def spoil(setup):
        setup.entry("datasets", dataset)
        setup.files.update({name.replace("_", "."): content for name, content in files.items()})

    return spoil


def warned(tmp_path, caplog, dataset, **files):
    """Return the warnings about a dataset, which is sound."""
    setup = Setup(tmp_path)
    put(dataset, **files)(setup)
    with caplog.at_level(logging.WARNING, logger="stressbed"):
        assert setup.problems() == []
    return [r.getMessage() for r in caplog.records if "dataset" in r.getMessage()]


# quotation marks


def test_a_quotation_mark_in_tsv_is_a_character(tmp_path):
    case("12", tmp_path)
    table = read_table(FAILING / "12-tsv-quote-swallows-a-row" / "pairs.tsv")
    assert table.column("sentence1") == ['"Well,', 'Yes"', "The door is shut.", "Five eggs."]
    assert list(table.numbers) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a\tb\n"x\ty\n', [['"x', "y"]]),
        ('a\tb\n"x" said\ty "z"\n', [['"x" said', 'y "z"']]),
        ('a\tb\n"whole"\ty\n', [['"whole"', "y"]]),
        # A program quoted these: all of it, or what holds a tab, a line's end or a mark.
        ('"a"\t"b"\n"x"\t"1"\n', [["x", "1"]]),
        ('a\tb\n"tab\tin it"\t1\n"line\nend"\t2\n', [["tab\tin it", "1"], ["line\nend", "2"]]),
        ('a\tb\n"""said"" he"\t1\n', [['"said" he', "1"]]),
    ],
)
def test_only_a_tsv_that_is_quoted_throughout_is_read_so(tmp_path, content, rows):
    (tmp_path / "t.tsv").write_text(content, encoding="utf-8", newline="")
    table = read_table(tmp_path / "t.tsv")
    assert [list(row.values()) for row in table.rows] == rows


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('a,b\nx,1\n"y,2\nz,3\n', 3),
        ('a,b\n"x\nx",1\ny,"2\nz,3\n', 4),
        ('a,b\n"y,2\nz,"3"\n', 2),
        ('a,"b\nx,1\n', 1),
        ('a,b\r\n"x ""y"" z",1\r\n"y,2\r\n', 3),
    ],
)
def test_an_open_quotation_mark_in_csv_is_named_with_its_line(tmp_path, content, line):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8", newline="")
    with pytest.raises(DataError, match=rf"opens on line {line}\n.*t\.csv, line {line}\n"):
        read_table(tmp_path / "t.csv")


def test_a_csv_text_that_looks_like_a_swallowed_row_is_warned_of(tmp_path, caplog):
    path = tmp_path / "t.csv"
    path.write_text(
        'a,b,c\n"Well,Sure.,1\nYes",Of course.,4\n"One, two, three\nfour",x,2\n', encoding="utf-8"
    )
    assert len(read_table(path).rows) == 2
    (message,) = [r.getMessage() for r in caplog.records]
    assert "t.csv, line 2: a text in quotation marks goes on over the line's end" in message


def test_all_rows_that_do_not_fit_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx\ny,2\nz,3,4\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"1 fields, the header has 2; other rows do not fit either: lines 4\n"
    ):
        read_table(tmp_path / "t.csv")


def test_a_key_that_stands_twice_in_a_json_line_is_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": 1, "a": 2}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"the key 'a' stands twice .*\n.*line 2"):
        read_table(tmp_path / "t.jsonl")


@pytest.mark.parametrize("name", ["utf-8", "UTF_8", "u8", "latin-1", "cp1252", "ascii"])
def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path, name):
    (tmp_path / "t.csv").write_bytes("a,b\ncaf\u00e9,1\n".encode("utf-8-sig"))
    table = read_table(tmp_path / "t.csv", name)
    assert (list(table.columns), table.column("a")) == (["a", "b"], ["caf\u00e9"])


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "UTF-32BE", "utf-16"])
def test_nor_is_that_of_wider_encodings(tmp_path, name):
    mark = "" if name == "utf-16" else "\ufeff"
    for content in (mark + "a,b\nx,1\n", "a,b\nx,1\n"):
        (tmp_path / "t.csv").write_bytes(content.encode(name))
        assert list(read_table(tmp_path / "t.csv", name).columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [('{"a": ' + "[" * 100_000, "lie too deep"), ('{"a": ' + "9" * 5000 + "}", "too many digits")],
)
def test_json_that_python_cannot_read_is_named_with_its_line(tmp_path, line, said):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{said}\n.*line 2"):
        read_table(tmp_path / "t.jsonl")


def test_a_rating_of_hundreds_of_digits_is_no_number(tmp_path):
    rows = [{"sentence1": "x", "sentence2": str(s)[:2], "score": s} for s in (1, 10**400)]
    setup = Setup(tmp_path)
    put("pairs", pairs_jsonl=jsonl(rows))(setup)
    setup.entry("datasets", "pairs")["files"]["test"] = "pairs.jsonl"
    (found,) = setup.problems()
    assert "is not a number" in found.what


def test_a_column_that_stands_twice_in_parquet_is_named(tmp_path):
    columns = [pa.array(["x"]), pa.array(["y"])]
    pq.write_table(pa.Table.from_arrays(columns, names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="the column 'a' stands twice"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([("x", "x", 1), ("y", "y", 2)], True), ([("x", "y", 1), ("y ", "x", 2)], True),
        ([("x", "x", 1), ("x", "y", 2)], False), ([("x", "y", 1), ("x", "z", 2)], False),
    ],
)  # fmt: skip
def test_pairs_that_no_model_can_tell_apart_have_no_correlation(tmp_path, rows, wrong):
    setup = Setup(tmp_path)
    lines = "".join(f"{a},{b},{score}\n" for a, b, score in rows)
    put("pairs", pairs_csv=f"sentence1,sentence2,score\n{lines}")(setup)
    assert ["have the same similarity" in p.what for p in setup.problems()] == [True] * wrong


def test_labels_of_the_test_of_which_training_knows_none(tmp_path):
    train = [{"text": f"t{i}", "labels": ["a", "b"]} for i in range(6)]
    setup = Setup(tmp_path)
    for test, n in ((["A", "B"], 1), (["a", "B"], 0)):
        rows = [{"text": "u", "labels": [test[0]]}, {"text": "v", "labels": [test[1]]}]
        put("multi", mtrain_jsonl=jsonl(train), mtest_jsonl=jsonl(rows))(setup)
        found = [p.what for p in setup.problems()]
        assert ["no label of the test occurs" in what for what in found] == [True] * n


# invisible texts

INVISIBLE = [
    "\u200b\u200b",
    "\u2060",
    "\ufeff",
    "\u00a0\u2003",
    "\u0301\u0302",
    "\x07\x00",
    "\u3164",
    "\u00ad",
    "\u2800",
    "\ufe0f\U000e0100\u2065\ufff0",
]


def test_texts_that_show_nothing_are_empty(tmp_path):
    (found,) = problems("22", tmp_path)
    assert found.what == "a value of column 'sentence1' is an empty text"
    assert found.where.endswith("pairs.jsonl, lines 1, 2")


@pytest.mark.parametrize("text", INVISIBLE)
def test_every_field_of_texts_is_looked_at(tmp_path, text):
    documents = [{"id": "d1", "text": "x"}, {"id": "d2", "text": text, "title": text}]
    setup = Setup(tmp_path)
    put("search", corpus_jsonl=jsonl(documents))(setup)
    setup.entry("datasets", "search")["files"]["corpus"] = "corpus.jsonl"
    setup.files["queries.csv"] = (
        f"id,text,instruction\nq1,a,{text}\nq2,{text},do\n"
        if text != "\x07\x00"
        else ("id,text,instruction\nq1,a,\x07\nq2,\x07,do\n")
    )
    assert [p.what for p in setup.problems()] == [
        "a value of column 'text' is an empty text",
        "a value of column 'text' is an empty text",
        "a value of column 'instruction' is an empty text",
    ]


@pytest.mark.parametrize("column", ["human_summaries", "machine_summaries"])
def test_lists_of_texts_are_looked_at_too(tmp_path, column):
    row = {"text": "t", "human_summaries": ["h"], "machine_summaries": ["m", "n"], "relevance": [1, 4]}
    row[column] = [*row[column][:-1], "\u200b"]
    refused(
        Case("", put("sums", sums_jsonl=jsonl([row])), f"{column!r} is not a list of texts", "line 1"),
        tmp_path, DataError,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["a\u0301", "\u200bx", "\U0001f642", "\u05d0\u05b8", "\u0e01\u0e31", "?", "\ufffd"]
)
def test_texts_that_show_something_pass(tmp_path, text):
    setup = Setup(tmp_path)
    put("groups", groups_csv=f"text,label\n{text},a\ntwo,b\n")(setup)
    assert setup.problems() == []


# labels


def test_labels_that_differ_in_blanks_are_told_apart_before_any_work(tmp_path):
    (found,) = problems("21", tmp_path)
    assert found.what == "labels that differ only in blanks: 'no', 'no '"
    assert found.where.endswith("tr.csv, line 4")


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("no", "n o", None), ("no", "\u00a0no", "blanks"), ("a b", "a  b", "blanks"),
        ("caf\u00e9", "cafe\u0301", "Unicode's normal form"), ("no", "no\u200b", "cannot be seen"),
        ("ﬁne", "fine", "Unicode's normal form"), ("1", "01", "a number is written"), ("10", "1", None),
        ("1", "1.0", "a number is written"), ("1", "+1.", "a number is written"), ("0", "-0", "is written"),
        ("-1", "\u22121", "a number is written"), ("3.1", "3.10", None), ("-1", "1", None),
        ("no", "no\ufe0f", "cannot be seen"), ("no", "n\u034fo", "cannot be seen"),
        ("no", "no\u2800", "cannot be seen"), ("0", "00", "is written"),
        ("no", "no\u3164", "cannot be seen"), ("no", "no\U000e0100", "cannot be seen"),
        ("no", "no\u180b", "cannot be seen"), ("no", "no\u2065", "cannot be seen"),
        ("\u00e9", "e\u00ad\u0301", "cannot be seen"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dataset", ["classes", "groups", "multi"])
def test_labels_that_look_the_same_are_refused(tmp_path, dataset, one, other, what):
    setup = Setup(tmp_path)
    if dataset == "groups":
        put(dataset, groups_csv=f'text,label\nx,"{one}"\ny,"{other}"\nz,q\n')(setup)
    elif dataset == "classes":
        train = [{"text": f"t{i}", "label": [one, other][i % 2]} for i in range(6)]
        put(dataset, train_jsonl=jsonl(train), test_jsonl=jsonl(train[:2]))(setup)
    else:
        train = [{"text": f"t{i}", "labels": [one, other]} for i in range(6)]
        test = [{"text": "u", "labels": [one]}, {"text": "v", "labels": [other]}]
        put(dataset, mtrain_jsonl=jsonl(train), mtest_jsonl=jsonl(test))(setup)
    found = [p.what for p in setup.problems()]
    assert len(found) == (what is not None)
    assert what is None or what in found[0]


def test_labels_that_differ_in_case_are_warned_of(tmp_path, caplog):
    said = warned(tmp_path, caplog, "groups", groups_csv="text,label\nx,Yes\ny,yes\n")
    assert said == ["dataset 'groups': labels that differ only in case are different classes: 'Yes', 'yes'"]


def test_classes_with_few_training_rows_are_warned_of(tmp_path, caplog):
    rows = [{"text": f"t{i}", "label": "a" if i < 8 else "b"} for i in range(11)]
    said = warned(tmp_path, caplog, "classes", train_jsonl=jsonl(rows), test_jsonl=jsonl(rows[7:9]))
    assert said == [
        "dataset 'classes': 1 of 2 classes have fewer training rows than the 8 that mteb draws of each "
        "for an experiment; 'b' has 3"
    ]


def test_two_of_three_classes_in_the_test_are_no_fault(tmp_path):
    case("13", tmp_path)


CASES = [
    Case("too few rows for the neighbours", put("multi", mtrain_jsonl=jsonl(
        [{"text": f"t {i}", "labels": ["x", "y"]} for i in range(4)])), "4 training rows have a label",
        "mtrain.jsonl", "at least 5"),
    Case("one label in the test", put("multi", mtest_jsonl=jsonl([{"text": "u", "labels": ["x"]}])),
         "the test rows hold fewer than two labels", "mtest.jsonl"),
    Case("row limit leaves one class", lambda s: s.entry("datasets", "classes").update(row_limit=1),
         "row_limit is too small: 2 classes do not fit into 1 rows", "key 'row_limit'"),
    Case("row limit leaves equal ratings", lambda s: [s.entry("datasets", "pairs").update(row_limit=2),
         s.files.update({"pairs.csv": "sentence1,sentence2,score\n" + "".join(
             f"a{i},b{i},{int(i == 19)}\n" for i in range(20))})],
         "of the rows that row_limit keeps: all ratings in column 'score' are equal", "key 'row_limit'"),
    Case("average precision of three classes", lambda s: [
         s.entry("datasets", "classes").update(main_score="ap"),
         s.files.update({"train.jsonl": jsonl([{"text": f"t{i}", "label": "abc"[i % 3]} for i in range(6)]),
                         "test.jsonl": jsonl([{"text": f"t{i}", "label": "abc"[i % 3]} for i in range(6)])})],
         "'ap' is not defined for the 3 classes", "test.jsonl", "two classes", "accuracy"),
    Case("judgement that is too large", put("search", qrels_csv=QRELS + "q1,d2,1e30\n"),
         "is not a whole number of 0 or more", "line 4"),
    Case("rating with an underscore", put("pairs", pairs_csv="sentence1,sentence2,score\na,b,1_0\nc,d,2\n"),
         "is not a number", "line 2"),
    Case("lower half of a matrix is free", lambda s: [s.entry("datasets", "matrix"),
         s.files.update({"ratings.txt": "1\t0.5\t0.5\n-\t1\t0.5\n-\t-\t1\n"})],
         "all ratings in column 'score' are equal", "docs.txt"),
    Case("a class with one line", lambda s: [s.entry("datasets", "lines"),
         s.files.update({"lines.txt": "__label__a one\n__label__b two\n__label__a three\n"})],
         "the class 'b' has one line only", "lines.txt"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_what_a_job_would_find_is_found_before(tmp_path, wrong):
    refused(wrong, tmp_path, DataError)


def test_a_tab_may_part_label_and_text(tmp_path):
    setup = Setup(tmp_path)
    setup.entry("datasets", "lines")
    setup.files["lines.txt"] = "__label__a\tone\n__label__b  two\u2028x\n__label__a three\n__label__b four\n"
    assert setup.problems() == []
    from stressbed.dataset.local import read_tables

    entry = DatasetEntry(**next(e for e in setup.entries["datasets"] if e["id"] == "lines"))
    tables = read_tables(entry, tmp_path)
    assert tables["train"]["text"].tolist() == ["one", "two\u2028x"]


def test_faults_of_all_tables_are_told_at_once(tmp_path):
    setup = Setup(tmp_path)
    put("search", corpus_csv=CORPUS.replace("text", "body"), queries_csv="id,text\nq1,\nq2,x\n",
        qrels_csv=QRELS + "q9,d1,-1\n")(setup)  # fmt: skip
    assert [p.what for p in setup.problems()] == [
        "the column 'text' is missing",
        "a value of column 'text' is an empty text",
        "column 'query_id' names 'q9', which table 'queries' does not hold",
        "a score in column 'score' is not a whole number of 0 or more",
    ]


# repeated texts


def test_documents_like_a_judged_one_are_warned_of(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="stressbed"):
        case("23", tmp_path)
    said = [r.getMessage() for r in caplog.records if "same text" in r.getMessage()]
    assert said == [
        f"dataset {name!r}: 2 documents have the same text as a judged one and are not judged; where they "
        "tie, the ids decide"
        for name in ("dup-d", "dup-z")
    ]


@pytest.mark.parametrize(
    ("dataset", "files", "said"),
    [
        ("pairs", {"pairs_csv": "sentence1,sentence2,score\na,b,1\nb,a,2\nc,d,3\nc,d,3\n"},
         "2 pairs have the same two texts as another pair with another rating or label"),
        ("same", {"same_csv": "sentence1,sentence2,label\na,b,1\na,b,0\nc,d,0\n"},
         "2 pairs have the same two texts as another pair with another rating or label"),
        ("groups", {"groups_csv": "text,label\none,a\none ,b\none,b\ntwo,a\n"},
         "3 texts have the same words as another one with another label"),
        ("bitext", {"bitext_tsv": "sentence1\tsentence2\none\teins\none\tzwei\n"},
         "2 sentences have the same text as another one with another translation"),
        ("search", {"queries_csv": "id,text\nq1,a\nq2,a\n"},
         "2 queries have the same text as another one with other relevant documents"),
    ],
)  # fmt: skip
def test_equal_texts_with_different_answers_are_warned_of(tmp_path, caplog, dataset, files, said):
    assert f"dataset {dataset!r}: {said}" in warned(tmp_path, caplog, dataset, **files)


def test_a_text_with_one_label_in_training_and_another_in_the_test_is_counted(tmp_path, caplog):
    test = [{"text": "text 0", "label": "b"}, {"text": "new", "label": "a"}]
    said = warned(tmp_path, caplog, "classes", test_jsonl=jsonl(test))
    assert "dataset 'classes': 2 texts have the same words as another one with another label" in said


# languages of rows, columns of tables


def mixed(setup, rows, **entry):
    setup.entry("datasets", "groups").update(
        files={"test": "mixed.jsonl"}, languages={"default": ["eng-Latn", "deu-Latn"]}, **entry
    )
    setup.files["mixed.jsonl"] = jsonl(rows)


MIXED = [
    {"text": "one", "label": "a", "language": "eng-Latn"},
    {"text": "zwei", "label": "b", "language": "de"},
]


def test_rows_may_name_their_language(tmp_path):
    setup = Setup(tmp_path)
    mixed(setup, MIXED)
    assert setup.problems() == []


def test_wrong_languages_of_rows_are_named_with_their_rows(tmp_path):
    setup = Setup(tmp_path)
    mixed(setup, [*MIXED, {"text": "un", "label": "a", "language": "fra"}, {"text": "x", "label": "a"}])
    (found,) = setup.problems()
    assert found.what == "'fra' in column 'language' is none of the dataset's languages"
    assert found.where.endswith("mixed.jsonl, lines 3, 4")
    assert found.allowed == "eng-Latn, deu-Latn"


def test_several_languages_need_a_column_that_tells_them_apart(tmp_path):
    setup = Setup(tmp_path)
    mixed(setup, [{k: v for k, v in row.items() if k != "language"} for row in MIXED])
    (found,) = setup.problems()
    assert found.what == (
        "the dataset has 2 languages (eng-Latn, deu-Latn): which are the texts of 'text' in?"
    )
    assert "add a column `language`" in found.do


def test_a_language_column_that_the_entry_names_must_be_there(tmp_path):
    setup = Setup(tmp_path)
    mixed(setup, MIXED, columns={"language": "lang"})
    assert [p.what for p in setup.problems()] == [
        "the column 'lang' (for 'language') is missing",
    ]


def test_tables_may_have_columns_of_their_own(tmp_path):
    setup = Setup(tmp_path)
    setup.entry("datasets", "classes")["columns"] = {"train": {"text": "body"}, "label": "class"}
    rows = [{"body": r["text"], "class": r["label"]} for r in TRAIN]
    setup.files["train.jsonl"] = jsonl(rows)
    setup.files["test.jsonl"] = jsonl([{"text": r["body"], "class": r["class"]} for r in rows[:4]])
    assert setup.problems() == []


@pytest.mark.parametrize(
    ("columns", "what", "do"),
    [
        ({"train": {"txt": "x"}}, "'txt' is not a standard column of Classification", "did you mean 'text'?"),
        ({"trian": {"text": "x"}}, "'trian' is no table of Classification", "did you mean 'train'?"),
        ({"txt": "x"}, "'txt' is not a standard column of Classification", "did you mean 'text'?"),
    ],
)
def test_wrong_names_of_columns_and_tables(tmp_path, columns, what, do):
    setup = Setup(tmp_path)
    setup.entry("datasets", "classes")["columns"] = columns
    (found,) = setup.problems()
    assert (found.what, found.do) == (what, do)
