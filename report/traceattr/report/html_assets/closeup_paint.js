"use strict";

/** Return the colours of the page as a canvas needs them; the style sheet is where they are. */
function readColours(classes) {
  const svg = swatch("");
  document.body.append(svg);
  const fill = (css) => {
    svg.firstChild.setAttribute("class", css);
    return getComputedStyle(svg.firstChild).fill;
  };
  const style = getComputedStyle(document.documentElement);
  const colours = {
    ink: style.getPropertyValue("--ink"),
    quiet: style.getPropertyValue("--quiet"),
    rule: style.getPropertyValue("--rule"),
    soft: style.getPropertyValue("--track"),
    paper: style.getPropertyValue("--paper"),
    accent: style.getPropertyValue("--accent"),
    gap: { "in-graph": fill("g-in-graph-gaps"), seam: fill("g-host-gaps"), "no work": fill("g-no-work") },
    of: Object.fromEntries(Object.entries(classes).map(([category, css]) => [category, fill(css)])),
  };
  svg.remove();
  return colours;
}

/** Return black or white, whichever can be read on a colour of the form rgb(...). */
function inkOn(colour) {
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000000" : "#ffffff";
}

/** Return stripes, which stand for work that nobody knows. */
function hatched(context, colour, paper, ratio) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8 * ratio;
  const brush = tile.getContext("2d");
  brush.fillStyle = paper;
  brush.fillRect(0, 0, tile.width, tile.height);
  brush.strokeStyle = colour;
  brush.lineWidth = 2.5 * ratio;
  for (const shift of [-8, 0, 8]) {
    brush.beginPath();
    brush.moveTo(shift * ratio, 8 * ratio);
    brush.lineTo((shift + 8) * ratio, 0);
    brush.stroke();
  }
  return context.createPattern(tile, "repeat");
}

/** Draw the rows onto the canvas of a plot. */
function paintRows(plot, view) {
  const { ctx: context, bbox } = plot;
  const ratio = uPlot.pxRatio;
  context.save();
  for (const row of view.rows) {
    const top = bbox.top + row.top * ratio;
    paintTitle(context, row, top, bbox, ratio, view);
    context.save();
    context.beginPath();
    context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    context.clip();
    paintRow(context, plot, row, top, ratio, view);
    context.restore();
  }
  context.restore();
}

function paintTitle(context, row, top, bbox, ratio, view) {
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const middle = top + (row.height * ratio) / 2;
  const isFirst = view.rows.find((other) => other.owner.gpu === row.owner.gpu) === row;
  if (isFirst) {
    context.fillStyle = view.colours.ink;
    context.font = `600 ${11.5 * ratio}px system-ui, sans-serif`;
    context.fillText(`GPU ${row.owner.gpu}`, 2 * ratio, middle);
    if (row.kind === "pass") return;
  }
  context.fillStyle = view.colours.quiet;
  context.textAlign = "right";
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.fillText(row.label, bbox.left - 6 * ratio, middle, bbox.left - (isFirst ? 44 : 6) * ratio);
}

function paintRow(context, plot, row, top, ratio, view) {
  const { min, max } = plot.scales.x;
  const scale = plot.bbox.width / (max - min);
  const height = row.height * ratio;
  if (row.kind === "operation") {
    context.fillStyle = view.colours.soft;
    context.fillRect(plot.bbox.left, top, plot.bbox.width, height);
  }
  for (let at = firstAbove(row.reach, min); at < row.starts.length && row.starts[at] < max; at += 1) {
    const left = plot.bbox.left + (Math.max(row.starts[at], min) - min) * scale;
    const right = plot.bbox.left + (Math.min(row.ends[at], max) - min) * scale;
    const width = Math.max(right - left, 0.35 * ratio);
    paintItem(context, row, at, { left, top, width, height }, ratio, view);
  }
}

function paintItem(context, row, at, box, ratio, view) {
  const look = lookOf(row, at, view);
  context.globalAlpha = look.isDim ? 0.12 : 1;
  context.fillStyle = look.isHatched ? hatched(context, look.colour, view.colours.paper, ratio) : look.colour;
  context.fillRect(box.left, box.top, box.width, box.height);
  if (box.width > 3 * ratio && row.kind !== "idle") {
    context.fillStyle = view.colours.paper;
    context.fillRect(box.left + box.width - 0.7 * ratio, box.top, 0.7 * ratio, box.height);
  }
  if (look.text && !look.isHatched) paintText(context, look, box, ratio, row.kind);
  if (view.selected && view.selected.row === row && view.selected.at === at) {
    context.strokeStyle = view.colours.ink;
    context.lineWidth = 2 * ratio;
    context.strokeRect(box.left - ratio, box.top + ratio, box.width + 2 * ratio, box.height - 2 * ratio);
  }
  context.globalAlpha = 1;
}

/** Return colour, text and whether the reader asked for something else. */
function lookOf(row, at, view) {
  const item = row.items[at];
  const isFiltered = view.found !== null || view.chosen.size > 0;
  if (row.kind === "pass") return { colour: view.colours.rule, ink: view.colours.ink, text: item[0], isDim: false };
  if (row.kind === "idle") {
    const [kind, seam] = item;
    return { colour: view.colours.gap[kind], text: kind === "seam" ? seam : "", isDim: isFiltered };
  }
  const [label, , category] = view.data.names[item.name];
  const isFound = view.found === null || view.found.has(item.name);
  const isChosen = view.chosen.size === 0 || view.chosen.has(category);
  const isHatched = view.data.classes[category] === "g-graph" || view.data.classes[category] === "g-unclassified";
  return { colour: view.colours.of[category], text: label, isDim: !isFound || !isChosen, isHatched };
}

function paintText(context, look, box, ratio, kind) {
  const size = (kind === "idle" ? 9.5 : 11) * ratio;
  const room = box.width - 6 * ratio;
  const letters = Math.floor(room / (size * 0.56));
  if (letters < 4) return;
  context.font = `${size}px system-ui, sans-serif`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = look.ink || inkOn(look.colour);
  const text = look.text.length > letters ? `${look.text.slice(0, letters - 1)}\u2026` : look.text;
  context.fillText(text, box.left + 3 * ratio, box.top + box.height / 2, room);
}
