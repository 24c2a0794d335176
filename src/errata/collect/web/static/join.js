// The page of a panel's link: what the panel sent goes to the server in a body, and out of the address.

import {call, connect} from "./api.js";
import {fill, h} from "./element.js";
import {learn, say} from "./strings.js";

const page = document.getElementById("page");
const key = location.pathname.split("/").at(-1);
const KEPT = `errata:join:${location.pathname}`; // for this tab alone, so that loading it again works
const SCREENS = {full: "full", active: "active", closed: "closed", paused: "paused", invalid: "join.missing"};

learn(JSON.parse(document.getElementById("strings").textContent));

function screen(title, ...content) {
  const heading = h("h1", {tabindex: "-1"}, title);
  fill(page, h("section", {class: "screen"}, heading, content));
  heading.focus();
}

function sent() {
  const found = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, "", location.pathname);
  try {
    if (Object.keys(found).length) sessionStorage.setItem(KEPT, JSON.stringify(found));
    else return JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  } catch { /* storage is forbidden: loading the page again needs the panel's link */ }
  return found;
}

const parameters = sent();

async function join() {
  screen(say("fetching"), h("p", {}, say("join.wait")));
  try {
    const {body} = await call("POST", "join", {key, parameters});
    try { sessionStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
    location.replace(`../judge#${body.token}`);
  } catch (error) {
    const again = h("p", {class: "buttons"}, h("button", {type: "button", on: {click: join}}, say("again")));
    const name = error.passing ? "unreached" : SCREENS[error.code] ?? "link.bad";
    screen(say(`${name}.title`), h("p", {}, say(name)), ["closed", "join.missing", "link.bad"].includes(name) ? null : again);
  }
}

connect("", "../");
join();
