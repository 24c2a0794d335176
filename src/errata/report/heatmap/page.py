"""The page of the difficulty heat map: markup, style and script, apart from its data.

Places to fill are written ``{{name}}``. The policy in the head forbids every connection.
"""

__all__ = ["PAGE", "SCRIPT", "STYLE"]

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{{title}}</title>
<style>
{{style}}
</style>
</head>
<body class="corrections">
<header>
<h1>{{title}}</h1>
<div class="about">{{summary}}</div>
<div class="legend">{{legend}}</div>
<form id="filters" role="search" aria-label="Filters">
<label>Kind <select id="kind"><option value="">all kinds</option>{{kinds}}</select></label>
<label>Weight from <input id="low" type="number" min="{{low}}" max="{{high}}" \
step="0.05" value="{{low}}"></label>
<label>to <input id="high" type="number" min="{{low}}" max="{{high}}" step="0.05" \
value="{{high}}"></label>
<label>System <select id="system"><option value="">any system</option>{{systems}}</select></label>
<label><select id="state" aria-label="What the system did">
<option value="right">corrects it</option><option value="missed">does not correct it</option>
<option value="only">alone corrects it</option>
<option value="alarm">raises a false alarm</option></select></label>
<label>Text <input id="text" type="search" placeholder="in sentence"></label>
<label><input id="alarms" type="checkbox" checked> false alarms</label>
<label><input id="corrections" type="checkbox" checked> corrections</label>
<label><input id="weights" type="checkbox"> weights</label>
<button type="reset">Reset</button>
<output id="count" aria-live="polite"></output>
</form>
<div class="about keys">Keys: <kbd>→</kbd> <kbd>←</kbd> next and previous mark, <kbd>↓</kbd> \
<kbd>↑</kbd> next and previous sentence, <kbd>/</kbd> search, <kbd>Esc</kbd> close.</div>
<noscript>Without scripts the map shows everything and cannot be filtered.</noscript>
</header>
<main>
{{body}}
</main>
<footer class="about">{{signature}}</footer>
<div id="tip" role="tooltip" hidden></div>
<script id="data" type="application/json">{{data}}</script>
<script>
{{script}}
</script>
</body>
</html>
"""

STYLE = """
:root { font: 16px/1.75 system-ui, "DejaVu Sans", sans-serif; color: #111; background: #fff; }
body { margin: 0 auto; max-width: 62rem; padding: 0 1.2rem 6rem; }
header { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #bbb;
  padding: .4rem 0 .5rem; z-index: 2; }
h1 { font-size: 1.15rem; margin: 0; }
.about, .legend { font-size: .8rem; color: #444; }
.legend span span { white-space: nowrap; } .legend > span { margin-right: 1.2rem; }
.legend > span { display: inline-block; } .quiet .legend .alarms { display: none; }
form { display: flex; flex-wrap: wrap; gap: .3rem .9rem; font-size: .85rem;
  align-items: center; margin-top: .3rem; }
input[type=number] { width: 4.2rem; } input[type=search] { width: 9rem; }
select { max-width: 13rem; }
kbd { border: 1px solid #999; border-radius: 3px; padding: 0 .25em; font: inherit; }
p { margin: 0; padding: .3rem 0 .3rem 3.4rem; position: relative;
  content-visibility: auto; contain-intrinsic-size: auto 2.4rem; overflow-wrap: anywhere;
  scroll-margin-top: 12rem; }
p > a { position: absolute; left: 0; width: 2.8rem; text-align: right; color: #666;
  font-size: .75rem; text-decoration: none; line-height: 2.3; }
p:target { background: #fdf6d8; }
.m { cursor: default; border-radius: 3px; outline-offset: 2px; }
.m u { text-decoration: none; padding: .05em .22em; border-radius: 3px; }
.m i { font-style: normal; font-size: .82em; color: #14532d; border: 1px solid #9bbf9f;
  border-radius: 3px; padding: 0 .2em; margin-left: .15em; background: #f3faf3; display: none; }
.m sup { font-size: .6em; color: #444; display: none; line-height: 1; margin-left: .1em; }
.corrections .m i { display: inline; }
.weights .m sup { display: inline; }
.del u { text-decoration: line-through; text-decoration-thickness: 2px; }
.ins u { font-weight: bold; }
.error u { border-bottom: 2px solid #7a0710; }
.alarm u { border-bottom: 2px dotted #08306b; }
.m:focus, .m.at { outline: 3px solid #c77700; }
.off u, .quiet .alarm u { background: none !important; color: inherit !important; border: 0;
  padding: 0; font-weight: normal; text-decoration: none; }
.off.ins, .quiet .alarm.ins { display: none; }
.off i, .off sup, .quiet .alarm sup { display: none !important; }
p[hidden] { display: none; }
#count { font-weight: 600; }
#tip { position: fixed; z-index: 3; max-width: 30rem; background: #fffef4; color: #111;
  border: 1px solid #777; border-radius: 6px; box-shadow: 0 2px 10px #0004; padding: .5rem .7rem;
  font-size: .85rem; line-height: 1.45; pointer-events: none; overflow-wrap: anywhere; }
#tip dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: .1rem .6rem; }
#tip dt { color: #555; } #tip dd { margin: 0; }
@media print {
  header { position: static; } form, .keys, noscript, #tip { display: none !important; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .m sup { display: inline; } .m i { display: inline; }
  p { content-visibility: visible; break-inside: avoid; }
}
@media (max-height: 32rem) { header { position: static; } p { scroll-margin-top: 0; } }
@media (max-width: 40rem) { header { position: static; }
  p { scroll-margin-top: 0; padding-left: 2.2rem; }
  p > a { width: 1.8rem; } }
"""

SCRIPT = r"""
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
  const [alarm, kind, weight, , , right, wrong] = d;
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
             text: normal($("text").value), alarms: $("alarms").checked};
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
  let left = 0;
  for (const p of sentences) {
    const show = shown.has(p) || (!narrowed && reads(p));
    p.hidden = !show;
    if (show) left++;
  }
  visible = hit;
  rove(-1);
  const word = (n, one) => n.toLocaleString("en") + " " + one + (n === 1 ? "" : "s");
  $("count").textContent =
    word(errors, "error") + ", " + word(alarms, "false alarm") + " in " + word(left, "sentence");
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
"""
