// Answers on their way: kept on the device until the server has stored or refused them.

import {call} from "./api.js";
import {drop, keep, keysOf, read} from "./local_storage.js";

const FIRST = 1000, LONGEST = 60000; // milliseconds between two attempts

/**
 * An outbox. `changed(state)` hears of every change: how many wait, whether one is being sent,
 * whether the server was reached last, and what it refused.
 */
export function outbox(changed, stored) {
  let sending = false, reached = true, pause = FIRST, timer = 0, last = "", halted = false;
  const waiting = () => keysOf("answer:").sort((a, b) => read(a).number - read(b).number);
  const tell = () => changed({waiting: waiting().length, sending, reached, last});

  async function send() {
    clearTimeout(timer);
    if (sending || halted) return;
    const [key] = waiting();
    if (key === undefined) { tell(); return; }
    const {task, body} = read(key);
    sending = true;
    tell();
    try {
      const answer = await call("PUT", `tasks/${task}/judgment`, body);
      [reached, pause, last] = [true, FIRST, "stored"];
      drop(key);
      stored(task, answer.body);
    } catch (error) {
      if (error.passing) {
        reached = error.status !== 0;
        last = "waiting";
        timer = setTimeout(send, pause * (0.75 + Math.random() / 2));
        pause = Math.min(LONGEST, pause * 2);
        sending = false;
        tell();
        return;
      }
      [reached, pause, last] = [true, FIRST, "refused"];
      if (error.status === 401 || error.status === 403) { // the link, not the answer: it may hold again, or a new one
        [halted, sending] = [true, false];
        tell();
        stored(task, null, error);
        return;
      }
      keep(`refused:${task}:${body.revision}`, {task, body, status: error.status});
      drop(key);
      stored(task, null, error);
    }
    sending = false;
    send();
  }

  window.addEventListener("offline", tell);
  window.addEventListener("online", () => { pause = FIRST; send(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { pause = FIRST; send(); } });

  return {
    put(task, body) {
      keep(`answer:${task}:${body.revision}`, {task, body, number: Date.now() + performance.now() / 1e6});
      send();
    },
    send,
    tell,
    waiting: () => waiting().map(key => read(key)),
  };
}

/** What this device still holds: answers that wait, and those that were refused. */
export const unsent = () => [...keysOf("answer:"), ...keysOf("refused:")].map(key => read(key));
