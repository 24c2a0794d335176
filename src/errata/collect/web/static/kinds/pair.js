// Two outputs: which is better, or equal, or both bad. Native radio buttons are the truth.

import {h, markedText} from "../element.js";

export function pair(task, {say, changed, marks}) {
  const [left, right] = task.outputs;
  const choices = [[left.key, "pair.better"], ["equal", "pair.equal"], ["bad", "pair.bad"], [right.key, "pair.better"]];
  let chosen = "";
  const before = [], inputs = {};

  function set(value, {remember = true, tell = true} = {}) {
    if (value === chosen && remember) return;
    if (remember) before.push(chosen);
    chosen = value;
    for (const [key, input] of Object.entries(inputs)) input.checked = key === value;
    for (const card of cards) card.classList.toggle("answered", card.dataset.key === value);
    if (tell) changed();
  }

  const cards = [left, right].map(({key, segments}) => h("div",
    {class: "card side", role: "group", "aria-label": say("output.named", {key}), "data-key": key,
      on: {click: () => { if (String(getSelection()) === "") set(key); }}},
    h("span", {class: "letter", "aria-hidden": "true"}, key),
    markedText(segments, say, task.language, marks)));

  const buttons = h("div", {class: "choices", role: "radiogroup", "aria-label": say("pair.which")},
    choices.map(([value, words]) => {
      inputs[value] = h("input", {type: "radio", name: "pair", id: `pair-${value}`, value, on: {change: () => set(value)}});
      return h("span", {class: "choice"}, inputs[value], h("label", {for: `pair-${value}`}, say(words, {key: value})));
    }));
  const order = choices.map(([value]) => value);

  return {
    element: h("div", {class: "outputs task-pair"}, h("div", {class: "sides"}, cards), buttons),
    answer: () => chosen,
    empty: () => chosen === "",
    problem: () => (chosen === "" ? say("pair.missing") : ""),
    load: answer => { set(typeof answer === "string" ? answer : "", {remember: false, tell: false}); before.length = 0; },
    undo: () => {
      if (!before.length) return false;
      set(before.pop(), {remember: false});
      return true;
    },
    focus: () => inputs[order[0]].focus(),
    keys: event => {
      const name = event.key, at = order.indexOf(chosen);
      if (name === "ArrowLeft" || name === "ArrowRight") {
        const step = (name === "ArrowLeft") === (document.documentElement.dir !== "rtl") ? -1 : 1;
        set(order[at < 0 ? (step < 0 ? 0 : order.length - 1) : Math.min(order.length - 1, Math.max(0, at + step))]);
        inputs[chosen].focus();
      } else if (name === "1") { set(left.key); inputs[chosen].focus(); }
      else if (name === "2") { set(right.key); inputs[chosen].focus(); }
      else if (name === "=") { set("equal"); inputs[chosen].focus(); }
      else if (name === "0" || name === "Backspace") set("");
      else if (name === "Enter") return chosen ? "submit" : true;
      else return false;
      return true;
    },
  };
}
