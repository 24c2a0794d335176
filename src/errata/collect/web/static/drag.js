// Dragging with mouse, pen or finger, by pointer events; what is dropped is only handed on.

/** Things inside `area` can be dragged onto places; `dropped(thing, place)` hears of it. */
export function draggable(area, things, places, dropped) {
  let thing = null, from = null, pointer = null;

  const place = event => {
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    return under.map(each => each.closest(places)).find(each => each && area.contains(each)) ?? null;
  };
  const mark = found => {
    for (const each of area.querySelectorAll(places)) each.classList.toggle("over", each === found);
  };
  const end = () => {
    if (!thing) return;
    thing.classList.remove("dragged");
    thing.style.removeProperty("transform");
    mark(null);
    thing = from = pointer = null;
  };

  area.addEventListener("pointerdown", event => {
    const found = event.target.closest?.(things);
    if (!found || event.button !== 0 || thing) return;
    [thing, from, pointer] = [found, [event.clientX, event.clientY], event.pointerId];
    thing.setPointerCapture(pointer);
    thing.classList.add("dragged");
    event.preventDefault();
  });
  area.addEventListener("pointermove", event => {
    if (!thing || event.pointerId !== pointer) return;
    thing.style.transform = `translate(${event.clientX - from[0]}px, ${event.clientY - from[1]}px)`;
    mark(place(event));
  });
  area.addEventListener("pointerup", event => {
    if (!thing || event.pointerId !== pointer) return;
    const found = place(event), moved = thing;
    end();
    if (found) dropped(moved, found);
  });
  area.addEventListener("pointercancel", end);
}
