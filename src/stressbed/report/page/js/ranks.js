"use strict";
// Totals, drops and ranks for the axes that count; intervals by a bootstrap over datasets.
const Ranks = (() => {
  const { data, state, isNumber, mean } = Page;
  const RESAMPLES = 2000, SEED = 20260101;

  const complete = (row, axes) => isNumber(row.original) && axes.every((a) => isNumber(row[a]));
  // The best is 1; ties get the mean of their ranks.
  const ranked = (values) => {
    const there = values.filter(isNumber);
    return values.map((v) => {
      if (!isNumber(v)) return null;
      const better = there.filter((w) => w > v).length, equal = there.filter((w) => w === v).length;
      return better + (equal + 1) / 2;
    });
  };

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
  // Ends of the middle 95 %: between two values for scores; for ranks ranks that occurred, the outer ones.
  const ends = (values, whole) => {
    const sorted = Float64Array.from(values).sort();
    const at = (p, round) => {
      const place = p * (sorted.length - 1), low = Math.floor(place), high = Math.ceil(place);
      return round ? sorted[round(place)] : sorted[low] + (place - low) * (sorted[high] - sorted[low]);
    };
    return [at(0.025, whole && Math.floor), at(0.975, whole && Math.ceil)];
  };

  const every = data.axes.map((a) => a.id);
  const axesNow = () => every.filter((a) => state.axes.has(a));
  const allAxes = () => axesNow().length === every.length;

  // Scores on the datasets on which every embedder has every axis, so that the axes chosen do not change the datasets.
  const common = () => {
    const rows = Page.rows("by_dataset");
    const embedders = data.embedders.map((e) => e.id).filter((e) => rows.some((r) => r.embedder === e));
    const cells = new Map(rows.filter((r) => complete(r, every)).map((r) => [r.embedder + "\n" + r.dataset, r]));
    const named = data.datasets.map((d) => d.id).filter((d) => rows.some((r) => r.dataset === d));
    const datasets = named.filter((d) => embedders.every((e) => cells.has(e + "\n" + d)));
    return { embedders, datasets, of: named.length, read: (key) => embedders.map((e) => datasets.map((d) => cells.get(e + "\n" + d)[key])) };
  };
  const withRanks = (rows) => {
    for (const key of ["original", "hteb"]) ranked(rows.map((r) => r[key])).forEach((rank, i) => { rows[i]["rank_" + key] = rank; });
    return rows;
  };
  const totalled = (row, axes) => {
    const hteb = axes.length && complete(row, axes) ? mean(axes.map((a) => row[a])) : null;
    return { ...row, hteb, drop: isNumber(hteb) ? row.original - hteb : null };
  };
  const points = (axes, shared) => {
    const keys = ["original", ...every];
    const values = new Map(keys.map((k) => [k, shared.read(k)]));
    const rows = shared.datasets.length
      ? shared.embedders.map((embedder, i) => ({ embedder, ...Object.fromEntries(keys.map((k) => [k, mean(values.get(k)[i])])) }))
      : Page.rows("hteb_scores");
    return withRanks(rows.map((r) => totalled(r, axes)));
  };

  // Embedders see the same datasets in each resample.
  const resample = (rows, axes, shared) => {
    const n = shared.datasets.length;
    const original = shared.read("original");
    const parts = axes.map((a) => shared.read(a));
    const hteb = original.map((values, e) => values.map((_, d) => mean(parts.map((p) => p[e][d]))));
    const draws = rows.map(() => ({ original: [], hteb: [], drop: [], rank_original: [], rank: [] }));
    const next = random(SEED);
    for (let b = 0; b < RESAMPLES; b += 1) {
      const picked = Array.from({ length: n }, () => Math.floor(next() * n));
      const average = (values) => values.map((v) => picked.reduce((sum, i) => sum + v[i], 0) / n);
      const [o, h] = [average(original), average(hteb)];
      const [ro, rh] = [ranked(o), ranked(h)];
      draws.forEach((d, i) => {
        d.original.push(o[i]); d.hteb.push(h[i]); d.drop.push(o[i] - h[i]);
        d.rank_original.push(ro[i]); d.rank.push(rh[i]);
      });
    }
    rows.forEach((row, i) => {
      for (const [key, values] of Object.entries(draws[i])) [row[key + "_low"], row[key + "_high"]] = ends(values, key.startsWith("rank"));
    });
  };
  const recomputed = (axes, shared) => {
    const rows = points(axes, shared);
    const n = shared.datasets.length;
    if (n < data.fewest) {
      const few = n === 0 ? "no dataset has" : n === 1 ? "one dataset has" : n + " datasets have";
      return { rows, n, notes: ["No intervals: they need " + data.fewest + " datasets on which every embedder has every cell; " + few + " them."] };
    }
    resample(rows, axes, shared);
    return {
      rows,
      n,
      notes: ["Means over the " + n + (n < shared.of ? " of " + shared.of : "") + " datasets on which every embedder has every cell, with percentile intervals, aimed at 95 %, from "
        + RESAMPLES + " resamples of these datasets, made in this page with a fixed seed: what other datasets of the same kind would show."
        + (intervalName(n) === "95 % interval" ? "" : " With so few datasets each is an " + intervalName(n) + ".")],
    };
  };
  // What an interval over n datasets may be called: `95 % interval` only where it covers about that; empty where there is none.
  const intervalName = (n) => data.intervals[n] ?? "";
  // With every axis, what was analysed; else computed here, in the same columns.
  const standing = () => {
    const axes = axesNow(), shared = common();
    if (!axes.length) return { rows: points(axes, shared), axes, notes: ["No axis counts: choose at least one."] };
    if (allAxes() && Page.has("hteb_ranks")) {
      const scores = new Map(points(axes, shared).map((r) => [r.embedder, r]));
      const rows = Page.rows("hteb_ranks").map((r) => ({ ...scores.get(r.embedder), ...r }));
      const n = Math.min(...rows.filter((r) => isNumber(r.hteb_low)).map((r) => r.n_datasets));
      return { rows, axes, n, notes: Page.table("hteb_ranks").notes ?? [] };
    }
    return { axes, ...recomputed(axes, shared) };
  };
  return { standing, axesNow, allAxes, ranked, intervalName };
})();
