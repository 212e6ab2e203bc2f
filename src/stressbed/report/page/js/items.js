"use strict";
// Items with their original and rewritten texts side by side, differences marked.
const Items = (() => {
  const { data, make, fixed, signed, isNumber, label, fill } = Page;
  const PAGE = 10, MOST = 1200, SHARED = 0.15;
  const langOf = new Map(data.datasets.map((d) => [d.id, d.lang]));
  const now = { embedder: "", dataset: "", transformation: "", shown: PAGE };

  // Words, spaces and marks, each by itself; scripts without spaces are cut where the browser sees words.
  const words = (text) => {
    if (typeof Intl.Segmenter === "function") return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)].map((s) => s.segment);
    return text.match(/\s+|[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
  };
  // Longest common subsequence of two lists: pairs of places, in order.
  const common = (a, b) => {
    const width = b.length + 1;
    const length = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    const pairs = [];
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      if (a[i] === b[j]) { pairs.push([i, j]); i += 1; j += 1; }
      else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return pairs;
  };
  const marked = (tokens, kept, tag) => {
    const parts = [];
    tokens.forEach((token, i) => {
      const own = !kept.has(i) && token.trim() !== "";
      const last = parts[parts.length - 1];
      // A space between two marked words is marked with them.
      if (last && (last.own === own || (token.trim() === "" && last.own && !kept.has(i)))) last.text += token;
      else parts.push({ own, text: token });
    });
    return parts.map((p) => (p.own ? make(tag, { text: p.text }) : document.createTextNode(p.text)));
  };
  // Both texts as nodes, and a sentence where no differences are marked.
  const compared = (original, rewritten) => {
    const [a, b] = [words(original), words(rewritten)];
    const plain = (why) => ({ left: [document.createTextNode(original)], right: [document.createTextNode(rewritten)], why });
    if (original === rewritten) return plain("The rewritten text is the original.");
    if (a.length > MOST || b.length > MOST) return plain("Long texts: differences are not marked.");
    const pairs = common(a, b);
    const lexical = (tokens) => tokens.filter((t) => /[\p{L}\p{N}]/u.test(t)).length;
    const shared = pairs.filter(([i]) => /[\p{L}\p{N}]/u.test(a[i])).length;
    if (shared < SHARED * Math.max(1, Math.min(lexical(a), lexical(b)))) return plain("The texts share few words: differences are not marked.");
    return { left: marked(a, new Set(pairs.map(([i]) => i)), "del"), right: marked(b, new Set(pairs.map(([, j]) => j)), "ins"), why: "" };
  };

  const text = (i) => data.texts[i] ?? "";
  const KEY = ["embedder", "dataset", "transformation", "seed", "subset", "item"];
  // Rows of one item, which has a row for each of its texts; the largest loss first.
  const grouped = (rows) => {
    const found = new Map();
    for (const row of rows) {
      const key = JSON.stringify(KEY.map((k) => row[k]));
      if (found.has(key)) found.get(key).push(row);
      else found.set(key, [row]);
    }
    return [...found.values()].sort((a, b) => a[0].delta - b[0].delta);
  };
  const both = (row, several) => {
    const [original, rewritten] = [text(row.original_text), text(row.rewritten_text)];
    const named = several && row.field ? " (" + row.field + ")" : "";
    const side = (title, nodes, lang) => make("div", {}, make("p", { class: "side", text: title + named }), make("p", { class: "text", dir: "auto", lang }, ...nodes));
    const first = langOf.get(row.dataset) ?? "";
    if (!original && !rewritten) return [make("p", { class: "facts", text: "The texts of this item are not known." })];
    // A document of the corpus, say: only what the transformation rewrites has a second text.
    if (!rewritten) return [make("div", { class: "texts" }, side("Original, not rewritten", [document.createTextNode(original)], first))];
    const { left, right, why } = compared(original, rewritten);
    const remarks = row.remarks ? make("p", { class: "facts", text: "This rewrite" + named + ": " + row.remarks + "." }) : null;
    return [make("div", { class: "texts" }, side("Original", left, first), side("Rewritten", right, row.lang ?? "")), remarks, why ? make("p", { class: "facts", text: why }) : null];
  };
  const item = (rows, { level = "h3", brief = false } = {}) => {
    const row = rows[0], several = rows.length > 1;
    const where = [row.subset, several ? "" : row.field].filter((s) => s && s !== "default").join(", ");
    const named = [label(row.dataset), label(row.transformation), "seed " + row.seed, where].filter(Boolean).join(" \u00b7 ");
    const change = row.unit + " " + row.item + ": " + fixed(row.original_value, 3) + " \u2192 " + fixed(row.value, 3) + " (delta " + signed(row.delta, 3) + ")";
    const languages = [...new Set(rows.map((r) => r.language).filter(Boolean))].join(", ");
    const facts = [brief ? "" : label(row.embedder), change, languages ? "in " + languages : ""].filter(Boolean).join("; ");
    return make("article", { class: "item" }, make(level, { text: named }), make("p", { class: "facts", text: facts }), ...rows.flatMap((r) => both(r, several)));
  };

  const matching = (except) => Page.rows("worst_items").filter((r) =>
    ["embedder", "dataset", "transformation"].every((k) => k === except || !now[k] || r[k] === now[k]));
  const select = (kind, title, all, entries) => {
    const there = new Set(matching(kind).map((r) => r[kind]));
    if (now[kind] && !there.has(now[kind])) now[kind] = "";
    const box = make("select", { id: "pick-" + kind }, make("option", { value: "" }, all),
      ...entries.filter((e) => there.has(e.id)).map((e) => make("option", { value: e.id, selected: e.id === now[kind] }, e.label)));
    box.addEventListener("change", () => { now[kind] = box.value; now.shown = PAGE; draw(kind); });
    return make("label", {}, title, box);
  };
  const cellLine = () => {
    if (!now.embedder || !now.dataset || !now.transformation) return null;
    const of = (r) => r.embedder === now.embedder && r.dataset === now.dataset && r.transformation === now.transformation;
    const cell = Page.rows("drops_by_cell").find(of);
    const parts = Page.rows("item_intervals").filter(of).map((r) => "seed " + r.seed + ": drop " + fixed(r.drop)
      + (isNumber(r.low) ? " (" + (/aimed at/.test(r.note ?? "") ? "interval" : "95 % interval") + " over its items: " + Page.between(r.low, r.high) + ", n = " + r.n + (r.note ? "; " + r.note : "") + ")" : " (" + (r.note || "no interval") + ")"));
    if (!cell && !parts.length) return null;
    const whole = cell ? "Original " + fixed(cell.original) + ", drop " + fixed(cell.drop) + " (mean over seeds). " : "";
    return make("p", { class: "cell", text: "This cell: " + whole + parts.join("; ") + (parts.length ? "." : "") });
  };
  const draw = (focus = "") => {
    const controls = document.querySelector("#items > .controls");
    const said = document.getElementById("items-said");
    if (!Page.has("worst_items")) {
      fill(controls); said.textContent = "";
      fill(Page.body("items"), Page.say(Page.missing("worst_items")));
      return;
    }
    fill(controls, select("embedder", "Embedder", "All embedders", data.embedders), select("dataset", "Dataset", "All datasets", data.datasets),
      select("transformation", "Transformation", "All transformations", data.transformations));
    if (focus) document.getElementById("pick-" + focus).focus();
    const rows = grouped(matching(""));
    const shown = rows.slice(0, now.shown);
    said.textContent = shown.length + " of " + rows.length + (rows.length === 1 ? " item" : " items") + ", the largest loss first."
      + (Page.table("worst_items").left_out ? " The page holds the worst ones; worst_items.csv has " + Page.table("worst_items").left_out + " more." : "");
    const more = make("button", { type: "button", class: "more" }, "Show more items");
    more.addEventListener("click", () => {
      const from = now.shown;
      now.shown += PAGE;
      draw();
      const next = Page.body("items").querySelectorAll("article")[from];
      next?.setAttribute("tabindex", "-1");
      next?.focus();
    });
    fill(Page.body("items"), cellLine(), ...shown.map((r) => item(r)), rows.length > shown.length ? more : null, Page.notes("worst_items"));
  };
  return { draw, item, grouped, compared };
})();
