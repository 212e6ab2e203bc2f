import figure_tables as made_tables
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from stressbed.plot.by_original import dot, drop_by_original
from stressbed.plot.dumbbell import axis_dumbbell
from stressbed.plot.forest import figure as forest_figure
from stressbed.plot.forest import p_text, shifts_forest
from stressbed.plot.inputs import Source
from stressbed.plot.size import size_ablation
from stressbed.plot.stability import rank_stability
from stressbed.plot.style import COLOURS, MUTED, new_figure, number, style, wrapped

NAMES = made_tables.make_names(11, 19)
TABLES = made_tables.made(NAMES)


def ax_of(draw, data):
    with style():
        ax = new_figure(3.5, 3).subplots()
        assert draw(ax, data, NAMES) is ax
    return ax


def dots(ax):
    """Return (x, y) of every point of the scatters of an axes."""
    parts = [np.ma.filled(c.get_offsets(), np.nan) for c in ax.collections if len(c.get_offsets())]
    return np.concatenate(parts)


def lines(ax):
    """Return {y: (x of both ends)} of the level lines within an axes."""
    found = {}
    for line in ax.lines:
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        if len(x) == 2 and y[0] == y[1] and line.get_transform() == ax.transData and x[0] != x[1]:
            found[float(y[0])] = (float(x[0]), float(x[1]))
    return found


def test_the_forest_shows_each_shift_and_its_interval():
    data = TABLES["shifts"].round(6)
    ax = ax_of(shifts_forest, data)
    np.testing.assert_allclose(dots(ax)[:, 0], data["shift"])
    for y, row in data.iterrows():
        assert lines(ax)[float(y)] == (row["low"], row["high"])
    low, high = ax.get_xlim()
    assert low < data["low"].min() < 0 < high


def test_the_forest_greys_p_from_five_per_cent_on_and_nothing_else():
    data = TABLES["shifts"].assign(p_holm=[0.0004, 0.0499, 0.05, 0.3, 1.0, np.nan, 0.02, 0.001])
    ax = ax_of(shifts_forest, data)
    colours = {
        t.get_text(): to_hex(t.get_color()) for t in ax.texts if t.get_text().startswith((".", "<", "1."))
    }
    grey = {text for text, hue in colours.items() if hue == MUTED}
    assert grey == {".050", ".300", "1.000"}
    assert {"< .001", ".020", ".001"} <= set(colours) - grey


def test_a_shift_without_an_interval_is_a_point_without_a_line():
    data = TABLES["shifts"].assign(low=np.nan, high=np.nan, p_holm=np.nan)
    ax = ax_of(shifts_forest, data)
    assert len(dots(ax)) == len(data)
    assert not [ends for ends in lines(ax).values() if np.isfinite(ends).all() and ends != (0.0, 1.0)]


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "< .001"), (0.001, ".001"), (0.0234, ".023"), (1.0, "1.000"), (np.nan, "–")]
)
def test_p_values_are_printed_as_in_papers(p, text):
    assert p_text(p) == text


def test_every_cell_is_a_dot_and_those_without_a_score_are_counted():
    data = TABLES["drops_by_cell"].round(6)
    data.loc[[3, 40], "drop"] = np.nan
    ax = ax_of(drop_by_original, data)
    drawn = {tuple(xy) for xy in dots(ax).round(6)}
    assert drawn == set(map(tuple, data[["original", "drop"]].dropna().to_numpy()))
    assert ax.get_title(loc="right") == f"n = {len(data) - 2:,}, 2 without a score".replace(",", " ", 1)
    assert all(c.get_rasterized() for c in ax.collections)


def test_dots_get_smaller_and_fainter_but_never_vanish():
    sizes = [dot(n) for n in (1, 100, 1000, 4096, 10**6)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size >= 5 and alpha >= 0.3 for size, alpha in sizes)


def test_sizes_stand_where_they_are_and_are_named():
    data = TABLES["size_ablation"]
    data = data[data["family"] == "Qwen3"]
    ax = ax_of(size_ablation, data)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["596M", "4B", "7.6B"]
    drawn = [line.get_ydata().tolist() for line in ax.lines if len(line.get_xdata()) == len(data)]
    for column in ("original", *made_tables.AXES, "hteb"):
        assert data[column].tolist() in drawn


def test_models_of_nearly_one_size_have_labels_apart():
    data = TABLES["size_ablation"].head(3).assign(parameters=[560e6, 600e6, 640e6])
    labels = [t.get_text() for t in ax_of(size_ablation, data).get_xticklabels()]
    assert labels == ["560M", "600M", "640M"] or "\n600M" in labels


def test_a_lone_model_of_a_family_is_a_point():
    data = TABLES["size_ablation"].head(1)
    low, high = ax_of(size_ablation, data).get_xlim()
    assert low < data["parameters"].iloc[0] < high


def test_ranks_that_cannot_differ_between_seeds_are_said_to_be_identical():
    data = made_tables.rank_stability(NAMES, np.random.default_rng(1), "identical by construction")
    ax = ax_of(rank_stability, data)
    said = [t.get_text().replace("\n", " ") for t in ax.texts]
    assert said.count("identical by construction") == len(data) - 1
    # One open point: cross_translation, whose languages are drawn.
    assert len(dots(ax)) == len(data) + 1
    assert sorted(dots(ax)[:, 0])[-1] <= 1


def test_the_dumbbell_shows_the_interval_of_the_total():
    ranks = TABLES["hteb_ranks"][["embedder", "hteb_low", "hteb_high"]]
    data = TABLES["hteb_scores"].merge(ranks, on="embedder").sort_values("hteb", ascending=False)
    ax = ax_of(axis_dumbbell, data)
    intervals = [ends for y, ends in sorted(lines(ax).items()) if y % 1]
    np.testing.assert_allclose(intervals, data[["hteb_low", "hteb_high"]])
    low, high = ax.get_xlim()
    assert low < data["hteb_low"].min()
    assert data["hteb_high"].max() < high


def test_axes_keep_their_colour_in_every_figure():
    forest = ax_of(shifts_forest, TABLES["shifts"])
    drops = ax_of(drop_by_original, TABLES["drops_by_cell"])
    for ax in (forest, drops):
        drawn = {to_hex(c.get_facecolor()[0]) for c in ax.collections if len(c.get_offsets())}
        assert drawn == {COLOURS[a].lower() for a in made_tables.AXES}


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (-0.04, {}, "0.0"),
        (-1.25, {"sign": True}, "−1.2"),
        (0.04, {"sign": True}, "0.0"),
        (3.0, {"sign": True}, "+3.0"),
        (10.0, {"digits": 0}, "10"),
        (np.nan, {}, "–"),
    ],
)
def test_numbers_have_a_true_minus_and_no_signed_zero(value, options, text):
    assert number(value, **options) == text


def test_labels_break_after_hyphens_and_lose_nothing():
    label = "Paraphrase-Multilingual-MPNet (278M)"
    assert wrapped(label).replace("\n", " ").replace("- ", "-") == label
    assert max(map(len, wrapped("x" * 60).splitlines())) <= 24
    assert wrapped("") == ""
    assert wrapped("Cross-translation (es, fr)") == "Cross-translation\n(es, fr)"
    assert wrapped("Translation (es, fr)") == "Translation (es, fr)"
    assert pd.notna(wrapped("a"))


def test_the_forest_says_what_n_counts():
    sources = {"shifts": Source(TABLES["shifts"].assign(unit="dataset"))}
    with style():
        drawn = forest_figure(sources, NAMES).figure
    assert "n: datasets." in drawn.get_supxlabel()
    assert "Intervals: 95 %" in drawn.get_supxlabel()


def test_a_forest_without_intervals_speaks_of_none():
    frame = TABLES["shifts"].assign(unit="dataset", low=np.nan, high=np.nan)
    with style():
        drawn = forest_figure({"shifts": Source(frame)}, NAMES).figure
    assert drawn.get_supxlabel().startswith("No intervals: they need 6 datasets.")


def test_a_tau_of_minus_one_is_whole_and_its_line_ends_there():
    ax = ax_of(rank_stability, TABLES["rank_stability"].assign(tau_mean=-1.0, tau_sd=0.5))
    assert ax.get_xlim()[0] < -1.05
    assert min(start for start, _ in lines(ax).values()) == -1.0
