// What is kept on the judge's own device: drafts, answers that are not sent yet, and settings.
// Where the browser forbids it the page works all the same, and says so.

let prefix = "errata:";
const memory = new Map(); // in place of a storage that is forbidden or full
export let durable = true;

/** All keys belong to one judge of one campaign: another one may be served at the same address later. */
export function keepFor(campaign, judge) { prefix = `errata:${location.pathname}:${campaign}:${judge}:`; }

function attempt(action, instead) {
  try { return action(window.localStorage); } catch { durable = false; return instead(); }
}

export function read(key, otherwise = null) {
  const text = memory.has(key) ? memory.get(key)
    : attempt(storage => storage.getItem(prefix + key), () => null);
  if (text === null || text === undefined) return otherwise;
  try { return JSON.parse(text); } catch { return otherwise; }
}

export function keep(key, value) {
  const text = JSON.stringify(value);
  attempt(storage => { storage.setItem(prefix + key, text); memory.delete(key); }, () => memory.set(key, text));
}

export function drop(key) {
  memory.delete(key);
  attempt(storage => storage.removeItem(prefix + key), () => null);
}

/** The keys that begin so. */
export function keysOf(beginning) {
  const found = attempt(storage => Object.keys(storage), () => []);
  const own = found.filter(key => key.startsWith(prefix + beginning)).map(key => key.slice(prefix.length));
  return [...new Set([...own, ...[...memory.keys()].filter(key => key.startsWith(beginning))])];
}

/** Everything this page kept for the judge is removed. */
export function forgetAll() { for (const key of keysOf("")) drop(key); }

/** Calls back when another tab of the same judge writes a key. */
export function watch(key, changed) {
  window.addEventListener("storage", event => { if (event.key === prefix + key) changed(); });
}
