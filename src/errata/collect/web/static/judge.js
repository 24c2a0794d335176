// The judge's page: which screen is shown. The link's fragment is the token; it reaches no log.

import {Refused, call, connect} from "./api.js";
import {fill, h, prose} from "./element.js";
import {forgetAll, keep, keepFor, read, watch} from "./local_storage.js";
import {outbox, unsent} from "./outbox.js";
import {learn, say} from "./strings.js";
import {work} from "./work.js";

const page = document.getElementById("page");
const status = document.getElementById("status");
const AGAIN = 5000, LATER = 30000; // milliseconds until the page looks again
const mine = crypto.randomUUID ? crypto.randomUUID() : String(Math.random());
let me = null, working = null, timer = 0;

learn(JSON.parse(document.getElementById("strings").textContent));

export function tell(text, kind = "") {
  if (status.textContent !== text) status.textContent = text;
  status.dataset.kind = kind;
}

/** A screen with a heading; the heading has the focus, so that it is read out. */
function screen(title, ...content) {
  working?.stop();
  working = null;
  tell("");
  const heading = h("h1", {tabindex: "-1"}, title);
  fill(page, h("section", {class: "screen"}, heading, content));
  heading.focus();
}

const button = (text, action, attributes = {}) =>
  h("button", {type: "button", on: {click: action}, ...attributes}, text);

function failed(error) {
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
    screen(say("link.bad.title"), h("p", {}, say("link.bad")));
  } else {
    // Said once: a page that is built again and again is read out again and again.
    if (!document.getElementById("unreached")) {
      screen(say("unreached.title"), h("p", {id: "unreached"}, say("unreached")), h("p", {class: "buttons"}, button(say("again"), start)));
    }
    timer = setTimeout(start, AGAIN);
  }
}

async function start() {
  clearTimeout(timer);
  const token = decodeURIComponent(location.hash.slice(1));
  if (!token) { screen(say("link.none.title"), h("p", {}, say("link.none"))); return; }
  connect(token);
  if (!page.firstElementChild || page.querySelector("noscript")) fill(page, h("p", {class: "screen"}, say("checking")));
  try { me = (await call("GET", "me")).body; } catch (error) { me = null; failed(error); return; }
  keepFor(me.campaign, token.split(".")[0]);
  learn(me.strings ?? {});
  document.documentElement.lang = me.language;
  document.documentElement.dir = me.direction ?? "ltr";
  document.title = me.title;
  keep("tab", {mine});
  show();
  if (!working && me.state !== "consent") sendLeft();
}

/** Answers of an earlier visit are sent, though there is nothing to do now. */
function sendLeft() {
  const box = outbox(() => {}, () => { if (!working && !box.waiting().length) show(); });
  if (box.waiting().length) box.send();
}

function show() {
  if (me.state === "consent") consent();
  else if (["tutorial", "working"].includes(me.state) && me.instructions.length && !read("instructed") && !me.progress.done) instructions();
  else if (me.state === "tutorial" || me.state === "working") begin();
  else ended(me.state);
}

/** Buttons for the languages the organiser has texts in, each in its own name. */
function languages() {
  if ((me.languages ?? []).length < 2) return null;
  const name = code => new Intl.DisplayNames([code], {type: "language"}).of(code) ?? code;
  const choose = async language => {
    try { await call("POST", "language", {language}); await start(); } catch (error) { failed(error); }
  };
  return h("p", {class: "buttons", role: "group", "aria-label": say("language")}, me.languages.map(code =>
    button(name(code), () => choose(code), {lang: code, "aria-pressed": String(code === me.language)})));
}

function consent() {
  const answer = async agreed => {
    try {
      me = {...me, ...(await call("POST", "consent", {version: me.consent.version, agreed})).body};
      show();
    } catch (error) { failed(error); }
  };
  screen(say("consent.title"), languages(), prose(me.consent.blocks), h("p", {class: "buttons"},
    button(say("consent.yes"), () => answer(true), {class: "main"}), button(say("consent.no"), () => answer(false))));
}

function instructions() {
  screen(say("instructions.title"), languages(), prose(me.instructions), h("p", {class: "buttons"},
    button(say("instructions.start"), () => { keep("instructed", true); show(); }, {class: "main"})));
}

function begin() {
  working = work(page, me, {tell, ended: state => { me.state = state; show(); }, changed: found => { me = {...me, ...found}; }});
}

function ended(state) {
  const more = [];
  if (state === "finished" && me.code) more.push(h("p", {}, say("finished.code")), h("p", {class: "code"}, h("output", {}, me.code)));
  if (state === "finished" && me.back) more.push(h("p", {}, h("a", {href: me.back, rel: "noreferrer"}, say("finished.back"))));
  if (state === "withdrawn") forgetAll();
  const left = unsent();
  if (left.length) more.push(offer(left));
  if (state === "link") { screen(say("link.bad.title"), h("p", {}, say("link.bad")), more); return; }
  if (state === "paused" || state === "full" || state === "waiting") {
    more.push(h("p", {class: "buttons"}, button(say("again"), start)));
    timer = setTimeout(look, LATER, state);
  }
  screen(say(`${state}.title`), prose(me.ended?.[state] ?? []), h("p", {}, say(state)), more);
}

/** Whether there is something to do again; the page stays as it is while there is not. */
async function look(state) {
  const asked = state === "waiting" ? call("POST", "tasks", {ahead: 1}) : call("GET", "me");
  const body = await asked.then(answer => answer.body, () => ({state}));
  if (me?.state !== state || read("tab")?.mine !== mine) return;
  if (body.state !== state) start(); else timer = setTimeout(look, LATER, state);
}

/** Answers that the server no longer takes, as a file for the organiser. */
function offer(answers) {
  const file = new Blob([JSON.stringify(answers, null, 1)], {type: "application/json"});
  return h("p", {}, say("unsent", {n: answers.length}) + " ",
    h("a", {href: URL.createObjectURL(file), download: "answers.json"}, say("unsent.file")));
}

watch("tab", () => {
  const holder = read("tab");
  if (!holder || holder.mine === mine || !me) return;
  screen(say("tab.title"), h("p", {}, say("tab")), button(say("tab.here"), start));
});
window.addEventListener("hashchange", () => { me = null; start(); });
start();
