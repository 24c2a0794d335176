"use strict";
// The explorer's data: columns of numbers that filters and orders read, and texts in compressed
// blocks that are unpacked when somebody looks at them. Nothing here touches what is shown.
const explorerStore = (() => {
  const MOST_BLOCKS = 24; // unpacked at a time; a block of 13 systems takes about 2 MB
  const settings = JSON.parse(document.getElementById("explorer-settings").textContent);
  const {size, blocks, systems, metrics, pairs, states} = settings;
  const count = settings.sentences, words = Math.max(1, Math.ceil(systems.length / 32));
  const unpacked = new Map(); // block -> its sentences, the least recently used first
  const coming = new Map(); // block -> promise
  let column = {};

  async function inflate(id) {
    const raw = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  async function ready() {
    const buffer = await inflate("explorer-index");
    const types = {Uint8Array, Uint16Array, Uint32Array, Float64Array};
    for (const [name, {type, at, length}] of Object.entries(settings.columns)) {
      column[name] = new types[type](buffer, at, length);
    }
  }

  // --- texts

  const blockOf = i => Math.floor(i / size);

  const read = async block => {
    const text = new TextDecoder().decode(await inflate(`explorer-block-${block}`));
    return JSON.parse(text).map(sentence);
  };

  function sentence([number, source, references, outputs]) {
    const tokens = source.split(" ");
    const row = ([whose, edits, annotator, text]) => ({whose, edits, annotator, text});
    return {number, source, tokens: source ? tokens : [],
            references: references.map(row), outputs: outputs.map(row)};
  }

  function keep(block, sentences) {
    unpacked.delete(block);
    unpacked.set(block, sentences);
    if (unpacked.size > MOST_BLOCKS) unpacked.delete(unpacked.keys().next().value);
  }

  async function load(block) {
    if (unpacked.has(block)) return unpacked.get(block);
    if (!coming.has(block)) coming.set(block, read(block));
    const sentences = await coming.get(block);
    coming.delete(block);
    keep(block, sentences);
    return sentences;
  }

  // A sentence if it is unpacked, else undefined; `load` its block then.
  function peek(i) {
    const block = blockOf(i), found = unpacked.get(block);
    if (found) keep(block, found);
    return found?.[i % size];
  }

  // A text as it reads: the source with the edits that were made.
  function textOf(tokens, row) {
    if (row.text) return row.text;
    const done = [];
    let at = 0;
    for (const [start, end, replacement, , state] of row.edits) {
      if (states[state] === "missed") continue;
      done.push(...tokens.slice(at, start));
      if (replacement) done.push(replacement);
      at = Math.max(at, end);
    }
    return done.concat(tokens.slice(at)).join(" ");
  }

  // One letter may be written in two ways: é as one character, or as e and an accent.
  const normal = text => text.normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();

  function reads(found, wanted) {
    return normal(found.source).includes(wanted)
      || [...found.references, ...found.outputs]
        .some(row => normal(textOf(found.tokens, row)).includes(wanted));
  }

  // Which of these sentences hold a text: block by block, with a word in between, so that the page
  // stays alive and a new search can stop this one.
  async function search(candidates, text, tell, signal) {
    const wanted = normal(text), hits = new Set(), by = new Map();
    for (const i of candidates) {
      const block = blockOf(i);
      if (!by.has(block)) by.set(block, []);
      by.get(block).push(i);
    }
    let done = 0, told = performance.now();
    for (const [block, several] of by) {
      // What is not kept anyway is read and let go: a search must not push out what is looked at.
      const sentences = unpacked.get(block) ?? await (by.size > MOST_BLOCKS ? read(block) : load(block));
      if (signal.aborted) return null;
      for (const i of several) if (reads(sentences[i % size], wanted)) hits.add(i);
      done++;
      if (performance.now() - told > 150) {
        tell(hits, done / by.size);
        told = performance.now();
        await new Promise(resolve => setTimeout(resolve));
        if (signal.aborted) return null;
      }
    }
    return hits;
  }

  // --- numbers

  const code = (m, s, i) => column[`codes${m}`][s * count + i];
  const score = (m, s, i) => {
    const found = code(m, s, i);
    return found ? column[`values${m}`][found - 1] : NaN;
  };

  // -1 worse, 0 equal, 1 better than the base, NaN where one of them has no score.
  function change(m, s, base, i) {
    const mine = code(m, s, i), theirs = code(m, base, i);
    return mine && theirs ? Math.sign(mine - theirs) : NaN;
  }

  // How far metrics disagree: of one pair of them, or the most that any pair does (pair -1).
  function disagreement(pair, i) {
    let most = {share: 0, pair: -1, discordant: 0, compared: 0};
    for (let p = Math.max(0, pair); p < (pair < 0 ? pairs.length : pair + 1); p++) {
      const discordant = column.discordant[p * count + i], compared = column.compared[p * count + i];
      const share = compared ? discordant / compared : 0;
      if (share > most.share) most = {share, pair: p, discordant, compared};
    }
    return most;
  }

  const someone = (entry, system) => system < 0
    || (column.who[entry * words + (system >> 5)] >>> (system & 31) & 1) === 1;

  // Whether one edit has all that is asked of edits: kind, state, difficulty and whose it is.
  function hasEdit(i, f) {
    for (let e = column.first[i]; e < column.first[i + 1]; e++) {
      if (f.kind >= 0 && column.kind[e] !== f.kind) continue;
      if (f.states && !f.states.includes(column.state[e])) continue;
      if (f.weighed) {
        const weight = column.weight[e] ? column.weights[column.weight[e] - 1] : NaN;
        if (!(weight >= f.low - 1e-9 && weight <= f.high + 1e-9)) continue;
      }
      if (someone(e, f.system)) return true;
    }
    return false;
  }

  function changed(i, f) {
    if (f.system >= 0) return change(f.metric, f.system, f.base, i) === f.change;
    return systems.some((_, s) => s !== f.base && change(f.metric, s, f.base, i) === f.change);
  }

  function filter(f) {
    const left = [];
    const byEdit = f.kind >= 0 || f.states || f.weighed;
    for (let i = 0; i < count; i++) {
      if (f.slices.some((value, k) => value >= 0 && column[`slice${k}`][i] !== value)) continue;
      if (f.disagree !== null && !disagreement(f.disagree, i).discordant) continue;
      if (f.change !== null && !changed(i, f)) continue;
      if (byEdit && !hasEdit(i, f)) continue;
      left.push(i);
    }
    return left;
  }

  // What a sentence is ordered by; NaN comes last whichever way.
  function measure(f) {
    const several = (values, of) => values.length ? of(values) : NaN;
    const each = make => f.system >= 0 ? [make(f.system)] : systems.map((_, s) => make(s));
    const known = values => values.filter(value => !Number.isNaN(value));
    const extreme = f.descending ? Math.max : Math.min;
    return {
      number: i => i,
      length: i => column.length[i],
      score: i => several(known(each(s => score(f.metric, s, i))),
                          v => v.reduce((a, b) => a + b, 0) / v.length),
      difference: i => several(
        known(each(s => s === f.base && f.system < 0 ? NaN
                      : score(f.metric, s, i) - score(f.metric, f.base, i))),
        v => extreme(...v)),
      disagreement: i => disagreement(f.disagree ?? -1, i).share,
    }[f.sort];
  }

  function sorted(left, f) {
    if (f.sort === "number" && !f.descending) return left;
    const value = measure(f), keys = new Map(left.map(i => [i, value(i)]));
    const way = f.descending ? -1 : 1;
    return left.slice().sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return way * (x - y) || a - b;
    });
  }

  return {
    settings, ready, load, peek, blockOf, textOf, search, score, change, disagreement, filter, sorted,
    size, blocks, systems, metrics, pairs, states, count, MOST_BLOCKS,
    number: i => column.number[i],
    rows: i => column.rows[i],
    length: i => column.length[i],
    slice: (k, i) => column[`slice${k}`][i],
    weight: code => column.weights[code - 1],
    position: number => column.number.indexOf(number),
  };
})();
