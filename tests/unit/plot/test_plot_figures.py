from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from eight_transformations import AXES, EIGHT
from matplotlib.colors import to_hex, to_rgb

from stressbed.analyse.names import Names, short_number
from stressbed.plot.dumbbell import axis_dumbbell
from stressbed.plot.heatmap import colour_scale, delta_heatmap, grouped
from stressbed.plot.style import COLOURS, new_figure, style


def make_names(embedders, generators=("llm",), **more):
    return Names(
        embedders={e: e.upper() for e in embedders},
        datasets={},
        generators={g: g for g in generators},
        transformations={t: v[0] for t, v in EIGHT.items()},
        axes={t: v[1] for t, v in EIGHT.items()},
        **more,
    )


def scores(*totals):
    """One embedder per total; its original is 80."""
    return pd.DataFrame(
        [
            {"embedder": f"e{i}", "original": 80.0, **dict.fromkeys(AXES, t), "hteb": t, "drop": 80 - t}
            for i, t in enumerate(totals)
        ]
    )


def deltas(n, value=-1.0):
    return pd.DataFrame([{"embedder": f"e{i}", **dict.fromkeys(EIGHT, value)} for i in range(n)])


def axes_of(draw):
    with style():
        ax = new_figure(7, 3).subplots()
        assert draw(ax) is ax
    return ax


def points(ax):
    """Return (x, y, colour) of all points, as drawn."""
    return [
        (*collection.get_offsets()[0], to_hex(collection.get_edgecolor()[0]))
        for collection in ax.collections
        if len(collection.get_offsets())
    ]


def test_dumbbell_draws_every_score_where_it_is_and_the_best_on_top():
    data = scores(60.0, 70.0)
    data.loc[0, "language"] = 40.0
    ax = axes_of(lambda a: axis_dumbbell(a, data, make_names(["e0", "e1"])))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["E1", "E0"]
    drawn = {(round(float(x), 6), int(y), c) for x, y, c in points(ax)}
    assert (40.0, 1, COLOURS["language"].lower()) in drawn
    assert (80.0, 0, COLOURS["original"].lower()) in drawn
    assert len(points(ax)) == 8
    low, high = ax.get_xlim()
    assert low < 40 < 80 < high
    texts = [t.get_text() for t in ax.texts]
    assert texts.count("80.0") == 2
    assert {"60.0", "70.0", "ø 80.0", "ø 65.0"} <= set(texts)


def test_dumbbell_leaves_out_what_is_lacking_and_says_so():
    data = scores(60.0, 70.0)
    data.loc[1, ["language", "hteb", "drop"]] = np.nan
    ax = axes_of(lambda a: axis_dumbbell(a, data, make_names(["e0", "e1"])))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["E0", "E1"]
    finite = [p for p in points(ax) if np.isfinite(p[0]) and not np.ma.is_masked(p[0])]
    assert len(finite) == 7
    texts = [t.get_text() for t in ax.texts]
    assert "–" in texts
    assert "ø –" in texts


def test_dumbbell_works_when_nothing_is_there():
    data = scores(60.0)
    data.loc[0, ["original", *AXES, "hteb", "drop"]] = np.nan
    ax = axes_of(lambda a: axis_dumbbell(a, data, make_names(["e0"])))
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_heatmap_prints_each_value_in_its_cell():
    data = deltas(2)
    data.loc[1, "translation"] = -12.34
    data.loc[0, "expansion"] = 2.0
    data.loc[0, "summarisation"] = np.nan
    names = make_names(["e0", "e1"], parameters={"e1": 33_360_000})
    ax = axes_of(lambda a: delta_heatmap(a, data, names, order=["e1", "e0"]))
    cells = {t.get_position(): t.get_text() for t in ax.texts}
    columns = grouped(names)
    assert cells[columns.index("translation"), 0] == "−12.3"
    assert cells[columns.index("expansion"), 1] == "+2.0"
    assert cells[columns.index("summarisation"), 1] == "–"
    assert [t.get_text() for t in ax.get_yticklabels()] == ["E1 (33M)", "E0"]
    strips = {to_hex(line.get_color()) for line in ax.lines if line.get_linewidth() == 3}
    assert {COLOURS[a].lower() for a in AXES} <= strips


def test_columns_of_an_axis_stand_side_by_side_whatever_the_order_of_the_config():
    names = make_names(["e0"])
    mixed = Names({}, {}, {}, dict(sorted(names.transformations.items())), names.axes)
    axes = [names.axes[t] for t in grouped(mixed)]
    assert len(set(axes)) == sum(a != b for a, b in zip(axes, [None, *axes], strict=False))


def test_zero_is_the_middle_of_the_colour_scale():
    scale = colour_scale(9.0)
    red, _, blue, _ = scale.to_rgba(np.array([-9.0, 9.0]))[0]
    assert red > 2 * blue
    red, _, blue, _ = scale.to_rgba(np.array([-9.0, 9.0]))[1]
    assert blue > 2 * red
    assert max(abs(c - 0.967) for c in scale.to_rgba(np.array([0.0]))[0][:3]) < 0.01


def luminance(colour):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_colours_of_axes_differ_in_lightness_too():
    values = sorted(luminance(c) for c in COLOURS.values())
    assert all(b - a > 0.05 for a, b in pairwise(values))


def test_a_run_may_choose_colours():
    names = make_names(["e0"], colours={"language": "#00ff00"})
    ax = axes_of(lambda a: axis_dumbbell(a, scores(50.0), names))
    assert "#00ff00" in {c for _, _, c in points(ax)}


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (33_360_000, "33M"),
        (7_850_000_000, "7.8B"),
        (27_008_663_808, "27B"),
        (4_022_468_096, "4B"),
        (500_000, "500K"),
    ],
)
def test_sizes_are_short(n, text):
    assert short_number(n) == text


def test_a_size_is_not_said_twice():
    names = Names(
        {"a": "Qwen3-8B", "b": "BGE-M3"}, {}, {}, {}, {}, parameters={"a": 8 * 10**9, "b": 568 * 10**6}
    )
    assert names.sized("a") == "Qwen3-8B"
    assert names.sized("b") == "BGE-M3 (568M)"
