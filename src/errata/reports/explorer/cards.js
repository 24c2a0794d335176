"use strict";
// How one sentence looks: a table with a row per text, its edits marked in place, its scores
// beside it. Every text goes in as text: nothing that a sentence holds is ever markup.
const explorerCards = (() => {
  const {settings, systems, metrics, pairs, states, score, change, disagreement} = explorerStore;
  // Told apart by sign and by line as well as by colour.
  const SIGNS = {right: "✓", missed: "○", wrong: "✗", changed: "±", asked: ""};
  const SPOKEN = {right: "right", missed: "missed", wrong: "wrong", changed: "changed",
                  asked: "asked for"};

  function element(name, classes = "", text = "") {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    if (text) made.textContent = text;
    return made;
  }

  // English words amid a sentence must not decide which way the sentence runs.
  function aside(name, classes, text) {
    const made = element(name, classes, text);
    made.dir = "ltr";
    return made;
  }

  // The step of the difficulty map that a weight is shown by.
  function shade(weight) {
    return Math.round(Math.min(1, Math.max(0, explorerStore.weight(weight))) * settings.steps);
  }

  function mark(tokens, edit, shown) {
    const [start, end, replacement, kind, state, weight, others = []] = edit;
    const name = states[state], before = tokens.slice(start, end).join(" ");
    const made = element("span", `x-edit${weight ? ` x-d${shade(weight)}` : ""} x-${name}`);
    const facts = [SPOKEN[name], settings.kinds[kind].name];
    if (weight) facts.push(`difficulty ${explorerStore.weight(weight).toFixed(3)}`);
    made.title = facts.join(", ");
    if (SIGNS[name]) {
      const sign = aside("span", "x-sign", SIGNS[name]);
      sign.ariaHidden = "true";
      made.append(sign);
    }
    made.append(aside("span", "unseen", ` [${facts.join(", ")}: `));
    if (name === "missed") {
      if (shown) made.append(element("span", "x-kept", shown));
      made.append(element("span", "x-hint", replacement || "∅"));
    } else {
      if (before) made.append(element("del", "", before));
      if (before && replacement) made.append(" ");
      if (replacement) made.append(element("ins", "", replacement));
    }
    for (const other of others) {
      made.append(" ", aside("span", "x-or", "or"), " ", element("span", "x-other", other || "∅"));
    }
    made.append(aside("span", "unseen", "] "));
    made.append(aside("span", "x-kind", settings.kinds[kind].name));
    if (weight) made.append(aside("span", "x-weight", explorerStore.weight(weight).toFixed(2)));
    return made;
  }

  // The source with the edits in place. A missed edit stands where the annotator asks for it; where
  // the system wrote something else there, only the correction is added.
  function marked(cell, tokens, row) {
    const plain = (from, to) => { if (to > from) cell.append(`${tokens.slice(from, to).join(" ")} `); };
    const made = row.edits.filter(edit => states[edit[4]] !== "missed");
    let at = 0;
    for (const edit of row.edits) {
      const [start, end, , , state] = edit;
      let shown = "";
      if (start >= at) plain(at, start);
      if (states[state] === "missed") {
        const next = made.find(other => other[0] >= Math.max(at, start) && other[0] < end);
        const to = next ? next[0] : end;
        if (to > Math.max(at, start)) shown = tokens.slice(Math.max(at, start), to).join(" ");
        at = Math.max(at, to, start);
      } else at = Math.max(at, end);
      cell.append(mark(tokens, edit, shown), " ");
    }
    plain(at, tokens.length);
  }

  function textCell(tokens, row) {
    const cell = element("td", "x-text");
    cell.dir = "auto";
    if (!row.text) { marked(cell, tokens, row); return cell; }
    // The edits do not make this text: it stands as it is, and they stand behind it.
    cell.append(row.text, " ");
    for (const edit of row.edits) {
      cell.append(mark(tokens, edit, tokens.slice(edit[0], edit[1]).join(" ")), " ");
    }
    return cell;
  }

  const digits = value => Number.isFinite(value) ? value.toFixed(settings.digits) : String(value);

  function scoreCell(m, system, i, f) {
    const cell = element("td", "x-score"), value = score(m, system, i);
    cell.append(aside("span", "x-metric", metrics[m].label), Number.isNaN(value) ? "–" : digits(value));
    if (f.base >= 0 && system !== f.base) {
      const way = change(m, system, f.base, i);
      if (way) {
        const better = way > 0, by = value - score(m, f.base, i);
        const sign = aside("span", better ? "x-up" : "x-down", better ? "▲" : "▼");
        sign.ariaHidden = "true";
        cell.append(sign, aside("span", "unseen", better ? " better than the base" : " worse than the base"));
        cell.title = `${better ? "+" : "−"}${digits(Math.abs(by))} against ${systems[f.base]}`;
      }
    }
    return cell;
  }

  function line(classes, who, text, scores) {
    const row = element("tr", classes), head = element("th");
    head.scope = "row";
    head.append(...who);
    row.append(head, text, ...scores);
    return row;
  }

  const none = () => metrics.map(() => element("td", "x-score x-none"));

  function referenceName(annotators) {
    if (settings.references < 2) return "reference";
    return `${annotators.length > 1 ? "references" : "reference"} ${annotators.join(", ")}`;
  }

  function outputLine(found, row, i, f) {
    const who = [];
    for (const s of row.whose) {
      if (who.length) who.push(", ");
      const name = element("span", s === f.system ? "x-name x-chosen" : "x-name", systems[s]);
      name.dir = "auto";
      who.push(name);
      if (s === f.base) who.push(" ", aside("span", "x-base", "base"));
    }
    if (row.annotator !== null && found.references.length > 1) { // else they are all of one mind
      who.push(aside("span", "x-by", `by ${referenceName([row.annotator])}`));
    }
    const scores = metrics.map((_, m) => scoreCell(m, row.whose[0], i, f));
    const classes = row.whose.includes(f.system) ? "x-output x-mine" : "x-output";
    return line(classes, who, textCell(found.tokens, row), scores);
  }

  // The best first, by the metric that is chosen; what has no score comes last.
  function ranked(found, i, f) {
    const wanted = row => f.others || f.system < 0
      || row.whose.includes(f.system) || row.whose.includes(f.base);
    const rows = found.outputs.filter(wanted);
    if (!metrics.length) return rows;
    const value = row => {
      const known = score(f.metric, row.whose[0], i);
      return Number.isNaN(known) ? -Infinity : known;
    };
    return rows.sort((a, b) => value(b) - value(a) || a.whose[0] - b.whose[0]);
  }

  function heading(row) {
    const names = ["text of", "text", ...metrics.map(metric => metric.label)];
    for (const [k, name] of names.entries()) {
      const cell = element("th", k > 1 ? "x-score" : "", name);
      cell.scope = "col";
      if (k > 1) cell.title = metrics[k - 2].signature;
      row.append(cell);
    }
  }

  function facts(i, f) {
    const said = settings.slices.map(({name, values}, k) => `${name}: ${values[explorerStore.slice(k, i)]}`);
    const apart = disagreement(f.disagree ?? -1, i);
    if (apart.discordant) {
      const [a, b] = pairs[apart.pair].map(m => metrics[m].label);
      const pairsApart = `${apart.discordant} of ${apart.compared} pairs of systems`;
      said.push(`${a} and ${b} order ${pairsApart} in opposite ways`);
    }
    return said.join(" · ");
  }

  function fill(card, i, found, f) {
    const head = element("div", "x-head"), title = element("h3", "", `Sentence ${found.number}`);
    title.id = `x-title-${found.number}`;
    const link = element("button", "x-link", "Copy link");
    link.type = "button";
    link.ariaLabel = `Copy a link to sentence ${found.number}`;
    head.append(title, element("span", "x-facts", facts(i, f)), link);
    const table = element("table"), top = table.createTHead().insertRow(), body = table.createTBody();
    heading(top);
    const plain = element("td", "x-text", found.source);
    plain.dir = "auto";
    body.append(line("x-source", ["source"], plain, none()));
    for (const row of found.references) {
      body.append(line("x-reference", [referenceName(row.whose)], textCell(found.tokens, row), none()));
    }
    for (const row of ranked(found, i, f)) body.append(outputLine(found, row, i, f));
    card.replaceChildren(head, table);
    card.removeAttribute("aria-busy");
  }

  // A sentence as an article of the feed; `found` is missing while its text is still packed.
  function card(i, found, f, place, of) {
    const made = element("article", "x-card");
    made.tabIndex = -1;
    made.dataset.i = i;
    made.setAttribute("aria-labelledby", `x-title-${explorerStore.number(i)}`);
    if (place !== undefined) {
      made.ariaPosInSet = place + 1;
      made.ariaSetSize = of;
    }
    if (found) fill(made, i, found, f);
    else {
      const title = element("h3", "", `Sentence ${explorerStore.number(i)}`);
      title.id = `x-title-${explorerStore.number(i)}`;
      made.append(title);
      made.ariaBusy = "true";
    }
    return made;
  }

  return {card, fill, element};
})();
