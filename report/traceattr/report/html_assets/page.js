"use strict";

startTheme();
startPrinting();
for (const table of document.querySelectorAll("table.sorts")) startSorting(table);
for (const fields of document.querySelectorAll("[data-filters]")) startFilters(fields);
if (document.getElementById("closeup-data")) startCloseup();
if (document.getElementById("rounds-data")) startRounds();
