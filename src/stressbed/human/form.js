"use strict";
(() => {
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const byId = (id) => document.getElementById(id);
  const columns = sheet.questions.map((q) => q.name);
  const header = ["item_id", "rater", ...columns, "comment"];
  const key = "stressbed:" + sheet.name + ":" + sheet.hash;
  let state = { rater: "", answers: {} };

  const make = (tag, text, attributes = {}) => {
    const node = document.createElement(tag);
    node.textContent = text;
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const answer = (id) => (state.answers[id] ??= {});
  const done = (id) => columns.every((c) => (state.answers[id] ?? {})[c] !== undefined);
  const say = (text, warning = false) => {
    byId("status").textContent = text;
    byId("status").className = warning ? "warning" : "";
  };
  const keep = () => {
    try { localStorage.setItem(key, JSON.stringify(state)); } catch { /* the form works without it */ }
  };
  const progress = () => {
    const rated = sheet.items.filter((i) => done(i.item_id)).length;
    byId("progress").max = sheet.items.length;
    byId("progress").value = rated;
    for (const i of sheet.items) byId("item-" + i.item_id).classList.toggle("done", done(i.item_id));
    say(rated + " of " + sheet.items.length + " rated");
  };

  const question = (item, q) => {
    const set = make("fieldset", "");
    set.append(make("legend", q.label));
    const choices = make("div", "", { class: "choices" });
    choices.append(make("span", q.low));
    for (let n = sheet.scale[0]; n <= sheet.scale[1]; n += 1) {
      const label = make("label", "");
      const radio = make("input", "", {
        type: "radio", name: q.name + "-" + item.item_id, value: String(n),
        "aria-label": q.label + ": " + n,
      });
      radio.addEventListener("change", () => { answer(item.item_id)[q.name] = n; keep(); progress(); });
      label.append(radio, " " + n);
      choices.append(label);
    }
    choices.append(make("span", q.high));
    set.append(choices);
    return set;
  };
  const article = (item, number) => {
    const box = make("article", "", { id: "item-" + item.item_id, "aria-label": "Item " + (number + 1) });
    box.append(make("h2", number + 1 + ". " + item.task));
    const texts = make("div", "", { class: "texts" });
    for (const t of sheet.texts) {
      const part = make("div", "");
      part.append(make("h3", t.label), make("p", item[t.name], { class: "text", dir: "auto" }));
      texts.append(part);
    }
    box.append(texts, ...sheet.questions.map((q) => question(item, q)));
    const label = make("label", "Comment (optional)", { class: "comment" });
    const comment = make("textarea", "", { rows: "1", dir: "auto", name: "comment-" + item.item_id });
    comment.addEventListener("input", () => { answer(item.item_id).comment = comment.value; keep(); });
    label.append(comment);
    box.append(label);
    return box;
  };
  const show = () => {
    byId("rater").value = state.rater;
    for (const i of sheet.items) {
      const box = byId("item-" + i.item_id);
      const given = state.answers[i.item_id] ?? {};
      for (const radio of box.querySelectorAll("input[type=radio]")) {
        radio.checked = String(given[radio.name.split("-")[0]]) === radio.value;
      }
      box.querySelector("textarea").value = given.comment ?? "";
    }
    progress();
  };

  // A cell that a spreadsheet could take for a formula gets an apostrophe, which is taken off again on loading.
  const cell = (value) => {
    const text = /^'*\s*[=+@\-]/.test(value) ? "'" + value : value;
    return /[",;\t\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const toCsv = () => {
    const rows = sheet.items.map((i) => {
      const given = state.answers[i.item_id] ?? {};
      return [i.item_id, state.rater, ...columns.map((c) => String(given[c] ?? "")), given.comment ?? ""];
    });
    return "\ufeff" + [header, ...rows].map((r) => r.map(cell).join(",") + "\r\n").join("");
  };
  const fromCsv = (text) => {
    text = text.replace(/^\ufeff/, "");
    const rows = [[""]];
    let quoted = false;
    const separator = (/^"?item_id"?([,;\t])/.exec(text) ?? ["", ","])[1];
    for (let k = 0; k < text.length; k += 1) {
      const c = text[k], row = rows[rows.length - 1];
      if (quoted && c === '"' && text[k + 1] === '"') { row[row.length - 1] += c; k += 1; }
      else if (c === '"' && (quoted || row[row.length - 1] === "")) quoted = !quoted;
      else if (!quoted && c === separator) row.push("");
      else if (!quoted && c === "\n") rows.push([""]);
      else if (quoted || c !== "\r") row[row.length - 1] += c;
    }
    return rows.filter((r) => r.length > 1);
  };

  const save = () => {
    state.rater = byId("rater").value.trim();
    if (!state.rater) { byId("rater").focus(); say("Please enter your name or number first.", true); return; }
    const link = make("a", "", { download: sheet.name + "_" + state.rater.replace(/[^\p{L}\p{N}]+/gu, "-") + ".csv" });
    link.href = URL.createObjectURL(new Blob([toCsv()], { type: "text/csv;charset=utf-8" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    const left = sheet.items.filter((i) => !done(i.item_id)).length;
    if (left) say("Saved, but " + left + " of " + sheet.items.length + " items are not fully rated yet.", true);
    else say("Saved; all " + sheet.items.length + " items are rated.");
  };
  const load = async (file) => {
    const [names, ...rows] = fromCsv(await file.text());
    const known = new Set(sheet.items.map((i) => i.item_id));
    const fits = names && header.every((h) => names.includes(h));
    const own = fits ? rows.filter((r) => known.has(r[names.indexOf("item_id")])) : [];
    if (!own.length) { say("This file holds no ratings of this sheet; nothing was changed.", true); return; }
    const free = (value) => value.replace(/^'(?='*\s*[=+@\-])/, "");
    const read = { rater: "", answers: {} };
    for (const row of own) {
      const at = (name) => row[names.indexOf(name)] ?? "";
      const given = (read.answers[at("item_id")] = {});
      for (const c of columns) {
        const n = Number(at(c));
        if (at(c).trim() && Number.isInteger(n) && n >= sheet.scale[0] && n <= sheet.scale[1]) given[c] = n;
      }
      if (at("comment")) given.comment = free(at("comment"));
      read.rater ||= free(at("rater"));
    }
    state = read;
    keep();
    show();
  };

  for (const line of sheet.guide) byId("guide").append(make("p", line));
  byId("items").append(...sheet.items.map(article));
  byId("rater").addEventListener("input", () => { state.rater = byId("rater").value; keep(); });
  byId("save").addEventListener("click", save);
  byId("load").addEventListener("change", (e) => { if (e.target.files[0]) load(e.target.files[0]); e.target.value = ""; });
  byId("next").addEventListener("click", () => {
    const open = sheet.items.find((i) => !done(i.item_id));
    if (!open) { say("All items are rated."); return; }
    const box = byId("item-" + open.item_id);
    box.scrollIntoView();
    const missing = columns.find((c) => (state.answers[open.item_id] ?? {})[c] === undefined);
    box.querySelector('input[name="' + missing + "-" + open.item_id + '"]').focus({ preventScroll: true });
  });
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null");
    if (kept && kept.answers) state = kept;
  } catch { /* the form works without it */ }
  show();
})();
