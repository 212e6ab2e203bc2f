"use strict";
// Shifts, stability of ranks, and the tables that are shown as they are.
const Statistics = (() => {
  const { data, make, isNumber, label, fill, fixed } = Page;
  const axisOf = new Map(data.transformations.map((t) => [t.id, t.axis]));

  const forest = (rows) => {
    const there = rows.filter((r) => isNumber(r.shift));
    if (!there.length) return null;
    const name = (r) => label(r.transformation);
    const range = (r) => Page.between(r.low, r.high) || "no interval";
    const some = there.some((r) => isNumber(r.low) && isNumber(r.high));
    const words = "Shift of each transformation" + (some ? " with its 95 % interval: " : ", without intervals: ")
      + there.map((r) => name(r) + " " + fixed(r.shift) + (some ? " (" + range(r) + ")" : "")).join("; ") + ". The table has all numbers.";
    const build = (P) => {
      const f = Charts.figure(P, {
        height: 70 + 32 * there.length, y: there.map(name).reverse(), x: Charts.limits(there.flatMap((r) => [r.shift, r.low, r.high]), [0]),
        title: "Shift of delta (points); left of zero: loss",
      });
      Charts.zero(f);
      const spans = there.filter((r) => isNumber(r.low) && isNumber(r.high));
      if (spans.length) {
        f.segment({ field: "low" }, { field: "name" }, { field: "high" }, { field: "name" }, {
          source: Charts.source({ low: spans.map((r) => r.low), high: spans.map((r) => r.high), name: spans.map(name), colour: spans.map((r) => Charts.colour(r.axis)) }),
          line_color: { field: "colour" }, line_width: 2,
        });
      }
      for (const axis of data.axes) {
        const own = there.filter((r) => r.axis === axis.id);
        if (!own.length) continue;
        const points = f.scatter({ field: "x" }, { field: "name" }, {
          source: Charts.source({ x: own.map((r) => r.shift), name: own.map(name), range: own.map(range), n: own.map((r) => r.n) }),
          size: Charts.size(axis.id, 11), marker: Charts.marker(axis.id), fill_color: axis.colour, line_color: "#ffffff",
        });
        Charts.hover(f, [points], [["Transformation", "@name"], ["Shift", "@x{0.00} (@range)"], ["n", "@n"]]);
      }
      return f;
    };
    return Charts.chart("shifts", { words, build, caption: "Hodges-Lehmann shift" + (some ? " with its 95 % interval." : ". No intervals: they need " + data.fewest + " datasets.") });
  };
  const shifts = () => {
    const place = Page.body("shifts");
    const rows = Page.rows("shifts");
    if (!rows.length) { fill(place, Page.say(Page.missing("shifts"))); return; }
    const used = data.axes.map((a) => a.id).filter((a) => rows.some((r) => r.axis === a));
    fill(place, Charts.legend(used), forest(rows), Tables.plain("shifts"));
  };

  const taus = (rows) => {
    const there = rows.filter((r) => isNumber(r.tau_mean));
    if (!there.length) return null;
    const name = (r) => label(r.row);
    const words = "Kendall's tau between the ranks on original and rewritten texts: "
      + there.map((r) => name(r) + " " + fixed(r.tau_mean, 2) + (isNumber(r.within_mean) ? ", between seeds " + fixed(r.within_mean, 2) : "")).join("; ") + ". The table has all numbers.";
    const build = (P) => {
      const ends = (r, m, s) => (isNumber(r[s]) ? [Math.max(-1, r[m] - r[s]), Math.min(1, r[m] + r[s])] : [r[m], r[m]]);
      const f = Charts.figure(P, {
        height: 70 + 30 * there.length, y: there.map(name).reverse(), title: "Kendall's tau (mean over datasets, line: one standard deviation, at most to 1)",
        x: [Math.min(0, ...there.map((r) => ends(r, "tau_mean", "tau_sd")[0])) - 0.03, 1.03],
      });
      const layers = [["within_mean", "within_sd", Charts.MUTED, "between seeds", () => "circle_x", 0.15],
        ["tau_mean", "tau_sd", Charts.INK, "original against rewritten", (r) => Charts.marker(axisOf.get(r.row) ?? r.row), -0.12]];
      for (const [m, s, colour, what, marker, shift] of layers) {
        const own = there.filter((r) => isNumber(r[m]));
        if (!own.length) continue;
        const at = own.map((r) => [name(r), isNumber(r.within_mean) ? shift : 0]);
        const fillOf = (r) => (m === "tau_mean" ? Charts.colour(axisOf.get(r.row) ?? r.row) : "#ffffff");
        f.segment({ field: "low" }, { field: "at" }, { field: "high" }, { field: "at" }, {
          source: Charts.source({ low: own.map((r) => ends(r, m, s)[0]), high: own.map((r) => ends(r, m, s)[1]), at }), line_color: colour, line_width: 1.5,
        });
        const points = f.scatter({ field: "x" }, { field: "at" }, {
          source: Charts.source({ x: own.map((r) => r[m]), at, name: own.map(name), fill: own.map(fillOf), shape: own.map(marker),
            size: own.map((r) => (m === "tau_mean" ? Charts.size(axisOf.get(r.row) ?? r.row, 10) : 8)) }),
          size: { field: "size" }, marker: { field: "shape" }, fill_color: { field: "fill" }, line_color: colour,
        });
        Charts.hover(f, [points], [["Row", "@name"], ["Tau, " + what, "@x{0.00}"]]);
      }
      return f;
    };
    return Charts.chart("stability", {
      words, build,
      caption: "Filled: ranks on original against rewritten texts. Crossed circles: ranks of one seed against another's, where seeds can differ. 1 is the same order.",
    });
  };
  const stability = () => {
    const place = Page.body("stability");
    const rows = Page.rows("rank_stability");
    const first = rows.length ? [taus(rows), Tables.plain("rank_stability")] : [Page.say(Page.missing("rank_stability"))];
    fill(place, make("h3", { text: "Do rewritten texts change who is better?" }), ...first, make("h3", { text: "Do other datasets give the same ranks?" }), Tables.plain("split_half"));
  };
  const further = () => {
    const shown = data.further.filter((name) => Page.has(name));
    const box = (name) => make("details", { class: "part" }, make("summary", { text: Page.table(name).title }), Tables.plain(name));
    fill(Page.body("further"), ...(shown.length ? shown.map(box) : [Page.say("None for this choice.")]));
  };
  return { shifts, stability, further };
})();
