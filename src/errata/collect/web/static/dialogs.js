// Dialogs: skipping with a reason, help, instructions, and what is told in a tutorial; and comments.

import {h, prose} from "./element.js";
import {keep, read} from "./local_storage.js";
import {say} from "./strings.js";

const REASONS = ["undecided", "not_understood", "boundary", "language", "offensive", "broken", "other"];
const MOST = 2000; // characters of a comment

function dialog(title, content, buttons) {
  const before = document.activeElement;
  const made = h("dialog", {"aria-labelledby": "dialog-title"}, h("h2", {id: "dialog-title"}, title), content, h("p", {class: "buttons"}, buttons(() => made.close())));
  made.addEventListener("close", () => { made.remove(); if (before?.isConnected) before.focus(); });
  made.addEventListener("keydown", event => { // Enter on a choice, and Ctrl+Enter anywhere, do what the dialog is for
    if (event.key !== "Enter" || event.isComposing || event.target.matches("button")) return;
    if (event.target.matches("textarea") && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the task behind it must not hear of it
    made.querySelector("button.main").click();
  });
  document.body.append(made);
  made.showModal();
  return made;
}

const button = (text, action, main = false) => h("button", {type: "button", class: main ? "main" : null, on: {click: action}}, text);

export function skipDialog(comment, skipped) {
  const words = h("textarea", {id: "skip-words", rows: "2", maxlength: MOST, value: comment});
  const warning = h("p", {class: "problem", role: "alert"});
  const radios = REASONS.map(reason => h("input", {type: "radio", name: "reason", id: `reason-${reason}`, value: reason}));
  const content = [h("fieldset", {}, h("legend", {}, say("skip.why")), radios.map((radio, k) =>
    h("p", {class: "choice"}, radio, h("label", {for: radio.id}, say(`skip.${REASONS[k]}`))))),
  h("label", {for: "skip-words"}, say("skip.words")), words, warning];
  dialog(say("skip"), content, close => [
    button(say("skip.do"), () => {
      const chosen = radios.find(radio => radio.checked)?.value;
      if (!chosen) { warning.textContent = say("skip.missing"); return; }
      if (chosen === "other" && !words.value.trim()) { warning.textContent = say("skip.missing.words"); words.focus(); return; }
      close();
      skipped(chosen, words.value.trim());
    }, true), button(say("cancel"), close)]);
}

export function sureDialog(title, question, words, action) {
  dialog(title, h("p", {}, question), close => [button(words, () => { close(); action(); }, true), button(say("cancel"), close)]);
}

export function instructionsDialog(me) {
  dialog(say("instructions.title"), prose(me.instructions), close => [button(say("close"), close, true)]);
}

export function noticeDialog({passed, blocks}, closed) {
  const made = dialog(say(passed ? "feedback.right" : "feedback.wrong"), prose(blocks), close => [button(say("next"), close, true)]);
  made.addEventListener("close", closed);
}

const KEYS = {
  rank: ["move", "rank", "clear", "same", "enter"], pair: ["choose", "pair", "clear", "enter"], score: ["slide", "enter"],
  edits: ["move", "verdict", "choose", "clear", "enter"], correct: [], review: [],
};
const ALWAYS = ["submit", "marks", "instructions", "comment", "skip", "undo", "previous", "help"];

/** The keys of a kind, without those that `has` says do nothing here; `switched` hears of the switch. */
export function helpDialog(kind, has, switched) {
  const on = h("input", {type: "checkbox", id: "keys-on", checked: read("keys", true), on: {change: () => { keep("keys", on.checked); switched(); }}});
  const rows = [...KEYS[kind], ...ALWAYS].filter(name => has[name] !== false).map(name => h("tr", {}, h("th", {scope: "row"}, say(`key.${name}`)), h("td", {}, say(`key.${name}.does`))));
  dialog(say("help"), [h("p", {}, say("help.where")), h("table", {}, h("tbody", {}, rows)),
    h("p", {class: "choice"}, on, h("label", {for: "keys-on"}, say("help.keys")))], close => [button(say("close"), close, true)]);
}

/** A comment that is folded away until it is wanted. */
export function commentBox(text, changed) {
  const field = h("textarea", {id: "comment", rows: "2", maxlength: MOST, dir: "auto", on: {input: changed}});
  field.value = text;
  const element = h("div", {class: "comment", hidden: !text}, h("label", {for: "comment"}, say("comment.label")), field);
  return {element, text: () => field.value, write: words => { field.value = words; }, open: () => { element.hidden = false; field.focus(); }};
}
