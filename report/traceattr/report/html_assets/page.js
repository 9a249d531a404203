"use strict";

startTheme();
startPrinting();
for (const table of document.querySelectorAll("table.kernels")) startSorting(table);
for (const fields of document.querySelectorAll("[data-filters]")) startFilters(fields);
startCloseup();
startRounds();
