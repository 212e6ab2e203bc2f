"use strict";
// Tables that sort by their headers; `aria-sort` says how.
const Tables = (() => {
  const { make, isNumber, fixed, label, headed, fill } = Page;
  const remembered = new Map();

  const compare = (a, b) => {
    const none = (x) => x === null || x === undefined || x === "" || Number.isNaN(x);
    if (none(a) || none(b)) return none(a) - none(b);
    return isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sorted = (rows, column, descending) => {
    const none = (x) => x === null || x === undefined || x === "" || Number.isNaN(x);
    // What has no value stands last, whichever way the table is sorted.
    return [...rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      return none(x) || none(y) ? none(x) - none(y) : (descending ? -1 : 1) * compare(x, y);
    });
  };

  // columns: {key, label, value(row), cell(row) -> text or node, numeric, ascending, hint, head}. `first`: {key, descending};
  // without it rows stand as they are given until a header is chosen.
  const sortable = ({ id, caption, columns, rows, first, onSort }) => {
    const now = remembered.get(id) ?? { ...first };
    remembered.set(id, now);
    const body = make("tbody");
    const heads = columns.map((c) => {
      const button = make("button", { type: "button", title: c.hint }, c.label);
      const th = make("th", { scope: "col", class: c.head ? "head" : c.numeric ? "number" : "" }, button);
      button.addEventListener("click", () => {
        const again = now.key === c.key;
        now.descending = again ? !now.descending : Boolean(c.numeric && !c.ascending);
        now.key = c.key;
        draw(true);
      });
      return th;
    });
    const draw = (byHand) => {
      const column = columns.find((c) => c.key === now.key);
      columns.forEach((c, i) => {
        if (c === column) heads[i].setAttribute("aria-sort", now.descending ? "descending" : "ascending");
        else heads[i].removeAttribute("aria-sort");
      });
      const shown = column ? sorted(rows, column, now.descending) : rows;
      fill(body, ...shown.map((row) => make("tr", {}, ...columns.map((c) => {
        const content = c.cell(row);
        return make(c.head ? "th" : "td", { scope: c.head ? "row" : null, class: c.head ? "head" : c.numeric ? "number" : "" }, content);
      }))));
      if (onSort) onSort(shown, byHand);
    };
    const table = make("table", {}, make("caption", {}, make("span", { text: caption })), make("thead", {}, make("tr", {}, ...heads)), body);
    draw(false);
    return scrolling(table, caption);
  };
  // A wide table scrolls in its own box, which the keyboard can reach.
  const scrolling = (table, name) => make("div", { class: "wide", role: "region", tabindex: "0", "aria-label": name }, table);

  const LABELLED = new Set(["embedder", "dataset", "generator", "transformation", "setting", "first", "second", "row",
    "source", "translated", "axis", "most_disruptive", "condition", "axes"]);
  const digits = (key, values) => {
    // A p value of 1 has its decimals, too: it is no count.
    if (/^(p|p_holm)$/.test(key)) return 3;
    if (values.every((v) => v === null || Number.isInteger(v))) return 0;
    // Correlations and shares lie within one, points do not.
    return values.every((v) => v === null || Math.abs(v) <= 1) ? 3 : 1;
  };
  // A table as it was analysed: ids become labels, numbers are rounded.
  const plain = (name) => {
    const rows = Page.rows(name);
    if (!rows.length) return Page.say(Page.missing(name));
    const keys = Object.keys(rows[0]).filter((k) => !["generator", "setting"].includes(k));
    const columns = keys.map((key, i) => {
      const values = rows.map((r) => r[key]);
      const numeric = values.some(isNumber) && values.every((v) => v === null || isNumber(v));
      const places = numeric ? digits(key, values) : 0;
      const show = (v) => {
        if (v === null || v === undefined) return Page.DASH;
        if (typeof v === "boolean") return v ? "yes" : "no";
        if (numeric) return /^(p|p_holm)$/.test(key) && v < 0.001 ? "< 0.001" : fixed(v, places);
        return LABELLED.has(key) ? label(v) : String(v);
      };
      return { key, label: headed(key), numeric, head: i === 0, value: (r) => (LABELLED.has(key) ? label(r[key]) : r[key]), cell: (r) => show(r[key]) };
    });
    const table = sortable({ id: name, caption: Page.table(name).title, columns, rows });
    return make("div", {}, table, Page.notes(name));
  };
  return { sortable, scrolling, plain };
})();
