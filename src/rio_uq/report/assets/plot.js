/* A small kit for plots: axes, layers, and targets for the pointer and the arrow keys. Joined with report.js. */

const byId = (id) => document.getElementById(id);

/* Numbers and elements. All text goes through textContent, so that none of it can become markup. */

const minus = (text) => text.replaceAll("-", "−");
const isNumber = (value) => typeof value === "number";
function number(value, digits = 4) {
  if (!isNumber(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-300) return "0";
  if (size && (size < 1e-4 || size >= 1e9)) return minus(value.toExponential(2));
  const digitsOf = size >= 10 ** digits ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits };
  return minus(value.toLocaleString("en-US", { ...digitsOf, useGrouping: size >= 10000 }));
}
const percent = (value, digits = 1) => (isNumber(value) ? minus(`${(100 * value).toFixed(digits)} %`) : "–");
const signed = (value) => (value > 0 ? "+" : "") + number(value, 3);

function add(parent, name, attributes = {}, text = null) {
  const isSvg = name === "svg" || parent instanceof SVGElement;
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

/* Axes. */

const scales = {
  linear: { to: (value) => value, from: (value) => value },
  root: { to: (value) => Math.sqrt(Math.max(value, 0)), from: (value) => value * value },
};

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999) || 10);
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place++) found.push(place * step);
  return found.length > 1 || count > 6 ? found : ticks(low, high, count + 1);
}

function extent(values, { zero = false, room = 0.04 } = {}) {
  const known = values.filter(isNumber);
  let low = Math.min(...known, zero ? 0 : Infinity),
    high = Math.max(...known, zero ? 0 : -Infinity);
  if (!(low < high)) {
    const pad = Math.abs(low || 1) * 0.5;
    low -= pad;
    high += pad;
  }
  const pad = room * (high - low);
  return [zero && low === 0 ? 0 : low - pad, zero && high === 0 ? 0 : high + pad];
}

const fitted = (text, width) => {
  const most = Math.max(3, Math.floor(width / 6.6));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
};

/* A plot: axes, layers in order, and targets that the pointer and the arrow keys move along. */

const plots = [];
let isPrinting = false;
const printWidth = (host) => (host.closest(".thirds") ? 220 : host.closest(".halves") ? 330 : 680);
const widthOf = (host) => Math.max(220, isPrinting ? printWidth(host) : host.clientWidth);
/* All widths are read before anything is drawn: the browser then lays out the page once, not once for each plot. */
function drawAll(chosen) {
  const widths = chosen.map((plot) => widthOf(plot.host));
  chosen.forEach((plot, place) => plot.draw(widths[place]));
}

class Plot {
  constructor(host, build) {
    Object.assign(this, { host, build, place: -1 });
    plots.push(this);
  }

  draw(width) {
    const spec = (this.spec = this.build());
    this.width = width;
    const labels = spec.y.labels;
    const longest = labels ? Math.max(...labels.map((text) => text.length)) * 6.6 + 10 : 0;
    this.left = labels ? Math.min(longest, 0.42 * this.width) : spec.y.hide ? 0 : 50;
    this.right = this.width - (spec.x.hide ? 0 : 14);
    this.top = spec.y.label ? 22 : 8;
    this.height = spec.height || (labels ? this.top + 26 * labels.length + 44 : Math.min(360, 0.5 * this.width + 110));
    this.bottom = this.height - (spec.x.label ? 42 : spec.x.hide ? 4 : 24);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    const canFocus = spec.targets && spec.targets.length && !spec.still;
    const how = canFocus ? ` Arrow keys move along ${spec.targets.length} points.` : "";
    svg.setAttribute("role", canFocus ? "application" : "img");
    svg.setAttribute("aria-label", `${this.host.dataset.title}. ${spec.text}${how}`);
    if (canFocus) {
      svg.setAttribute("aria-roledescription", "plot");
      svg.setAttribute("tabindex", "0");
    }
    this.svg = svg;
    this.axes();
    for (const layer of spec.layers) layer(this);
    this.marks = add(svg, "g");
    this.host.replaceChildren(...(spec.legend ? [this.key(spec.legend)] : []), svg);
    if (spec.targets) this.listen();
    if (spec.after) spec.after(this);
  }

  x(value) {
    const { min, max, scale = "linear" } = this.spec.x,
      to = scales[scale].to;
    return this.left + ((this.right - this.left) * (to(value) - to(min))) / (to(max) - to(min));
  }

  y(value) {
    if (this.spec.y.labels) return this.top + ((value + 0.5) * (this.bottom - this.top)) / this.spec.y.labels.length;
    const { min, max, scale = "linear" } = this.spec.y,
      to = scales[scale].to;
    return this.bottom - ((this.bottom - this.top) * (to(value) - to(min))) / (to(max) - to(min));
  }

  ticksOf(axis, count) {
    const scale = scales[axis.scale || "linear"];
    if (!axis.scale) return ticks(axis.min, axis.max, count);
    const power = Math.floor(Math.log10(axis.max)),
      space = (scale.to(axis.max) - scale.to(axis.min)) / (count + 1),
      found = [axis.min];
    for (let place = power - 4; place <= power; place++) {
      for (const factor of [1, 2, 5]) {
        const value = factor * 10 ** place;
        if (value <= axis.max && scale.to(value) - scale.to(found[found.length - 1]) >= space) found.push(value);
      }
    }
    return found;
  }

  axes() {
    const { x, y } = this.spec,
      format = (axis) => axis.format || ((value) => number(value));
    const across = x.hide ? [] : this.ticksOf(x, Math.max(2, Math.floor((this.right - this.left) / 75)));
    for (const value of across) {
      add(this.svg, "line", { class: "gridline", x1: this.x(value), x2: this.x(value), y1: this.top, y2: this.bottom });
      add(this.svg, "text", { x: this.x(value), y: this.bottom + 16, "text-anchor": "middle" }, format(x)(value));
    }
    if (x.label) {
      const middle = (this.left + this.right) / 2;
      add(
        this.svg,
        "text",
        { x: middle, y: this.height - 6, "text-anchor": "middle" },
        fitted(x.label, this.right - this.left),
      );
    }
    if (y.labels) {
      y.labels.forEach((text, place) => {
        const shown = add(
          this.svg,
          "text",
          { class: "strong", x: this.left - 10, y: this.y(place) + 4, "text-anchor": "end" },
          fitted(text, this.left - 8),
        );
        add(shown, "title", {}, text);
      });
      return;
    }
    if (y.hide) return;
    for (const value of this.ticksOf(y, Math.max(2, Math.floor((this.bottom - this.top) / 45)))) {
      add(this.svg, "line", { class: "gridline", x1: this.left, x2: this.right, y1: this.y(value), y2: this.y(value) });
      add(this.svg, "text", { x: this.left - 7, y: this.y(value) + 4, "text-anchor": "end" }, format(y)(value));
    }
    if (y.label) add(this.svg, "text", { x: 0, y: 11 }, fitted(y.label, this.width));
  }

  key(entries) {
    const legend = document.createElement("div");
    legend.className = "legend";
    for (const [shape, kind, text] of entries) {
      const entry = add(legend, "span"),
        swatch = add(entry, "svg", { viewBox: "0 0 22 10", "aria-hidden": "true" });
      if (shape === "line") add(swatch, "line", { class: kind, x1: 1, x2: 21, y1: 5, y2: 5 });
      else if (shape === "bar") add(swatch, "rect", { class: kind, x: 3, y: 1, width: 16, height: 8 });
      else add(swatch, "path", { class: kind, d: symbol(shape, 11, 5, 4) });
      entry.append(text);
    }
    return legend;
  }

  listen() {
    const order = this.spec.targets.map((_, place) => place);
    if (!this.spec.y.labels) order.sort((a, b) => this.spec.targets[a].x - this.spec.targets[b].x);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    this.svg.addEventListener("pointermove", (event) => this.show(this.nearest(event)));
    this.svg.addEventListener("pointerdown", (event) => this.show(this.nearest(event)));
    this.svg.addEventListener("pointerleave", () => this.show(-1));
    this.svg.addEventListener("blur", () => this.show(-1));
    this.svg.addEventListener("keydown", (event) => {
      const last = order.length - 1,
        now = order.indexOf(this.place);
      let next = null;
      if (event.key in step) next = now < 0 ? (step[event.key] > 0 ? 0 : last) : now + step[event.key];
      else if (event.key === "Home") next = 0;
      else if (event.key === "End") next = last;
      else if (event.key === "Escape") {
        this.show(-1);
        return;
      } else return;
      event.preventDefault();
      this.show(order[Math.min(Math.max(next, 0), last)], true);
    });
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect(),
      zoom = this.width / box.width;
    const px = (event.clientX - box.left) * zoom,
      py = (event.clientY - box.top) * zoom;
    const weight = { x: [1, 0], y: [0, 1] }[this.spec.snap] || [1, 1];
    let best = -1,
      least = this.spec.snap ? Infinity : 900;
    this.spec.targets.forEach((target, place) => {
      const distance = weight[0] * (this.x(target.x) - px) ** 2 + weight[1] * (this.y(target.y) - py) ** 2;
      if (distance < least) {
        least = distance;
        best = place;
      }
    });
    return best;
  }

  show(place, speak = false) {
    this.place = place;
    this.marks.replaceChildren();
    const target = this.spec.targets[place];
    for (const plot of plots) if (plot !== this) plot.echo(target ? target.row : undefined);
    if (!target) {
      byId("tip").hidden = true;
      return;
    }
    const cx = this.x(target.x),
      cy = this.y(target.y);
    if (target.bar) {
      const [low, high] = target.bar.map((value) => Math.min(Math.max(this.y(value), this.top), this.bottom));
      add(this.marks, "line", { class: "cursor-bar", x1: cx, x2: cx, y1: low, y2: high });
    }
    add(this.marks, "circle", { class: "cursor", cx, cy, r: 7 });
    const [title, ...lines] = target.about();
    tell(title, lines, this.svg, cx / this.width, cy / this.height, speak);
  }

  echo(row) {
    this.marks.replaceChildren();
    if (row === undefined || !this.spec.hasRows) return;
    const target = this.spec.targets.find((entry) => entry.row === row);
    if (target) add(this.marks, "circle", { class: "echo", cx: this.x(target.x), cy: this.y(target.y), r: 7 });
  }
}

function tell(title, lines, svg, x, y, speak) {
  const tip = byId("tip"),
    box = svg.getBoundingClientRect();
  tip.replaceChildren();
  add(tip, "b", {}, title);
  const list = add(tip, "dl");
  for (const [name, value] of lines) {
    add(list, "dt", {}, name);
    add(list, "dd", {}, value);
  }
  tip.hidden = false;
  const px = box.left + x * box.width,
    py = box.top + y * box.height;
  const width = tip.offsetWidth,
    height = tip.offsetHeight,
    room = document.documentElement.clientWidth;
  let left = px + 16,
    top = Math.max(4, Math.min(py - height / 2, window.innerHeight - height - 4));
  if (left + width > room) left = px - 16 - width;
  if (left < 4) {
    left = Math.max(4, Math.min(px - width / 2, room - width - 4));
    top = py + 16 + height < window.innerHeight ? py + 16 : Math.max(4, py - 16 - height);
  }
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
  if (speak) byId("live").textContent = [title, ...lines.map(([name, value]) => `${name} ${value}`)].join(", ");
}

/* Layers. */

const symbol = (shape, x, y, r) =>
  shape === "diamond"
    ? `M${x - r},${y}L${x},${y - r}L${x + r},${y}L${x},${y + r}Z`
    : `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
const path = (points) => points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

const mark =
  (x, y, kind, shape = "dot", r = 5) =>
  (plot) => {
    if (isNumber(x) && isNumber(y)) add(plot.svg, "path", { class: kind, d: symbol(shape, plot.x(x), plot.y(y), r) });
  };
const dots = (xs, ys, kind) => (plot) => {
  const group = add(plot.svg, "g"),
    r = xs.length > 600 ? 2.2 : 3.2;
  group.style.setProperty("--dots", Math.min(0.75, Math.max(0.25, 12 / Math.sqrt(xs.length))));
  xs.forEach((x, place) => {
    const isBad = kind(place) === "bad";
    add(group, "path", {
      class: `dot ${kind(place)}`,
      d: symbol(isBad ? "diamond" : "dot", plot.x(x), plot.y(ys[place]), isBad ? r + 1 : r),
    });
  });
};
const line = (xs, ys, kind) => (plot) =>
  add(plot.svg, "path", { class: kind, d: path(xs.map((x, i) => [plot.x(x), plot.y(ys[i])])) });
const band = (xs, low, high) => (plot) => {
  const there = xs.map((x, i) => [plot.x(x), plot.y(low[i])]),
    back = xs.map((x, i) => [plot.x(x), plot.y(high[i])]).reverse();
  add(plot.svg, "path", { class: "band", d: `${path([...there, ...back])}Z` });
};
const whisker = (low, high, y, kind) => (plot) => {
  if (isNumber(low) && isNumber(high))
    add(plot.svg, "line", { class: kind, x1: plot.x(low), x2: plot.x(high), y1: plot.y(y), y2: plot.y(y) });
};
const bar =
  (from, to, y, kind, thick = 14) =>
  (plot) =>
    add(plot.svg, "rect", {
      class: kind,
      x: Math.min(plot.x(from), plot.x(to)),
      width: Math.abs(plot.x(to) - plot.x(from)),
      y: plot.y(y) - thick / 2,
      height: thick,
      rx: 2,
    });
const upright =
  (x, kind = "rule") =>
  (plot) =>
    add(plot.svg, "line", { class: kind, x1: plot.x(x), x2: plot.x(x), y1: plot.top, y2: plot.bottom });
const level =
  (y, kind = "rule") =>
  (plot) =>
    add(plot.svg, "line", { class: kind, x1: plot.left, x2: plot.right, y1: plot.y(y), y2: plot.y(y) });
