"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /* Numbers and elements. All text goes through textContent, so that none of it can become markup. */

  const minus = (text) => text.replace("-", "−");
  const isNumber = (value) => typeof value === "number";
  function number(value, digits = 4) {
    if (!isNumber(value)) return "–";
    const size = Math.abs(value);
    if (size < 1e-300) return "0";
    if (size && (size < 1e-4 || size >= 1e9)) return minus(value.toExponential(2));
    const whole = size >= 10 ** digits;
    return minus(value.toLocaleString("en-US", {
      maximumSignificantDigits: whole ? 21 : digits, maximumFractionDigits: whole ? 0 : undefined,
      useGrouping: size >= 10000,
    }));
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
    let low = Math.min(...known, zero ? 0 : Infinity), high = Math.max(...known, zero ? 0 : -Infinity);
    if (!(low < high)) { const pad = Math.abs(low || 1) * 0.5; low -= pad; high += pad; }
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
  const printWidth = (host) => isPrinting && (host.closest(".thirds") ? 220 : host.closest(".halves") ? 330 : 680);

  class Plot {
    constructor(host, build) {
      Object.assign(this, { host, build, place: -1 });
      this.legend = null;
      this.draw();
      plots.push(this);
    }

    draw() {
      const spec = this.spec = this.build();
      this.width = Math.max(220, printWidth(this.host) || Math.round(this.host.clientWidth) || 480);
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
      if (canFocus) { svg.setAttribute("aria-roledescription", "plot"); svg.setAttribute("tabindex", "0"); }
      this.svg = svg;
      this.axes();
      for (const layer of spec.layers) layer(this);
      this.marks = add(svg, "g");
      this.host.replaceChildren(...(spec.legend ? [this.key(spec.legend)] : []), svg);
      if (spec.targets) this.listen();
      if (spec.after) spec.after(this);
    }

    x(value) {
      const { min, max, scale = "linear" } = this.spec.x, to = scales[scale].to;
      return this.left + (this.right - this.left) * (to(value) - to(min)) / (to(max) - to(min));
    }

    y(value) {
      if (this.spec.y.labels) return this.top + (value + 0.5) * (this.bottom - this.top) / this.spec.y.labels.length;
      const { min, max, scale = "linear" } = this.spec.y, to = scales[scale].to;
      return this.bottom - (this.bottom - this.top) * (to(value) - to(min)) / (to(max) - to(min));
    }

    ticksOf(axis, count) {
      const scale = scales[axis.scale || "linear"];
      if (!axis.scale) return ticks(axis.min, axis.max, count);
      const power = Math.floor(Math.log10(axis.max)), space = (scale.to(axis.max) - scale.to(axis.min)) / (count + 1), found = [axis.min];
      for (let place = power - 4; place <= power; place++) {
        for (const factor of [1, 2, 5]) {
          const value = factor * 10 ** place;
          if (value <= axis.max && scale.to(value) - scale.to(found[found.length - 1]) >= space) found.push(value);
        }
      }
      return found;
    }

    axes() {
      const { x, y } = this.spec, format = (axis) => axis.format || ((value) => number(value));
      const across = x.hide ? [] : this.ticksOf(x, Math.max(2, Math.floor((this.right - this.left) / 75)));
      for (const value of across) {
        add(this.svg, "line", { class: "gridline", x1: this.x(value), x2: this.x(value), y1: this.top, y2: this.bottom });
        add(this.svg, "text", { x: this.x(value), y: this.bottom + 16, "text-anchor": "middle" }, format(x)(value));
      }
      if (x.label) {
        const middle = (this.left + this.right) / 2;
        add(this.svg, "text", { x: middle, y: this.height - 6, "text-anchor": "middle" }, fitted(x.label, this.right - this.left));
      }
      if (y.labels) {
        y.labels.forEach((text, place) => {
          const shown = add(this.svg, "text", { class: "strong", x: this.left - 10, y: this.y(place) + 4, "text-anchor": "end" },
            fitted(text, this.left - 8));
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
        const entry = add(legend, "span"), swatch = add(entry, "svg", { viewBox: "0 0 22 10", "aria-hidden": "true" });
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
        const last = order.length - 1, now = order.indexOf(this.place);
        let next = null;
        if (event.key in step) next = now < 0 ? (step[event.key] > 0 ? 0 : last) : now + step[event.key];
        else if (event.key === "Home") next = 0;
        else if (event.key === "End") next = last;
        else if (event.key === "Escape") { this.show(-1); return; } else return;
        event.preventDefault();
        this.show(order[Math.min(Math.max(next, 0), last)], true);
      });
    }

    nearest(event) {
      const box = this.svg.getBoundingClientRect(), zoom = this.width / box.width;
      const px = (event.clientX - box.left) * zoom, py = (event.clientY - box.top) * zoom;
      const weight = { x: [1, 0], y: [0, 1] }[this.spec.snap] || [1, 1];
      let best = -1, least = this.spec.snap ? Infinity : 900;
      this.spec.targets.forEach((target, place) => {
        const distance = weight[0] * (this.x(target.x) - px) ** 2 + weight[1] * (this.y(target.y) - py) ** 2;
        if (distance < least) { least = distance; best = place; }
      });
      return best;
    }

    show(place, speak = false) {
      this.place = place;
      this.marks.replaceChildren();
      const target = this.spec.targets[place];
      for (const plot of plots) if (plot !== this) plot.echo(target ? target.row : undefined);
      if (!target) { byId("tip").hidden = true; return; }
      const cx = this.x(target.x), cy = this.y(target.y);
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
    const tip = byId("tip"), box = svg.getBoundingClientRect();
    tip.replaceChildren();
    add(tip, "b", {}, title);
    const list = add(tip, "dl");
    for (const [name, value] of lines) { add(list, "dt", {}, name); add(list, "dd", {}, value); }
    tip.hidden = false;
    const px = box.left + x * box.width, py = box.top + y * box.height;
    const width = tip.offsetWidth, height = tip.offsetHeight, room = document.documentElement.clientWidth;
    let left = px + 16, top = Math.max(4, Math.min(py - height / 2, window.innerHeight - height - 4));
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

  const symbol = (shape, x, y, r) => (shape === "diamond"
    ? `M${x - r},${y}L${x},${y - r}L${x + r},${y}L${x},${y + r}Z`
    : `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`);
  const path = (points) => points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

  const mark = (x, y, kind, shape = "dot", r = 5) => (plot) => {
    if (isNumber(x) && isNumber(y)) add(plot.svg, "path", { class: kind, d: symbol(shape, plot.x(x), plot.y(y), r) });
  };
  const dots = (xs, ys, kind) => (plot) => {
    const group = add(plot.svg, "g"), r = xs.length > 600 ? 2.2 : 3.2;
    group.style.setProperty("--dots", Math.min(0.75, Math.max(0.25, 12 / Math.sqrt(xs.length))));
    xs.forEach((x, place) => {
      const isBad = kind(place) === "bad";
      add(group, "path", { class: `dot ${kind(place)}`, d: symbol(isBad ? "diamond" : "dot", plot.x(x), plot.y(ys[place]), isBad ? r + 1 : r) });
    });
  };
  const line = (xs, ys, kind) => (plot) => add(plot.svg, "path", { class: kind, d: path(xs.map((x, i) => [plot.x(x), plot.y(ys[i])])) });
  const band = (xs, low, high) => (plot) => {
    const there = xs.map((x, i) => [plot.x(x), plot.y(low[i])]), back = xs.map((x, i) => [plot.x(x), plot.y(high[i])]).reverse();
    add(plot.svg, "path", { class: "band", d: `${path([...there, ...back])}Z` });
  };
  const whisker = (low, high, y, kind) => (plot) => {
    if (isNumber(low) && isNumber(high)) add(plot.svg, "line", { class: kind, x1: plot.x(low), x2: plot.x(high), y1: plot.y(y), y2: plot.y(y) });
  };
  const bar = (from, to, y, kind, thick = 14) => (plot) => add(plot.svg, "rect", {
    class: kind, x: Math.min(plot.x(from), plot.x(to)), width: Math.abs(plot.x(to) - plot.x(from)), y: plot.y(y) - thick / 2, height: thick, rx: 2,
  });
  const upright = (x, kind = "rule") => (plot) => add(plot.svg, "line", { class: kind, x1: plot.x(x), x2: plot.x(x), y1: plot.top, y2: plot.bottom });
  const level = (y, kind = "rule") => (plot) => add(plot.svg, "line", { class: kind, x1: plot.left, x2: plot.right, y1: plot.y(y), y2: plot.y(y) });

  /* The figures. */

  const { sample, rejection, errors } = data;
  const about = (i) => () => [
    `Row ${sample.row[i]}`,
    ["prediction", number(sample.yhat[i])],
    ["with RIO", `${number(sample.mean[i])} ± ${number(sample.std[i], 3)}`],
    [`${percent(data.level, 0)} interval`, `${number(sample.lower[i])} to ${number(sample.upper[i])}`],
    [data.outcome, number(sample.y[i])],
    ...sample.columns.map((name, column) => [name, shown(sample.values[column][i])]),
  ];
  const rowTargets = (xs, ys, more = () => ({})) => xs.map((x, i) => ({ x, y: ys[i], row: sample.row[i], about: about(i), ...more(i) }));
  const isOutside = (i) => sample.y[i] < sample.lower[i] || sample.y[i] > sample.upper[i];
  const shown = (value) => (Number.isInteger(value) ? minus(String(value)) : isNumber(value) ? number(value) : value === null ? "–" : String(value));
  const within = (values, axis) => values.map((value) => Math.min(Math.max(value, axis.min), axis.max));

  const figures = {
    measure(place) {
      const { name, before, after, level: aim } = data.comparison[place];
      const format = aim === null ? (value) => number(value) : (value) => percent(value, 0);
      const [min, max] = extent([...before, ...after, aim], { room: 0.08 });
      const side = (title, [value, low, high], y) => ({ x: value, y, about: () => [`${name} ${title}`, ["measured", aim === null ? number(value) : percent(value)],
        ["95 % interval", [low, high].map((end) => (aim === null ? number(end) : percent(end))).join(" to ")]] });
      return {
        height: 86, still: true, snap: "y", x: { min, max, format }, y: { labels: ["before", "with RIO"] },
        text: "Dots with 95 % bootstrap intervals; the numbers are above.",
        layers: [...(aim === null ? [] : [upright(aim)]), ...[before, after].flatMap(([value, low, high], y) => [
          whisker(low, high, y, `whisker ${y ? "" : "before"}`), mark(value, y, `mark ${y ? "" : "before"}`)])],
        targets: [side("before", before, 0), side("with RIO", after, 1)].filter((target) => isNumber(target.x)),
      };
    },
    "before-after"() {
      const before = sample.y.map((y, i) => Math.abs(y - sample.yhat[i])), after = sample.y.map((y, i) => Math.abs(y - sample.mean[i]));
      const max = 1.02 * Math.max(...before, ...after) || 1, axis = { min: 0, max, scale: "root" };
      const nearer = after.filter((value, i) => value < before[i]).length;
      return {
        x: { ...axis, label: "absolute error of the model" }, y: { ...axis, label: "absolute error with RIO" }, hasRows: true,
        text: `${nearer} of the ${before.length} rows shown are below the diagonal: RIO has brought them nearer to the outcome.`,
        layers: [line([0, max], [0, max], "rule"), dots(before, after, (i) => (after[i] < before[i] ? "" : "bad"))],
        legend: [["dot", "mark", "nearer to the outcome"], ["diamond", "mark bad", "not nearer"]],
        targets: rowTargets(before, after),
      };
    },
    reliability() {
      const { levels, coverage, low, high, before } = data.reliability, axis = { min: 0, max: 1, format: (value) => percent(value, 0) };
      return {
        x: { ...axis, label: "level of the interval" }, y: { ...axis, label: "outcomes inside" }, snap: "x",
        text: "Share of outcomes inside intervals against their level; the numbers are in the table below.",
        layers: [line([0, 1], [0, 1], "rule"), band(levels, low, high), line(levels, before, "line before"), line(levels, coverage, "line")],
        legend: [["line", "line", "with RIO"], ["line", "line before", "before"], ["line", "rule", "as promised"]],
        targets: levels.map((x, i) => ({ x, y: coverage[i], about: () => [`${percent(x, 0)} intervals`, ["hold", percent(coverage[i])],
          ["95 % interval", `${percent(low[i])} to ${percent(high[i])}`], ["before RIO", percent(before[i])]] })),
      };
    },
    outcomes() {
      const [min, max] = extent([...sample.mean, ...sample.y]);
      const n = sample.row.filter((_, i) => isOutside(i)).length;
      return {
        x: { min, max, label: "prediction with RIO" }, y: { min, max, label: data.outcome }, hasRows: true,
        text: `${n} of the ${sample.row.length} rows shown have an outcome outside of their interval.`,
        layers: [line([min, max], [min, max], "rule"), dots(sample.mean, sample.y, (i) => (isOutside(i) ? "bad" : ""))],
        legend: [["dot", "mark", "inside"], ["diamond", "mark bad", "outside"]],
        targets: rowTargets(sample.mean, sample.y, (i) => ({ bar: [sample.lower[i], sample.upper[i]] })),
      };
    },
    "coverage-by"(place) {
      const { variable, groups } = data.coverageBy[place], chosen = document.querySelector("input[name=level]:checked");
      const at = chosen ? Number(chosen.value) : 0, aim = groups[0].levels[at];
      const isOff = (group) => (group.off[at] ? " bad" : "");
      const [min, max] = extent([...groups.flatMap((group) => [group.low[at], group.high[at]]), aim]);
      return {
        x: { min: Math.max(0, min), max: Math.min(1, max), format: (value) => percent(value, max - min < 0.05 ? 1 : 0), label: `outcomes inside ${percent(aim, 0)} intervals` },
        y: { labels: groups.map((group) => group.label) }, snap: "y",
        text: `Coverage of ${percent(aim, 0)} intervals in ${groups.length} groups of rows by ${variable}; ${groups.filter(isOff).length} of them are clearly off.`,
        layers: [upright(aim), ...groups.flatMap((group, y) => [whisker(group.low[at], group.high[at], y, `whisker${isOff(group)}`),
          mark(group.coverage[at], y, `mark${isOff(group)}`, isOff(group) ? "diamond" : "dot", isOff(group) ? 6.5 : 5)])],
        targets: groups.map((group, y) => ({ x: group.coverage[at], y, about: () => [`${variable} ${group.label}`, ["rows", number(group.n_rows, 9)],
          [`${percent(aim, 0)} intervals hold`, percent(group.coverage[at])], ["95 % interval", `${percent(group.low[at])} to ${percent(group.high[at])}`]] })),
      };
    },
    shares(place, host) {
      const parts = [...host.parentNode.querySelectorAll(".shares > div")], names = parts.map((part) => part.className.slice(6));
      const values = parts.map((part) => parseFloat(part.querySelector("b").textContent) / 100);
      let sum = 0;
      return {
        height: 34, x: { min: 0, max: 1, hide: true }, y: { min: 0, max: 1, hide: true },
        text: names.map((name, i) => `${name} ${percent(values[i], 0)}`).join(", "),
        layers: values.map((value, i) => { const from = sum; sum += value; return bar(from, Math.min(sum, 1), 0.5, `bar ${names[i]}`, 22); }),
      };
    },
    "output-part"() {
      const rest = sample.y.map((y, i) => y - sample.yhat[i] - sample.input[i]), size = rest.map(Math.abs).sort((a, b) => a - b);
      const most = 1.3 * Math.max(size[Math.floor(0.99 * (size.length - 1))], ...errors.y.map(Math.abs));
      const [min, max] = extent([...errors.y, ...rest.filter((value) => Math.abs(value) <= most)]), y = { min, max };
      const [low, high] = extent([...sample.yhat, ...errors.x]), ys = within(rest, y), n = rest.filter((value, i) => value !== ys[i]).length;
      const curve = errors.isCurve && errors.x.length > 1 ? [line(errors.x, errors.y, "line")] : errors.x.map((x, i) => mark(x, errors.y[i], "mark", "dot", 3.5));
      return {
        x: { min: low, max: high, label: "prediction of the model" }, y: { ...y, label: "outcome − prediction" }, hasRows: true,
        text: `The output part of the correction goes from ${signed(Math.min(...errors.y))} to ${signed(Math.max(...errors.y))}.`,
        layers: [level(0), dots(sample.yhat, ys, () => "before"), ...curve],
        legend: [[errors.isCurve ? "line" : "dot", errors.isCurve ? "line" : "mark", "output part"], ["dot", "mark before", n ? `rows (${n} beyond the edge)` : "rows"]],
        targets: rowTargets(sample.yhat, ys),
      };
    },
    relevance() {
      const [, max] = extent(errors.relevance.map(([, value]) => value), { zero: true });
      return {
        x: { min: 0, max: max || 1, label: `change of ${data.outcome}` }, y: { labels: errors.relevance.map(([name]) => name) }, snap: "y",
        text: `The features that matter most: ${errors.relevance.slice(0, 3).map(([name]) => name).join(", ")}.`,
        layers: errors.relevance.map(([, value], y) => bar(0, value, y, "bar")),
        targets: errors.relevance.map(([name, value], y) => ({ x: value, y, about: () => [name, ["expected change", number(value, 3)]] })),
      };
    },
    "errors-by"(place) {
      const { variable, groups } = errors.by[place];
      const [min, max] = extent([0, ...groups.flatMap((group) => [group.low, group.high, group.error, group.expected, group.left])]);
      return {
        x: { min, max, label: "mean of outcome − prediction", format: (value) => signed(value) }, y: { labels: groups.map((group) => group.label) }, snap: "y",
        text: `Mean errors in ${groups.length} groups of rows by ${variable}; the numbers are in the table below.`,
        layers: [upright(0), ...groups.flatMap((group, y) => [bar(0, group.expected, y, "bar expected"), whisker(group.low, group.high, y, "whisker before"),
          mark(group.error, y, "mark before"), mark(group.left, y, "mark left", "diamond", 4.5)])],
        legend: [["dot", "mark before", "model"], ["bar", "bar expected", "expected by RIO"], ["diamond", "mark left", "left after RIO"]],
        targets: groups.map((group, y) => ({ x: group.error, y, about: () => [`${variable} ${group.label}`, ["rows", number(group.n_rows, 9)], ["mean error", signed(group.error)],
          ["95 % interval", `${signed(group.low)} to ${signed(group.high)}`], ["expected by RIO", signed(group.expected)], ["left after RIO", signed(group.left)]] })),
      };
    },
    rejection() {
      const { rejected, rmse, best } = rejection, [, max] = extent([...rmse, ...best], { zero: true });
      return {
        x: { min: 0, max: 1, format: (value) => percent(value, 0), label: "rows rejected, the most uncertain first" }, y: { min: 0, max, label: "RMSE of the rows kept" }, snap: "x",
        text: "RMSE of the rows kept against the share of rows rejected; the numbers are in the table below.",
        layers: [level(rmse[0]), line(rejected, best, "dotted"), line(rejected, rmse, "line")],
        legend: [["line", "line", "by standard deviation"], ["line", "rule", "at random"], ["line", "dotted", "by the errors themselves"]],
        targets: rejected.map((x, i) => ({ x, y: rmse[i], about: () => [`Reject ${percent(x, 0)}`, ["RMSE", number(rmse[i])], ["MAE", number(rejection.mae[i])],
          ["rows kept", number(rejection.n_kept[i], 9)], ["largest std kept", number(rejection.threshold[i], 3)]] })),
        after: (plot) => { plot.pointer = add(plot.svg, "g"); point(plot); },
      };
    },
  };

  /* The slider. */

  const slider = byId("slider");
  function point(plot) {
    const i = Number(slider.value), x = plot.x(rejection.rejected[i]);
    plot.pointer.replaceChildren();
    add(plot.pointer, "line", { class: "cursor-bar", x1: x, x2: x, y1: plot.top, y2: plot.bottom });
    add(plot.pointer, "circle", { class: "mark", cx: x, cy: plot.y(rejection.rmse[i]), r: 6 });
  }
  function slide() {
    const i = Number(slider.value), all = rejection.rmse[0], kept = rejection.rmse[i], verdict = byId("verdict");
    const change = all ? kept / all - 1 : 0, words = Math.abs(change) < 0.0005 ? "no change" : `${percent(Math.abs(change), 0)} ${change < 0 ? "less" : "more"}`;
    verdict.textContent = `Reject ${percent(rejection.rejected[i], 0)} → RMSE ${number(kept, 3)} instead of ${number(all, 3)} (${words})`;
    add(verdict, "small", {}, `${number(rejection.n_kept[i], 9)} rows are kept, those with a standard deviation up to ${number(rejection.threshold[i], 4)}; their MAE is ${number(rejection.mae[i], 3)}.`);
    slider.setAttribute("aria-valuetext", `${percent(rejection.rejected[i], 0)} rejected`);
    for (const plot of plots) if (plot.pointer) point(plot);
  }

  /* The table. */

  const table = data.table, nameOf = (column) => table.names[column], body = byId("table").tBodies[0], perPage = 20;
  const isText = table.columns.map((values) => values.some((value) => value !== null && !isNumber(value)));
  const state = { column: 4, descending: true, page: 0, order: [] };
  const compares = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b };

  function condition(query) {
    const text = query.trim().toLowerCase().replace("≤", "<=").replace("≥", ">=");
    for (const [column, name] of table.names.map((name, i) => [i, name.toLowerCase()]).sort((a, b) => b[1].length - a[1].length)) {
      const found = text.startsWith(name) && /^\s*(<=|>=|<|>|=)\s*([-−+]?[\d.]+(?:e[-+]?\d+)?)$/.exec(text.slice(name.length));
      if (found) return (row) => { const value = table.columns[column][row]; return isNumber(value) && compares[found[1]](value, Number(found[2].replace("−", "-"))); };
    }
    return (row) => !text || table.columns.some((values) => shown(values[row]).toLowerCase().includes(text));
  }
  function refresh(page = 0) {
    const kind = byId("kind").value, accepts = condition(byId("filter").value), values = table.columns[state.column], sign = state.descending ? -1 : 1;
    const compare = (a, b) => (isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b)));
    const known = table.columns[0].map((_, row) => row).filter((row) => (kind === "all" || table[kind][row]) && accepts(row));
    state.order = known.sort((a, b) => (values[a] === null) - (values[b] === null) || sign * compare(values[a], values[b]) || a - b);
    const pages = Math.max(1, Math.ceil(known.length / perPage));
    state.page = Math.min(Math.max(page, 0), pages - 1);
    byId("found").textContent = `${known.length} of ${table.columns[0].length} rows`;
    byId("page").textContent = `Page ${state.page + 1} of ${pages}`;
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = state.page === pages - 1;
    body.replaceChildren();
    for (const row of state.order.slice(state.page * perPage, (state.page + 1) * perPage)) {
      const line = add(body, "tr");
      table.columns.forEach((column, i) => {
        const classes = [isText[i] && "text", i === table.own && "first-own", i === 7 && table.outside[row] && "outside"].filter(Boolean).join(" ");
        const cell = add(line, i ? "td" : "th", i ? {} : { scope: "row" }, shown(column[row]));
        if (classes) cell.className = classes;
        if (isText[i]) cell.title = shown(column[row]);
      });
    }
    for (const [i, head] of [...byId("table").tHead.rows[0].cells].entries()) {
      if (i === state.column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
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
    const root = document.documentElement, button = byId("theme"), system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const tell = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-pressed", String(isDark())); };
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; tell(); });
    system.addEventListener("change", tell);
    tell();
  }

  makeTheme();
  makeTable();
  for (const host of document.querySelectorAll(".chart")) new Plot(host, () => figures[host.dataset.chart](Number(host.dataset.index || 0), host));
  slider.addEventListener("input", slide);
  slide();
  for (const radio of document.querySelectorAll("input[name=level]")) {
    radio.addEventListener("change", () => { for (const plot of plots) if (plot.host.dataset.chart === "coverage-by") plot.draw(); });
  }
  for (const [name, value] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(name, () => { isPrinting = value; for (const plot of plots) plot.draw(); });
  }
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { if (isPrinting) return; for (const plot of plots) if (Math.abs(plot.host.clientWidth - plot.width) > 2) plot.draw(); });
  }).observe(document.body);
})();
