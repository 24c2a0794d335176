// Scores on one or more scales, of one output or of all side by side. A short scale is a row of buttons,
// a long one a slider that shows no thumb before it was touched; the number beside it is a field of its own.

import {h, markedText} from "../element.js";

const SHORT = 11; // steps of a scale that is shown as buttons

export function score(task, {say, changed, marks}) {
  const several = task.outputs.length > 1;
  const fields = []; // {key, name, low, high, value, draw, focus, holds}
  const before = [];
  const values = () => fields.map(field => field.value);

  function set(field, value, {remember = true, tell = true} = {}) {
    if (field.value === value && remember) { field.draw(value); return; }
    if (remember) before.push(values());
    field.value = value;
    field.draw(value);
    field.row.classList.toggle("answered", value !== null);
    if (tell) changed();
  }

  function buttons(field, id, labels) {
    const {key, name, low, high} = field;
    const radios = Array.from({length: high - low + 1}, (_, k) => {
      const value = low + k, words = labels.length === high - low + 1 ? `${value}, ${labels[k]}` : String(value);
      const input = h("input", {type: "radio", name: id, id: `${id}-${value}`, value: String(value),
        "aria-label": `${name}: ${words}`, on: {change: () => set(field, value)}});
      return [input, h("label", {for: `${id}-${value}`, title: words}, h("span", {"aria-hidden": "true"}, String(value)))];
    });
    const inputs = radios.map(([input]) => input);
    field.draw = value => { for (const input of inputs) input.checked = value !== null && Number(input.value) === value; };
    field.focus = () => (inputs.find(input => input.checked) ?? inputs[0]).focus();
    field.holds = element => inputs.includes(element);
    const end = words => h("span", {class: "end", "aria-hidden": "true"}, words);
    return h("div", {class: "scale", role: "radiogroup", "aria-label": several ? `${name}, ${say("output.named", {key})}` : name},
      h("span", {class: "scale-name", "aria-hidden": "true"}, name),
      h("div", {class: "ranks"}, labels.length ? end(labels[0]) : null, radios, labels.length > 1 ? end(labels.at(-1)) : null));
  }

  function slider(field, id, labels) {
    const {name, low, high, middle} = field;
    let held = false; // a drag is one change to take back
    const take = text => {
      const value = Number(text);
      return Number.isInteger(value) && value >= low && value <= high ? value : null;
    };
    const touch = () => { set(field, take(range.value), {remember: !held || field.value === null}); };
    const range = h("input", {type: "range", id, min: low, max: high, step: 1, value: String(middle), on: {
      pointerdown: () => { if (field.value !== null) before.push(values()); held = true; },
      input: touch, pointerup: () => { touch(); held = false; }, pointercancel: () => { held = false; }}});
    const number = h("input", {type: "text", inputmode: "numeric", class: "number", autocomplete: "off",
      "aria-label": say("score.number", {label: name, low, high}),
      on: {change: () => set(field, number.value.trim() === "" ? null : take(number.value.trim()))}});
    field.draw = value => {
      range.value = String(value ?? middle);
      number.value = value === null ? "" : String(value);
      range.setAttribute("aria-valuetext", value === null ? say("score.untouched") : say("score.value", {value}));
    };
    field.focus = () => range.focus();
    field.holds = element => element === range;
    return h("div", {class: "scale"}, h("label", {for: id}, name),
      h("div", {class: "slider"}, h("span", {class: "end"}, labels[0] ?? String(low)), range,
        h("span", {class: "end"}, labels.at(-1) ?? String(high)), number));
  }

  function scale(output, {name, low, high, labels}, at) {
    const field = {name, key: output.key, value: null, low, high, middle: Math.round((low + high) / 2)};
    field.row = (high - low < SHORT ? buttons : slider)(field, `score-${output.key}-${at}`, labels);
    fields.push(field);
    return field.row;
  }

  const cards = task.outputs.map(output => h("div",
    {class: "card", role: "group", "aria-label": say("output.named", {key: output.key}), "data-key": output.key},
    several ? h("span", {class: "letter", "aria-hidden": "true"}, output.key) : null,
    markedText(output.segments, say, task.language, marks),
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
    focus: () => fields[0].focus(),
    missing: () => fields.find(field => field.value === null).focus(),
    keys: event => {
      const at = fields.findIndex(each => each.holds(document.activeElement)), field = fields[at];
      if (event.key === "Enter") {
        const open = [...fields.slice(at + 1), ...fields.slice(0, at + 1)].find(each => each.value === null);
        if (!open) return "submit";
        open.focus();
        return true;
      }
      if (!field) return false;
      const {low, high} = field, now = field.value ?? field.middle;
      const right = document.documentElement.dir === "rtl" ? -1 : 1;
      const next = {ArrowLeft: now - right, ArrowDown: now - 1, ArrowRight: now + right, ArrowUp: now + 1,
        PageDown: now - 10, PageUp: now + 10, Home: low, End: high}[event.key];
      if (next !== undefined) set(field, Math.min(high, Math.max(low, next)));
      else if (event.key === "0" && high - low >= SHORT || event.key === "Backspace") set(field, null);
      else if (/^\d$/.test(event.key) && high - low < SHORT && Number(event.key) >= low && Number(event.key) <= high) set(field, Number(event.key));
      else return false;
      field.focus();
      return true;
    },
  };
}
