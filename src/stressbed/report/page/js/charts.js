"use strict";
// Charts, drawn by Bokeh. Each has its words for those who do not see it, and a table beside it holds its numbers.
const Charts = (() => {
  const { data, make, drawn, isNumber } = Page;
  const INK = "#222222", MUTED = "#6b6b6b", GRID = "#e4e4e4";
  const MARKERS = { o: "circle", s: "square", "^": "triangle", D: "diamond" };
  const axisOf = new Map(data.axes.map((a) => [a.id, a]));
  const colour = (axis) => axisOf.get(axis)?.colour ?? data.original.colour;
  const marker = (axis) => MARKERS[axisOf.get(axis)?.shape] ?? "circle";
  // The library draws a diamond and a triangle smaller than a square of the same size.
  const size = (axis, base) => base * ({ diamond: 1.55, triangle: 1.2 }[marker(axis)] ?? 1);
  const shown = new Map();

  // Replaces what an earlier call with the same id has drawn. `build(P, width)` returns a figure.
  const chart = (id, { words, build, caption }) => {
    const place = make("div", { class: "chart", role: "img", "aria-label": words });
    const box = make("figure", { id: "chart-" + id }, place, make("figcaption", {}, caption));
    shown.get(id)?.remove();
    shown.delete(id);
    const draw = async () => {
      if (!place.isConnected) return;
      const view = await Bokeh.Plotting.show(build(Bokeh.Plotting), place);
      if (place.isConnected) shown.set(id, view);
      else view.remove();
    };
    queueMicrotask(draw);
    return box;
  };

  const figure = (P, { height, y, x, title, backend = "svg", right = 12 }) => {
    const f = P.figure({
      height, sizing_mode: "stretch_width", toolbar_location: null, tools: "", output_backend: backend,
      min_border_right: right, ...(y ? { y_range: y } : {}), ...(x ? { x_range: x } : {}), outline_line_color: null,
    });
    for (const axis of [f.xaxis, f.yaxis]) {
      Object.assign(axis, {
        axis_line_color: MUTED, major_tick_line_color: null, minor_tick_line_color: null, major_label_text_color: INK,
        major_label_text_font_size: "13px", axis_label_text_color: INK, axis_label_text_font_size: "13px", axis_label_text_font_style: "normal",
      });
    }
    f.xgrid.grid_line_color = GRID;
    f.ygrid.grid_line_color = GRID;
    if (title) f.xaxis.axis_label = title;
    return f;
  };
  // Limits that hold every number with a margin, never narrower than two.
  const limits = (values, extra = []) => {
    const all = [...values, ...extra].filter(isNumber);
    if (!all.length) return [0, 1];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const margin = Math.max(0.06 * (high - low), (2 - (high - low)) / 2, 0.02 * (high - low));
    return [low - margin, high + margin];
  };
  const hover = (f, renderers, tooltips) => f.add_tools(new Bokeh.HoverTool({ renderers, tooltips, point_policy: "snap_to_data" }));
  const source = (columns) => new Bokeh.ColumnDataSource({ data: columns });
  const zero = (f) => f.add_layout(new Bokeh.Span({ location: 0, dimension: "height", line_color: INK, line_width: 1 }));

  // One point of a legend: the same shape and colour as in the chart.
  const key = (axis) => {
    // As in the figures: the original is open, everything else filled.
    const at = { fill: axis === "original" ? "#ffffff" : colour(axis), stroke: colour(axis), "stroke-width": 2 };
    const shapes = {
      circle: () => drawn("circle", { cx: 8, cy: 8, r: 5, ...at }),
      square: () => drawn("rect", { x: 3.5, y: 3.5, width: 9, height: 9, ...at }),
      triangle: () => drawn("path", { d: "M8 2.5 L14 13 L2 13 Z", ...at }),
      diamond: () => drawn("path", { d: "M8 1.5 L13 8 L8 14.5 L3 8 Z", ...at }),
    };
    return drawn("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", class: "key" }, shapes[marker(axis)]());
  };
  const legend = (axes) => make("ul", { class: "legend" }, ...axes.map((a) => make("li", {}, key(a), Page.label(a))));

  // A rank as a tick on its interval, from 1 at the left to n; each rank is as wide as any other. The words beside it say the same.
  const rankBar = (rank, low, high, n) => {
    const width = 72, step = width / n;
    const box = (from, to, height, fill) => drawn("rect", { x: from, y: 8 - height / 2, width: to - from, height, fill });
    return drawn("svg", { width, height: 16, viewBox: "0 0 " + width + " 16", "aria-hidden": "true", class: "rank" },
      box(0, width, 2, GRID), box((low - 1) * step, high * step, 8, "#56B4E9"), box((rank - 0.5) * step - 1.5, (rank - 0.5) * step + 1.5, 16, INK));
  };
  const deltaBar = (value, limit, axis) => {
    const width = 120, middle = width / 2, x = Math.max(-1, Math.min(1, value / limit)) * (middle - 4);
    return drawn("svg", { width, height: 14, viewBox: "0 0 " + width + " 14", "aria-hidden": "true", class: "bar" },
      drawn("rect", { x: Math.min(middle, middle + x), y: 3, width: Math.abs(x), height: 8, fill: colour(axis) }),
      drawn("line", { x1: middle, x2: middle, y1: 0, y2: 14, stroke: INK, "stroke-width": 1 }));
  };
  return { chart, figure, limits, hover, source, zero, legend, key, rankBar, deltaBar, colour, marker, size, INK, MUTED };
})();
