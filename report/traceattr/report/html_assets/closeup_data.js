"use strict";

/** Rows of the timeline: what is drawn on one line, in order of time. */

const PASS_HEIGHT = 20;
const OPERATION_HEIGHT = 22;
const IDLE_HEIGHT = 13;
const GPU_SPACE = 10;

/** Return the rows of a part, for one GPU or for all, by stream or by category. */
function closeupRows(data, part, choice) {
  const rows = [];
  let top = 0;
  const add = (row, height) => {
    rows.push({ ...row, top, height, reach: runningMaximum(row.ends) });
    top += height + 3;
  };
  for (const gpu of part.gpus) {
    if (choice.gpu !== "all" && Number(choice.gpu) !== gpu.gpu) continue;
    const starts = sums(gpu.starts);
    const owner = { gpu: gpu.gpu, rank: gpu.rank };
    if (gpu.passes.length) add(passRow(gpu, owner), PASS_HEIGHT);
    for (const row of operationRows(data, gpu, starts, choice.rows)) add({ ...row, owner, passes: gpu.passes }, OPERATION_HEIGHT);
    if (gpu.gapStarts.length) add(idleRow(gpu, owner), IDLE_HEIGHT);
    top += GPU_SPACE;
  }
  return { rows, height: Math.max(top - GPU_SPACE, 40) };
}

function passRow(gpu, owner) {
  const starts = gpu.passes.map((pass) => pass[1]);
  const ends = gpu.passes.map((pass) => pass[1] + pass[2]);
  return { kind: "pass", owner, label: "passes", starts, ends, items: gpu.passes };
}

function idleRow(gpu, owner) {
  const ends = gpu.gapStarts.map((start, at) => start + gpu.gapLengths[at]);
  const items = gpu.gapTexts.map((at) => gpu.gapKinds[at]);
  return { kind: "idle", owner, label: "idle", starts: gpu.gapStarts, ends, items };
}

/** Return one row per stream, or per group of categories in the order of the legend. */
function operationRows(data, gpu, starts, by) {
  const groups = new Map();
  const classes = [...new Set(Object.values(data.classes))];
  gpu.names.forEach((name, at) => {
    const key = by === "stream" ? gpu.lanes[at] : classes.indexOf(data.classes[data.names[name][2]]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(at);
  });
  const word = (key) => (by === "stream" ? streamName(gpu.streams[key]) : classes[key].slice(2).replaceAll("-", " "));
  return [...groups.keys()].sort((a, b) => a - b).map((key) => {
    const at = groups.get(key);
    return {
      kind: "operation",
      label: word(key),
      starts: at.map((one) => starts[one]),
      ends: at.map((one) => starts[one] + gpu.lengths[one]),
      items: at.map((one) => ({ name: gpu.names[one], stream: streamName(gpu.streams[gpu.lanes[one]]) })),
    };
  });
}

function streamName(id) {
  return id < 0 ? "stream unknown" : `stream ${id}`;
}

function sums(steps) {
  let sum = 0;
  return steps.map((step) => (sum += step));
}

/** Return, for each interval, the latest end so far: they may overlap. */
function runningMaximum(ends) {
  let latest = -Infinity;
  return ends.map((end) => (latest = Math.max(latest, end)));
}

/** Return the first position at which sorted values exceed a limit. */
function firstAbove(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Return what a row has at a time, within a tolerance, or -1; of several the last begun. */
function itemAt(row, time, tolerance) {
  const last = firstAbove(row.starts, time + tolerance) - 1;
  let best = -1;
  let distance = Infinity;
  for (let at = last; at >= 0 && row.reach[at] >= time - tolerance; at -= 1) {
    const away = Math.max(row.starts[at] - time, time - row.ends[at], 0);
    if (away <= tolerance && away < distance) [best, distance] = [at, away];
    if (away === 0) break;
  }
  return best;
}

/** Return what there is to say of an item: a title and lines of text. */
function describe(data, row, at) {
  const item = row.items[at];
  const rank = row.owner.rank === null ? "" : `, rank ${row.owner.rank}`;
  const where = `GPU ${row.owner.gpu}${rank}`;
  const when = `${formatTime(row.ends[at] - row.starts[at])}, begins at ${formatTime(row.starts[at])}`;
  if (row.kind === "pass") {
    const graph = item[3] === null ? "launched kernel by kernel" : `replay of graph ${item[3]}`;
    return { title: `${item[0]} pass`, lines: [when, `${graph}; ${where}`] };
  }
  if (row.kind === "idle") {
    const [kind, seam, host] = item;
    const title = kind === "no work" ? "no work" : `${kind === "in-graph" ? "gap in a graph" : "host gap"}: ${seam}`;
    return { title, lines: [when, host ? `host: ${host}; ${where}` : where] };
  }
  const [label, whole, category, rule] = data.names[item.name];
  const pass = row.passes.find((one) => one[1] <= row.starts[at] && row.ends[at] <= one[1] + one[2]);
  const inside = pass ? `during ${pass[0]}` : "between passes";
  const lines = [when, `${category}${rule ? `, rule ${rule}` : ""}`, `${where}, ${item.stream}, ${inside}`];
  if (whole.length > 160) lines.push(whole.length > 400 ? `${whole.slice(0, 400)}\u2026` : whole);
  return { title: whole && whole.length <= 160 ? whole : label, lines };
}
