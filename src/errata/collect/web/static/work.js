// At work: one task after another, drafts, the way back, and what keys do.

import {call} from "./api.js";
import {readClock, startClock} from "./clock.js";
import {commentBox, helpDialog, instructionsDialog, noticeDialog, skipDialog, sureDialog} from "./dialogs.js";
import {fill, h, markedText} from "./element.js";
import {drop, durable, keep, read} from "./local_storage.js";
import {correct, review} from "./kinds/text.js";
import {edits} from "./kinds/edits.js";
import {pair} from "./kinds/pair.js";
import {rank} from "./kinds/rank.js";
import {score} from "./kinds/score.js";
import {outbox} from "./outbox.js";
import {say} from "./strings.js";

const KINDS = {rank, pair, score, edits, correct, review};
const AHEAD = 2; // tasks held at once
const PING = 120000; // milliseconds between two signs of life

export function work(page, me, {tell, ended, changed}) {
  let queue = [], task = null, widget = null, comment = null, stopped = false, fetching = false;
  let earlier = null; // the answers to go back through, newest last; null while working on new ones
  let pinged = 0, awaited = null;
  let marks = me.display.switch ? read("marks", me.display.marks) : me.display.marks;
  let edited = false; // whether a draft is newer than what was told last
  const box = outbox(state => line(state), (id, body, error) => stored(id, body, error));
  const done = new Set(box.waiting().map(each => each.task)); // answered here, also on an earlier visit: the server may still offer them

  // --- the frame

  const heading = h("h1", {tabindex: "-1", class: "task-title"});
  const progress = h("progress", {max: "1", "aria-label": say("progress")});
  const counted = h("span", {class: "counted"});
  const place = h("div", {class: "task"});
  const problem = h("p", {class: "problem", role: "alert"});
  const submitButton = h("button", {type: "button", class: "main", "aria-keyshortcuts": "Control+Enter Meta+Enter", on: {click: submit}}, say("submit"));
  const hint = key => (key ? h("kbd", {"aria-hidden": "true"}, key) : null);
  const tool = (words, action, key) => h("button", {type: "button", class: "plain", "aria-keyshortcuts": key, on: {click: action}}, words, hint(key));
  const note = h("p", {class: "earlier", hidden: true});
  const tools = {
    previous: tool(say("previous"), back, "p"), undo: tool(say("undo"), undo, "z"),
    skip: tool(say("skip"), skip, "x"), comment: tool(say("comment"), () => comment.open(), "c"),
    marks: tool("", switchMarks, "m"), forward: tool(say("previous.leave"), next, null), sort: tool(say("rank.sort"), () => widget.sort(), null),
    instructions: tool(say("instructions.title"), instructed, "i"),
    help: tool(say("help"), help, "?"), withdraw: tool(say("withdraw"), withdraw, null),
  };
  const frame = h("section", {class: "work"},
    h("div", {class: "head"}, heading, h("div", {class: "progress"}, progress, counted)), note, place, problem,
    h("div", {class: "submit"}, submitButton, tools.undo, tools.skip, tools.previous, tools.forward),
    h("div", {class: "tools"}, tools.comment, tools.marks, tools.sort, tools.instructions, tools.help, tools.withdraw));
  const keysOn = () => read("keys", true) !== false;
  frame.classList.toggle("keyless", !keysOn());
  fill(page, frame);

  /** Where the answers are: what is in danger comes before what is well. */
  function line({waiting, sending, reached, last}) {
    if (stopped) return;
    const kept = durable ? "" : ` ${say("storage.none")}`;
    if (!navigator.onLine) tell((waiting ? say("status.offline", {n: waiting}) : say("status.offline.none")) + kept, "warn");
    else if (waiting && (!reached || last === "waiting")) tell(say("status.waiting", {n: waiting}) + kept, "warn");
    else if (sending) tell(say("status.sending"));
    else if (edited) tell(say(durable ? "status.draft" : "storage.none"), durable ? "" : "warn");
    else if (last === "refused") tell(say("status.refused"), "warn");
    else if (last === "stored") tell(say("status.stored"), "good");
    else if (!durable) tell(say("storage.none"), "warn");
    else tell("");
  }

  function counts({done: told, quota} = me.progress) {
    // Answers overtake each other: what was told earlier may arrive later.
    const ready = quota === me.progress.quota ? Math.max(told, me.progress.done) : told;
    me.progress = {done: ready, quota};
    progress.max = Math.max(1, quota);
    progress.value = Math.min(ready, quota);
    counted.textContent = say(me.state === "tutorial" ? "progress.tutorial" : "progress.of", {done: ready, quota});
  }

  // --- tasks

  async function more() {
    if (fetching || stopped) return;
    fetching = true;
    try {
      const {body} = await call("POST", "tasks", {ahead: me.state === "tutorial" ? 1 : AHEAD});
      const known = new Set([...done, task?.id, ...queue.map(each => each.id)]);
      queue.push(...body.tasks.filter(each => !known.has(each.id)));
      if (body.progress) counts(body.progress);
      if (body.code || body.back) changed({code: body.code, back: body.back});
      fetching = false;
      if (!task && queue.length) next();
      else if (!task && body.state && body.state !== "working" && body.state !== "tutorial" && !box.waiting().length) leave(body.state);
    } catch (error) {
      fetching = false;
      if (stopped) return;
      if (error.passing) { if (!task) empty(); setTimeout(more, 3000); }
      else if (error.status === 410) leave("closed");
      else if (error.status === 401) leave("link");
      else if (error.status === 403) leave("blocked");
    }
  }

  function empty() {
    heading.textContent = say("fetching");
    fill(place, h("p", {}, say(box.waiting().length ? "fetching.waiting" : "fetching.next")));
    for (const each of [submitButton, ...Object.values(tools)]) each.disabled = true;
  }

  function next() {
    earlier = null;
    [task, widget] = [null, null];
    note.hidden = true;
    const following = queue.shift();
    if (following) show(following);
    else empty();
    more();
  }

  function show(given, {focus = true} = {}) {
    task = given;
    const draft = read(`draft:${task.id}:${task.revision}`);
    heading.textContent = say(`kind.${task.kind}`);
    comment = commentBox(draft?.comment ?? task.comment ?? "", keepDraft);
    widget = KINDS[task.kind](task, {say, changed: keepDraft, marks});
    const context = texts => texts.map(text => h("p", {class: "context", dir: "auto", lang: task.language}, text));
    const source = h("div", {class: "source", role: "group", "aria-label": say("source")}, h("span", {class: "what"}, say("source")),
      context(task.before), h("p", {class: "text", dir: "auto", lang: task.language}, task.source), context(task.after));
    const reference = task.reference ? h("div", {class: "source", role: "group", "aria-label": say("reference")},
      h("span", {class: "what"}, say("reference")),
      markedText(task.reference, say, task.language, marks)) : null;
    fill(place, source, reference, widget.element, comment.element);
    widget.load(draft?.answer ?? task.answer ?? null);
    for (const each of [submitButton, ...Object.values(tools)]) each.disabled = false;
    note.hidden = !earlier;
    if (earlier) note.textContent = say("previous.note", {at: earlier.length - earlier.findIndex(each => each.id === task.id), n: earlier.length});
    tools.forward.hidden = !earlier;
    tools.instructions.hidden = !me.instructions.length;
    tools.sort.hidden = !widget.sort;
    tools.marks.hidden = !switchable();
    nameMarks();
    tools.undo.hidden = ["correct", "review"].includes(task.kind);
    submitButton.textContent = say(task.revision > 1 ? "submit.again" : "submit");
    problem.textContent = "";
    startClock(draft?.clock);
    edited = false;
    window.scrollTo(0, 0);
    if (focus) widget.focus();
    box.tell();
  }

  function keepDraft() {
    problem.textContent = "";
    keep(`draft:${task.id}:${task.revision}`, {answer: widget.answer(), comment: comment.text(), clock: readClock()});
    edited = true;
    box.tell();
    const now = Date.now();
    if (now - pinged > PING && task.revision === 1) {
      pinged = now;
      call("POST", `tasks/${task.id}/ping`, {}).catch(() => {}); // a lost sign of life does no harm
    }
  }

  // --- answers

  function send(part) {
    const {active, total} = readClock();
    const body = {revision: task.revision, ...part, comment: comment.text(), active, total,
      display: {marks}, pasted: widget.pasted?.() ?? 0};
    drop(`draft:${task.id}:${task.revision}`);
    done.add(task.id);
    edited = false;
    if (me.state === "tutorial") { // what is told of it comes before the next
      awaited = task.id;
      submitButton.disabled = true;
      box.put(task.id, body);
      return;
    }
    const sent = task;
    box.put(task.id, body);
    if (earlier) {
      const at = earlier.findIndex(each => each.id === sent.id);
      if (at >= 0) earlier[at] = {...sent, answer: part.answer ?? null, revision: sent.revision + 1, comment: body.comment};
      forward();
    } else next();
  }

  function submit() {
    if (!task || submitButton.disabled) return;
    const missing = widget.problem();
    if (missing) { problem.textContent = missing; (widget.missing ?? widget.focus)(); return; }
    send({answer: widget.answer()});
  }

  function skip() {
    if (!task) return;
    skipDialog(comment.text(), (reason, words) => { comment.write(words); send({skip: reason}); });
  }

  function stored(id, body, error) {
    if (stopped) return;
    if (body?.code || body?.back) changed({code: body.code, back: body.back});
    if (body?.progress) { counts(body.progress); changed({progress: body.progress}); }
    if (error?.status === 410) { leave("closed"); return; }
    if (error?.status === 401) { leave("link"); return; }
    if (error && id !== awaited) problem.textContent = say("refused", {message: error.message});
    const state = body?.state;
    if (id === awaited) {
      awaited = null;
      if (error) { problem.textContent = error.message; submitButton.disabled = false; done.delete(id); return; }
      const after = () => {
        if (state) { me.state = state; changed({state}); }
        if (state && !["working", "tutorial"].includes(state)) leave(state); else { counts(); next(); }
      };
      if (body?.feedback) noticeDialog(body.feedback, after); else after();
    } else if (state && !["working", "tutorial"].includes(state) && !box.waiting().length && (!task || state !== "finished")) leave(state);
    if (!task) more();
  }

  function leave(state) {
    stop();
    if (!box.waiting().length) tell(""); // else the line would say for ever that the last one is being sent
    ended(state);
  }

  // --- the way back

  async function back() {
    if (!earlier) {
      try {
        const {body} = await call("GET", "tasks?last=5");
        const kept = box.waiting().map(each => each.task);
        earlier = body.tasks.filter(each => !kept.includes(each.id)).map(each => ({...each, revision: each.revision + 1}));
      } catch { tell(say("previous.none"), "warn"); return; }
      if (!earlier.length) { earlier = null; tell(say("previous.none")); return; }
      if (task) queue.unshift(task);
      show(earlier.at(-1));
      return;
    }
    const at = earlier.findIndex(each => each.id === task.id);
    if (at > 0) show(earlier[at - 1]); else tell(say("previous.last"));
  }

  function forward() {
    const at = earlier.findIndex(each => each.id === task.id);
    if (at >= 0 && at < earlier.length - 1) show(earlier[at + 1]); else next();
  }

  function undo() { if (!widget?.undo()) tell(say("undo.none")); }

  function switchable() { return me.display.switch && task && !["edits", "correct"].includes(task.kind); }
  function nameMarks() { tools.marks.replaceChildren(say(marks ? "marks.off" : "marks.on"), hint("m")); }

  function switchMarks() {
    if (!switchable()) return;
    marks = !marks;
    keep("marks", marks);
    for (const each of place.querySelectorAll(".text")) each.redraw?.(marks);
    nameMarks();
  }

  function help() {
    helpDialog(me.kind, {marks: switchable(), instructions: me.instructions.length > 0, undo: !tools.undo.hidden},
      () => frame.classList.toggle("keyless", !keysOn()));
  }

  function instructed() { if (me.instructions.length) instructionsDialog(me); }

  function withdraw() {
    sureDialog(say("withdraw"), say("withdraw.sure"), say("withdraw.do"), async () => {
      try { await call("DELETE", "me"); leave("withdrawn"); } catch (error) { problem.textContent = say("withdraw.failed"); }
    });
  }

  // --- keys

  function onKey(event) {
    if (event.isComposing || event.keyCode === 229 || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || !widget) return;
    const at = event.target, inText = at.matches?.("textarea, input[type=text], select");
    if (inText || !at.closest?.(".outputs") || !keysOn()) return;
    const actions = {m: switchMarks, i: instructed, c: () => comment.open(), x: skip, z: undo, p: back, "?": help};
    const found = widget.keys(event) || (actions[event.key] && (actions[event.key](), true));
    if (found) event.preventDefault();
    if (found === "submit") submitButton.focus();
  }

  document.addEventListener("keydown", onKey);
  function stop() {
    stopped = true;
    document.removeEventListener("keydown", onKey);
  }

  counts();
  empty();
  more();
  box.send();
  return {stop};
}
