"use strict";

/** Return a time in the unit and with the digits that suit it. */
function formatTime(ns) {
  if (ns === 0) return "0";
  const size = Math.abs(ns);
  if (size >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(3)} \u00b5s`;
  return `${Math.round(ns)} ns`;
}

/** Return labels of an axis: all in one unit, with the digits that tell them apart. */
function formatTicks(ticks) {
  const last = Math.max(...ticks.map(Math.abs), 1);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : last;
  const [unit, size] = step >= 1e5 ? ["ms", 1e6] : step >= 100 ? ["\u00b5s", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return ticks.map((tick) => `${format.format(tick / size)} ${unit}`);
}

function formatCount(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return a new element with some text, which is never taken for markup. */
function element(name, text = "", properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.textContent = text;
  return made;
}

/** Return a square in the colour of a class of the style sheet. */
function swatch(css) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", "10");
  svg.setAttribute("height", "10");
  svg.setAttribute("aria-hidden", "true");
  const square = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  square.setAttribute("width", "10");
  square.setAttribute("height", "10");
  square.setAttribute("class", css);
  svg.append(square);
  return svg;
}
