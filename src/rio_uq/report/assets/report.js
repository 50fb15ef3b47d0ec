/* What moves on the page: the slider, the table, light and dark, and all figures of figures.js. */

/* The slider. */

const slider = byId("slider");
function point(plot) {
  const i = Number(slider.value),
    x = plot.x(rejection.rejected[i]);
  plot.pointer.replaceChildren();
  add(plot.pointer, "line", { class: "cursor-bar", x1: x, x2: x, y1: plot.top, y2: plot.bottom });
  add(plot.pointer, "circle", { class: "mark", cx: x, cy: plot.y(rejection.rmse[i]), r: 6 });
}
function slide() {
  const i = Number(slider.value),
    all = rejection.rmse[0],
    kept = rejection.rmse[i],
    verdict = byId("verdict");
  const change = all ? kept / all - 1 : 0,
    words = Math.abs(change) < 0.0005 ? "no change" : `${percent(Math.abs(change), 0)} ${change < 0 ? "less" : "more"}`;
  verdict.textContent = `Reject ${percent(rejection.rejected[i], 0)} → RMSE ${number(kept, 3)} instead of ${number(all, 3)} (${words})`;
  add(
    verdict,
    "small",
    {},
    `${number(rejection.n_kept[i], 9)} rows are kept, those with a standard deviation up to ${number(rejection.threshold[i], 4)}; their MAE is ${number(rejection.mae[i], 3)}.`,
  );
  slider.setAttribute("aria-valuetext", `${percent(rejection.rejected[i], 0)} rejected`);
  for (const plot of plots) if (plot.pointer) point(plot);
}

/* The table. */

const table = data.table,
  body = byId("table").tBodies[0],
  perPage = 20;
const isText = table.columns.map((values) => values.some((value) => value !== null && !isNumber(value)));
const state = { column: table.std, descending: true, page: 0, order: [] };
const compares = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};

const asNumber = (text) =>
  /^[-−+]?(\d{1,3}(,\d{3})+|\d+\.?|(?=\.\d))(\d*)?(\.\d+)?(e[-+]?\d+)?$/.test(text)
    ? Number(text.replace("−", "-").replaceAll(",", ""))
    : NaN;

/* Which rows a query accepts; none, and not understood, where it looks like a comparison and is none. */
function condition(query) {
  const text = query.trim().toLowerCase().replace("≤", "<=").replace("≥", ">=");
  const has = (row) => !text || table.columns.some((values) => shown(values[row]).toLowerCase().includes(text));
  for (const [column, name] of table.names
    .map((name, i) => [i, name.toLowerCase()])
    .sort((a, b) => b[1].length - a[1].length)) {
    const found = text.startsWith(name) && /^\s*(<=|>=|<|>|=)\s*(.+)$/.exec(text.slice(name.length));
    if (!found) continue;
    const [, sign, wanted] = found,
      value = asNumber(wanted),
      values = table.columns[column];
    if (sign === "=" && (isText[column] || Number.isNaN(value)))
      return { accepts: (row) => shown(values[row]).toLowerCase() === wanted, understood: true };
    if (!Number.isNaN(value))
      return { accepts: (row) => isNumber(values[row]) && compares[sign](values[row], value), understood: true };
  }
  return { accepts: has, understood: !/[<>=]/.test(text) || table.columns[0].some((_, row) => has(row)) };
}
function refresh(page = 0) {
  const kind = byId("kind").value,
    { accepts, understood } = condition(byId("filter").value),
    values = table.columns[state.column],
    sign = state.descending ? -1 : 1;
  const size = state.column === table.correction ? Math.abs : (value) => value;
  const compare = (a, b) => (isNumber(a) && isNumber(b) ? size(a) - size(b) : String(a).localeCompare(String(b)));
  const known = table.columns[0]
    .map((_, row) => row)
    .filter((row) => (kind === "all" || table[kind][row]) && accepts(row));
  state.order = known.sort(
    (a, b) => (values[a] === null) - (values[b] === null) || sign * compare(values[a], values[b]) || a - b,
  );
  const pages = Math.max(1, Math.ceil(known.length / perPage));
  state.page = Math.min(Math.max(page, 0), pages - 1);
  byId("found").textContent = understood
    ? `${known.length} of ${table.columns[0].length} rows`
    : "not understood: column > number";
  byId("page").textContent = `Page ${state.page + 1} of ${pages}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page === pages - 1;
  body.replaceChildren();
  for (const row of state.order.slice(state.page * perPage, (state.page + 1) * perPage)) {
    const line = add(body, "tr");
    table.columns.forEach((column, i) => {
      const classes = [isText[i] && "text", i === table.own && "first-own", i === table.outcome && table.outside[row] && "outside"]
        .filter(Boolean)
        .join(" ");
      const cell = add(line, i ? "td" : "th", i ? {} : { scope: "row" }, shown(column[row]));
      if (classes) cell.className = classes;
      if (isText[i]) cell.title = shown(column[row]);
    });
  }
  for (const [i, head] of [...byId("table").tHead.rows[0].cells].entries()) {
    if (i === state.column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}
function makeTable() {
  const heads = add(byId("table").tHead, "tr");
  table.names.forEach((name, i) => {
    const head = add(heads, "th", { scope: "col", class: i === table.own ? "first-own" : "" });
    add(head, "button", { type: "button", title: name }, name).addEventListener("click", () => {
      state.descending = state.column === i ? !state.descending : !isText[i] && i > 0;
      state.column = i;
      refresh();
    });
  });
  byId("kind").addEventListener("change", () => refresh());
  byId("filter").addEventListener("input", () => refresh());
  byId("previous").addEventListener("click", () => refresh(state.page - 1));
  byId("next").addEventListener("click", () => refresh(state.page + 1));
  refresh();
}

/* Light and dark. */

function makeTheme() {
  const root = document.documentElement,
    button = byId("theme"),
    system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}

makeTheme();
for (const host of document.querySelectorAll(".chart"))
  new Plot(host, () => figures[host.dataset.chart](Number(host.dataset.index || 0), host));
drawAll(plots);
makeTable();
slider.addEventListener("input", slide);
slide();
for (const radio of document.querySelectorAll("input[name=level]")) {
  radio.addEventListener("change", () => drawAll(plots.filter((plot) => plot.host.dataset.chart === "coverage-by")));
}
for (const [name, value] of [
  ["beforeprint", true],
  ["afterprint", false],
]) {
  window.addEventListener(name, () => {
    isPrinting = value;
    drawAll(plots);
  });
}
let waiting = 0;
new ResizeObserver(() => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => drawAll(plots.filter((plot) => Math.abs(widthOf(plot.host) - plot.width) > 2)));
}).observe(document.body);
