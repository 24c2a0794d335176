"use strict";
// The explorer at work: a list that makes only the rows in sight, filters, links and keys.
(() => {
  const store = explorerStore, {card, fill, element} = explorerCards;
  const $ = id => document.getElementById(id);
  const form = $("x-filters"), scroller = $("x-list"), tall = $("x-tall"), rows = $("x-rows");
  const home = scroller.closest("section"), key = home.id;
  const MARGIN = 600; // pixels made beyond what is in sight
  const {tallest: TALLEST, printed: PRINTED} = store.settings;
  const count = n => n.toLocaleString("en");

  let f = {}; // what the form asks for, as numbers
  let order = []; // the sentences that are shown, in their order
  let offsets = new Float64Array(1), scale = 1;
  let heights = new Map(); // sentence -> pixels, as measured
  let made = new Map(); // sentence -> article, those in the page
  let current = -1; // the sentence that keys move from and the link names
  let searching = new AbortController();

  // --- the list

  // A guess until it is measured: rows, and lines that long texts take.
  function guessed(i) {
    const wide = Math.max(200, scroller.clientWidth - 180) / 8;
    return 70 + store.rows(i) * (14 + 24 * Math.ceil((store.length(i) + 1) / wide));
  }

  function lay() {
    offsets = new Float64Array(order.length + 1);
    for (let k = 0; k < order.length; k++) {
      offsets[k + 1] = offsets[k] + (heights.get(order[k]) ?? guessed(order[k]));
    }
    const total = offsets[order.length], seen = scroller.clientHeight;
    scale = total > TALLEST ? (total - seen) / (TALLEST - seen) : 1; // the last pixel is the last one
    tall.style.height = `${Math.min(total, TALLEST)}px`;
  }

  // The place in the order that stands at so many pixels.
  function placeAt(pixels) {
    let low = 0, high = Math.max(0, order.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (offsets[middle] <= pixels) low = middle; else high = middle - 1;
    }
    return low;
  }

  function article(k) {
    const i = order[k], known = made.get(i), found = store.peek(i);
    if (!found) store.load(Math.floor(i / store.size)).then(() => soon());
    if (known && found && known.ariaBusy === "true") fill(known, i, found, f);
    const shown = known ?? card(i, found, f, k, order.length);
    // What is still packed takes the room that was guessed, or what follows would be out of place.
    shown.style.height = found ? "" : `${heights.get(i) ?? guessed(i)}px`;
    shown.classList.toggle("x-current", i === current);
    made.set(i, shown);
    return shown;
  }

  // Make what is in sight, measure it, and keep the sentence at the top where it is.
  function draw(again = true) {
    if (!order.length) { rows.replaceChildren(); made.clear(); return; }
    // Browsers round where they scroll to: a sentence that is a hair above the edge is not the one.
    const top = scroller.scrollTop * scale, anchor = placeAt(top + 1), into = top - offsets[anchor];
    const first = placeAt(top - MARGIN), last = placeAt(top + scroller.clientHeight + MARGIN);
    const wanted = [];
    for (let k = first; k <= last; k++) wanted.push(article(k));
    const stay = new Set(wanted);
    for (const [i, each] of made) {
      if (stay.has(each)) continue;
      if (each.contains(document.activeElement)) scroller.focus({preventScroll: true});
      each.remove();
      made.delete(i);
    }
    wanted.forEach((each, k) => { if (rows.children[k] !== each) rows.insertBefore(each, rows.children[k] ?? null); });
    let moved = false;
    for (const each of wanted) {
      const tallness = each.getBoundingClientRect().height, i = Number(each.dataset.i);
      if (each.ariaBusy !== "true" && Math.abs((heights.get(i) ?? guessed(i)) - tallness) > .5) moved = true;
      if (each.ariaBusy !== "true") heights.set(i, tallness);
    }
    if (moved) {
      lay();
      scroller.scrollTop = (offsets[anchor] + into) / scale;
    }
    place(first);
    if (moved && again) draw(false); // what was guessed too tall leaves room
  }

  function place(first) {
    const top = scroller.scrollTop;
    rows.style.top = `${top + offsets[first] - top * scale}px`;
  }

  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function remake() { // after what decides how sentences look
    rows.replaceChildren();
    made.clear();
    lay();
    draw();
  }

  async function goTo(k, {focus = true} = {}) {
    if (k < 0 || k >= order.length) return;
    current = order[k];
    await store.load(Math.floor(current / store.size));
    for (let round = 0; round < 3; round++) { // guesses around it are measured as it comes near
      scroller.scrollTop = offsets[k] / scale;
      draw();
    }
    for (const each of made.values()) each.classList.toggle("x-current", Number(each.dataset.i) === current);
    if (focus) made.get(current)?.focus({preventScroll: true});
  }

  // --- filters

  const chosen = name => ($(`x-${name}`)?.selectedIndex ?? 0) - 1; // -1 is the first: any
  const value = name => $(`x-${name}`)?.value ?? "";

  function asked() {
    const low = value("from"), high = value("to"), state = value("state"), apart = chosen("disagree");
    const states = state === "made" ? ["right", "wrong", "changed"] : [state];
    return {
      system: chosen("system"), kind: chosen("kind"),
      states: state ? states.map(name => store.states.indexOf(name)) : null,
      weighed: low !== "" || high !== "",
      low: low === "" ? -Infinity : Number(low), high: high === "" ? Infinity : Number(high),
      metric: Math.max(0, chosen("metric") + 1), base: chosen("base"),
      change: value("base") && value("change") ? {better: 1, equal: 0, worse: -1}[value("change")] : null,
      disagree: apart < 0 ? null : apart - 1, // -1 is the first there too: some two
      slices: store.settings.slices.map((_, k) => chosen(`slice${k}`)),
      sort: value("sort") || "number", descending: value("way") === "descending",
      others: $("x-others")?.checked ?? true, text: value("q").trim(),
    };
  }

  function say(text) { $("x-count").textContent = text; }

  function show(left) {
    const before = order;
    order = store.sorted(left, f);
    if (before.length !== order.length || before.some((i, k) => i !== order[k])) scroller.scrollTop = 0;
    $("x-none").hidden = order.length > 0;
    remake();
  }

  const shownOf = n => n === store.count ? `${count(n)} ${n === 1 ? "sentence" : "sentences"}`
    : `${count(n)} of ${count(store.count)} sentences`;

  async function apply() {
    searching.abort();
    searching = new AbortController();
    f = asked();
    if ($("x-change")) $("x-change").disabled = f.base < 0;
    if ($("x-others")) $("x-others").disabled = f.system < 0;
    for (const option of $("x-sort").options) {
      if (option.value === "difference") option.disabled = f.base < 0;
    }
    if (f.sort === "difference" && f.base < 0) f.sort = "number";
    for (const name of ["kinds", "weights"]) {
      const on = $(`x-${name}`)?.checked ?? false;
      if (home.classList.contains(`x-with-${name}`) !== on) heights.clear();
      home.classList.toggle(`x-with-${name}`, on);
    }
    const left = store.filter(f);
    if (!f.text) { show(left); say(shownOf(order.length)); return; }
    say("searching…");
    const {signal} = searching;
    const hits = await store.search(left, f.text, (sofar, share) => {
      show(left.filter(i => sofar.has(i)));
      say(`searching… ${count(sofar.size)} found in ${Math.floor(share * 100)} % of the texts`);
    }, signal);
    if (!hits) return; // another search took its place
    show(left.filter(i => hits.has(i)));
    say(shownOf(order.length));
  }

  // --- links: all that is asked, and the sentence, stand behind the page's address

  const fields = () => [...form.elements].filter(each => each.name);

  function asUsual(each) {
    if (each.type === "checkbox") return each.checked === each.defaultChecked;
    if (!each.options) return each.value === "";
    return each.value === ([...each.options].find(option => option.defaultSelected) ?? each.options[0]).value;
  }

  function link(sentence = current) {
    const said = new URLSearchParams();
    for (const each of fields()) {
      if (!asUsual(each)) said.set(each.name, each.type === "checkbox" ? each.checked : each.value);
    }
    if (sentence >= 0) said.set("n", store.number(sentence));
    return `#${key}${said.size ? `?${said}` : ""}`;
  }

  let pushed = "";
  function remember(push) {
    const address = link();
    if (address === pushed) return;
    pushed = address;
    try {
      history[push ? "pushState" : "replaceState"](null, "", address);
    } catch { /* a page inside another one may have no say over its address */ }
  }

  let following = false;
  // Read what the address asks for; false where it is about another part of the page.
  async function follow() {
    const [name, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
    if (name !== key) return false;
    pushed = location.hash;
    const said = new URLSearchParams(query);
    following = true; // the reader did not reset anything
    form.reset();
    following = false;
    for (const each of fields()) {
      if (!said.has(each.name)) continue;
      if (each.type === "checkbox") each.checked = said.get(each.name) === "true";
      else each.value = said.get(each.name);
      if (each.selectedIndex === -1) each.selectedIndex = 0; // a name that this page does not know
    }
    current = said.has("n") ? store.position(Number(said.get("n"))) : -1;
    await apply();
    const k = order.indexOf(current);
    if (said.has("n") && k < 0) {
      say(`sentence ${said.get("n")} is not among those shown: ${shownOf(order.length)}`);
      current = -1;
    }
    if (k >= 0) await goTo(k);
    return true;
  }

  async function copyLink(button, sentence) {
    const address = location.href.split("#")[0] + link(sentence);
    try { await navigator.clipboard.writeText(address); } catch { // not allowed here: as of old
      const area = element("textarea", "unseen");
      area.value = address;
      home.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const said = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = said; }, 1200);
    button.focus({preventScroll: true});
  }

  // --- keys

  const inSight = () => {
    const box = home.getBoundingClientRect();
    return home.contains(document.activeElement) || (box.top < innerHeight * .7 && box.bottom > innerHeight * .3);
  };

  function isSeen(i) {
    const box = made.get(i)?.getBoundingClientRect(), frame = scroller.getBoundingClientRect();
    return box && box.bottom > frame.top && box.top < frame.bottom;
  }

  // From the sentence that is named, unless the reader has scrolled away from it.
  function step(by) {
    const next = isSeen(current) ? order.indexOf(current) + by : placeAt(scroller.scrollTop * scale + 1);
    goTo(Math.max(0, Math.min(order.length - 1, next))).then(() => remember(false));
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("x-help").open) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && event.target === $("x-q")) { scroller.focus(); return; }
    if (typing || !inSight()) return;
    const within = scroller.contains(document.activeElement);
    const keys = {
      j: () => step(1), k: () => step(-1), "/": () => $("x-q").focus(), "?": () => $("x-help").showModal(),
      ArrowDown: within && (() => step(1)), ArrowUp: within && (() => step(-1)),
    };
    const single = event.key.length === 1;
    if (!keys[event.key] || (single && !$("x-keys").checked)) return;
    event.preventDefault();
    keys[event.key]();
  }

  // --- print: what the filters leave, up to a bound, made anew because a list in a window cannot

  let printable = [];
  async function prepare() { // texts are unpacked beforehand: a browser does not wait when it prints
    const wanted = order.slice(0, PRINTED), got = [];
    for (const i of wanted) got.push([i, (await store.load(Math.floor(i / store.size)))[i % store.size]]);
    if (wanted.every((i, k) => i === order[k])) printable = got;
  }

  function toPrint() {
    const said = order.length > printable.length
      ? `The first ${count(printable.length)} of ${count(order.length)} sentences are printed; filter to print others.`
      : `${shownOf(order.length)}.`;
    $("x-printed").replaceChildren(element("p", "note", said), ...printable.map(([i, found]) => card(i, found, f)));
  }

  // --- go

  let idle = 0;
  function later(work) {
    (window.cancelIdleCallback ?? clearTimeout)(idle);
    idle = (window.requestIdleCallback ?? setTimeout)(work);
  }

  async function changed(push) {
    await apply();
    if (!order.includes(current)) current = -1;
    remember(push);
    later(prepare);
  }

  let typed = 0;
  const isText = field => field.type === "search" || field.type === "number";
  form.addEventListener("input", event => {
    if (!isText(event.target)) return;
    clearTimeout(typed);
    typed = setTimeout(changed, 200, true);
  });
  form.addEventListener("change", event => {
    if (!isText(event.target) || link() !== pushed) changed(true); // text is not searched twice
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => {
    if (following) return;
    current = -1;
    setTimeout(changed, 0, true);
  });
  rows.addEventListener("click", event => {
    const at = event.target.closest(".x-card"), button = event.target.closest(".x-link");
    if (!at) return;
    current = Number(at.dataset.i);
    for (const each of made.values()) each.classList.toggle("x-current", each === at);
    remember(true);
    if (button) copyLink(button, current);
  });
  $("x-copy").addEventListener("click", event => copyLink(event.target, current));
  $("x-ask").addEventListener("click", () => $("x-help").showModal());
  $("x-close").addEventListener("click", () => $("x-help").close());
  scroller.addEventListener("scroll", soon, {passive: true});
  let width = scroller.clientWidth;
  new ResizeObserver(() => {
    if (scroller.clientWidth !== width) { // every line may break elsewhere; the reader stays in place
      const top = scroller.scrollTop * scale, k = placeAt(top + 1), into = top - offsets[k];
      width = scroller.clientWidth;
      heights.clear();
      lay();
      scroller.scrollTop = (offsets[k] + into) / scale;
    }
    soon();
  }).observe(scroller);
  addEventListener("keydown", pressed);
  addEventListener("popstate", follow);
  addEventListener("beforeprint", toPrint);
  addEventListener("afterprint", () => $("x-printed").replaceChildren());

  async function start() {
    await Promise.all([store.ready(), store.load(0)]);
    if (await follow()) home.scrollIntoView({behavior: "instant"}); else await apply();
    const narrowed = fields().some(each => $("x-more").contains(each) && !asUsual(each));
    if (matchMedia("(max-width: 44rem)").matches && !narrowed) $("x-more").open = false;
    home.dataset.ready = "true"; // for tests and benches: the first rows stand
    performance.mark("explorer-ready");
    for (let block = 0; block < Math.min(store.blocks, store.MOST_BLOCKS); block++) {
      await new Promise(resolve => (window.requestIdleCallback ?? setTimeout)(resolve));
      await store.load(block);
    }
    later(prepare);
  }
  start().catch(error => say(`The sentences cannot be unpacked in this browser (${error.message}).`));
})();
