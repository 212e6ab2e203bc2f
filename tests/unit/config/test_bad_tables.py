"""Wrong local files: each is refused before any job, with dataset, table, file and row."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from config_cases import CORPUS, PAIRS, QRELS, QUERIES, SUMMARIES, TRAIN, Case, Setup, jsonl, refused

from stressbed.errors import DataError


def put(dataset, **files):
    """Return a spoiler that lets the run use a dataset and replaces files (`name_ext`)."""

    def spoil(setup):
        setup.entry("datasets", dataset)
        setup.files.update({name.replace("_", "."): content for name, content in files.items()})

    return spoil


def use(dataset, **files):
    """Return a spoiler that lets a dataset read other files."""

    def spoil(setup):
        setup.entry("datasets", dataset)["files"].update(files)

    return spoil


def parquet(**columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def both(*spoilers):
    return lambda setup: [spoil(setup) for spoil in spoilers]


CASES = [
    # files
    Case("missing file", use("pairs", test="pears.csv"), "no such file", "pears.csv", do="'pairs.csv'"),
    Case("folder", use("pairs", test="."), "no reader for the extension", allowed=".csv"),
    Case("folder with a file's name", both(lambda s: (s.folder / "x.csv").mkdir(),
         use("pairs", test="x.csv")),
         "not a file", "x.csv"),
    Case("file that cannot be read", both(lambda s: (s.folder / "x.csv").symlink_to("/proc/self/mem"),
        use("pairs", test="x.csv")), "the file cannot be read: ", "x.csv"),
    Case("wrong extension", both(put("pairs", pairs_xlsx="x"), use("pairs", test="pairs.xlsx")),
         "no reader for the extension '.xlsx'", allowed=".csv, .tsv, .jsonl, .parquet"),
    Case("empty file", put("pairs", pairs_csv=""), "the table is empty", "pairs.csv"),
    Case("no rows", put("pairs", pairs_csv="sentence1,sentence2,score\n"), "the table is empty"),
    Case("not UTF-8", put("pairs", pairs_csv=PAIRS.replace("a b", "é").encode("latin-1")),
         "the file is not UTF-8: byte 26", "pairs.csv", do="encoding: cp1252"),
    Case("semicolons", put("pairs", pairs_csv=PAIRS.replace(",", ";")),
         "the columns are not separated by commas", "line 1"),
    Case("ragged row", put("pairs", pairs_csv=PAIRS + "a, b and c,d,3\n"),
         "a row has 4 fields, the header has 3", "line 5", do="double quotes"),
    Case("open quote", put("pairs", pairs_csv=PAIRS + '"a,b,3\n'), "not valid CSV", "pairs.csv, line 5"),
    Case("column twice", put("pairs", pairs_csv="sentence1,sentence2,score,score\na,b,1,1\n"),
         "the column 'score' stands twice"),
    Case("wrong JSON", put("classes", train_jsonl=jsonl(TRAIN) + "{'text': 'x'}\n"),
         "not valid JSON", "train.jsonl, line 7"),
    Case("JSON list", put("classes", train_jsonl="[1, 2]\n"), "a line holds a list", "line 1",
         "one JSON object"),
    Case("wrong Parquet", both(put("pairs", pairs_parquet="PAR1"), use("pairs", test="pairs.parquet")),
         "not valid Parquet", "pairs.parquet"),
    # columns
    Case("wrong column", put("pairs", pairs_csv=PAIRS.replace("score", "scor")),
         "the column 'score' is missing",
         "dataset 'pairs', table 'test'", "sentence1, sentence2, scor", "did you mean 'scor'"),
    Case("wrong own column", lambda s: s.entry("datasets", "pairs").update(columns={"score": "rating"}),
         "the column 'rating' (for 'score') is missing", do="YOUR_COLUMN"),
    # texts
    Case("empty text", put("pairs", pairs_csv=PAIRS + ",x,3\n"), "'sentence1' is an empty text", "line 5"),
    Case("blank text", put("groups", groups_csv="text,label\n  ,a\nx,b\n"), "'text' is an empty text",
         "line 2"),
    Case("null text", both(use("pairs", test="pairs.parquet"), put("pairs", pairs_parquet=parquet(
        sentence1=["a", None], sentence2=["b", "c"], score=[1.0, 2.0]))), "'sentence1' is null", "row 2"),
    Case("number for text", put("classes", test_jsonl=jsonl([{"text": 3, "label": "a"}, *TRAIN])),
         "'text' is not text", "test.jsonl, line 1"),
    Case("empty document", put("search", corpus_csv=CORPUS + "d3,,\n"), "'text' is an empty text",
         "'corpus'"),
    Case("title that is no text", both(use("search", corpus="corpus.jsonl"), put("search", corpus_jsonl=jsonl(
        [{"id": "d1", "text": "x", "title": 3}, {"id": "d2", "text": "y"}]))), "'title' is not text"),
    Case("empty instruction", put("search", queries_csv="id,text,instruction\nq1,a,find\nq2,b,\n"),
         "'instruction' is an empty text", "line 3"),
    Case("half a surrogate pair", put("classes",
         test_jsonl=jsonl(TRAIN).replace('"text": "', '"text": "\\ud83d', 1)),
         "'text' holds half a surrogate pair", "test.jsonl, line 1"),
    # ratings
    Case("rating no number", put("pairs", pairs_csv=PAIRS + "a,b,high\n"),
         "rating in column 'score' is not a number"),
    Case("rating not finite", put("pairs", pairs_csv=PAIRS + "a,b,nan\n"), "is not a number", "line 5"),
    Case("rating too high", put("pairs", pairs_csv=PAIRS + "a,b,6\n"), "outside the scale: 6", "line 5",
         "0 to 5"),
    Case("rating too low", put("pairs", pairs_csv=PAIRS + "a,b,-1\n"), "outside the scale: -1", "line 5"),
    Case("equal ratings", put("pairs", pairs_csv="sentence1,sentence2,score\na,b,3\nc,d,3\n"),
         "all ratings in column 'score' are equal"),
    Case("one pair", put("bitext", bitext_tsv="sentence1\tsentence2\none\teins\n"),
         "the table holds one pair"),
    # labels
    Case("one class", put("classes", train_jsonl=jsonl([{"text": "x", "label": "a"}] * 4)),
         "column 'label' holds 1 class", "table 'train'", "at least 2"),
    Case("one group", put("groups", groups_csv="text,label\nx,a\ny,a\n"), "column 'label' holds 1 class"),
    Case("one kind of pair", put("same", same_csv="sentence1,sentence2,label\na,b,1\nc,d,1\n"),
         "holds 1 class"),
    Case("label neither 0 nor 1", put("same", same_csv="sentence1,sentence2,label\na,b,yes\nc,d,0\n"),
         "a label in column 'label' is 'yes'", "line 2", "1 for a pair that matches"),
    Case("missing label", put("groups", groups_csv="text,label\nx,\ny,a\nz,b\n"),
         "is missing or of a wrong type"),
    Case("label only in test", put("classes", test_jsonl=jsonl([*TRAIN, {"text": "x", "label": "c"}])),
         "the label 'c' does not occur in table 'train'", "test.jsonl, line 7", "a, b"),
    Case("labels no list", put("multi", mtest_jsonl=jsonl([{"text": "x", "labels": 3}])),
         "not a list of labels", allowed="a list, or names separated"),
    Case("too few labels", put("multi", mtrain_jsonl=jsonl([{"text": "x", "labels": ["a"]}] * 3)),
         "fewer than two labels", "mtrain.jsonl"),
    # retrieval
    Case("document id twice", put("search", corpus_csv=CORPUS + "d1,x,\n"),
         "the id 'd1' stands twice", "corpus.csv, lines 2, 4"),
    Case("query id twice", put("search", queries_csv=QUERIES + "q2,x\n"), "the id 'q2' stands twice",
         "'queries'"),
    Case("empty id", put("search", corpus_csv=CORPUS + ",x,\n"), "an id is missing", "line 4"),
    Case("unknown document", put("search", qrels_csv=QRELS + "q1,d9,1\n"),
         "column 'corpus_id' names 'd9', which table 'corpus' does not hold", "qrels.csv, line 4"),
    Case("unknown query", put("search", qrels_csv=QRELS + "q9,d1,1\n"), "'query_id' names 'q9'", "line 4"),
    Case("query without answer", put("search", queries_csv=QUERIES + "q3,x\n"),
         "a query has no relevant document in table 'qrels'", "queries.csv, line 4"),
    Case("only zeros", put("search", qrels_csv=QRELS.replace("q2,d2,1", "q2,d2,0")),
         "a query has no relevant document"),
    Case("half a score", put("search", qrels_csv=QRELS + "q1,d2,0.5\n"),
         "not a whole number of 0 or more", "line 4"),
    Case("two judgements", put("search", qrels_csv=QRELS + "q2,d2,2\n"),
         "query 'q2' and document 'd2' are judged twice", "lines 3, 4", do="keep one"),
    Case("no score", put("search", qrels_csv=QRELS + "q1,d2,yes\n"), "not a whole number of 0 or more",
         "line 4"),
    Case("query without candidates", put("rank", top_csv="query_id,corpus_id\nq1,d1\n"),
         "a query has no candidate in table 'top_ranked'", "queries.csv, line 3"),
    Case("unknown candidate", put("rank", top_csv="query_id,corpus_id\nq1,d1\nq2,d7\n"), "names 'd7'",
         "top.csv, line 3"),
    # summaries
    Case("summaries no list", put("sums", sums_jsonl=jsonl([{**SUMMARIES, "human_summaries": "h"}])),
         "'human_summaries' is not a list of texts"),
    Case("ratings too few", put("sums", sums_jsonl=jsonl([{**SUMMARIES, "relevance": [3]}])),
         "one rating for each machine summary"),
    Case("summary rating no number", put("sums", sums_jsonl=jsonl([{**SUMMARIES, "relevance": [3, "x"]}])),
         "'relevance' is not a number"),
    Case("summary rating too high", put("sums", sums_jsonl=jsonl([{**SUMMARIES, "relevance": [3, 7]}])),
         "outside the scale: 7", "line 1", "1 to 5"),
    Case("summary ratings equal", put("sums", sums_jsonl=jsonl([{**SUMMARIES, "relevance": [3, 3]}])),
         "are equal within their row"),
    # other formats
    Case("matrix too small", put("matrix", ratings_txt="1 0\n0 1\n"), "are no 3 x 3 matrix", "ratings.txt"),
    Case("matrix with a hole", put("matrix", ratings_txt="1 x 0\n0 1 0\n0 0 1\n"),
         "the rating 'x' is not a number from 0 to 1", "line 1, column 2"),
    Case("missing documents", use("matrix", corpus="dogs.txt"), "no such file", "files.corpus",
         do="'docs.txt'"),
    Case("missing lines", use("lines", all="none.txt"), "no such file", "files.all"),
    Case("lines not UTF-8", put("lines", lines_txt=b"__label__a x\n__label__b \xe9\n"),
         "the file is not UTF-8"),
    Case("too few documents", lambda s: s.entry("datasets", "matrix").update(row_limit=2), "2 documents",
         "row_limit"),
    Case("line without a label", put("lines", lines_txt="__label__a x\n__label__b y\nplain\n"),
         "a line has no label or no text", "line 3", "__label__NAME text"),
    Case("lines of one class", put("lines", lines_txt="__label__a x\n__label__a y\n"),
         "the file holds 1 classes"),
    Case("limit below the classes", lambda s: s.entry("datasets", "lines").update(row_limit=3),
         "3 rows cannot hold each of 2 classes", "row_limit", "at least 4"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_a_wrong_file_is_refused_alone_and_explained(case, tmp_path):
    refused(case, tmp_path, DataError)


def test_a_file_in_another_encoding_is_read_when_it_is_named(tmp_path):
    setup = Setup(tmp_path)
    setup.files["pairs.csv"] = PAIRS.replace("a b", "é").encode("cp1252")
    assert "not UTF-8" in setup.problems()[0].what
    setup.entry("datasets", "pairs").update(encoding="cp1252")
    assert setup.problems() == []


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    setup = Setup(tmp_path)
    setup.files["pairs.csv"] = "\ufeff" + PAIRS
    assert setup.problems() == []


def test_an_extension_may_be_in_capitals_and_a_judgement_may_be_repeated(tmp_path):
    setup = Setup(tmp_path)
    setup.files["PAIRS.CSV"] = PAIRS
    setup.entry("datasets", "pairs")["files"] = {"test": "PAIRS.CSV"}
    setup.entry("datasets", "search")
    setup.files["qrels.csv"] = QRELS + "q2,d2,1\n"
    assert setup.problems() == []


def test_many_wrong_rows_are_one_problem_with_their_lines(tmp_path):
    setup = Setup(tmp_path)
    setup.files["pairs.csv"] = PAIRS + ",x,3\n" * 7
    (problem,) = setup.problems()
    assert "lines 5, 6, 7, 8, 9 and 2 more" in problem.where
