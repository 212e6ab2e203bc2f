"""Compact letter display: two names share a letter if and only if they do not differ."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.stats.letters import compact_letters

NAMES = list("pqrstu")
PAIRS = [frozenset(p) for p in combinations(NAMES, 2)]
TABLES = Path(__file__).parents[2] / "data" / "hteb"


def shares(letters, pair):
    first, second = pair
    return bool(set(letters[first]) & set(letters[second]))


@settings(max_examples=300, deadline=None)
@given(st.sets(st.sampled_from(PAIRS)), st.permutations(range(6)))
def test_sharing_a_letter_means_no_significant_difference(different, order):
    means = dict(zip(NAMES, map(float, order), strict=True))
    letters = compact_letters(NAMES, means, different)
    for pair in PAIRS:
        assert shares(letters, pair) == (pair not in different)
    assert letters[max(means, key=means.get)].startswith("a")
    for letter in set("".join(letters.values())):
        without = {n: v.replace(letter, "") for n, v in letters.items()}
        assert not all(without.values()) or any(shares(without, p) == (p in different) for p in PAIRS), (
            "a letter too many"
        )


def test_the_paper_s_letters():
    """Table 10: all pairs differ but Ministral-3-14B and Qwen3-8B-AWQ; averages from its own cells."""
    frame = pd.read_csv(TABLES / "hteb_table10_crossover.csv").set_index("judge")
    means = frame.mean()
    # The cells are rounded to two digits, and so is the average: half a unit of each.
    for name, printed in zip(frame.columns, [4.45, 4.38, 3.89, 4.43, 4.40], strict=True):
        assert means[name] == pytest.approx(printed, abs=0.01), name
    names = list(frame.columns)
    different = {frozenset(p) for p in combinations(names, 2)} - {
        frozenset({"Ministral-3-14B", "Qwen3-8B-AWQ"})
    }
    letters = compact_letters(names, means.to_dict(), different)
    assert list(letters.values()) == ["a", "c", "d", "b", "c"]


def test_more_than_twenty_six_groups():
    names = [f"n{i}" for i in range(30)]
    everything = {frozenset(p) for p in combinations(names, 2)}
    letters = compact_letters(names, {n: -i for i, n in enumerate(names)}, everything)
    assert letters["n0"] == "a"
    assert letters["n26"] == "a'"
    assert len(set(letters.values())) == 30


def test_a_pair_of_strangers_is_refused():
    with pytest.raises(ValueError, match="no pair"):
        compact_letters(["a", "b"], {"a": 1.0, "b": 2.0}, {frozenset({"a", "z"})})
