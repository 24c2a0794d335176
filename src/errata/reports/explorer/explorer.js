"use strict";
// The explorer at work: filters, links, keys and print.
(() => {
  const store = explorerStore, {card, element} = explorerCards;
  const $ = id => document.getElementById(id);
  const form = $("x-filters"), scroller = $("x-list"), rows = $("x-rows");
  const home = scroller.closest("section"), key = home.id;
  const count = n => n.toLocaleString("en");

  let f = {}; // what the form asks for, as numbers
  let current = -1; // the sentence that keys move from and the link names
  let searching = new AbortController();
  const list = explorerList(scroller, $("x-tall"), rows, () => ({f, current}));

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
    list.show(store.sorted(left, f));
    $("x-none").hidden = left.length > 0;
  }

  function howMany() {
    const n = list.order().length;
    return n < store.count ? `${count(n)} of ${count(store.count)} sentences`
      : `${count(n)} ${n === 1 ? "sentence" : "sentences"}`;
  }

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
    for (const name of ["kinds", "difficulty"]) {
      const on = $(`x-${name}`)?.checked ?? false;
      if (home.classList.contains(`x-with-${name}`) !== on) list.forget();
      home.classList.toggle(`x-with-${name}`, on);
    }
    const left = store.filter(f);
    if (!f.text) { show(left); say(howMany()); return; }
    say("searching…");
    const {signal} = searching;
    const hits = await store.search(left, f.text, (sofar, share) => {
      show(left.filter(i => sofar.has(i)));
      say(`searching… ${count(sofar.size)} found in ${Math.floor(share * 100)} % of the texts`);
    }, signal);
    if (!hits) return; // another search took its place
    show(left.filter(i => hits.has(i)));
    say(howMany());
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

  // Every entry of the history that the explorer made or met keeps the link: going back finds what
  // was chosen there also where the address is that of another part of the page.
  let remembered = "";
  function remember(how, address = link()) {
    remembered = link();
    try {
      history[how]({explorer: remembered}, "", address);
    } catch { /* a page inside another one may have no say over its address */ }
  }

  function fillIn(said) {
    following = true; // the reader did not reset anything
    form.reset();
    following = false;
    for (const each of fields()) {
      if (!said.has(each.name)) continue;
      if (each.type === "checkbox") each.checked = ["true", "1"].includes(said.get(each.name));
      else if (each.type !== "number" || Number.isFinite(Number(said.get(each.name)))) {
        each.value = said.get(each.name);
      }
      if (each.selectedIndex === -1) each.selectedIndex = 0; // a name that this page does not know
    }
  }

  let following = false;
  // Do what the address asks for; false where it is about another part of the page.
  async function follow() {
    const address = history.state?.explorer ?? location.hash;
    const [name, query] = address.slice(1).split(/\?(.*)/s);
    if (name !== key) return false;
    if (query === undefined && !history.state && remembered) { // only a link to this part of the page
      remember("replaceState");
      return true;
    }
    const said = new URLSearchParams(query ?? "");
    fillIn(said);
    current = said.has("n") ? store.position(Number(said.get("n"))) : -1;
    await apply();
    remembered = address;
    const k = list.order().indexOf(current);
    if (k >= 0) await list.goTo(k);
    else {
      current = -1;
      if (said.has("n")) say(`sentence ${said.get("n")} is not among those shown: ${howMany()}`);
    }
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
    return home.contains(document.activeElement)
      || (box.top < innerHeight * .7 && box.bottom > innerHeight * .3);
  };

  // From the sentence that is named, unless the reader has scrolled away from it.
  async function step(by) {
    const order = list.order(), next = list.sees(current) ? order.indexOf(current) + by : list.top();
    if (!order.length) return;
    const k = Math.max(0, Math.min(order.length - 1, next));
    current = order[k];
    await list.goTo(k);
    remember("replaceState");
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

  const ahead = new Map(); // sentence -> its texts
  const toPrint = () => list.order().slice(0, store.settings.printed);

  async function prepare() { // a browser does not wait for what is still packed when it prints
    const wanted = toPrint();
    for (const i of [...ahead.keys()]) if (!wanted.includes(i)) ahead.delete(i);
    for (const i of wanted) ahead.set(i, (await store.load(store.blockOf(i)))[i % store.size]);
  }

  function print() {
    const got = toPrint().filter(i => ahead.has(i) || store.peek(i)), all = list.order().length;
    const said = got.length < all
      ? `${count(got.length)} of ${count(all)} sentences are printed; filter to print others.`
      : `${howMany()}.`;
    const cards = got.map(i => card(i, ahead.get(i) ?? store.peek(i), f));
    $("x-printed").replaceChildren(element("p", "note", said), ...cards);
  }

  // --- go

  let idle = 0;
  function later(work) {
    (window.cancelIdleCallback ?? clearTimeout)(idle);
    idle = (window.requestIdleCallback ?? setTimeout)(work);
  }

  async function changed() {
    await apply();
    if (!list.order().includes(current)) current = -1;
    if (link() !== remembered) remember("pushState");
    later(prepare);
  }

  let typed = 0;
  const isText = field => field.type === "search" || field.type === "number";
  form.addEventListener("input", event => {
    if (!isText(event.target)) return;
    clearTimeout(typed);
    typed = setTimeout(changed, 200);
  });
  form.addEventListener("change", event => {
    if (!isText(event.target) || link() !== remembered) changed(); // text is not searched twice
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => {
    if (following) return;
    current = -1;
    setTimeout(changed);
  });
  rows.addEventListener("click", event => {
    const at = event.target.closest(".x-card"), button = event.target.closest(".x-link");
    if (!at) return;
    current = Number(at.dataset.i);
    list.mark();
    if (link() !== remembered) remember("pushState");
    if (button) copyLink(button, current);
  });
  $("x-copy").addEventListener("click", event => copyLink(event.target, current));
  $("x-ask").addEventListener("click", () => $("x-help").showModal());
  $("x-close").addEventListener("click", () => $("x-help").close());
  addEventListener("keydown", pressed);
  addEventListener("popstate", async () => {
    const clicked = !history.state; // a link of the page, which no element has as its name
    if (await follow() && clicked) {
      home.scrollIntoView({behavior: "instant"});
      remember("replaceState");
    }
  });
  addEventListener("beforeprint", print);
  addEventListener("afterprint", () => $("x-printed").replaceChildren());

  async function start() {
    await Promise.all([store.ready(), store.load(0)]);
    if (await follow()) home.scrollIntoView({behavior: "instant"}); else await apply();
    remember("replaceState", location.href);
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
