// The organiser's page. The token leaves the address and is kept for this tab alone; figures are asked
// for every few seconds, and answered with "the same as before" while nothing has changed.

import {fill, h} from "./element.js";

const page = document.getElementById("page"), line = document.getElementById("status");
const EVERY = 5000; // milliseconds
const PARTS = ["status", "ranking", "judges", "items"];
const FORMS = [
  ["jsonl", "judgments.jsonl", "rankings and pairs, for errata rank, agree and plan"],
  ["appraise", "judgments.xml", "the same as Appraise's XML"],
  ["pairwise", "judgments.csv", "the same as pairs of systems, a line each"],
  ["scores", "scores.jsonl", "scores, a line per output"],
  ["scores-csv", "scores.csv", "scores as a table"],
  ["edits", "edits.jsonl", "a verdict per line"],
  ["edits-m2", "edits.m2", "M2 of what the majority calls good"],
  ["texts", "texts.zip", "a text per instruction and slot (of reviews per system), and who wrote which line"],
  ["details", "details.jsonl", "everything: purposes, orders, revisions, times, comments"],
  ["people", "people.csv", "who finished, for paying"]];
const WORDY = new Set(["text", "comment"]); // columns of what people wrote
const places = {}, tags = {};
let token = "", lost = false;

const tell = (text, kind = "") => { line.textContent = text; line.dataset.kind = kind; };
const button = (text, action, attributes = {}) => h("button", {type: "button", on: {click: action}, ...attributes}, text);

class Failed extends Error {
  constructor(status, body) { super(body?.error?.message ?? (status ? `status ${status}` : "the server cannot be reached")); this.status = status; }
}

async function ask(method, path, body, {tag = "", raw = false} = {}) {
  const headers = {Authorization: `Bearer ${token}`};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (tag) headers["If-None-Match"] = tag;
  let answer;
  try {
    answer = await fetch(`api/v1/admin/${path}`, {method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit"});
  } catch { throw new Failed(0, null); }
  if (answer.status === 304) return null;
  if (!answer.ok) throw new Failed(answer.status, await answer.json().catch(() => null));
  return raw ? answer : {body: await answer.json(), tag: answer.headers.get("ETag") ?? ""};
}

// --- tables: columns with a kind, rows of cells; numbers stand right

function table({title, columns, rows, note, rules = []}, actions = null) {
  if (!rows.length) return [h("h3", {}, title), h("p", {class: "note"}, "Nothing yet.")];
  const head = columns.map(({name, numeric}) => h("th", {scope: "col", class: numeric ? "n" : null}, name));
  if (actions) head.push(h("th", {scope: "col"}, "Actions"));
  const id = `table-${title.replace(/\W+/g, "-").toLowerCase()}`;
  return [h("h3", {id}, title), h("div", {class: "scroll", tabindex: "0", role: "group", "aria-labelledby": id}, h("table", {"aria-labelledby": id},
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, rows.map((row, at) => h("tr", {class: rules.includes(at) ? "rule" : row.flag ? "flagged" : null},
      row.cells.map((cell, k) => h(k ? "td" : "th", {scope: k ? null : "row", class: columns[k].numeric ? "n" : WORDY.has(columns[k].name) ? "words" : null, dir: WORDY.has(columns[k].name) ? "auto" : null}, cell ?? "")),
      actions ? h("td", {class: "actions"}, actions(row)) : null))))), note ? h("p", {class: "note"}, note) : null];
}

function figures(list) {
  return h("dl", {class: "figures"}, list.map(([name, value, more]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, more) : null))));
}

// --- the parts, each from its own answer

const shown = {
  status(found) {
    places.state.textContent = found.state;
    places.state.dataset.state = found.state;
    for (const [form, choice] of Object.entries(places.forms)) choice.hidden = !found.forms.includes(form);
    for (const [name, states] of [["open", ["draft", "paused"]], ["pause", ["open"]], ["close", ["draft", "open", "paused"]]]) {
      places[name].disabled = !states.includes(found.state);
    }
    fill(places.overview, figures(found.figures),
      found.warnings.length ? h("ul", {class: "warnings"}, found.warnings.map(text => h("li", {}, text))) : null,
      found.tables.map(each => table(each)));
    if (places.texts.dataset.loaded !== "yes") {
      for (const [name, area] of Object.entries(places.areas)) area.value = found.texts[name] ?? "";
      places.texts.dataset.loaded = "yes";
    }
  },
  ranking(found) {
    fill(places.systems, found.notes.map(text => h("p", {class: "note"}, text)), found.tables.map(each => table(each)));
  },
  judges(found) {
    fill(places.judges, found.tables.map((each, k) => table(each, k ? null : judgeActions)));
  },
  items(found) { fill(places.items, found.tables.map(each => table(each))); },
};

function judgeActions({key, state}) {
  const own = (words, action) => button(words, action, {"aria-label": `${words}: ${key}`, "data-focus": `${words} ${key}`});
  return [
    own("Link", () => links([key])),
    own("New link", () => sure(`Replace the link of ${key}? The old one stops working.`, () => change("judges/rotate", {names: [key]}, showLinks))),
    state === "blocked" ? own("Unblock", () => change("judges/unblock", {names: [key]}))
      : own("Block", () => sure(`Block ${key}? Answers stay, and are left out of exports.`, () => change("judges/block", {names: [key]}))),
    own("Forget", () => sure(`Forget ${key}? Identity, comments and link are deleted; this cannot be undone.`, () => change("judges/forget", {names: [key]}))),
  ];
}

function addJudges() {
  const names = h("input", {type: "text", id: "new-judges", class: "names", autocomplete: "off", placeholder: "ana bo",
    on: {keydown: event => { if (event.key === "Enter" && !event.isComposing) add(); }}});
  function add() {
    const wanted = names.value.split(/[\s,]+/).filter(Boolean);
    if (wanted.length) change("judges", {names: wanted}, found => { names.value = ""; showLinks(found); });
    else tell("Write at least one name", "warn");
  }
  return h("p", {class: "add"}, h("label", {for: "new-judges"}, "Add judges, with blanks between their names"), names, button("Add", add));
}

async function change(path, body, then = null, method = "POST") {
  try {
    const answer = await ask(method, path, body);
    tell("Done", "good");
    then?.(answer.body);
    look();
  } catch (error) { tell(error.message, "warn"); }
}

function sure(question, action) {
  const made = h("dialog", {"aria-label": question}, h("p", {}, question), h("p", {class: "buttons"},
    button("Yes", () => { made.close(); action(); }, {class: "main"}), button("No", () => made.close())));
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
}

const links = names => change("links", {names}, showLinks);

function showLinks({links: found}) {
  const lines = found.map(({name, link}) => h("li", {}, h("strong", {}, name), h("code", {}, link),
    button("Copy", () => navigator.clipboard?.writeText(link).then(() => tell(`Link of ${name} copied`, "good"), () => tell("The browser does not let the page copy", "warn")))));
  if (!found.length) return;
  fill(places.links, h("ul", {class: "links"}, lines));
  places.links.closest("section").scrollIntoView();
  places.links.querySelector("button").focus({preventScroll: true});
}

async function save(form, name) {
  tell(`Exporting ${form} …`);
  try {
    const answer = await ask("GET", `export?form=${form}`, undefined, {raw: true});
    const link = h("a", {href: URL.createObjectURL(await answer.blob()), download: name});
    link.click();
    URL.revokeObjectURL(link.href);
    tell(`${name} saved`, "good");
  } catch (error) { tell(error.message, "warn"); }
}

// --- the frame

/** A section: what stands before the figures, and what stands behind them. */
function part(id, title, content = [], after = []) {
  places[id] ??= h("div");
  return h("section", {id, "aria-labelledby": `${id}-title`}, h("h2", {id: `${id}-title`}, title), content, places[id], after);
}

function frame(title) {
  places.state = h("span", {class: "state"});
  const state = (name, words, wanted) => (places[name] = button(words, () => {
    const act = () => change("campaign", {state: wanted}, null, "PATCH");
    if (wanted === "closed") sure("Close the campaign? Judges can no longer answer.", act); else act();
  }));
  places.areas = {};
  const area = (name, label) => {
    places.areas[name] = h("textarea", {id: `text-${name}`, rows: "6"});
    return [h("label", {for: `text-${name}`}, label), places.areas[name]];
  };
  places.texts = h("div");
  places.forms = Object.fromEntries(FORMS.map(([form, name, what]) => [form, h("li", {}, button(form, () => save(form, name)), h("span", {}, what))]));
  const saveTexts = button("Save texts", () => change("campaign", {texts: Object.fromEntries(
    Object.entries(places.areas).map(([name, field]) => [name, field.value]))}, null, "PATCH"));
  const titles = {overview: "Overview", systems: "Systems", judges: "Judges", items: "Items", export: "Export", links: "Links", texts: "Texts"};
  fill(page, h("header", {}, h("h1", {tabindex: "-1"}, title), h("p", {}, "State: ", places.state, " ",
    state("open", "Open", "open"), " ", state("pause", "Pause", "paused"), " ", state("close", "Close", "closed"))),
  h("nav", {"aria-label": "Sections"}, h("ul", {}, Object.entries(titles).map(([id, words]) => h("li", {}, h("a", {href: `#${id}`}, words))))),
  part("overview", titles.overview), part("systems", titles.systems), part("judges", titles.judges, [], addJudges()), part("items", titles.items),
  part("export", titles.export, [h("p", {class: "note"}, "A click saves the file, as it is at this moment."),
    h("ul", {class: "forms"}, Object.values(places.forms))]),
  part("links", titles.links, h("p", {}, button("Show all links", () => links([])))),
  part("texts", titles.texts, [h("p", {class: "note"}, "Markdown without HTML. Changes are seen by judges at their next visit."),
    area("instructions", "Instructions"), area("consent", "Consent (empty: none)"), h("p", {}, saveTexts)]));
}

async function look() {
  for (const name of PARTS) {
    const found = await ask("GET", name, undefined, {tag: tags[name] ?? ""});
    if (!found) continue;
    tags[name] = found.tag;
    const held = document.activeElement?.dataset?.focus; // what is drawn anew keeps the focus
    shown[name](found.body);
    if (held && !document.activeElement?.dataset?.focus) page.querySelector(`[data-focus="${CSS.escape(held)}"]`)?.focus({preventScroll: true});
  }
}

async function poll() {
  if (!document.hidden) {
    try { await look(); if (lost) { lost = false; tell(""); } }
    catch (error) {
      lost = true;
      tell(error.message, "warn");
      if (error.status === 401) { refused(error); return; }
    }
  }
  setTimeout(poll, EVERY);
}

function refused(error) {
  sessionStorage.removeItem("errata:admin");
  fill(page, h("section", {class: "screen"}, h("h1", {}, "This link does not work"), h("p", {}, error.message)));
}

async function start() {
  const given = decodeURIComponent(location.hash.slice(1));
  if (given.includes(".")) {
    token = given;
    try { sessionStorage.setItem("errata:admin", token); } catch { /* the token lives as long as the page */ }
    history.replaceState(null, "", location.pathname);
  } else {
    try { token = sessionStorage.getItem("errata:admin") ?? ""; } catch { token = ""; }
  }
  if (!token) { refused({message: "Open the organiser's link again, whole, as errata collect printed it."}); return; }
  begin();
}

/** The first answer; while there is none the page waits for it, and the link is kept. */
async function begin() {
  try {
    const {body, tag} = await ask("GET", "status");
    frame(body.title);
    tags.status = tag;
    shown.status(body);
    tell("");
    poll();
  } catch (error) {
    if (error.status === 401) { refused(error); return; }
    if (!page.querySelector("h1")) fill(page, h("section", {class: "screen"}, h("h1", {}, "Waiting for the server")));
    tell(`${error.message}; trying again`, "warn");
    setTimeout(begin, EVERY);
  }
}

start();
