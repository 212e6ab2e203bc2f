"""Tables read from their CSV files: ids and labels stay what they are, whatever they look like."""

from dataclasses import replace

import pandas as pd
import pytest
from study_cases import analysed, made_names, made_scores, noisy

from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.conclusions.run import read_tables
from stressbed.analyse.descriptive.scores import hteb_scores
from stressbed.analyse.read import read_table
from stressbed.analyse.write import write_table

LIKE_NUMBERS = ("007", "1.50", "1e5")
LIKE_NOTHING = ("NA", "null", "nan")
TEXTS = {
    "axis",
    "became",
    "cause",
    "dataset",
    "embedder",
    "error",
    "family",
    "field",
    "first",
    "flags",
    "generator",
    "group",
    "item",
    "judge",
    "level",
    "method",
    "metric",
    "most_disruptive",
    "note",
    "original_text",
    "question",
    "reason",
    "rewritten_text",
    "row",
    "second",
    "setting",
    "source",
    "subset",
    "task_type",
    "transformation",
    "translated",
    "unit",
    "verdict",
    "within",
}


@pytest.mark.parametrize("ids", [LIKE_NUMBERS, LIKE_NOTHING, ("true", "false", "inf")])
def test_ids_that_look_like_something_else_stay_ids(tmp_path, ids):
    columns = ("embedder", "dataset", "generator", "transformation", "setting", "row", "first", "source")
    frame = pd.DataFrame(dict.fromkeys(columns, ids)).assign(delta=[1.5, None, -2.0])
    frame.to_csv(tmp_path / "any.csv", index=False)
    found = read_table(tmp_path / "any.csv")
    assert {c: tuple(found[c]) for c in columns} == dict.fromkeys(columns, ids)
    assert found["delta"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize(("name", "language"), [("any", 1.0), ("worst_items", "1")])
def test_columns_of_texts_and_no_others_are_read_as_texts(tmp_path, name, language):
    frame = pd.DataFrame(
        {c: ["1" if c in {"language", "n"} else "007", ""] for c in (*TEXTS, "language", "n")}
    )
    frame.to_csv(tmp_path / f"{name}.csv", index=False)
    found = read_table(tmp_path / f"{name}.csv")
    assert found.loc[0].to_dict() == {**dict.fromkeys(TEXTS, "007"), "language": language, "n": 1.0}
    assert found.loc[1].isna().all()


@pytest.mark.parametrize("ids", [LIKE_NUMBERS, LIKE_NOTHING])
def test_findings_of_a_run_do_not_hang_on_what_its_ids_look_like(tmp_path, ids):
    datasets = tuple(f"{i}.0" for i in range(6))
    names = made_names(ids, datasets, settings=dict.fromkeys(datasets, "13"))
    scores = made_scores(names, noisy(1))
    generator = str(scores.loc[scores["generator"] != "none", "generator"].iloc[0])
    assert generator in names.generators
    write_table(hteb_scores(scores, names), tmp_path, names)
    said = findings(read_tables(tmp_path), names, run="2024")
    assert "The 3 embedders gain" in said


def test_a_label_is_no_markup_in_the_findings():
    names = made_names(("a", "b"), ("d0", "d1"))
    names = replace(names, embedders={"a": "<b>*x*</b>", "b": "y_z_"})
    scores = made_scores(names, noisy(1))
    from stressbed.analyse.statistics.registry import STATISTICS

    tables = {t.name: t.frame for t in (f(analysed(names, scores)) for f in STATISTICS.values())}
    tables["hteb_scores"] = hteb_scores(scores, names).frame
    said = findings(tables, names, run="r_1_")
    assert "# Findings of the run r\\_1\\_" in said
    assert r"\<b\>\*x\*\</b\> leads" in said or r"y\_z\_ leads" in said
    assert "<b>" not in said
