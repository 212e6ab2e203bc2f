"use strict";
// The page's head, what is chosen, and the order in which parts are drawn.
(() => {
  const { data, state, make, fill, label } = Page;
  const byId = (id) => document.getElementById(id);

  const head = () => {
    for (const [id, text] of [["notice", data.notice], ["description", data.description]]) {
      byId(id).hidden = !text;
      byId(id).textContent = text;
    }
    const count = (n, what) => n + " " + what + (n === 1 ? "" : "s");
    byId("scope").textContent = "Run " + data.run + ": " + [count(data.embedders.length, "embedder"), count(data.datasets.length, "dataset"),
      count(data.transformations.length, "transformation")].join(", ") + "; rewritten by " + data.generators.map((g) => g.label).join(", ") + ".";
  };
  const choice = (key, title, entries) => {
    const box = make("select", { id: "choose-" + key }, ...entries.map((e) => make("option", { value: e.id }, e.label)));
    box.addEventListener("change", () => { state[key] = box.value; Page.changed(key); });
    return make("label", {}, title, box);
  };
  const choices = () => {
    const boxes = [];
    if (data.generators.length > 1) boxes.push(choice("generator", "Generator", data.generators));
    if (data.settings.length > 1) boxes.push(choice("setting", "Setting", data.settings));
    byId("choices").hidden = !boxes.length;
    fill(byId("choices"), ...boxes);
  };
  const findings = () => {
    for (const id of ["findings", "to-findings"]) byId(id).hidden = !data.findings.length;
    const nodes = [];
    for (const block of data.findings) {
      const last = nodes[nodes.length - 1];
      if (block.kind === "point") {
        const list = last?.tagName === "UL" ? last : make("ul");
        if (list !== last) nodes.push(list);
        list.append(make("li", { text: block.text }));
      } else nodes.push(make(block.kind === "heading" ? "h3" : "p", { text: block.text }));
    }
    fill(Page.body("findings"), ...nodes);
  };
  const all = (byHand) => {
    Leaderboard.draw(byHand);
    Cards.heatmap();
    Cards.cards();
    Items.draw();
    Statistics.shifts();
    Statistics.stability();
    Statistics.further();
  };
  // Paper has no buttons: what can be opened is printed open.
  const opened = new Set();
  window.addEventListener("beforeprint", () => {
    for (const box of document.querySelectorAll("details:not([open])")) { opened.add(box); box.open = true; }
  });
  window.addEventListener("afterprint", () => {
    for (const box of opened) box.open = false;
    opened.clear();
  });

  Page.onChange((what) => {
    if (what === "axes") { Leaderboard.draw(true); Cards.cards(); }
    else all(false);
  });
  head();
  choices();
  findings();
  Leaderboard.toggles();
  all(false);
  document.documentElement.dataset.ready = "true";
})();
