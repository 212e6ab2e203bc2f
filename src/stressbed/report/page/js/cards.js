"use strict";
// The heatmap of embedders and transformations, and a card per embedder.
const Cards = (() => {
  const { data, make, fixed, signed, isNumber, label, fill } = Page;
  // Losses red, gains blue; the number stands in every cell, so that no colour is needed.
  const RED = [178, 24, 43], BLUE = [33, 102, 172], WHITE = [255, 255, 255];
  const shade = (value, limit) => {
    const share = Math.min(1, Math.abs(value) / limit);
    const mixed = WHITE.map((w, i) => Math.round(w + share * ((value < 0 ? RED : BLUE)[i] - w)));
    const [r, g, b] = mixed.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    return { background: "rgb(" + mixed.join(",") + ")", dark: (luminance + 0.05) / 0.05 < 1.05 / (luminance + 0.05) };
  };
  const present = (rows) => data.transformations.filter((t) => rows.some((r) => isNumber(r[t.id])));
  const largest = (rows) => Math.max(1, ...rows.flatMap((r) => data.transformations.map((t) => Math.abs(r[t.id] ?? 0))));

  // Those without a rank stand last.
  const byRank = (a, b) => (isNumber(a) && isNumber(b) ? a - b : Number(isNumber(b)) - Number(isNumber(a)));
  const heatmap = () => {
    const place = Page.body("transformations");
    const order = new Map(Ranks.standing().rows.map((r) => [r.embedder, r.rank_hteb]));
    const rows = Page.rows("delta_by_transformation").sort((a, b) => byRank(order.get(a.embedder), order.get(b.embedder)));
    if (!rows.length) { fill(place, Page.say(Page.missing("delta_by_transformation"))); return; }
    const shown = present(rows), limit = largest(rows);
    const cell = (value) => {
      if (!isNumber(value)) return Page.DASH;
      const { background, dark } = shade(value, limit);
      const node = make("span", { class: dark ? "heat dark" : "heat" }, signed(value));
      node.style.backgroundColor = background;
      return node;
    };
    const table = Tables.sortable({
      id: "heatmap", caption: "Mean delta in points by embedder and transformation: losses red, gains blue", rows,
      columns: [
        { key: "embedder", label: "Embedder", head: true, value: (r) => label(r.embedder), cell: (r) => Leaderboard.sized.get(r.embedder) ?? r.embedder },
        ...shown.map((t) => ({ key: t.id, label: t.label, numeric: true, ascending: true, hint: "Axis: " + label(t.axis), value: (r) => r[t.id], cell: (r) => cell(r[t.id]) })),
      ],
    });
    table.classList.add("heatmap");
    const groups = data.axes.map((a) => [a, shown.filter((t) => t.axis === a.id)]).filter(([, own]) => own.length);
    const axes = make("tr", { class: "axes" }, make("td", {}), ...groups.map(([a, own]) =>
      make("th", { scope: "colgroup", colspan: own.length }, Charts.key(a.id), a.label)));
    table.querySelector("thead").prepend(axes);
    fill(place, table, Page.notes("delta_by_transformation"));
  };

  const section = (title, ...children) => make("div", { class: "part" }, make("h4", { text: title }), ...children);
  const ranks = (row, n) => {
    if (!row || !isNumber(row.rank_hteb)) return make("p", { text: "No rank: a cell is missing or failed." });
    return make("dl", {},
      make("dt", { text: "Rank by HTEB" }), make("dd", {}, Leaderboard.rank(row, "rank_hteb", "rank", n, " of " + n)),
      make("dt", { text: "Rank on original" }), make("dd", {}, Leaderboard.rank(row, "rank_original", "rank_original", n, " of " + n)),
      make("dt", { text: "Score" }), make("dd", { text: fixed(row.original) + " original, " + fixed(row.hteb) + " HTEB: drop " + fixed(row.drop) }));
  };
  const bars = (entries, limit) => make("table", { class: "bars" }, make("tbody", {}, ...entries.map((e) => make("tr", {},
    make("th", { scope: "row" }, e.label), make("td", { class: "number" }, signed(e.value)),
    make("td", {}, isNumber(e.value) ? Charts.deltaBar(e.value, limit, e.axis) : Page.DASH)))));

  const datasets = (embedder) => {
    const rows = Page.rows("by_dataset").filter((r) => r.embedder === embedder && isNumber(r.drop)).sort((a, b) => a.drop - b.drop);
    if (!rows.length) return section("Datasets", Page.say(Page.has("by_dataset") ? "No dataset has a total." : Page.missing("by_dataset")));
    const line = (name, r) => [make("dt", { text: name }), make("dd", { text: label(r.dataset) + ": drop " + fixed(r.drop) + " of " + fixed(r.original) })];
    const last = rows[rows.length - 1];
    return section("Datasets", make("dl", {}, ...line(rows.length > 1 ? "Most robust" : "The only one", rows[0]), ...(rows.length > 1 ? line("Least robust", last) : [])));
  };
  const worst = (embedder) => {
    const rows = Items.grouped(Page.rows("worst_items").filter((r) => r.embedder === embedder)).slice(0, 3);
    if (!rows.length) return null;
    return make("details", { class: "part" }, make("summary", { text: "Items that lose most" }), ...rows.map((r) => Items.item(r, { level: "h4", brief: true })));
  };
  const card = (embedder, standing, n) => {
    const row = standing.find((r) => r.embedder === embedder.id);
    const deltas = Page.rows("delta_by_transformation").find((r) => r.embedder === embedder.id);
    const profile = Page.rows("axis_profiles").find((r) => r.embedder === embedder.id);
    const axes = data.axes.map((a) => ({
      label: a.label, axis: a.id, value: profile ? profile[a.id] : row && isNumber(row[a.id]) && isNumber(row.original) ? row[a.id] - row.original : null,
    }));
    const own = deltas ? present([deltas]).map((t) => ({ label: t.label, axis: t.axis, value: deltas[t.id] })) : [];
    const limit = Math.max(1, ...[...axes, ...own].map((e) => Math.abs(e.value ?? 0)));
    return make("article", { class: "card", "aria-label": embedder.label }, make("h3", { text: embedder.sized }), ranks(row, n),
      section("Delta by axis (points)", bars(axes, limit),
        profile && profile.most_disruptive ? make("p", { text: "Most disruptive: " + label(profile.most_disruptive) + "." }) : null),
      own.length ? section("Delta by transformation (points)", bars(own, limit)) : null, datasets(embedder.id), worst(embedder.id));
  };
  const cards = () => {
    const { rows, axes, n: over } = Ranks.standing();
    const interval = Ranks.intervalName(over);
    const n = rows.filter((r) => isNumber(r.rank_hteb)).length;
    const there = new Set([...rows.map((r) => r.embedder), ...Page.rows("by_dataset").map((r) => r.embedder)]);
    const place = Page.body("embedders");
    const order = new Map(rows.map((r) => [r.embedder, r.rank_hteb]));
    const shown = data.embedders.filter((e) => there.has(e.id)).sort((a, b) => byRank(order.get(a.id), order.get(b.id)));
    if (!shown.length) { fill(place, Page.say("No embedder has a score yet.")); return; }
    const counted = Ranks.allAxes() ? "" : " Ranks and totals count: " + axes.map(label).join(", ") + ".";
    fill(place, make("p", { text: "In the order of their HTEB ranks" + (interval ? ", which are not sure: in parentheses the " + interval + "." : ".") + counted }),
      make("div", { class: "cards" }, ...shown.map((e) => card(e, rows, n))));
  };
  return { heatmap, cards };
})();
