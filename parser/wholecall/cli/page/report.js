
// Tables whose rows are sorted by a click on a head, and of which long ones are folded. Without this script they are whole.

const FOLDED_FROM = 18; // rows; of fewer nothing is worth folding

// Returns what a cell is sorted by: a number, a text, or null, which comes last.
function valueOf(row, column) {
  const cell = row.cells[column];
  if (!("value" in cell.dataset)) return cell.textContent;
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

function compare(one, other) {
  return typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
}

function sort(head) {
  const table = head.closest("table");
  const column = head.cellIndex;
  const first = head.classList.contains("name") ? "ascending" : "descending";
  const second = first === "ascending" ? "descending" : "ascending";
  const order = head.getAttribute("aria-sort") === first ? second : first;
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: valueOf(row, column), isRest: row.matches(".rest") }));
  rows.sort((a, b) => {
    if (a.isRest !== b.isRest) return a.isRest ? 1 : -1;
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    return sign * compare(a.value, b.value);
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
}

function fold(body) {
  const count = body.rows.length;
  if (count < FOLDED_FROM) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  const set = (isFolded) => {
    body.classList.toggle("folded", isFolded);
    button.textContent = isFolded ? `Show all ${count.toLocaleString("en")} rows` : "Show fewer rows";
  };
  button.addEventListener("click", () => set(!body.classList.contains("folded")));
  body.closest(".wide").after(button);
  set(true);
}

followTheme();
for (const head of document.querySelectorAll("th")) head.firstElementChild?.addEventListener("click", () => sort(head));
document.querySelectorAll("tbody:not(.whole)").forEach(fold);
