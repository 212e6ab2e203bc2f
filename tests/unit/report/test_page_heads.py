"""Notes of the page call columns what their headers are called."""

import pandas as pd
import pytest
from page_tables import make_names, write, write_tables

from stressbed.report.page.data import page_data
from stressbed.report.page.heads import headed, readable

COLUMNS = ["embedder", "delta", "low", "high", "n_embedders", "p_holm", "within", "most_disruptive", "item"]


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("p_holm: Holm. within: the same.", "p (Holm): Holm. Tau between seeds: the same."),
        ("delta, low, high: points; high: the end.", "Delta, Low, High: points; High: the end."),
        ("Some are left out; n_embedders is the fewest.", "Some are left out; “Embedders” is the fewest."),
        ("The delta of an item within a dataset.", "The delta of an item within a dataset."),
        ("For `preference` the total; p_holm.csv and a/p_holm stay.",
         "For “preference” the total; p_holm.csv and a/p_holm stay."),
        ("not_a_column and p_holmes stay.", "not_a_column and p_holmes stay."),
    ],
)  # fmt: skip
def test_a_note_has_the_headers_words(note, shown):
    assert readable([note], COLUMNS, make_names()) == [shown]


def test_headers_are_labels_where_a_column_is_an_id():
    names = make_names()
    first = next(iter(names.transformations))
    assert headed(first, names) == names.transformations[first]
    assert headed("most_disruptive", names) == "Most disruptive"


def test_notes_of_the_page_have_no_raw_names(tmp_path):
    names = make_names(2, 2)
    frame = write_tables(tmp_path / "tables", names)["shifts"]
    write(tmp_path / "tables", "shifts", frame, names, notes=["p_holm: Holm. median_abs: median."])
    table = page_data(tables=tmp_path / "tables", names=names)["tables"]["shifts"]
    assert table["notes"] == ["p (Holm): Holm. Median |delta|: median."]


def test_causes_and_names_of_tables_are_words(tmp_path):
    names = make_names(2, 2)
    frame = pd.DataFrame({"embedder": ["model-0"], "cause": ["length_ratio"], "rho": [0.5]})
    notes = ["length_ratio: characters (see worst_items); worst_items.csv has my_data."]
    write(tmp_path / "tables", "item_causes", frame, names, notes=notes)
    table = page_data(tables=tmp_path / "tables", names=names)["tables"]["item_causes"]
    assert table["notes"] == ["length ratio: characters (see worst items); worst_items.csv has my_data."]
    assert table["columns"]["cause"]["values"] == ["length ratio"]
