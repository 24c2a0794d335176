// What the page says, in the judge's language; a campaign may replace any of it.

let catalogue = {};

export function learn(strings) { catalogue = {...catalogue, ...strings}; }

/** A string by its key, {names} in it filled in. */
export function say(key, values = {}) {
  const text = catalogue[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
