"use strict";
// The leaderboard, its axis toggles and its chart.
const Leaderboard = (() => {
  const { data, state, make, fixed, between, isNumber, label, fill } = Page;
  const sized = new Map(data.embedders.map((e) => [e.id, e.sized]));

  const withInterval = (row, key, name = key) => {
    const range = between(row[name + "_low"], row[name + "_high"]);
    const value = fixed(row[key]);
    return range ? make("span", {}, value, make("small", {}, " (" + range + ")")) : value;
  };
  // A rank is never shown without how sure it is.
  const rank = (row, key, name, n, after = "") => {
    const r = row[key], low = row[name + "_low"], high = row[name + "_high"];
    const show = (x) => fixed(x, Number.isInteger(x) ? 0 : 1);
    if (!isNumber(r)) return Page.DASH;
    if (!isNumber(low) || !isNumber(high)) return make("span", {}, show(r), make("small", {}, " (no interval)"), after);
    const words = low === high ? show(low) : show(low) + " to " + show(high);
    return make("span", { class: "ranked" }, Charts.rankBar(r, low, high, n), make("span", {}, show(r), make("small", {}, " (" + words + ")"), after));
  };

  const columns = (axes, n, interval) => [
    { key: "rank_hteb", label: "Rank", ascending: true, hint: "Rank by HTEB total" + (interval ? "; in parentheses its " + interval : ""),
      value: (r) => r.rank_hteb, cell: (r) => rank(r, "rank_hteb", "rank", n) },
    { key: "embedder", label: "Embedder", head: true, value: (r) => label(r.embedder), cell: (r) => sized.get(r.embedder) ?? r.embedder },
    { key: "original", label: "Original", numeric: true, hint: "Score on the original texts", value: (r) => r.original, cell: (r) => withInterval(r, "original") },
    ...data.axes.map((a) => ({
      key: a.id, label: a.label + (axes.includes(a.id) ? "" : " (left out)"), numeric: true, hint: "Score on the axis " + a.label,
      value: (r) => r[a.id], cell: (r) => make("span", { class: axes.includes(a.id) ? "" : "out" }, fixed(r[a.id])),
    })),
    { key: "hteb", label: "HTEB", numeric: true, hint: "Mean of the axes that count", value: (r) => r.hteb, cell: (r) => withInterval(r, "hteb") },
    { key: "drop", label: "Drop", numeric: true, ascending: true, hint: "Original minus HTEB", value: (r) => r.drop, cell: (r) => withInterval(r, "drop") },
    { key: "rank_original", label: "Rank on original", ascending: true, hint: "Rank by the score on the original texts",
      value: (r) => r.rank_original, cell: (r) => rank(r, "rank_original", "rank_original", n) },
  ];

  const chart = (rows, axes, interval) => {
    const names = rows.map((r) => sized.get(r.embedder) ?? r.embedder);
    const words = "Scores of " + rows.length + " embedders: on the original texts, per axis, and the HTEB total" + (interval ? " with its " + interval : "") + ". "
      + rows.map((r) => label(r.embedder) + " " + fixed(r.original) + " original, " + fixed(r.hteb) + " HTEB").join("; ") + ". The table has all numbers.";
    const build = (P) => {
      const values = rows.flatMap((r) => [r.original, r.hteb, r.hteb_low, r.hteb_high, ...axes.map((a) => r[a])]);
      const f = Charts.figure(P, { height: 70 + 30 * rows.length, y: [...names].reverse(), x: Charts.limits(values), title: "Score (points)" });
      const spans = rows.filter((r) => isNumber(r.hteb_low));
      const name = (r) => sized.get(r.embedder) ?? r.embedder;
      if (spans.length) {
        f.segment({ field: "low" }, { field: "name" }, { field: "high" }, { field: "name" }, {
          source: Charts.source({ low: spans.map((r) => r.hteb_low), high: spans.map((r) => r.hteb_high), name: spans.map(name) }),
          line_color: Charts.MUTED, line_width: 6, line_alpha: 0.35, line_cap: "round",
        });
      }
      for (const point of ["original", ...axes, "hteb"]) {
        const there = rows.filter((r) => isNumber(r[point]));
        const points = f.scatter({ field: "x" }, { field: "name" }, {
          source: Charts.source({ x: there.map((r) => r[point]), name: there.map(name), what: there.map(() => label(point)) }),
          size: Charts.size(point, point === "hteb" ? 11 : 10), marker: Charts.marker(point), line_color: point === "original" ? Charts.colour(point) : "#ffffff", line_width: point === "original" ? 2 : 0.8,
          fill_color: point === "original" ? "#ffffff" : Charts.colour(point),
        });
        Charts.hover(f, [points], [["Embedder", "@name"], ["Score", "@what: @x{0.0}"]]);
      }
      return f;
    };
    return Charts.chart("leaderboard", { words, build, caption: "Original, axes and HTEB total." + (interval ? " The broad line is the total's " + interval + "." : "") });
  };

  const said = (axes, byHand) => {
    const counted = axes.map(label).join(", ") || "none";
    const change = byHand ? "Totals, drops and ranks are computed anew. " : "";
    const without = axes.length && data.axes.some((a) => a.id === "language") && !axes.includes("language");
    return change + "Axes that count: " + counted + "." + (without ? " Without Language: for use in one language only." : "");
  };

  const draw = (byHand = false) => {
    const place = Page.body("leaderboard");
    if (!["hteb_scores", "hteb_ranks", "by_dataset"].some(Page.has)) {
      fill(place, Page.say(Page.missing("hteb_ranks")));
      return;
    }
    const { rows, axes, notes, n: over } = Ranks.standing();
    const interval = Ranks.intervalName(over);
    document.getElementById("axes-said").textContent = said(axes, byHand);
    const n = rows.filter((r) => isNumber(r.rank_hteb)).length;
    const chartPlace = make("div", {});
    const table = Tables.sortable({
      id: "leaderboard", caption: "Embedders by HTEB total over the chosen axes; select a header to sort.", columns: columns(axes, n, interval), rows,
      first: { key: "rank_hteb", descending: false },
      onSort: (shown) => fill(chartPlace, Charts.legend(["original", ...axes, "hteb"]), chart(shown, axes, interval)),
    });
    const incomplete = rows.length > n && axes.length ? "Embedders with a dash lack a cell; they have no total and no rank." : "";
    fill(place, table, make("div", { class: "notes", id: "leaderboard-note" }, ...[...notes, incomplete].filter(Boolean).map((text) => make("p", { text }))), chartPlace);
  };

  const toggles = () => {
    const set = document.getElementById("axes");
    const boxes = new Map(data.axes.map((a) => {
      const box = make("input", { type: "checkbox", id: "axis-" + a.id, value: a.id, checked: true });
      box.addEventListener("change", () => {
        if (box.checked) state.axes.add(a.id);
        else state.axes.delete(a.id);
        Page.changed("axes");
      });
      return [a.id, box];
    }));
    const preset = (text, wanted, id) => {
      const button = make("button", { type: "button", id }, text);
      button.addEventListener("click", () => {
        state.axes = new Set(data.axes.map((a) => a.id).filter(wanted));
        for (const [axis, box] of boxes) box.checked = state.axes.has(axis);
        Page.changed("axes");
      });
      return button;
    };
    for (const a of data.axes) set.append(make("label", { class: "axis" }, boxes.get(a.id), Charts.key(a.id), a.label));
    set.append(preset("All axes", () => true, "preset-all"));
    if (boxes.has("language") && boxes.size > 1) set.append(preset("English-only use", (a) => a !== "language", "preset-english"));
  };
  return { draw, toggles, rank, sized };
})();
