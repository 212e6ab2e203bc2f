"""Snakemake's report: what a run's own words may do to it."""

import json
import re

import pytest

from stressbed.report.after import contained

PAGE = """<html><script>var library = "</";</script>
<script id="results">
    var results = %s;
</script>
<script id="rules">
    var rules = %s;
</script><p>1 < 2</p></html>"""


@pytest.mark.parametrize(
    "words", ["</script><script>alert(1)</script>", "<!--<script>", '"; var results = "<b>', "a < b"]
)
def test_words_of_a_run_cannot_end_the_script_that_holds_them(words):
    data = [{"tables/a.csv": {"params": [words]}}, {words: [words, 1.5, None]}]
    found = contained(PAGE % tuple(map(json.dumps, data)))
    blocks = re.findall(r'<script id="\w+">\s*var \w+ = (.*?);\s*</script>', found, flags=re.DOTALL)
    assert [json.loads(b) for b in blocks] == data
    assert not any("<" in b for b in blocks)
    assert found.count("<script") == 3
    assert found.endswith("<p>1 < 2</p></html>")


def test_what_is_no_data_stays_as_it_is():
    page = '<script id="code">\n    var f = function () { return "<b>"; };\n</script>'
    assert contained(page) == page
