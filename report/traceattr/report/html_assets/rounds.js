"use strict";

/** Start the plot of rounds, one point each, with what makes a round longer than the median. */
function startRounds() {
  const data = JSON.parse(document.getElementById("rounds-data").textContent);
  const box = document.getElementById("rounds-view");
  document.getElementById("rounds-plot").hidden = false;
  const numbers = data.lengths.map((_, at) => at);
  const medians = Object.fromEntries(Object.entries(data.groups).map(([name, times]) => [name, medianOf(times)]));
  const plot = new uPlot(roundsOptions(data, medians, box), [numbers, data.lengths.map((ns) => ns / 1e6)], box);
  new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height: plot.height });
  }).observe(box);
  whenColoursChange(() => plot.redraw(false, false));
  startRoundKeys(plot, box);
}

function roundsOptions(data, medians, box) {
  const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = {
    stroke: colour("--quiet"),
    grid: { stroke: colour("--rule"), width: 1 },
    ticks: { stroke: colour("--rule"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: box.clientWidth,
    height: 240,
    legend: { show: false },
    scales: { x: { time: false } },
    cursor: { y: false, drag: { x: true, y: false } },
    series: [{}, { stroke: colour("--gemm"), paths: () => null, points: { show: true, size: 5, fill: colour("--gemm") } }],
    axes: [
      { ...axis, label: "round", labelSize: 18, size: 34, labelFont: axis.font, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
      { ...axis, size: 72, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))} ms`) },
    ],
    hooks: {
      draw: [(plot) => paintQuantiles(plot, data, colour("--ink")())],
      setCursor: [(plot) => sayRound(data, medians, plot.cursor.idx)],
    },
  };
}

/** Draw the median and the 99th percentile across the plot. */
function paintQuantiles(plot, data, ink) {
  const { ctx: context, bbox } = plot;
  const ratio = uPlot.pxRatio;
  context.save();
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = ratio;
  context.setLineDash([3 * ratio, 3 * ratio]);
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.textAlign = "right";
  for (const name of ["median", "p99"]) {
    const height = plot.valToPos(data[name] / 1e6, "y", true);
    if (height < bbox.top || height > bbox.top + bbox.height) continue;
    context.beginPath();
    context.moveTo(bbox.left, height);
    context.lineTo(bbox.left + bbox.width, height);
    context.stroke();
    context.fillText(name, bbox.left + bbox.width - 4 * ratio, height - 4 * ratio);
  }
  context.restore();
}

/** Say how long a round is, and which groups differ most from their own median in it. */
function sayRound(data, medians, at) {
  if (at === null || at === undefined) return;
  const differences = Object.entries(data.groups)
    .map(([name, times]) => [name, times[at] - medians[name]])
    .filter(([, ns]) => ns !== 0)
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
    .slice(0, 3)
    .map(([name, ns]) => `${name} ${signed(ns)}`);
  const against = differences.length ? `; against the medians: ${differences.join(", ")}` : "";
  document.getElementById("rounds-detail").textContent =
    `Round ${at} of those drawn, on GPU ${data.gpu}: ${formatTime(data.lengths[at])} (${signed(data.lengths[at] - data.median)}), from ${clock(data, at)} s on${against}.`;
}

/** Return the begin of a round on the clock of the trace, exact to the nanosecond. */
function clock(data, at) {
  const ns = BigInt(data.first) + BigInt(data.starts[at]);
  const digits = (ns < 0n ? -ns : ns).toString().padStart(10, "0");
  return `${ns < 0n ? "\u2212" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function signed(ns) {
  return `${ns < 0 ? "\u2212" : "+"}${formatTime(Math.abs(ns))}`;
}

function medianOf(times) {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length / 2) - 1];
}

function startRoundKeys(plot, box) {
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const last = plot.data[0].length - 1;
    const at = Math.min(Math.max((plot.cursor.idx ?? (step > 0 ? -1 : last + 1)) + step, 0), last);
    plot.setCursor({ left: plot.valToPos(at, "x"), top: plot.over.clientHeight / 2 });
    event.preventDefault();
  });
}
