"use strict";
// A list of sentences that makes only those in sight. Heights are guessed until they are measured;
// what is measured moves what lies below, never what the reader looks at. `look` gives what decides
// how a sentence looks: the filters, and the sentence that is current.
const explorerList = (scroller, tall, rows, look) => {
  const store = explorerStore, {card, fill} = explorerCards;
  const MARGIN = 600; // pixels made beyond what is in sight
  const TALLEST = store.settings.tallest;
  const heights = new Map(); // sentence -> pixels, as measured
  const made = new Map(); // sentence -> article, those in the page
  let order = []; // the sentences that are shown, in their order
  let offsets = new Float64Array(1); // place in the order -> pixels above it
  let scale = 1; // pixels of the list for one of the scroll bar

  function guessed(i) { // rows, and the lines that long texts take
    const wide = Math.max(200, scroller.clientWidth - 180) / 8;
    return 70 + store.rows(i) * (14 + 24 * Math.ceil((store.length(i) + 1) / wide));
  }

  const height = i => heights.get(i) ?? guessed(i);

  function lay() {
    offsets = new Float64Array(order.length + 1);
    for (let k = 0; k < order.length; k++) offsets[k + 1] = offsets[k] + height(order[k]);
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

  // What stands at the upper edge, and how much of it is above. Browsers round where they scroll to:
  // a sentence that is a hair above the edge is not the one.
  function edge() {
    const top = scroller.scrollTop * scale, k = placeAt(top + 1);
    return {k, into: top - offsets[k]};
  }

  function back({k, into}) { scroller.scrollTop = (offsets[k] + into) / scale; }

  const packed = article => article.ariaBusy === "true";

  function article(k) {
    const i = order[k], {f, current} = look(), found = store.peek(i);
    if (!found) store.load(store.blockOf(i)).then(soon);
    const shown = made.get(i) ?? card(i, found, f, k, order.length);
    if (found && packed(shown)) fill(shown, i, found, f);
    // What is still packed takes the room that was guessed, or what follows would be out of place.
    shown.style.height = found ? "" : `${height(i)}px`;
    shown.classList.toggle("x-current", i === current);
    made.set(i, shown);
    return shown;
  }

  function remove(i) {
    const gone = made.get(i);
    if (gone.contains(document.activeElement)) scroller.focus({preventScroll: true});
    gone.remove();
    made.delete(i);
  }

  // Whether something is taller or smaller than it was held to be.
  function measure(wanted) {
    let other = false;
    for (const each of wanted.filter(one => !packed(one))) {
      const i = Number(each.dataset.i), now = each.getBoundingClientRect().height;
      if (Math.abs(height(i) - now) > .5) other = true;
      heights.set(i, now);
    }
    return other;
  }

  function draw(again = true) {
    if (!order.length) { rows.replaceChildren(); made.clear(); return; }
    const before = edge(), top = scroller.scrollTop * scale;
    const first = placeAt(top - MARGIN), last = placeAt(top + scroller.clientHeight + MARGIN);
    const wanted = [];
    for (let k = first; k <= last; k++) wanted.push(article(k));
    const stay = new Set(wanted);
    for (const [i, each] of [...made]) if (!stay.has(each)) remove(i);
    for (const [k, each] of wanted.entries()) {
      if (rows.children[k] !== each) rows.insertBefore(each, rows.children[k] ?? null);
    }
    const other = measure(wanted);
    if (other) { lay(); back(before); }
    rows.style.top = `${scroller.scrollTop * (1 - scale) + offsets[first]}px`;
    if (other && again) draw(false); // what was guessed too tall leaves room
  }

  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function show(sentences) {
    const same = order.length === sentences.length && order.every((i, k) => i === sentences[k]);
    if (!same) scroller.scrollTop = 0;
    order = sentences;
    rows.replaceChildren(); // how they look may have changed too
    made.clear();
    lay();
    draw();
  }

  function mark() {
    const {current} = look();
    for (const [i, each] of made) each.classList.toggle("x-current", i === current);
  }

  // Bring a sentence to the upper edge, and the focus to it.
  async function goTo(k) {
    const i = order[k];
    await store.load(store.blockOf(i));
    for (let round = 0; round < 3; round++) { // guesses around it are measured as it comes near
      scroller.scrollTop = offsets[k] / scale;
      draw();
    }
    mark();
    made.get(i)?.focus({preventScroll: true});
  }

  function sees(i) {
    const box = made.get(i)?.getBoundingClientRect(), frame = scroller.getBoundingClientRect();
    return box !== undefined && box.bottom > frame.top && box.top < frame.bottom;
  }

  scroller.addEventListener("scroll", soon, {passive: true});
  let width = scroller.clientWidth;
  new ResizeObserver(() => {
    if (scroller.clientWidth !== width) { // every line may break elsewhere; the reader stays in place
      const before = edge();
      width = scroller.clientWidth;
      heights.clear();
      lay();
      back(before);
    }
    soon();
  }).observe(scroller);

  return {show, goTo, mark, sees, top: () => edge().k, forget: () => heights.clear(), order: () => order};
};
