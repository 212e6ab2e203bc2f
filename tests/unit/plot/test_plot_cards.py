from itertools import pairwise

import figure_tables as made_tables
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from test_plot_run import sources_of, texts_outside

from stressbed.plot.card import card
from stressbed.plot.card_data import card_data
from stressbed.plot.script import breadth, drawable, lines_of, right_to_left
from stressbed.plot.style import shortened, style, two_lines


def card_of(folder, names, tables, embedder="e0"):
    sources = sources_of(folder, tables)
    data = card_data(embedder, sources, names)
    with style():
        return card(embedder, data, names), data


def words(figure):
    return [t.get_text() for t in figure.findobj(Text) if t.get_text()]


def test_a_card_holds_what_the_tables_say_of_its_embedder(tmp_path):
    names = made_tables.make_names(4, 3)
    tables = made_tables.made(names)
    _, data = card_of(tmp_path, names, tables, "e2")
    scores = tables["hteb_scores"].set_index("embedder")
    deltas = tables["delta_by_transformation"].set_index("embedder")
    own = data[data["part"] == "delta"].set_index("name")["value"]
    assert own["translation"] == pytest.approx(deltas.loc["e2", "translation"], abs=1e-5)
    assert own["length"] == pytest.approx(scores.loc["e2", "length"] - scores.loc["e2", "original"], abs=1e-5)
    others = data[(data["part"] == "others") & (data["name"] == "translation")].set_index("note")["value"]
    assert others.to_dict() == pytest.approx(deltas["translation"].drop("e2").to_dict(), abs=1e-5)
    drop = data[(data["part"] == "score") & (data["name"] == "drop")].iloc[0]
    ranks = tables["hteb_ranks"].set_index("embedder").loc["e2"]
    assert (drop["low"], drop["high"]) == pytest.approx((ranks["drop_low"], ranks["drop_high"]), abs=1e-5)
    before = data[data["part"] == "dataset_original"]
    assert sorted(before["name"]) == ["d0", "d1", "d2"]


def test_an_interval_over_other_datasets_than_the_score_is_not_shown(tmp_path):
    names = made_tables.make_names(3, 3)
    tables = made_tables.made(names)
    tables["hteb_ranks"]["hteb"] += 0.5
    _, data = card_of(tmp_path, names, tables)
    assert data.loc[data["part"] == "score", "low"].isna().all()


@pytest.mark.parametrize(
    ("n", "d", "options"),
    [(1, 1, {}), (11, 19, {}), (16, 32, {"settings": ("english", "non_english")})],
)
def test_nothing_on_a_card_is_cut(tmp_path, n, d, options):
    names = made_tables.make_names(n, d)
    figure, _ = card_of(tmp_path, names, made_tables.made(names, **options))
    with style():
        assert texts_outside(figure) == []


def test_a_card_of_a_bare_run_says_what_there_is(tmp_path):
    names = made_tables.make_names(1, 1)
    tables = {"hteb_scores": made_tables.made(names)["hteb_scores"]}
    figure, data = card_of(tmp_path, names, tables)
    assert set(data["part"]) == {"score", "delta"}
    assert any("Drop" in w for w in words(figure))


def test_an_embedder_without_scores_has_a_card_that_says_so(tmp_path):
    names = made_tables.make_names(2, 2)
    tables = made_tables.made(names)
    tables = {k: v[v["embedder"] != "e1"] if "embedder" in v.columns else v for k, v in tables.items()}
    figure, data = card_of(tmp_path, names, tables, "e1")
    assert data.empty
    assert "This embedder has no scores." in words(figure)


def test_a_failed_cell_leaves_a_gap_and_no_error(tmp_path):
    names = made_tables.make_names(3, 3)
    tables = made_tables.made(names)
    tables["hteb_scores"].loc[0, ["language", "hteb", "drop"]] = np.nan
    tables["delta_by_transformation"].loc[0, "translation"] = np.nan
    tables["by_dataset"].loc[tables["by_dataset"]["embedder"] == "e0", ["hteb", "drop"]] = np.nan
    figure, data = card_of(tmp_path, names, tables)
    assert "translation" not in set(data.loc[data["part"] == "delta", "name"])
    assert any("HTEB –" in w for w in words(figure))


@pytest.mark.parametrize(
    ("n", "said"), [(1, "under HTEB; over the 1 of 3 datasets with every cell"), (3, "under HTEB")]
)
def test_ranks_say_the_datasets_that_they_rest_on_where_some_lack_a_cell(tmp_path, n, said):
    names = made_tables.make_names(3, 3)
    tables = made_tables.made(names)
    tables["hteb_ranks"]["n_datasets"] = n
    figure, _ = card_of(tmp_path, names, tables)
    (line,) = [x for w in words(figure) for x in w.splitlines() if x.startswith("Rank ") and "HTEB" in x]
    assert line.endswith(said)


def test_a_setting_shows_its_own_datasets(tmp_path):
    names = made_tables.make_names(2, 2)
    names = type(names)(**{**vars(names), "settings": {"d0": "english", "d1": "non_english"}})
    tables = made_tables.made(names, settings=("english", "non_english"))
    one = tables["by_dataset"].drop(columns="setting").drop_duplicates(["dataset", "embedder"])
    _, data = card_of(tmp_path, names, tables | {"by_dataset": one})
    shown = data[data["part"] == "dataset_hteb"].groupby("setting")["name"].agg(list).to_dict()
    assert shown == {"english": ["d0"], "non_english": ["d1"]}


def test_many_datasets_are_shown_from_both_ends(tmp_path):
    names = made_tables.make_names(2, 32)
    figure, data = card_of(tmp_path, names, made_tables.made(names))
    assert "12 more between them" in words(figure)
    wide = data[data["part"].str.startswith("dataset_")].pivot(index="name", columns="part", values="value")
    drops = (wide["dataset_original"] - wide["dataset_hteb"]).sort_values()
    labels = [
        t.get_text()
        for ax in figure.findobj(lambda a: hasattr(a, "get_yticklabels"))
        for t in ax.get_yticklabels()
    ]
    first = names.label(drops.index[0])
    assert first in [x.replace("\n", "") for x in labels]


def test_worst_items_come_from_the_datasets_that_cost_most_and_one_from_each(tmp_path):
    names = made_tables.make_names(2, 5)
    tables = made_tables.made(names)
    _, data = card_of(tmp_path, names, tables)
    mine = tables["by_dataset"].query("embedder == 'e0' and dataset in ['d0', 'd1', 'd2', 'd3']")
    expected = mine.sort_values("drop", ascending=False)["dataset"].head(3).tolist()
    shown = data.loc[data["part"] == "item_original", "name"].str.split("/").str[0]
    assert list(dict.fromkeys(shown)) == expected
    worst = data.loc[data["part"] == "item_rewritten", "value"]
    assert set(worst) == {0.12}


def test_of_an_item_with_many_texts_the_rewritten_ones_are_shown(tmp_path):
    names = made_tables.make_names(1, 1)
    tables = made_tables.made(names)
    items = tables["worst_items"].query("item == 'q/0'")
    more = [items.assign(field=f"corpus.{i}", rewritten_text="") for i in range(5)]
    _, data = card_of(tmp_path, names, tables | {"worst_items": pd.concat([*more, items])})
    fields = data.loc[data["part"] == "item_original", "name"].str.rsplit("/", n=1).str[1]
    assert fields.tolist() == ["sentence1", "sentence2"]
    only = {"worst_items": more[0].head(1)}
    figure, _ = card_of(tmp_path, names, tables | only)
    assert "(left as it is)" in words(figure)


def test_one_dataset_still_gives_three_items(tmp_path):
    names = made_tables.make_names(2, 1)
    figure, data = card_of(tmp_path, names, made_tables.made(names))
    assert (data["part"] == "item_original").sum() == 6
    said = words(figure)
    assert any("$20 notes" in w for w in said)
    assert sum("in a script that the figures' font lacks" in w for w in said) == 2


def test_lines_hold_the_text_and_never_run_over():
    text = "The quick brown fox jumps over the lazy dog " * 5
    lines = lines_of(text, width=30, most=99)
    assert " ".join(lines) == text.strip()
    assert max(map(breadth, lines)) <= 30
    short = lines_of(text, width=30, most=2)
    assert len(short) == 2
    assert short[1].endswith("…")
    assert max(map(breadth, short)) <= 30


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\u202e"])
def test_a_text_of_nothing_is_one_empty_line(text):
    assert lines_of(text, width=10, most=2) == [""]


def test_a_word_longer_than_a_line_is_broken():
    lines = lines_of("x" * 200, width=20, most=99)
    assert "".join(lines) == "x" * 200
    assert max(map(breadth, lines)) <= 20


@pytest.mark.parametrize(
    ("text", "ok", "right"),
    [
        ("Ein Mann spielt Flöte.", True, False),
        ("نص عربي", True, True),
        ("(12) שלום", True, True),
        ("カードを解約する", False, False),
        ("STS: हिन्दी", False, False),
        ("only one 字 among many letters", True, False),
        ("", True, False),
    ],
)
def test_scripts_are_known(text, ok, right):
    assert drawable(text) is ok
    assert right_to_left(text) is right


def test_a_shared_rank_is_not_rounded(tmp_path):
    names = made_tables.make_names(3, 3)
    tables = made_tables.made(names)
    tables["hteb_ranks"]["rank_original"] = [1.5, 1.5, 3.0]
    figure, _ = card_of(tmp_path, names, tables)
    assert any("Rank 1.5 [" in w for w in words(figure))


def test_a_card_says_where_a_rewrite_is_a_fallback(tmp_path):
    names = made_tables.make_names(1, 1)
    tables = made_tables.made(names)
    items = tables["worst_items"].query("item == 'q/0'").assign(outcome=["fallback: cut", "ok"])
    figure, data = card_of(tmp_path, names, tables | {"worst_items": items})
    remarks = data[data["part"] == "item_remark"]
    assert remarks["name"].str.endswith("/sentence1").tolist() == [True]
    assert words(figure).count("(fallback: the answer was cut off and is used as it came)") == 1


ARCHIVE = (
    "german-insurance-helpdesk-questions-and-answers-from-the-archive-of-2019-to-2024-cleaned-version-{}"
)


@pytest.mark.parametrize(
    "label", [ARCHIVE, ARCHIVE.replace("-", " "), "x" * 140 + "_{}", "two-lines-of-a-name-that-fit-{}"]
)
@pytest.mark.parametrize("d", [4, 32])
def test_long_labels_on_a_card_never_overlap(tmp_path, label, d):
    names = made_tables.make_names(2, d)
    told = {
        kind: {i: label.format(i) for i in getattr(names, kind)} for kind in ("datasets", "transformations")
    }
    names = type(names)(**{**vars(names), **told})
    figure, _ = card_of(tmp_path, names, made_tables.made(names))
    with style():
        assert texts_outside(figure) == []
        for ax in figure.findobj(lambda a: hasattr(a, "get_yticklabels")):
            boxes = [t.get_window_extent() for t in ax.get_yticklabels() if t.get_text()]
            boxes.sort(key=lambda b: b.y0)
            assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))
            shown = [t.get_text() for t in ax.get_yticklabels() if t.get_text()]
            assert len(set(shown)) == len(shown)


@pytest.mark.parametrize("label", ["a" * 200, "word " * 40, ARCHIVE.format("x"), "short", "d-" * 33])
def test_a_label_of_two_lines_has_no_third(label):
    lines = two_lines(label.strip(), 30).split("\n")
    assert len(lines) <= 2
    assert max(map(len, lines)) <= 30
    assert shortened(label.strip(), 30)[-5:] == label.strip()[-5:]
