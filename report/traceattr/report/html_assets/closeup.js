"use strict";

const SHORTEST_SPAN = 200;
const AXIS_HEIGHT = 32;
const TICK_STEPS = Array.from({ length: 31 }, (_, at) => [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3));

/** Start the timeline: what is drawn, and what mouse, touch and keyboard do to it. */
function startCloseup() {
  const data = JSON.parse(document.getElementById("closeup-data").textContent);
  if (!data.parts.length) return;
  const box = document.getElementById("closeup");
  box.hidden = false;
  const view = { data, colours: readColours(data.classes), found: null, chosen: new Set(), selected: null };
  const timeline = { view, plot: null, part: data.parts[0], box: document.getElementById("closeup-view") };
  offerParts(timeline);
  offerGpus(timeline);
  offerCategories(timeline);
  document.getElementById("closeup-rows").addEventListener("change", () => rebuild(timeline));
  startFinding(timeline);
  startKeys(timeline);
  startMoving(timeline);
  rebuild(timeline);
  new ResizeObserver(() => resize(timeline)).observe(timeline.box);
  whenColoursChange(() => {
    view.colours = readColours(data.classes);
    timeline.plot.redraw(false, false);
  });
}

function offerParts(timeline) {
  const select = document.getElementById("closeup-part");
  timeline.view.data.parts.forEach((part, at) => select.append(element("option", part.title, { value: String(at) })));
  document.getElementById("closeup-part-label").hidden = timeline.view.data.parts.length < 2;
  select.addEventListener("change", () => {
    timeline.part = timeline.view.data.parts[Number(select.value)];
    for (const one of document.querySelectorAll("[data-part-sentence]")) {
      one.classList.toggle("off", one.dataset.partSentence !== select.value);
    }
    rebuild(timeline);
  });
}

function offerGpus(timeline) {
  const select = document.getElementById("closeup-gpu");
  const { gpus } = timeline.part;
  select.append(element("option", "all", { value: "all" }));
  for (const one of gpus) select.append(element("option", String(one.gpu), { value: String(one.gpu) }));
  document.getElementById("closeup-gpu-label").hidden = gpus.length < 2;
  select.addEventListener("change", () => rebuild(timeline));
}

function offerCategories(timeline) {
  const { view } = timeline;
  for (const [category, css] of Object.entries(view.data.classes)) {
    const button = element("button", category, { type: "button" });
    button.prepend(swatch(css));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const isOn = !view.chosen.delete(category);
      if (isOn) view.chosen.add(category);
      button.setAttribute("aria-pressed", String(isOn));
      timeline.plot.redraw(false, false);
    });
    document.getElementById("closeup-keys").append(button);
  }
}

/** Make the plot anew, for other rows; the shown time stays if the part does. */
function rebuild(timeline) {
  const { view, part } = timeline;
  const choice = { gpu: document.getElementById("closeup-gpu").value, rows: document.getElementById("closeup-rows").value };
  const { rows, height } = closeupRows(view.data, part, choice);
  const shown = timeline.plot && timeline.shownPart === part ? { ...timeline.plot.scales.x } : null;
  timeline.plot?.destroy();
  Object.assign(view, { rows, selected: null });
  timeline.shownPart = part;
  timeline.height = height + AXIS_HEIGHT + 2;
  timeline.plot = new uPlot(plotOptions(timeline), [[0, part.length], [null, null]], timeline.box);
  if (shown) timeline.plot.setScale("x", { min: shown.min, max: shown.max });
  startPointer(timeline);
  say(timeline, null);
}

function plotOptions(timeline) {
  const narrow = timeline.box.clientWidth < 600;
  const quiet = () => timeline.view.colours.quiet;
  return {
    width: timeline.box.clientWidth,
    height: timeline.height,
    padding: [2, 24, 0, narrow ? 78 : 104],
    legend: { show: false },
    scales: { x: { time: false, range: (_, min, max) => [min, max] } },
    series: [{}, { paths: () => null, points: { show: false } }],
    axes: [
      {
        stroke: quiet,
        grid: { stroke: () => timeline.view.colours.rule, width: 1 },
        ticks: { stroke: () => timeline.view.colours.rule, width: 1 },
        size: AXIS_HEIGHT,
        incrs: TICK_STEPS,
        space: narrow ? 64 : 90,
        font: "11px system-ui, sans-serif",
        values: (_, ticks) => formatTicks(ticks),
      },
      { show: false },
    ],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, dist: 4 }, bind: { mousedown: withPanning(timeline) } },
    hooks: {
      draw: [(plot) => paintRows(plot, timeline.view)],
      setCursor: [() => showTip(timeline)],
      setScale: [sayRange],
    },
  };
}

function resize(timeline) {
  const width = timeline.box.clientWidth;
  if (width && width !== timeline.plot.width) timeline.plot.setSize({ width, height: timeline.height });
}

/** Show a range of time, kept inside the part. */
function show(timeline, min, max) {
  const { length } = timeline.part;
  const span = Math.min(Math.max(max - min, Math.min(SHORTEST_SPAN, length)), length);
  const begin = Math.min(Math.max((min + max - span) / 2, 0), length - span);
  timeline.plot.setScale("x", { min: begin, max: begin + span });
}

function zoom(timeline, factor, around) {
  const { min, max } = timeline.plot.scales.x;
  const centre = around ?? (min + max) / 2;
  show(timeline, centre - (centre - min) * factor, centre + (max - centre) * factor);
}

function pan(timeline, share) {
  const { min, max } = timeline.plot.scales.x;
  const { length } = timeline.part;
  const step = Math.min(Math.max((max - min) * share, -min), length - max);
  timeline.plot.setScale("x", { min: min + step, max: max + step });
}

/** Say which part of the time is in view. */
function sayRange(plot, scale) {
  if (scale !== "x") return;
  const { min, max } = plot.scales.x;
  const output = document.getElementById("closeup-range");
  output.dataset.span = String(max - min);
  output.textContent = `${formatTime(min)} to ${formatTime(max)}`;
}

/** Return the row and the position of what is under a point of the plot, or null. */
function underPoint(timeline, left, top) {
  const { plot, view } = timeline;
  const row = view.rows.find((one) => top >= one.top && top < one.top + one.height + 2);
  if (!row || left < 0) return null;
  const { min, max } = plot.scales.x;
  const at = itemAt(row, plot.posToVal(left, "x"), (2 * (max - min)) / plot.over.clientWidth);
  return at < 0 ? null : { row, at };
}

function showTip(timeline) {
  const tip = document.getElementById("closeup-tip");
  const { left, top } = timeline.plot.cursor;
  const hit = underPoint(timeline, left ?? -1, top ?? -1);
  tip.hidden = !hit;
  if (!hit) return;
  const { title, lines } = describe(timeline.view.data, hit.row, hit.at);
  tip.replaceChildren(element("strong", title), ...lines.map((line) => element("span", line)));
  const frame = tip.offsetParent.getBoundingClientRect();
  const over = timeline.plot.over.getBoundingClientRect();
  const x = over.left - frame.left + left + 14;
  const room = frame.width - tip.offsetWidth;
  tip.style.left = `${Math.max(Math.min(x, room), 0)}px`;
  tip.style.top = `${over.top - frame.top + top + 18}px`;
}

/** Select an item, or nothing, and say what it is below the timeline. */
function select(timeline, hit) {
  timeline.view.selected = hit;
  say(timeline, hit);
  timeline.plot.redraw(false, false);
}

function say(timeline, hit) {
  const detail = document.getElementById("closeup-detail");
  if (!hit) {
    detail.textContent = "Nothing selected.";
    return;
  }
  const { title, lines } = describe(timeline.view.data, hit.row, hit.at);
  detail.replaceChildren(element("strong", title), document.createElement("br"), lines.join("; "));
}
