"use strict";

startTheme();
startPrinting();
for (const table of document.querySelectorAll("table.kernels")) startSorting(table);
