"use strict";

/** Make the titles of a table's columns sort it; what the reader sees says by which. */
function startSorting(table) {
  const titles = [...table.tHead.rows[0].cells];
  titles.forEach((title, column) => {
    const button = element("button", title.textContent.trim(), { type: "button" });
    title.replaceChildren(button);
    button.addEventListener("click", () => {
      const figures = title.classList.contains("r");
      const now = title.getAttribute("aria-sort");
      const next = now === "none" ? (figures ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
      for (const other of titles) other.setAttribute("aria-sort", "none");
      title.setAttribute("aria-sort", next);
      sortRows(table.tBodies[0], column, next === "ascending" ? 1 : -1);
    });
  });
}

function sortRows(body, column, direction) {
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const keyed = [...body.rows].map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => direction * (typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key, "en")));
  body.append(...keyed.map((one) => one.row));
}

/** Make fields hide the rows of a table that do not match, and say how many are left. */
function startFilters(fields) {
  const table = document.getElementById(fields.dataset.filters);
  const text = fields.querySelector("[data-filter=text]");
  const category = fields.querySelector("[data-filter=category]");
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, text: row.textContent.toLowerCase() }));
  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const one of rows) {
      const shown =
        words.every((word) => one.text.includes(word)) &&
        (!category?.value || one.row.dataset.category === category.value);
      one.row.hidden = !shown;
      left += shown;
    }
    fields.querySelector("output").textContent = `${left.toLocaleString("en")} of ${formatCount(rows.length, "name")}`;
  };
  text.addEventListener("input", apply);
  category?.addEventListener("change", apply);
  fields.hidden = false;
  apply();
}
