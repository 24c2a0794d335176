// Ranking 2 to 9 outputs, ties and gaps allowed. Native radio buttons are the truth; keys and dragging
// only set them. Above the outputs a strip shows the ranking as it stands, and takes dragged letters.

import {h, markedText} from "../element.js";
import {draggable} from "../drag.js";

export function rank(task, {say, changed, marks}) {
  const keys = task.outputs.map(output => output.key), n = keys.length;
  const ranks = Object.fromEntries(keys.map(key => [key, 0])); // 0: none yet
  const radios = {}, chips = {}, cards = {};
  const before = []; // rankings to go back to
  const slots = [];

  function set(key, value, {remember = true, tell = true} = {}) {
    if (ranks[key] === value) return;
    if (remember) before.push({...ranks});
    ranks[key] = value;
    for (const radio of radios[key]) radio.checked = Number(radio.value) === value;
    (slots[value] ?? slots[0]).append(chips[key]);
    order(slots[value] ?? slots[0]);
    cards[key].classList.toggle("answered", value > 0);
    if (tell) changed();
  }

  function order(slot) { // letters of one rank stand in the order shown: nothing jumps about
    slot.append(...keys.filter(key => chips[key].parentElement === slot).map(key => chips[key]));
  }

  for (let value = 0; value <= n; value++) {
    slots.push(h("span", {class: "slot-letters"}));
  }

  function radio(key, value) {
    const input = h("input", {type: "radio", name: `rank-${key}`, id: `rank-${key}-${value}`, value: String(value),
      "aria-label": say("rank.one", {key, rank: value, n}), on: {change: () => set(key, value)}});
    return [input, h("label", {for: `rank-${key}-${value}`, title: say("rank.one", {key, rank: value, n})},
      h("span", {"aria-hidden": "true"}, String(value)))];
  }

  const list = h("ol", {class: "outputs"}, task.outputs.map(({key, segments}) => {
    const buttons = Array.from({length: n}, (_, k) => radio(key, k + 1));
    radios[key] = buttons.map(([input]) => input);
    chips[key] = h("span", {class: "chip", "data-key": key}, key);
    slots[0].append(chips[key]);
    cards[key] = h("div", {class: "card", role: "group", "aria-label": say("output.named", {key}), tabindex: "-1", "data-key": key},
      h("span", {class: "letter", "aria-hidden": "true"}, key),
      markedText(segments, say, task.language, marks),
      h("div", {class: "ranks", role: "radiogroup", "aria-label": say("rank.of", {key})},
        h("span", {class: "end", "aria-hidden": "true"}, say("rank.best")), buttons,
        h("span", {class: "end", "aria-hidden": "true"}, say("rank.worst"))));
    return h("li", {}, cards[key]);
  }));

  const strip = h("div", {class: "strip", "aria-hidden": "true"},
    h("div", {class: "slot none", "data-rank": "0"}, h("span", {class: "slot-name"}, say("rank.none")), slots[0]),
    slots.slice(1).map((slot, k) => h("div", {class: "slot", "data-rank": String(k + 1)},
      h("span", {class: "slot-name"}, k === 0 ? say("rank.first") : k === n - 1 ? say("rank.last", {n}) : String(k + 1)), slot)));
  draggable(strip, ".chip", ".slot", (chip, slot) => set(chip.dataset.key, Number(slot.dataset.rank)));

  const current = () => document.activeElement?.closest?.(".card")?.dataset.key ?? keys[0];
  function go(key) {
    const chosen = radios[key].find(each => each.checked) ?? radios[key][0];
    chosen.focus();
    cards[key].scrollIntoView({block: "nearest"});
  }

  return {
    element: h("div", {class: n <= 5 ? "task-rank few" : "task-rank"}, strip, list),
    answer: () => ({...ranks}),
    empty: () => keys.every(key => ranks[key] === 0),
    problem: () => {
      const missing = keys.filter(key => ranks[key] === 0);
      return missing.length ? say("rank.missing", {keys: missing.join(", ")}) : "";
    },
    load: answer => { for (const key of keys) set(key, answer?.[key] ?? 0, {remember: false, tell: false}); before.length = 0; },
    undo: () => {
      const last = before.pop();
      if (!last) return false;
      for (const key of keys) set(key, last[key], {remember: false, tell: false});
      changed();
      return true;
    },
    sort: () => {
      const at = new Map(keys.map((key, k) => [key, k]));
      const sorted = [...keys].sort((a, b) => (ranks[a] || n + 1) - (ranks[b] || n + 1) || at.get(a) - at.get(b));
      list.append(...sorted.map(key => cards[key].parentElement));
    },
    focus: () => cards[keys[0]].focus(),
    missing: () => go([...list.querySelectorAll(".card")].map(card => card.dataset.key).find(key => ranks[key] === 0)),
    first: () => list.querySelector(".card"),
    keys: event => {
      const shown = [...list.querySelectorAll(".card")].map(card => card.dataset.key);
      const key = current(), at = shown.indexOf(key);
      const name = event.key;
      if (name === "ArrowUp" || name === "k") go(shown[Math.max(0, at - 1)]);
      else if (name === "ArrowDown" || name === "j") {
        go(document.activeElement === cards[key] ? key : shown[Math.min(n - 1, at + 1)]);
      } else if (name === "Home") go(shown[0]);
      else if (name === "End") go(shown[n - 1]);
      else if (/^[1-9]$/.test(name) && Number(name) <= n) { set(key, Number(name)); go(key); }
      else if (name === "0" || name === "Backspace") set(key, 0);
      else if (name === "=" && at > 0 && ranks[shown[at - 1]] > 0) { set(key, ranks[shown[at - 1]]); go(key); }
      else if (name === "Enter") {
        const open = [...shown.slice(at + 1), ...shown.slice(0, at + 1)].find(each => ranks[each] === 0);
        if (open === undefined) return "submit";
        go(open);
      } else return false;
      return true;
    },
  };
}
