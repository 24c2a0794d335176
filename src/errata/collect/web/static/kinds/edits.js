// Edits of all outputs, each different one once: good, bad or unsure.

import {h, unseen} from "../element.js";

const VERDICTS = ["good", "bad", "unsure"];

export function edits(task, {say, changed}) {
  const verdicts = Object.fromEntries(task.edits.map(edit => [edit.key, ""]));
  const tokens = task.source.trim().split(/\s+/);
  const before = [], inputs = {}, rows = {};

  function set(key, value, {remember = true, tell = true} = {}) {
    if (verdicts[key] === value) return;
    if (remember) before.push({...verdicts});
    verdicts[key] = value;
    for (const verdict of VERDICTS) inputs[key][verdict].checked = verdict === value;
    rows[key].classList.toggle("answered", value !== "");
    if (tell) changed();
  }

  const list = h("ol", {class: "outputs task-edits"}, task.edits.map(({key, start, end, old, new: replacement}) => {
    inputs[key] = {};
    const [head, tail] = [[...tokens.slice(0, start), ""].join(" "), ["", ...tokens.slice(end)].join(" ")];
    rows[key] = h("div", {class: "card", role: "group", "aria-label": say("edit.named", {key}), "data-key": key, tabindex: "-1"},
      h("span", {class: "letter", "aria-hidden": "true"}, key),
      h("p", {class: "text", dir: "auto", lang: task.language}, h("span", {class: "quiet"}, head),
        old ? h("del", {}, unseen(say("mark.del") + " "), old) : null, old && replacement ? " " : null,
        replacement ? h("ins", {}, unseen(say("mark.ins") + " "), replacement) : null, unseen(" " + say("mark.end")),
        h("span", {class: "quiet"}, tail)),
      h("div", {class: "choices", role: "radiogroup", "aria-label": say("edit.verdict", {key})}, VERDICTS.map(verdict => {
        const id = `edit-${key}-${verdict}`;
        inputs[key][verdict] = h("input", {type: "radio", name: `edit-${key}`, id, value: verdict, on: {change: () => set(key, verdict)}});
        return h("span", {class: "choice"}, inputs[key][verdict], h("label", {for: id}, say(`edit.${verdict}`)));
      })));
    return h("li", {}, rows[key]);
  }));
  const keys = task.edits.map(edit => edit.key);
  const current = () => document.activeElement?.closest?.(".card")?.dataset.key ?? keys[0];
  const go = key => { (VERDICTS.map(v => inputs[key][v]).find(each => each.checked) ?? inputs[key].good).focus(); };

  return {
    element: list,
    answer: () => ({...verdicts}),
    empty: () => keys.every(key => verdicts[key] === ""),
    problem: () => (keys.some(key => verdicts[key] === "") ? say("edit.missing") : ""),
    load: answer => { for (const key of keys) set(key, answer?.[key] ?? "", {remember: false, tell: false}); before.length = 0; },
    undo: () => {
      const last = before.pop();
      if (!last) return false;
      for (const key of keys) set(key, last[key], {remember: false, tell: false});
      changed();
      return true;
    },
    focus: () => rows[keys[0]].focus(),
    missing: () => go(keys.find(key => verdicts[key] === "")),
    keys: event => {
      const key = current(), at = keys.indexOf(key), name = event.key;
      const letter = {g: "good", b: "bad", u: "unsure"}[name];
      if (letter) { set(key, letter); go(key); }
      else if (name === "ArrowLeft" || name === "ArrowRight") {
        const now = VERDICTS.indexOf(verdicts[key]), step = (name === "ArrowLeft") === (document.documentElement.dir !== "rtl") ? -1 : 1;
        set(key, VERDICTS[now < 0 ? 0 : Math.min(2, Math.max(0, now + step))]);
        go(key);
      } else if (name === "ArrowUp" || name === "k") go(keys[Math.max(0, at - 1)]);
      else if (name === "ArrowDown" || name === "j") {
        go(document.activeElement === rows[key] ? key : keys[Math.min(keys.length - 1, at + 1)]);
      } else if (name === "Home") go(keys[0]);
      else if (name === "End") go(keys.at(-1));
      else if (name === "0" || name === "Backspace") set(key, "");
      else if (name === "Enter") {
        const open = [...keys.slice(at + 1), ...keys.slice(0, at + 1)].find(each => verdicts[each] === "");
        if (open === undefined) return "submit";
        go(open);
      } else return false;
      return true;
    },
  };
}
