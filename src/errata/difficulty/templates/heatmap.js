"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const main = document.querySelector("main");
const sentences = [...document.querySelectorAll("main p")];
const marks = [...document.querySelectorAll("main .m")];
const sentenceOf = marks.map(mark => mark.closest("p"));
const normal = text => text.replace(/\s+/g, " ").trim().toLowerCase();
const texts = new Map(sentences.map(p => [p, readings(p)]));
let visible = [], at = -1;

function readings(p) {  // what the learner wrote, and what the annotator made of it
  let learner = "", corrected = "";
  for (const node of p.querySelector("span").childNodes) {
    const [alarm, , , text, right] = node.dataset ? data.marks[+node.dataset.i] : [];
    learner += text ?? node.data;
    corrected += (alarm === 0 ? right : text) ?? node.data;
  }
  return [normal(learner), normal(corrected)];
}

function fits(d, f) {
  const [alarm, kind, weight, text, , right, wrong] = d;
  if (!alarm && text === "" && !f.omissions) return false;
  if (alarm && (!f.alarms || f.kind !== "")) return false;
  if (!alarm && f.kind !== "" && kind !== +f.kind) return false;
  if (weight < f.low - 1e-9 || weight > f.high + 1e-9) return false;
  if (f.system === "") return true;
  const s = +f.system, raised = wrong.some(w => w[1].includes(s));
  if (f.state === "alarm") return Boolean(alarm) && raised;
  if (alarm) return false;
  if (f.state === "right") return right.includes(s);
  if (f.state === "missed") return !right.includes(s);
  return right.length === 1 && right[0] === s;
}

function apply() {
  const lowest = +$("low").min, highest = +$("high").max;
  const f = {kind: $("kind").value, low: +($("low").value || lowest),
             high: +($("high").value || highest),
             system: $("system").value, state: $("state").value,
             text: normal($("text").value), alarms: $("alarms").checked,
             omissions: $("omissions").checked};
  const narrowed = f.kind !== "" || f.low > lowest || f.high < highest || f.system !== "";
  const reads = p => !f.text || texts.get(p).some(text => text.includes(f.text));
  $("state").disabled = f.system === "";
  document.body.classList.toggle("quiet", !f.alarms);
  document.body.classList.toggle("corrections", $("corrections").checked);
  document.body.classList.toggle("weights", $("weights").checked);
  const shown = new Set(), hit = [];
  let errors = 0, alarms = 0;
  marks.forEach((mark, k) => {
    const on = fits(data.marks[k], f) && reads(sentenceOf[k]);
    mark.classList.toggle("off", !on);
    if (!on) return;
    hit.push(k); shown.add(sentenceOf[k]);
    if (data.marks[k][0]) alarms++; else errors++;
  });
  const left = new Set();  // by number: what two annotators corrected is one sentence
  for (const p of sentences) {
    const show = shown.has(p) || (!narrowed && reads(p));
    p.hidden = !show;
    if (show) left.add(parseInt(p.id.slice(1)));
  }
  visible = hit;
  rove(-1);
  const word = (n, one) => n.toLocaleString("en") + " " + one + (n === 1 ? "" : "s");
  $("count").textContent =
    word(errors, "error") + ", " + word(alarms, "false alarm") + " in " + word(left.size, "sentence");
  hide();
}

function rove(k) {
  for (const mark of document.querySelectorAll('main .m[tabindex="0"]')) mark.tabIndex = -1;
  at = k;
  const first = k >= 0 ? k : visible[0];
  if (first !== undefined) marks[first].tabIndex = 0;
}

function go(k) {
  if (k === undefined) return;
  rove(k);
  marks[k].focus({preventScroll: true});
  marks[k].scrollIntoView({block: "center"});
  tell(k);
}

function step(direction, wholeSentence) {
  if (!visible.length) return;
  const here = visible.indexOf(at);
  if (here < 0) { go(direction > 0 ? visible[0] : visible[visible.length - 1]); return; }
  let k = here + direction;
  if (wholeSentence) {
    while (visible[k] !== undefined && sentenceOf[visible[k]] === sentenceOf[at]) k += direction;
  }
  go(visible[k]);
}

function line(list, name, value) {
  const dt = document.createElement("dt"), dd = document.createElement("dd");
  dt.textContent = name; dd.textContent = value;
  list.append(dt, dd);
}

function tell(k) {
  const [alarm, kind, weight, text, correction, right, wrong] = data.marks[k];
  const names = list => list.map(s => data.systems[s]).join(", ");
  const dl = document.createElement("dl");
  line(dl, "kind", alarm ? "false alarm" : data.kinds[kind]);
  line(dl, alarm ? "text" : "error", text || "(nothing; a place between words)");
  if (!alarm) line(dl, "correction", correction || "(delete)");
  line(dl, "weight", weight.toFixed(3));
  if (data.systems.length) {
    line(dl, alarm ? "left alone by" : "corrected by",
         right.length + " of " + data.systems.length + (right.length ? ": " + names(right) : ""));
    for (const [proposal, who] of wrong) line(dl, "wrote “" + proposal + "”", names(who));
  }
  const tip = $("tip");
  hide();
  tip.replaceChildren(dl);
  marks[k].setAttribute("aria-describedby", "tip");
  tip.hidden = false;
  const box = marks[k].getBoundingClientRect(), own = tip.getBoundingClientRect();
  const below = box.bottom + 8 + own.height < innerHeight;
  tip.style.left = Math.max(8, Math.min(box.left, innerWidth - own.width - 8)) + "px";
  tip.style.top = (below ? box.bottom + 8 : Math.max(8, box.top - own.height - 8)) + "px";
}

function hide() {
  $("tip").hidden = true;
  for (const mark of main.querySelectorAll("[aria-describedby]")) {
    mark.removeAttribute("aria-describedby");
  }
}

const index = event => {
  const mark = event.target.closest && event.target.closest(".m");
  return mark && !mark.classList.contains("off") ? +mark.dataset.i : -1;
};
main.addEventListener("mouseover", e => { const k = index(e); if (k >= 0) tell(k); });
main.addEventListener("mouseout", e => { if (index(e) >= 0) hide(); });
main.addEventListener("click", e => { const k = index(e); if (k >= 0) { rove(k); tell(k); } });
main.addEventListener("focusin", e => { const k = index(e); if (k >= 0) { rove(k); tell(k); } });
main.addEventListener("focusout", hide);
addEventListener("scroll", () => { if (!document.activeElement.closest(".m")) hide(); },
                 {passive: true});
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "Escape") { hide(); return; }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const moves = {ArrowRight: [1, false], ArrowLeft: [-1, false],
                 ArrowDown: [1, true], ArrowUp: [-1, true]};
  if (e.key === "/") { e.preventDefault(); $("text").focus(); }
  else if (moves[e.key] && (at >= 0 || !e.key.includes("Up") && !e.key.includes("Down"))) {
    e.preventDefault(); step(...moves[e.key]);
  }
});
for (const kind of ["input", "change"]) $("filters").addEventListener(kind, apply);
$("filters").addEventListener("reset", () => setTimeout(apply));
$("filters").addEventListener("submit", e => e.preventDefault());
apply();
