/* The figures of a report, drawn with plot.js. Each is a function from its place on the page to what is drawn. */

const data = JSON.parse(document.getElementById("data").textContent);
const { sample, rejection, errors } = data;
const about = (i) => () => [
  `Row ${sample.row[i]}`,
  ["prediction", number(sample.yhat[i])],
  ["with RIO", `${number(sample.mean[i])} ± ${number(sample.std[i], 3)}`],
  [`${percent(data.level, 0)} interval`, `${number(sample.lower[i])} to ${number(sample.upper[i])}`],
  [data.outcome, number(sample.y[i])],
  ...sample.columns.map((name, column) => [name, shown(sample.values[column][i])]),
];
const rowTargets = (xs, ys, more = () => ({})) =>
  xs.map((x, i) => ({ x, y: ys[i], row: sample.row[i], about: about(i), ...more(i) }));
const isOutside = (i) => sample.y[i] < sample.lower[i] || sample.y[i] > sample.upper[i];
const shown = (value) =>
  Number.isInteger(value)
    ? minus(String(value))
    : isNumber(value)
      ? number(value)
      : value === null
        ? "–"
        : String(value);
const within = (values, axis) => values.map((value) => Math.min(Math.max(value, axis.min), axis.max));

const figures = {
  measure(place) {
    const { name, before, after, level: aim } = data.comparison[place];
    const format = aim === null ? (value) => number(value) : (value) => percent(value, 0);
    const [min, max] = extent([...before, ...after, aim], { room: 0.08 });
    const side = (title, [value, low, high], y) => ({
      x: value,
      y,
      about: () => [
        `${name} ${title}`,
        ["measured", aim === null ? number(value) : percent(value)],
        ["95 % interval", [low, high].map((end) => (aim === null ? number(end) : percent(end))).join(" to ")],
      ],
    });
    return {
      height: 86,
      still: true,
      snap: "y",
      x: { min, max, format },
      y: { labels: ["before", "with RIO"] },
      text: "Dots with 95 % bootstrap intervals; the numbers are above.",
      layers: [
        ...(aim === null ? [] : [upright(aim)]),
        ...[before, after].flatMap(([value, low, high], y) => [
          whisker(low, high, y, `whisker ${y ? "" : "before"}`),
          mark(value, y, `mark ${y ? "" : "before"}`),
        ]),
      ],
      targets: [side("before", before, 0), side("with RIO", after, 1)].filter((target) => isNumber(target.x)),
    };
  },
  "before-after"() {
    const before = sample.y.map((y, i) => Math.abs(y - sample.yhat[i])),
      after = sample.y.map((y, i) => Math.abs(y - sample.mean[i]));
    const max = 1.02 * Math.max(...before, ...after) || 1,
      axis = { min: 0, max, scale: "root" };
    const nearer = after.filter((value, i) => value < before[i]).length;
    return {
      x: { ...axis, label: "absolute error of the model" },
      y: { ...axis, label: "absolute error with RIO" },
      hasRows: true,
      text: `${nearer} of the ${before.length} rows shown are below the diagonal: RIO has brought them nearer to the outcome.`,
      layers: [line([0, max], [0, max], "rule"), dots(before, after, (i) => (after[i] < before[i] ? "" : "bad"))],
      legend: [
        ["dot", "mark", "nearer to the outcome"],
        ["diamond", "mark bad", "not nearer"],
      ],
      targets: rowTargets(before, after),
    };
  },
  reliability() {
    const { levels, coverage, low, high, before } = data.reliability,
      axis = { min: 0, max: 1, format: (value) => percent(value, 0) };
    return {
      x: { ...axis, label: "level of the interval" },
      y: { ...axis, label: "outcomes inside" },
      snap: "x",
      text: "Share of outcomes inside intervals against their level; the numbers are in the table below.",
      layers: [
        line([0, 1], [0, 1], "rule"),
        band(levels, low, high),
        line(levels, before, "line before"),
        line(levels, coverage, "line"),
      ],
      legend: [
        ["line", "line", "with RIO"],
        ["line", "line before", "before"],
        ["line", "rule", "as promised"],
      ],
      targets: levels.map((x, i) => ({
        x,
        y: coverage[i],
        about: () => [
          `${percent(x, 0)} intervals`,
          ["hold", percent(coverage[i])],
          ["95 % interval", `${percent(low[i])} to ${percent(high[i])}`],
          ["before RIO", percent(before[i])],
        ],
      })),
    };
  },
  outcomes() {
    const [min, max] = extent([...sample.mean, ...sample.y]);
    const n = sample.row.filter((_, i) => isOutside(i)).length;
    return {
      x: { min, max, label: "prediction with RIO" },
      y: { min, max, label: data.outcome },
      hasRows: true,
      text: `${n} of the ${sample.row.length} rows shown have an outcome outside of their interval.`,
      layers: [line([min, max], [min, max], "rule"), dots(sample.mean, sample.y, (i) => (isOutside(i) ? "bad" : ""))],
      legend: [
        ["dot", "mark", "inside"],
        ["diamond", "mark bad", "outside"],
      ],
      targets: rowTargets(sample.mean, sample.y, (i) => ({ bar: [sample.lower[i], sample.upper[i]] })),
    };
  },
  "coverage-by"(place) {
    const { variable, groups } = data.coverageBy[place],
      chosen = document.querySelector("input[name=level]:checked");
    const at = chosen ? Number(chosen.value) : 0,
      aim = groups[0].levels[at];
    const isOff = (group) => (group.off[at] ? " bad" : "");
    const [min, max] = extent([...groups.flatMap((group) => [group.low[at], group.high[at]]), aim]);
    return {
      x: {
        min: Math.max(0, min),
        max: Math.min(1, max),
        format: (value) => percent(value, max - min < 0.05 ? 1 : 0),
        label: `outcomes inside ${percent(aim, 0)} intervals`,
      },
      y: { labels: groups.map((group) => group.label) },
      snap: "y",
      text: `Coverage of ${percent(aim, 0)} intervals in ${groups.length} groups of rows by ${variable}; ${groups.filter(isOff).length} of them are clearly off.`,
      layers: [
        upright(aim),
        ...groups.flatMap((group, y) => [
          whisker(group.low[at], group.high[at], y, `whisker${isOff(group)}`),
          mark(group.coverage[at], y, `mark${isOff(group)}`, isOff(group) ? "diamond" : "dot", isOff(group) ? 6.5 : 5),
        ]),
      ],
      targets: groups.map((group, y) => ({
        x: group.coverage[at],
        y,
        about: () => [
          `${variable} ${group.label}`,
          ["rows", number(group.n_rows, 9)],
          [`${percent(aim, 0)} intervals hold`, percent(group.coverage[at])],
          ["95 % interval", `${percent(group.low[at])} to ${percent(group.high[at])}`],
        ],
      })),
    };
  },
  shares(place, host) {
    const parts = [...host.parentNode.querySelectorAll(".shares > div")],
      names = parts.map((part) => part.className.slice(6));
    const values = parts.map((part) => parseFloat(part.querySelector("b").textContent) / 100);
    let sum = 0;
    return {
      height: 34,
      x: { min: 0, max: 1, hide: true },
      y: { min: 0, max: 1, hide: true },
      text: names.map((name, i) => `${name} ${percent(values[i], 0)}`).join(", "),
      layers: values.map((value, i) => {
        const from = sum;
        sum += value;
        return bar(from, Math.min(sum, 1), 0.5, `bar ${names[i]}`, 22);
      }),
    };
  },
  "output-part"() {
    const rest = sample.y.map((y, i) => y - sample.yhat[i] - sample.input[i]),
      size = rest.map(Math.abs).sort((a, b) => a - b);
    const most = 1.3 * Math.max(size[Math.floor(0.99 * (size.length - 1))], ...errors.y.map(Math.abs));
    const [min, max] = extent([...errors.y, ...rest.filter((value) => Math.abs(value) <= most)]),
      y = { min, max };
    const [low, high] = extent([...sample.yhat, ...errors.x]),
      ys = within(rest, y),
      n = rest.filter((value, i) => value !== ys[i]).length;
    const curve =
      errors.isCurve && errors.x.length > 1
        ? [line(errors.x, errors.y, "line")]
        : errors.x.map((x, i) => mark(x, errors.y[i], "mark", "dot", 3.5));
    return {
      x: { min: low, max: high, label: "prediction of the model" },
      y: { ...y, label: "outcome − prediction" },
      hasRows: true,
      text: `The output part of the correction goes from ${signed(Math.min(...errors.y))} to ${signed(Math.max(...errors.y))}.`,
      layers: [level(0), dots(sample.yhat, ys, () => "before"), ...curve],
      legend: [
        [errors.isCurve ? "line" : "dot", errors.isCurve ? "line" : "mark", "output part"],
        ["dot", "mark before", n ? `rows (${n} beyond the edge)` : "rows"],
      ],
      targets: rowTargets(sample.yhat, ys),
    };
  },
  relevance() {
    const [, max] = extent(
      errors.relevance.map(([, value]) => value),
      { zero: true },
    );
    return {
      x: { min: 0, max: max || 1, label: `change of ${data.outcome}` },
      y: { labels: errors.relevance.map(([name]) => name) },
      snap: "y",
      text: `The features that matter most: ${errors.relevance
        .slice(0, 3)
        .map(([name]) => name)
        .join(", ")}.`,
      layers: errors.relevance.map(([, value], y) => bar(0, value, y, "bar")),
      targets: errors.relevance.map(([name, value], y) => ({
        x: value,
        y,
        about: () => [name, ["expected change", number(value, 3)]],
      })),
    };
  },
  "errors-by"(place) {
    const { variable, groups } = errors.by[place];
    const [min, max] = extent([
      0,
      ...groups.flatMap((group) => [group.low, group.high, group.error, group.expected, group.left]),
    ]);
    return {
      x: { min, max, label: "mean of outcome − prediction", format: (value) => signed(value) },
      y: { labels: groups.map((group) => group.label) },
      snap: "y",
      text: `Mean errors in ${groups.length} groups of rows by ${variable}; the numbers are in the table below.`,
      layers: [
        upright(0),
        ...groups.flatMap((group, y) => [
          bar(0, group.expected, y, "bar expected"),
          whisker(group.low, group.high, y, "whisker before"),
          mark(group.error, y, "mark before"),
          mark(group.left, y, "mark left", "diamond", 4.5),
        ]),
      ],
      legend: [
        ["dot", "mark before", "model"],
        ["bar", "bar expected", "expected by RIO"],
        ["diamond", "mark left", "left after RIO"],
      ],
      targets: groups.map((group, y) => ({
        x: group.error,
        y,
        about: () => [
          `${variable} ${group.label}`,
          ["rows", number(group.n_rows, 9)],
          ["mean error", signed(group.error)],
          ["95 % interval", `${signed(group.low)} to ${signed(group.high)}`],
          ["expected by RIO", signed(group.expected)],
          ["left after RIO", signed(group.left)],
        ],
      })),
    };
  },
  rejection() {
    const { rejected, rmse, best } = rejection,
      [, max] = extent([...rmse, ...best], { zero: true });
    return {
      x: { min: 0, max: 1, format: (value) => percent(value, 0), label: "rows rejected, the most uncertain first" },
      y: { min: 0, max, label: "RMSE of the rows kept" },
      snap: "x",
      text: "RMSE of the rows kept against the share of rows rejected; the numbers are in the table below.",
      layers: [level(rmse[0]), line(rejected, best, "dotted"), line(rejected, rmse, "line")],
      legend: [
        ["line", "line", "by standard deviation"],
        ["line", "rule", "at random"],
        ["line", "dotted", "by the errors themselves"],
      ],
      targets: rejected.map((x, i) => ({
        x,
        y: rmse[i],
        about: () => [
          `Reject ${percent(x, 0)}`,
          ["RMSE", number(rmse[i])],
          ["MAE", number(rejection.mae[i])],
          ["rows kept", number(rejection.n_kept[i], 9)],
          ["largest std kept", number(rejection.threshold[i], 3)],
        ],
      })),
      after: (plot) => {
        plot.pointer = add(plot.svg, "g");
        point(plot);
      },
    };
  },
};
