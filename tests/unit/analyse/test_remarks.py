"""What became of a rewrite, in words: a fallback says whether it is a cut answer or the original."""

import pandas as pd
import pytest
from item_runs import item_rows, names_of, score_row

from stressbed.analyse.items.panels import blocks
from stressbed.analyse.items.worst import worst_items
from stressbed.analyse.remarks import FLAGS, outcome_of, remarks
from stressbed.transform.flags import FLAGS as ALL_FLAGS


def text(original, rewritten, outcome, position=0):
    return {
        "dataset": "d", "generator": "llm", "transformation": "expansion", "seed": 1, "subset": "default",
        "split": "test", "item": "i0", "field": "queries.text", "position": position, "original": original,
        "rewritten": rewritten, "language": "eng-Latn", "outcome": outcome, "flags": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [
        ([("a", "b", "ok")], "ok"),
        ([("a", "b", "fallback")], "fallback: cut"),
        ([("a", "a", "fallback")], "fallback: original"),
        ([("a", "b", "fallback"), ("c", "c", "fallback"), ("d", None, "untouched")],
         "fallback: cut, fallback: original, untouched"),
    ],
)  # fmt: skip
def test_a_worst_item_says_what_became_of_its_text(texts, outcome):
    frame = pd.DataFrame([text(*t, position=i) for i, t in enumerate(texts)])
    rows = pd.DataFrame([score_row(50, 60)])
    table = worst_items(blocks([item_rows([0.1], [0.9])]), rows, [frame], names_of())
    assert table.frame["outcome"].tolist() == [outcome]


@pytest.mark.parametrize(
    ("outcome", "flags", "words"),
    [
        ("ok", "", ""),
        ("untouched", float("nan"), ""),
        (None, None, ""),
        ("flagged", "runaway, wrong_language",
         "far longer than the original; in another language than asked for"),
        ("fallback: cut", "", "fallback: the answer was cut off and is used as it came"),
        ("fallback: cut, retried", "",
         "fallback: the answer was cut off and is used as it came; asked more than once"),
    ],
)  # fmt: skip
def test_remarks_are_words(outcome, flags, words):
    assert remarks(outcome, flags) == words


def test_every_error_flag_has_words():
    assert set(FLAGS) == set(ALL_FLAGS)
    assert outcome_of("dropped", "a", "a") == "dropped"
