"use strict";
(() => {
  const DASHES = [[], [7, 4], [2, 3], [8, 3, 2, 3]];
  const MOST = 6000; // groups of a level in view: as many as a screen can tell apart, with some to spare
  const HEIGHT = 280, FONT = "12px system-ui, sans-serif";
  const plots = [];
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const add = (parent, tag, text, more) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    for (const [key, value] of Object.entries(more || {})) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };

  // A level is decoded when it is first drawn: numbers of two bytes, low byte first.
  const decoded = (trace, level) => {
    trace.read = trace.read || [];
    if (!trace.read[level]) {
      const bytes = Uint8Array.from(atob(trace.levels[level]), (c) => c.charCodeAt(0));
      trace.read[level] = new Uint16Array(bytes.buffer);
    }
    return trace.read[level];
  };

  // The samples between two times, from the finest level that is not too much: columns for uPlot.
  const columns = (data, low, high) => {
    const levels = Math.max(...data.traces.map((trace) => trace.levels.length));
    let level = 0, width = data.step * data.size;
    while (level + 1 < levels && (high - low) / width > MOST) {
      level += 1;
      width *= data.factor;
    }
    const pairs = level > 0 || data.size > 1 ? 2 : 1;
    const first = Math.max(0, Math.floor((low - data.start) / width) - 1);
    const longest = Math.max(...data.traces.map((trace) => decoded(trace, level).length / pairs));
    const last = Math.min(longest, Math.ceil((high - data.start) / width) + 2);
    const times = [];
    for (let n = first; n < last; n += 1) {
      for (let k = 0; k < pairs; k += 1) times.push(data.start + width * (n + k / pairs));
    }
    const values = data.traces.map((trace) => {
      const numbers = decoded(trace, level);
      return times.map((_, n) => {
        const number = numbers[first * pairs + n];
        return number === undefined || number === data.nothing ? null : trace.low + trace.step * number;
      });
    });
    return { level, points: times.length * values.length, table: [times, ...values] };
  };

  const shown = (u, value) => (value === null || value === undefined ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 4 }));
  const width = (figure) => Math.max(280, Math.min(figure.clientWidth, 1000));
  const from = (low, high) => (low > 0 && low < 0.6 * high ? 0 : low);
  const upward = { range: (u, low, high) => (low === null ? [0, 1] : uPlot.rangeNum(from(low, high), high, 0.05, true)) };
  const axes = (...labels) => labels.map((label, n) => ({
    label, labelSize: 18, size: n ? 58 : 34, space: n ? 36 : 70,
    values: (u, ticks) => ticks.map((tick) => tick.toLocaleString("en", { maximumSignificantDigits: 6 })),
    font: FONT, labelFont: FONT, ticks: { show: false },
    stroke: () => variable("--soft"), grid: { stroke: () => variable("--rule"), width: 1 },
  }));
  const look = (line) => ({ label: line.label, stroke: () => variable(`--c${line.colour}`), dash: DASHES[line.dash], value: shown });

  const keep = (figure, plot) => {
    figure.classList.add("is-live");
    figure.plot = plot; // for a console
    plots.push(plot);
    new ResizeObserver(() => {
      if (width(figure) !== plot.width) plot.setSize({ width: width(figure), height: HEIGHT });
    }).observe(figure);
  };

  // Means along an axis, with bands of their intervals; a click on a label hides its line and its band.
  const drawLines = (figure, data) => {
    const live = add(figure, "div", "", { class: "live" });
    const aside = { class: "aside", width: 0, points: { show: false } };
    const told = (line) => (u, value, series, place) => (value === null || value === undefined ? "–"
      : `${shown(u, value)} [${shown(u, line.columns[1][place])}, ${shown(u, line.columns[2][place])}]`);
    const series = data.lines.flatMap((line) => [{ ...look(line), width: 1.5, points: { show: true, size: 5 }, value: told(line) }, aside, aside]);
    const bands = data.lines.map((line, n) => ({ series: [3 * n + 3, 3 * n + 2], fill: () => `${variable(`--c${line.colour}`)}29` }));
    const room = (u, low, high) => [low - 0.03 * (high - low || 1), high + 0.03 * (high - low || 1)];
    keep(figure, new uPlot({
      width: width(figure), height: HEIGHT, bands, axes: axes(data.x, data.label),
      scales: { x: { time: false, range: room }, y: upward }, cursor: { drag: { x: false, y: false } },
      series: [{ label: data.x, value: shown }, ...series],
      hooks: { setSeries: [(u, place, what) => {
        if (place === null || place % 3 !== 1 || what.show === undefined) return;
        for (const other of [place + 1, place + 2]) u.setSeries(other, { show: what.show });
      }] },
    }, [data.places, ...data.lines.flatMap((line) => line.columns)], live));
  };

  const drawSeries = (figure, data) => {
    const live = add(figure, "div", "", { class: "live", tabindex: "0", role: "group" });
    live.setAttribute("aria-label", `${data.name} Arrow keys move, plus and minus zoom, 0 shows everything.`);
    const tools = add(figure, "div", "", { class: "tools" });
    const whole = Math.max(...data.traces.map((trace) => decoded(trace, 0).length));
    const pairs = data.size > 1 ? 2 : 1;
    const end = data.start + data.step * data.size * (whole / pairs - 1 || 1);
    let plot = null;
    const show = (low, high) => {
      const least = (4 * data.step * data.size) || 1e-9;
      const length = Math.min(Math.max(high - low, least), end - data.start);
      const from = Math.min(Math.max(low, data.start), end - length);
      const found = columns(data, from, from + length);
      figure.dataset.level = found.level;
      figure.dataset.points = found.points;
      figure.dataset.from = from;
      figure.dataset.to = from + length;
      if (plot) {
        plot.batch(() => {
          plot.setData(found.table, false);
          plot.setScale("x", { min: from, max: from + length });
        });
      }
      return found.table;
    };
    const zoom = (factor) => {
      const { min, max } = plot.scales.x, middle = (min + max) / 2, half = ((max - min) * factor) / 2;
      show(middle - half, middle + half);
    };
    const move = (share) => {
      const { min, max } = plot.scales.x, by = (max - min) * share;
      show(min + by, max + by);
    };
    const all = () => show(data.start, end);
    const options = {
      width: width(figure),
      height: HEIGHT,
      scales: { x: { time: false, auto: false }, y: upward },
      axes: axes("time, s", data.label),
      series: [{ label: "time, s", value: shown }].concat(data.traces.map((trace) => ({ ...look(trace), width: 1.2, points: { show: false } }))),
      cursor: { drag: { x: true, y: false, setScale: false } },
      hooks: {
        drawClear: [(u) => {
          const { left, top, height } = u.bbox, end = Math.min(u.valToPos(data.warmup, "x", true), left + u.bbox.width);
          u.ctx.fillStyle = variable("--panel");
          if (end > left) u.ctx.fillRect(left, top, end - left, height);
        }],
        setSelect: [(u) => {
          if (u.select.width < 3) return;
          const low = u.posToVal(u.select.left, "x"), high = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          show(low, high);
        }],
      },
    };
    const table = show(data.start, end);
    plot = new uPlot(options, table, live);
    plot.setScale("x", { min: data.start, max: end });
    live.addEventListener("dblclick", all);
    const does = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: all, ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) };
    live.addEventListener("keydown", (event) => {
      if (does[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        does[event.key]();
        event.preventDefault();
      }
    });
    for (const [text, key] of [["Zoom in", "+"], ["Zoom out", "-"], ["Earlier", "ArrowLeft"], ["Later", "ArrowRight"], ["Everything", 0]]) {
      add(tools, "button", text, { type: "button" }).addEventListener("click", does[key]);
    }
    add(tools, "span", "or drag over a part of the figure", { class: "note" });
    keep(figure, plot);
  };

  // Figures are drawn when they come into view.
  const draws = { series: drawSeries, lines: drawLines };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      const script = entry.target.querySelector("script");
      seen.unobserve(entry.target);
      draws[script.className](entry.target, JSON.parse(script.textContent));
    }
  }, { rootMargin: "400px" });
  for (const script of document.querySelectorAll("figure script")) seen.observe(script.closest("figure"));

  // The theme: that of the system until the reader chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  const redraw = () => plots.forEach((plot) => plot.redraw(false));
  const toggle = add(document.querySelector("header"), "button", "", { type: "button", class: "theme" });
  const told = () => { toggle.textContent = theme() === "dark" ? "Light" : "Dark"; toggle.setAttribute("aria-label", `${toggle.textContent} colours`); };
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    told();
    redraw();
  });
  dark.addEventListener("change", () => { told(); redraw(); });
  told();

  // Tables are sorted by a click on a heading: numbers by size, all else by name.
  const size = (text) => parseFloat(text.replace(/[,+\s]/g, "").replace("−", "-"));
  for (const heading of document.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const turn = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      const body = heading.closest("table").tBodies[0], place = heading.cellIndex;
      const key = (row) => row.cells[place].textContent;
      const order = (a, b) => (heading.classList.contains("n") ? (size(key(a)) || 0) - (size(key(b)) || 0) : key(a).localeCompare(key(b), "en", { numeric: true }));
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
      body.append(...[...body.rows].sort((a, b) => turn * order(a, b)));
    });
  }

  // What is folded is printed, too.
  const folded = () => [...document.querySelectorAll("details:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => { opened = folded().filter((one) => one.querySelectorAll("tr").length < 200); opened.forEach((one) => { one.open = true; }); });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
})();
