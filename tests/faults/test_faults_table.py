"""The table of faults is complete, and its page is up to date."""

from __future__ import annotations

import fault_table


def test_every_row_names_tests_that_exist_and_words_that_are_said() -> None:
    assert fault_table.problems() == []


def test_there_are_rows_enough_and_none_twice() -> None:
    names = [row.fault for row in fault_table.faults()]
    assert len(names) == len(set(names)) >= 50


def test_the_page_is_what_the_table_makes_of_it() -> None:
    assert fault_table.PAGE.read_text(encoding="utf-8") == fault_table.page(), (
        "stale: run `python -m tests.faults.fault_table`"
    )


def test_every_noted_result_is_a_pass() -> None:
    results = fault_table.recorded()
    assert set(results) == {row.fault for row in fault_table.faults()}
    assert {r["tests"] for r in results.values()} <= {"passed", "skipped"}
    assert {r["without"] for r in results.values() if "without" in r} <= {"fails"}
