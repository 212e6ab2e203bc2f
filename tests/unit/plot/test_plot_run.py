from dataclasses import replace

import figure_tables as made_tables
import matplotlib.image
import pandas as pd
import pytest
from matplotlib.text import Text

from stressbed.plot import CARDS, FIGURES, INPUTS, NEEDS, SUFFIXES
from stressbed.plot.inputs import read_source
from stressbed.plot.run import drawing, plot
from stressbed.plot.style import place, save, style


def sources_of(folder, tables, notes=None):
    made_tables.write_tables(folder, tables, notes)
    return {t: read_source(folder, t) for t in INPUTS}


def draw_all(folder, names, **options):
    sources = sources_of(folder, made_tables.made(names, **options))
    return {name: drawing(name, sources, names) for name in FIGURES}


def labels_out_of_view(figure):
    """Return tick labels that matplotlib keeps but does not draw: their values are beyond the limits."""
    found = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    found |= {tick.label1, tick.label2}
    return found


def texts_outside(figure):
    """Return the visible texts of a figure that reach beyond its canvas."""
    place(figure)
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    found, hidden = [], labels_out_of_view(figure)
    for text in figure.findobj(Text):
        if not text.get_visible() or not text.get_text().strip() or text in hidden:
            continue
        box = text.get_window_extent(renderer)
        if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height:
            found.append(text.get_text())
    return found


@pytest.mark.parametrize(
    ("n", "d", "options"),
    [
        (1, 1, {}),
        (11, 19, {"within": "identical by construction"}),
        (16, 32, {"settings": ("english", "non_english")}),
    ],
)
def test_no_text_is_cut_whatever_the_size_of_the_run(tmp_path, n, d, options):
    names = made_tables.make_names(n, d)
    with style():
        for name, drawn in draw_all(tmp_path, names, **options).items():
            assert texts_outside(drawn.figure) == [], name


def test_long_labels_are_broken_and_not_cut(tmp_path):
    names = made_tables.make_names(
        3, 2, labels="A-very-long-name-of-something-that-nobody-would-choose-in-earnest"
    )
    with style():
        for name, drawn in draw_all(tmp_path, names).items():
            assert texts_outside(drawn.figure) == [], name
            shown = "".join(t.get_text() for t in drawn.figure.findobj(Text)).replace("\n", "")
            if name in {"axis_dumbbell", "shifts_forest"}:
                assert names.label("e0") in shown, name


def test_labels_in_any_script_draw_without_a_warning(tmp_path, recwarn):
    names = made_tables.make_names(2, 2, labels="日本語 हिन्दी مرحبا")
    with style():
        for drawn in draw_all(tmp_path, names).values():
            drawn.figure.draw_without_rendering()
    assert not [w for w in recwarn if "Glyph" in str(w.message)]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_rows_says_why(tmp_path, name):
    names = made_tables.make_names(2, 2)
    tables = made_tables.made(names)
    tables[NEEDS[name][0]] = tables[NEEDS[name][0]].iloc[:0]
    reason = "One dataset has no spread: a second one is needed."
    sources = sources_of(tmp_path, tables, {NEEDS[name][0]: reason})
    with style():
        drawn = drawing(name, sources, names)
    assert reason in "".join(t.get_text() for t in drawn.figure.findobj(Text)).replace("\n", " ")
    assert list(drawn.data.columns) == list(tables[NEEDS[name][0]].columns)
    assert drawn.data.empty


def test_a_run_without_any_table_still_gets_every_file(tmp_path):
    names = made_tables.make_names(1, 1)
    written = plot(tables=tmp_path / "none", names=names, folder=tmp_path / "a")
    assert {p.name for p in written} == {f"{f}.{s}" for f in (*FIGURES, "e0") for s in SUFFIXES}


def test_every_figure_and_card_in_every_format_and_nothing_cut(tmp_path):
    names = made_tables.make_names(1, 2)
    tables = made_tables.write_tables(tmp_path / "tables", made_tables.made(names))
    written = plot(tables=tables, names=names, folder=tmp_path / "a")
    stems = [*FIGURES, f"{CARDS}/e0"]
    assert {str(p.relative_to(tmp_path / "a")) for p in written} == {
        f"{f}.{s}" for f in stems for s in SUFFIXES
    }
    heads = {".pdf": b"%PDF", ".svg": b"<?xml", ".png": b"\x89PNG"}
    for path in written:
        assert path.read_bytes().startswith(heads.get(path.suffix, b""))
    for path in (p for p in written if p.suffix == ".png"):
        pixels = matplotlib.image.imread(path)
        edge = [pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]]
        assert all((side == 1).all() for side in edge), f"{path.name} is cut"


def test_the_same_tables_give_the_same_files(tmp_path):
    names = made_tables.make_names(2, 3)
    sources = sources_of(tmp_path / "tables", made_tables.made(names))
    for name in ("axis_dumbbell", "drop_by_original"):
        with style():
            first, second = (
                save(drawing(name, sources, names).figure, tmp_path / folder, name) for folder in ("a", "b")
            )
        for a, b in zip(first, second, strict=True):
            assert a.read_bytes() == b.read_bytes(), a.name


def test_a_panel_per_setting_and_generator_in_the_order_of_the_run(tmp_path):
    names = made_tables.make_names(2, 2, generators=("zeta", "alpha"))
    with style():
        drawn = draw_all(tmp_path, names, settings=("english", "non_english"))
    for name in ("axis_dumbbell", "delta_heatmap", "shifts_forest", "drop_by_original", "rank_stability"):
        titles = [ax.get_title(loc="left") for ax in drawn[name].figure.axes]
        assert titles == ["English, zeta", "Non-English, zeta", "English, alpha", "Non-English, alpha"], name
        keys = drawn[name].data[["generator", "setting"]].drop_duplicates()
        assert keys["generator"].tolist() == ["zeta", "zeta", "alpha", "alpha"]


@pytest.mark.parametrize("name", ["shifts_forest", "drop_by_original", "rank_stability"])
def test_the_data_beside_a_figure_are_its_table(tmp_path, name):
    names = made_tables.make_names(3, 2)
    tables = made_tables.made(names)
    drawn = drawing(name, sources_of(tmp_path, tables), names)
    written = pd.read_csv(tmp_path / f"{NEEDS[name][0]}.csv", keep_default_na=False, na_values=[""])
    pd.testing.assert_frame_equal(
        drawn.data, written.fillna({"within": ""}).reset_index(drop=True), check_dtype=False
    )


def test_ids_that_look_like_numbers_or_like_nothing_stay_ids(tmp_path):
    frame = pd.DataFrame({"embedder": ["007", "NA"], "original": [1.0, 2.0]})
    (tmp_path / "hteb_scores.csv").write_text(frame.to_csv(index=False))
    assert read_source(tmp_path, "hteb_scores").frame["embedder"].tolist() == ["007", "NA"]


def test_dollars_in_a_label_are_no_formula(tmp_path):
    label = r"$\frac$ costs $5 {"
    names = made_tables.make_names(2, 2, labels=label, generators=("a", "b"))
    names = replace(names, generators={"a": label, "b": "other"})
    with style():
        drawn = draw_all(tmp_path, names, settings=("english", "non_english"))
        for each in drawn.values():
            each.figure.draw_without_rendering()
    assert any(label in ax.get_title(loc="left") for ax in drawn["delta_heatmap"].figure.axes)
