// Writing: a correction of the source, or a review of somebody's correction.

import {h, markedText, plain} from "../element.js";

const squeezed = text => text.trim().split(/\s+/).join(" ");

/** What the server would refuse, while the text can still be mended. */
// As errata.io.checks.characters has them: the server refuses them, which a test compares.
const INVISIBLE = /[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;

function wrong(task, text, unchanged, say, same) {
  if (text.trim() === "") return say("correct.empty");
  const most = 4 * [...task.source].length + 1000, many = [...text].length;
  if (many > most) return say("correct.long", {many, most});
  const hidden = [...text.matchAll(INVISIBLE)].find(([found]) => !task.source.includes(found));
  if (hidden) {
    const character = "U+" + hidden[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return say("correct.invisible", {character, before: text.slice(0, hidden.index).replace(INVISIBLE, "").slice(-20)});
  }
  return squeezed(text) === squeezed(unchanged) ? same : "";
}

function area(task, {say, changed}, label, start) {
  let pasted = 0;
  const field = h("textarea", {id: "correction", rows: "4", dir: "auto", lang: task.language, spellcheck: "false",
    autocomplete: "off", autocapitalize: "off", value: start, on: {
      input: changed,
      paste: event => { pasted += (event.clipboardData?.getData("text") ?? "").length; },
      keydown: event => { if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) event.preventDefault(); },
    }});
  field.value = start;
  return {field, label: h("label", {for: "correction"}, label),
    text: () => field.value.replace(/[\r\n\u2028\u2029]+/g, " "), pasted: () => pasted};
}

export function correct(task, context) {
  const {say, changed} = context;
  let unchanged = false;
  const box = area(task, context, say("correct.label"), task.source);
  const nothing = h("input", {type: "checkbox", id: "unchanged", on: {change: () => mark(nothing.checked)}});

  function mark(on, tell = true) {
    unchanged = on;
    nothing.checked = on;
    box.field.readOnly = on;
    if (on) box.field.value = task.source;
    if (tell) changed();
  }

  return {
    element: h("div", {class: "outputs task-text"}, h("p", {class: "instruction"}, say(`correct.${task.instruction}`)),
      box.label, box.field, h("div", {class: "below"},
        h("span", {class: "choice"}, nothing, h("label", {for: "unchanged"}, say("correct.nothing"))),
        h("button", {type: "button", class: "plain", on: {click: () => { mark(false); box.field.value = task.source; changed(); }}}, say("correct.reset")))),
    answer: () => (unchanged ? {unchanged: true} : {text: box.text()}),
    empty: () => !unchanged && box.text() === task.source,
    problem: () => {
      if (unchanged) return "";
      return wrong(task, box.text(), task.source, say, say("correct.same"));
    },
    load: answer => { mark(Boolean(answer?.unchanged), false); if (answer?.text !== undefined) box.field.value = answer.text; },
    undo: () => false,
    focus: () => box.field.focus(),
    pasted: box.pasted,
    keys: () => false,
  };
}

export function review(task, context) {
  const {say, changed, marks} = context;
  const [given] = task.outputs, text = plain(given.segments);
  let accepted = false;
  const box = area(task, context, say("review.label"), text);
  const accept = h("input", {type: "checkbox", id: "accept", on: {change: () => mark(accept.checked)}});

  function mark(on, tell = true) {
    accepted = on;
    accept.checked = on;
    box.field.readOnly = on;
    if (on) box.field.value = text;
    if (tell) changed();
  }

  return {
    element: h("div", {class: "outputs task-text"},
      h("div", {class: "card", role: "group", "aria-label": say("review.given")},
        markedText(given.segments, say, task.language, marks)),
      h("span", {class: "choice"}, accept, h("label", {for: "accept"}, say("review.accept"))), box.label, box.field),
    answer: () => (accepted ? {accept: true} : {text: box.text()}),
    empty: () => !accepted && box.text() === text,
    problem: () => {
      if (accepted) return "";
      return wrong(task, box.text(), text, say, say("review.same"));
    },
    load: answer => { mark(Boolean(answer?.accept), false); if (answer?.text !== undefined) box.field.value = answer.text; },
    undo: () => false,
    focus: () => accept.focus(),
    pasted: box.pasted,
    keys: () => false,
  };
}
