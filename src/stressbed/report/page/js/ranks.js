"use strict";
// Totals, drops and ranks for the axes that count; intervals by a bootstrap over datasets.
const Ranks = (() => {
  const { data, state, isNumber, mean } = Page;
  const RESAMPLES = 2000, SEED = 20260101;

  const complete = (row, axes) => isNumber(row.original) && axes.every((a) => isNumber(row[a]));
  const total = (row, axes) => (axes.length && complete(row, axes) ? mean(axes.map((a) => row[a])) : null);
  // The best is 1; equal values share the better rank.
  const ranked = (values) => values.map((v) => (isNumber(v) ? 1 + values.filter((w) => isNumber(w) && w > v).length : null));

  // A small generator of uniform numbers with a fixed seed, so that a page shows the same intervals each time.
  const random = (seed) => {
    let s = seed >>> 0;
    return () => {
      s = (s + 0x6d2b79f5) >>> 0;
      let t = Math.imul(s ^ (s >>> 15), s | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  };
  // Smallest value that at least a share p of the values does not exceed: for ranks, always a rank.
  const quantile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))];
  const interval = (values) => {
    const sorted = Float64Array.from(values).sort();
    return [quantile(sorted, 0.025), quantile(sorted, 0.975)];
  };

  const axesNow = () => data.axes.map((a) => a.id).filter((a) => state.axes.has(a));
  const allAxes = () => axesNow().length === data.axes.length;

  const points = (axes) => {
    const rows = Page.rows("hteb_scores").map((r) => {
      const hteb = total(r, axes);
      return { ...r, hteb, drop: isNumber(hteb) ? r.original - hteb : null };
    });
    const [original, hteb] = ["original", "hteb"].map((k) => ranked(rows.map((r) => r[k])));
    rows.forEach((r, i) => Object.assign(r, { rank_original: original[i], rank_hteb: hteb[i] }));
    return rows;
  };

  // Scores of each embedder on the datasets on which all ranked embedders have every value.
  const perDataset = (embedders, axes) => {
    const cells = new Map();
    for (const r of Page.rows("by_dataset")) {
      if (complete(r, axes)) cells.set(r.embedder + "\n" + r.dataset, r);
    }
    const datasets = data.datasets.map((d) => d.id).filter((d) => embedders.every((e) => cells.has(e + "\n" + d)));
    const read = (f) => embedders.map((e) => Float64Array.from(datasets, (d) => f(cells.get(e + "\n" + d))));
    return { datasets, original: read((r) => r.original), hteb: read((r) => total(r, axes)) };
  };
  const resample = (embedders, axes) => {
    const { datasets, original, hteb } = perDataset(embedders, axes);
    const n = datasets.length;
    const draws = embedders.map(() => ({ original: [], hteb: [], drop: [], rank_original: [], rank_hteb: [] }));
    const next = random(SEED);
    for (let b = 0; b < RESAMPLES && n > 1; b += 1) {
      const picked = Array.from({ length: n }, () => Math.floor(next() * n));
      const average = (values) => values.map((v) => picked.reduce((sum, i) => sum + v[i], 0) / n);
      const [o, h] = [average(original), average(hteb)];
      const [ro, rh] = [ranked(o), ranked(h)];
      draws.forEach((d, i) => {
        d.original.push(o[i]); d.hteb.push(h[i]); d.drop.push(o[i] - h[i]);
        d.rank_original.push(ro[i]); d.rank_hteb.push(rh[i]);
      });
    }
    return { n, draws };
  };
  const NAMES = { original: "original", hteb: "hteb", drop: "drop", rank_original: "rank_original", rank_hteb: "rank" };
  const recomputed = (axes) => {
    const rows = points(axes);
    const usable = rows.filter((r) => isNumber(r.hteb));
    const { n, draws } = resample(usable.map((r) => r.embedder), axes);
    if (n < 2) {
      const few = n === 1 ? "one dataset does" : "no dataset does";
      return { rows, note: "No intervals: they need two datasets on which every embedder has every cell, and " + few + "." };
    }
    usable.forEach((r, i) => {
      for (const [key, name] of Object.entries(NAMES)) [r[name + "_low"], r[name + "_high"]] = interval(draws[i][key]);
    });
    return {
      rows,
      note: "95 % intervals: bootstrap over the " + n + " datasets on which every embedder has every cell (" + RESAMPLES
        + " resamples, made in this page with a fixed seed). They say what another choice of datasets like these would do.",
    };
  };
  // With every axis, the analysed table; else computed here. Same columns either way.
  const standing = () => {
    const axes = axesNow();
    if (!axes.length) return { rows: points(axes), axes, note: "No axis counts: choose at least one." };
    if (allAxes() && Page.has("hteb_ranks")) {
      const scores = new Map(Page.rows("hteb_scores").map((r) => [r.embedder, r]));
      const rows = Page.rows("hteb_ranks").map((r) => ({ ...scores.get(r.embedder), ...r }));
      return { rows, axes, note: (Page.table("hteb_ranks").notes ?? []).join(" ") };
    }
    return { axes, ...recomputed(axes) };
  };
  return { standing, axesNow, allAxes, ranked, total };
})();
