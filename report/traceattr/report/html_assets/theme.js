"use strict";

/** Call back whenever colours have changed: by the buttons, by the system, or for a printer. */
function whenColoursChange(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
  matchMedia("print").addEventListener("change", callback);
  document.addEventListener("themechange", callback);
}

/** Make the buttons choose light, dark, or what the system says. */
function startTheme() {
  const buttons = document.querySelectorAll("[data-theme-choice]");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const choice = button.dataset.themeChoice;
      if (choice === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = choice;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      document.dispatchEvent(new Event("themechange"));
    });
  }
}

/** Open what is folded while a page is printed. */
function startPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not(.name):not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}
