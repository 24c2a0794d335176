"use strict";
(() => {
  const said = document.getElementById("said"), tip = document.getElementById("tip");
  const say = text => { said.textContent = ""; setTimeout(() => { said.textContent = text; }, 30); };

  // Sorting: by the exact value where a cell has one, else by its text; a third click restores.
  function value(row, column) {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  }
  function compare(a, b, up) {
    const text = [typeof a === "string", typeof b === "string"];
    if (a === "" || b === "") return (a === "") - (b === "");  // no value comes last, either way
    if (text[0] !== text[1]) return text[0] - text[1];
    const order = text[0] ? a.localeCompare(b, undefined, {numeric: true}) : a - b;
    return up ? order : -order;
  }
  for (const table of document.querySelectorAll("figure.table table")) {
    table.classList.add("ruled");
    const body = table.tBodies[0], given = [...body.rows];
    for (const button of table.querySelectorAll(".sort")) {
      const head = button.closest("th"), column = head.cellIndex;
      button.addEventListener("click", () => {
        const first = head.classList.contains("n") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const now = head.getAttribute("aria-sort");
        const next = now === "none" ? first : now === first ? other : "none";
        for (const each of head.parentNode.cells)
          if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", next);
        table.classList.toggle("ruled", next === "none");
        const rows = next === "none" ? given : [...given].sort((a, b) =>
          compare(value(a, column), value(b, column), next === "ascending"));
        body.append(...rows);
        say(next === "none" ? "in the order given" : `sorted by ${button.textContent.trim()}, ${next}`);
      });
    }
  }

  // Copying and saving: a Blob needs no address that the policy would have to allow.
  async function copy(text) {
    try { await navigator.clipboard.writeText(text); return; } catch { /* not allowed: by hand */ }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  function save(text, name, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type}));
    link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  function flash(button, word) {
    say(word);
    const shown = [...button.childNodes];
    button.style.minWidth = `${button.offsetWidth}px`;
    button.replaceChildren(word);
    setTimeout(() => button.replaceChildren(...shown), 1200);
  }
  function picture(figure) {
    const drawn = figure.querySelector("svg").cloneNode(true);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = document.getElementById("chart-style").textContent;
    drawn.prepend(style);
    drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(drawn);
  }
  document.addEventListener("click", event => {
    const button = event.target.closest("button[data-copy], button[data-save]");
    if (!button) return;
    const wanted = button.dataset.copy ?? button.dataset.save, figure = button.closest("figure");
    if (button.dataset.copy === undefined) {
      if (wanted === "svg") save(picture(figure), `${figure.dataset.name}.svg`, "image/svg+xml");
      else {
        const data = JSON.parse(figure.querySelector("script.data").textContent);
        save(data[wanted] + "\n", `${data.name}.${wanted === "tsv" ? "tsv" : "tex"}`, "text/plain");
      }
      flash(button, "Saved");
      return;
    }
    const text = wanted === "signature" || wanted === "code"
      ? button.parentNode.querySelector("code").textContent
      : JSON.parse(figure.querySelector("script.data").textContent)[wanted];
    copy(text).then(() => flash(button, "Copied"));
  });

  // Explanations: on hover and on focus, gone with Escape; a screen reader has them by reference.
  let asked = null;
  function hide() { tip.hidden = true; asked = null; }
  function show(element) {
    const meaning = document.getElementById(`term-${element.dataset.term}`);
    if (!meaning || asked === element) return;
    asked = element;
    tip.textContent = meaning.textContent;
    tip.hidden = false;
    const at = element.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, wide - size.width - 8));
    const above = at.top - size.height - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 0 ? above : at.bottom + 8) + scrollY}px`;
  }
  const termOf = event => event.target.closest?.("[data-term]");
  document.addEventListener("pointerover", event => {
    const element = termOf(event);
    if (element) show(element); else if (asked && asked !== document.activeElement) hide();
  });
  document.addEventListener("focusin", event => { const e = termOf(event); if (e) show(e); else hide(); });
  document.addEventListener("focusout", hide);
  addEventListener("resize", hide);
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });

  // Where the reader is.
  const links = new Map([...document.querySelectorAll("nav a")].map(a => [a.hash.slice(1), a]));
  const watch = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, {rootMargin: "-20% 0px -70% 0px"});
  for (const section of document.querySelectorAll("main > section")) watch.observe(section);
})();
