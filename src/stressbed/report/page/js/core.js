"use strict";
// Data, what is chosen, words and numbers: what every part of the page uses.
const Page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rowsOf = new Map();
  const listeners = [];
  const state = {
    generator: data.generators[0]?.id ?? "",
    setting: data.settings[0]?.id ?? "",
    axes: new Set(data.axes.map((a) => a.id)),
  };

  const decoded = (column, i) => {
    if (column.values) return column.values[i];
    return column.codes[i] === null ? null : column.levels[column.codes[i]];
  };
  const allRows = (name) => {
    if (!rowsOf.has(name)) {
      const table = data.tables[name] ?? { columns: {} };
      const columns = Object.entries(table.columns);
      const rows = Array.from({ length: table.n ?? 0 }, (_, i) =>
        Object.fromEntries(columns.map(([key, column]) => [key, decoded(column, i)])));
      rowsOf.set(name, rows);
    }
    return rowsOf.get(name);
  };
  const settingOf = new Map(data.datasets.map((d) => [d.id, d.setting]));
  // A table without a column for it holds for every generator; settings are also known by the dataset.
  const chosen = (row) =>
    (row.generator === undefined || row.generator === null || row.generator === state.generator)
    && (row.setting === undefined
      ? row.dataset === undefined || !settingOf.has(row.dataset) || settingOf.get(row.dataset) === state.setting
      : row.setting === null || row.setting === state.setting);
  const rows = (name) => allRows(name).filter(chosen);
  const table = (name) => data.tables[name] ?? { columns: {}, notes: [], title: name };
  const has = (name) => rows(name).length > 0;
  const missing = (name) => table(name).missing ?? "Nothing to show for this choice: " + table(name).title + ".";

  const labels = new Map(Object.entries(data.labels));
  for (const kind of [data.settings, data.generators, data.transformations, data.datasets, data.embedders]) {
    for (const entry of kind) labels.set(entry.id, entry.label);
  }
  const label = (id) => (id === null || id === undefined ? "" : labels.get(id) ?? String(id));
  const headed = (column) => data.heads[column] ?? labels.get(column) ?? column[0].toUpperCase() + column.slice(1).replaceAll("_", " ");

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null || value === undefined) continue;
      if (name === "class") node.className = value;
      else if (name === "text") node.textContent = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
  };
  const drawn = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    node.append(...children);
    return node;
  };
  const isNumber = (x) => typeof x === "number" && Number.isFinite(x);
  const DASH = "\u2013";
  const fixed = (x, digits = 1) => (isNumber(x) ? ((x.toFixed(digits) * 1) + 0).toFixed(digits).replace("-", "\u2212") : DASH);
  const signed = (x, digits = 1) => (isNumber(x) && Number(x.toFixed(digits)) > 0 ? "+" : "") + fixed(x, digits);
  const between = (low, high, digits = 1) =>
    (isNumber(low) && isNumber(high) ? fixed(low, digits) + " to " + fixed(high, digits) : "");
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const notes = (name) => {
    const said = table(name).notes ?? [];
    return said.length ? make("div", { class: "notes" }, ...said.map((n) => make("p", { text: n }))) : null;
  };
  const say = (text) => make("p", { class: "nothing", text });
  const fill = (node, ...children) => node.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
  const body = (id) => document.querySelector("#" + id + " > .body");
  const onChange = (f) => listeners.push(f);
  const changed = (what) => { for (const f of listeners) f(what); };

  return {
    data, state, rows, allRows, table, has, missing, label, headed, make, drawn, isNumber, fixed, signed, between, mean,
    notes, say, fill, body, onChange, changed, DASH,
  };
})();
