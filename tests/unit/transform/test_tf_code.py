"""Addresses and code within texts: found as one expression finds them, in a time that grows with the text."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from stressbed.transform.languages import without_code

SLOW = re.compile(r"[\x21-\x7e]*(?:://|www\.|@\w|\w\(|[{}\[\]<>=_\\|^~`$\d]|\w[/.#:]\w)[\x21-\x7e]*")


@given(st.text(alphabet="ab .:/@(w3=\n\u3002", max_size=30))
def test_code_is_what_one_expression_says(text):
    assert without_code(text) == SLOW.sub("", text)


def test_a_word_of_100_000_characters_takes_no_time():
    clock = time.perf_counter()
    assert without_code("x" * 100_000 + " end") == "x" * 100_000 + " end"
    assert without_code("x." * 50_000 + " end") == " end"
    assert time.perf_counter() - clock < 5
