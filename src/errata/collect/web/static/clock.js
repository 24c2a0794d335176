// How long a judge was at work: the page visible, and an input within the last minute.

const IDLE = 60000;
const INPUTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focusin", "input", "scroll"];

let touched = performance.now();
let active = 0, since = performance.now(), started = performance.now();

/** Adds what has passed since the last look, up to a minute after the last input. */
function look() {
  const now = performance.now();
  if (!document.hidden) active += Math.max(0, Math.min(now, touched + IDLE) - since);
  since = now;
}

for (const type of INPUTS) {
  document.addEventListener(type, () => { look(); touched = performance.now(); }, {capture: true, passive: true});
}
document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden) active += Math.max(0, Math.min(now, touched + IDLE) - since);
  else touched = now;
  since = now;
});

export function startClock(before = {active: 0, total: 0}) {
  const now = performance.now();
  [active, since, started, touched] = [before.active, now, now - before.total, now];
}

/** Milliseconds of work, and since the task was shown. */
export function readClock() {
  look();
  return {active: Math.round(active), total: Math.round(performance.now() - started)};
}
