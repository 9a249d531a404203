"use strict";

/** Return what a button of the mouse does: select, or pan while Shift is held. */
function withPanning(timeline) {
  return (plot, target, handler) => (event) => {
    if (!event.shiftKey) return handler(event);
    const { min, max } = plot.scales.x;
    const scale = (max - min) / plot.over.clientWidth;
    const move = (moved) => show(timeline, min - (moved.clientX - event.clientX) * scale, max - (moved.clientX - event.clientX) * scale);
    addEventListener("mousemove", move);
    addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
    event.preventDefault();
    return null;
  };
}

/** Make a plot answer to clicks, wheels and fingers. */
function startPointer(timeline) {
  const { over } = timeline.plot;
  over.addEventListener("click", (event) => {
    const { width } = timeline.plot.select;
    if (!width && !event.shiftKey) select(timeline, underPoint(timeline, event.offsetX, event.offsetY));
  });
  over.addEventListener("wheel", (event) => {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !isSideways) return;
    event.preventDefault();
    if (isSideways) pan(timeline, event.deltaX / over.clientWidth);
    else zoom(timeline, 1.2 ** Math.sign(event.deltaY), timeline.plot.posToVal(event.offsetX, "x"));
  }, { passive: false });
  startTouch(timeline, over);
}

/** One finger pans, two zoom. */
function startTouch(timeline, over) {
  const fingers = new Map();
  const span = () => {
    const at = [...fingers.values()];
    return { middle: at.reduce((sum, x) => sum + x, 0) / at.length, width: Math.max(...at) - Math.min(...at) };
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
  });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = span();
    fingers.set(event.pointerId, event.clientX);
    const after = span();
    pan(timeline, (before.middle - after.middle) / over.clientWidth);
    if (fingers.size > 1 && before.width > 20 && after.width > 20) {
      const left = after.middle - over.getBoundingClientRect().left;
      zoom(timeline, before.width / after.width, timeline.plot.posToVal(left, "x"));
    }
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    over.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
}

function startMoving(timeline) {
  const moves = {
    left: () => pan(timeline, -0.4),
    right: () => pan(timeline, 0.4),
    in: () => zoom(timeline, 0.5),
    out: () => zoom(timeline, 2),
    all: () => show(timeline, 0, timeline.part.length),
  };
  for (const button of document.querySelectorAll("[data-move]")) {
    button.addEventListener("click", moves[button.dataset.move]);
  }
}

/** Make the keyboard do whatever the mouse does. */
function startKeys(timeline) {
  timeline.box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step && event.shiftKey) pan(timeline, step * 0.2);
    else if (step) goAlong(timeline, step);
    else if (turn) goAcross(timeline, turn);
    else if (event.key === "+" || event.key === "=") zoom(timeline, 0.5, selectedTime(timeline));
    else if (event.key === "-") zoom(timeline, 2, selectedTime(timeline));
    else if (event.key === "0") show(timeline, 0, timeline.part.length);
    else if (event.key === "Home") goTo(timeline, currentRow(timeline), 0);
    else if (event.key === "End") goTo(timeline, currentRow(timeline), currentRow(timeline).starts.length - 1);
    else if (event.key === "Enter") goToFound(timeline);
    else if (event.key === "Escape") select(timeline, null);
    else return;
    event.preventDefault();
  });
}

/** Return the middle of what is selected, as far as it is in view. */
function selectedTime({ view, plot }) {
  if (!view.selected) return undefined;
  const { row, at } = view.selected;
  const { min, max } = plot.scales.x;
  const isInView = row.starts[at] < max && row.ends[at] > min;
  return isInView ? (Math.max(row.starts[at], min) + Math.min(row.ends[at], max)) / 2 : (row.starts[at] + row.ends[at]) / 2;
}

function currentRow({ view }) {
  return view.selected ? view.selected.row : view.rows[0];
}

function goAlong(timeline, step) {
  const { view, plot } = timeline;
  const row = currentRow(timeline);
  if (!row) return;
  const next = view.selected ? view.selected.at + step : Math.min(firstAbove(row.reach, plot.scales.x.min), row.starts.length - 1);
  if (next >= 0 && next < row.starts.length) goTo(timeline, row, next);
}

/** Go to what the row above or below has at the same time, or nearest to it. */
function goAcross(timeline, turn) {
  const { view, plot } = timeline;
  const time = selectedTime(timeline) ?? plot.scales.x.min;
  const at = view.rows.indexOf(currentRow(timeline)) + (view.selected ? turn : 0);
  const row = view.rows[at];
  if (row) goTo(timeline, row, Math.max(firstAbove(row.starts, time) - 1, 0));
}

/** Select an item and bring it into view. */
function goTo(timeline, row, at) {
  if (!row || !row.starts.length) return;
  const { min, max } = timeline.plot.scales.x;
  if (row.ends[at] < min || row.starts[at] > max) {
    const centre = (row.starts[at] + row.ends[at]) / 2;
    show(timeline, centre - (max - min) / 2, centre + (max - min) / 2);
  }
  select(timeline, { row, at });
}

/** Make the search dim what does not match, and say how much does. */
function startFinding(timeline) {
  const field = document.getElementById("closeup-find");
  const { view } = timeline;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (name) => words.every((word) => name.join(" ").toLowerCase().includes(word));
    view.found = words.length ? new Set([...view.data.names.keys()].filter((at) => matches(view.data.names[at]))) : null;
    sayFound(timeline);
    timeline.plot.redraw(false, false);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") goToFound(timeline);
  });
}

function sayFound({ view }) {
  const output = document.getElementById("closeup-found");
  const rows = view.rows.filter((row) => row.kind === "operation");
  const found = rows.reduce((sum, row) => sum + row.items.filter((item) => view.found?.has(item.name)).length, 0);
  output.textContent = view.found ? `${formatCount(found, "operation")} found` : "";
}

/** Select the next operation that the search has found, in order of time. */
function goToFound(timeline) {
  const { view } = timeline;
  if (!view.found) return;
  const after = view.selected ? view.selected.row.starts[view.selected.at] : -Infinity;
  let best = null;
  let first = null;
  for (const row of view.rows.filter((one) => one.kind === "operation")) {
    row.items.forEach((item, at) => {
      if (!view.found.has(item.name)) return;
      const hit = { row, at, start: row.starts[at] };
      if (!first || hit.start < first.start) first = hit;
      if (hit.start > after && (!best || hit.start < best.start)) best = hit;
    });
  }
  const hit = best ?? first;
  if (hit) goTo(timeline, hit.row, hit.at);
}
