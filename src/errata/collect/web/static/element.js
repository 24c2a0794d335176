// Elements out of data: every text is a text node, so that nothing a text contains is markup.

/** An element with attributes ("on" holds listeners, null and false are left out) and children. */
export function h(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [type, listener] of Object.entries(value)) made.addEventListener(type, listener);
    else if (key === "value" || key === "checked" || key === "hidden" || key === "disabled") made[key] = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return made;
}

/** What stood in an element is replaced. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** Words for those who hear the page. */
export const unseen = text => h("span", {class: "unseen"}, text);

const INLINE = {strong: "strong", em: "em", code: "code"};

function inline(parts) {
  return parts.map(([kind, text, target]) => {
    if (kind === "link") return h("a", {href: target, rel: "noopener noreferrer", target: "_blank"}, text);
    return INLINE[kind] ? h(INLINE[kind], {}, text) : document.createTextNode(text);
  });
}

/** The blocks of a text in Markdown, as the server read it: headings, paragraphs and lists. */
export function prose(blocks) {
  return blocks.map(({kind, inline: parts, items}) => {
    if (kind === "ul" || kind === "ol") return h(kind, {}, items.map(item => h("li", {}, inline(item))));
    return h({h1: "h2", h2: "h3", h3: "h4", quote: "blockquote"}[kind] ?? "p", {}, inline(parts));
  });
}

const MARKS = {ins: "ins", new: "ins", del: "del", old: "del"};

/**
 * A text with its changes: what was inserted or replaces something stands in <ins>, what was deleted or
 * replaced in <del>, and both are said in words. Without marks, the text alone.
 */
export function marked(segments, say, shown = true) {
  const parts = segments.filter(([kind]) => shown || MARKS[kind] !== "del").map(([kind, text]) => {
    const name = shown ? MARKS[kind] : undefined;
    return name ? h(name, {}, unseen(say(`mark.${name}`) + " "), text, unseen(" " + say("mark.end")))
      : document.createTextNode(text);
  });
  return parts.flatMap((part, k) => (k ? [document.createTextNode(" "), part] : [part]));
}

/** A paragraph of marked text; `redraw` in it switches the marks where it stands, so that nothing else moves. */
export function markedText(segments, say, language, shown) {
  const made = h("p", {class: "text", dir: "auto", lang: language}, marked(segments, say, shown));
  made.redraw = on => fill(made, marked(segments, say, on));
  return made;
}

/** The text of an output, without marks. */
export const plain = segments => segments.filter(([kind]) => MARKS[kind] !== "del").map(([, text]) => text).join(" ");
