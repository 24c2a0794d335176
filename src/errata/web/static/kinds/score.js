// Scores on one or more scales, of one output or of all side by side. A slider says nothing before it
// was touched; the number beside it is a field of its own.

import {h, marked} from "../element.js";

export function score(task, {say, changed, marks}) {
  const several = task.outputs.length > 1;
  const fields = []; // {name, slider, number, value}
  const before = [];
  const values = () => fields.map(field => field.value);

  function set(field, value, {remember = true, tell = true} = {}) {
    if (remember) before.push(values());
    field.value = value;
    field.slider.value = String(value ?? field.middle);
    field.number.value = value === null ? "" : String(value);
    field.row.classList.toggle("answered", value !== null);
    field.slider.setAttribute("aria-valuetext", value === null ? say("score.untouched") : say("score.value", {value}));
    if (tell) changed();
  }

  function scale(output, {name, low, high, labels}, at) {
    const id = `score-${output.key}-${at}`;
    const field = {name, key: output.key, value: null, low, high, middle: Math.round((low + high) / 2)};
    const take = text => {
      const value = Number(text);
      return Number.isInteger(value) && value >= low && value <= high ? value : null;
    };
    const touch = () => set(field, take(field.slider.value));
    field.slider = h("input", {type: "range", id, min: low, max: high, step: 1, value: String(field.middle),
      on: {input: touch, pointerup: touch}});
    field.number = h("input", {type: "text", inputmode: "numeric", class: "number", autocomplete: "off",
      "aria-label": say("score.number", {label: name, low, high}),
      on: {change: event => set(field, event.target.value.trim() === "" ? null : take(event.target.value.trim()))}});
    field.row = h("div", {class: "scale"}, h("label", {for: id}, name),
      h("div", {class: "slider"}, h("span", {class: "end"}, labels[0] ?? String(low)), field.slider,
        h("span", {class: "end"}, labels.at(-1) ?? String(high)), field.number));
    fields.push(field);
    return field.row;
  }

  const cards = task.outputs.map(output => h("div",
    {class: "card", role: "group", "aria-label": say("output.named", {key: output.key}), "data-key": output.key},
    several ? h("span", {class: "letter", "aria-hidden": "true"}, output.key) : null,
    h("p", {class: "text", dir: "auto", lang: task.language}, marked(output.segments, say, marks)),
    task.scales.map((each, at) => scale(output, each, at))));

  const given = () => {
    const found = {};
    for (const {key, name, value} of fields) if (value !== null) (found[key] ??= {})[name] = value;
    return several ? found : found[task.outputs[0].key] ?? {};
  };

  return {
    element: h("div", {class: "outputs task-score"}, cards),
    answer: given,
    empty: () => fields.every(field => field.value === null),
    problem: () => (fields.some(field => field.value === null) ? say("score.missing") : ""),
    load: answer => {
      for (const field of fields) {
        const own = several ? answer?.[field.key] : answer;
        set(field, own?.[field.name] ?? null, {remember: false, tell: false});
      }
      before.length = 0;
    },
    undo: () => {
      const last = before.pop();
      if (!last) return false;
      fields.forEach((field, k) => set(field, last[k], {remember: false, tell: false}));
      changed();
      return true;
    },
    focus: () => fields[0].slider.focus(),
    keys: event => {
      const field = fields.find(each => each.slider === document.activeElement);
      if (event.key === "Enter") {
        const open = fields.find(each => each.value === null);
        if (!open) return "submit";
        open.slider.focus();
        return true;
      }
      if (!field) return false;
      const {low, high} = field, now = field.value ?? field.middle;
      const next = {ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1,
        PageDown: now - 10, PageUp: now + 10, Home: low, End: high}[event.key];
      if (next === undefined) return false;
      set(field, Math.min(high, Math.max(low, next)));
      return true;
    },
  };
}
