"use strict";
// Filters what is on the page; without it the page shows everything.
document.documentElement.classList.add("scripted");
const rows = [...document.querySelectorAll("[data-find]")];
const status = document.getElementById("shown");
const fields = [...document.querySelectorAll(".filter [name]")];

function show() {
  const wanted = Object.fromEntries(fields.map((field) => [field.name, field.value.trim().toLowerCase()]));
  let count = 0;
  for (const row of rows) {
    const fits =
      (!wanted.outcome || row.dataset.outcome === wanted.outcome) &&
      (!wanted.category || row.dataset.category.toLowerCase() === wanted.category) &&
      (!wanted.find || row.dataset.find.includes(wanted.find));
    row.hidden = !fits;
    if (fits) count += 1;
  }
  status.textContent = `${count} of ${rows.length} shown`;
}

for (const field of fields) field.addEventListener("input", show);
if (status) show();
