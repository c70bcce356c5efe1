"use strict";
(() => {
  const data = JSON.parse(document.getElementById("fleet-data").textContent);
  const { meta, figures } = data;
  const KINDS = { f4: Float32Array, u2: Uint16Array, u4: Uint32Array };
  const BLUE = "#0072B2", VERMILION = "#D55E00", GREY = "#7F7F7F";
  const byId = (name) => document.getElementById(name);
  const narrow = () => window.innerWidth < 640;

  // ---- numbers -------------------------------------------------------------------------

  function unpack(field) {
    const text = atob(field.d);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const raw = new KINDS[field.t](bytes.buffer);
    if (field.width === undefined) return raw;
    const unknown = field.t === "u2" ? 0xffff : 0xffffffff;
    return Float64Array.from(raw, (v) => (v === unknown ? NaN : field.low + v * field.width));
  }

  const unpackAll = (fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, unpack(field)]));

  const ids = data.ids;
  const n = ids.length;
  const risk = unpackAll(data.risk);
  const curves = unpackAll(data.curves);
  const events = unpackAll(data.events);
  const reasons = unpackAll(data.reasons);
  const origins = data.origins ? unpack(data.origins) : null;
  const sensors = data.sensors ? data.sensors.values.map(unpack) : [];
  const nReasons = n ? reasons.index.length / n : 0;

  const cut = (text, most = 28) => (text.length <= most ? text : text.slice(0, most - 1) + "…");
  // What plotly would read as markup is shown as it is.
  const escape = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const plain = (text) => escape(cut(text));

  function number(value, digits = 3) {
    if (Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return "∞";
    const size = Math.abs(value);
    if (size >= 1e6) return value.toExponential(2);
    if (size > 0 && size < 1e-3) return value.toExponential(1);
    const decimals = size >= 100 || value === 0 ? 0 : digits - 1 - Math.floor(Math.log10(size));
    return value.toLocaleString("en", { maximumFractionDigits: Math.max(decimals, 0) });
  }

  // The same decimals for all numbers of a column, as many as suit the largest.
  function inColumn(values) {
    const top = values.reduce((most, value) => Math.max(most, value), 0);
    const decimals = top >= 1000 ? 0 : top >= 100 ? 1 : top >= 1 ? 2 : 3;
    const least = 10 ** -decimals, shape = { minimumFractionDigits: decimals,
                                             maximumFractionDigits: decimals };
    return (i) => (values[i] > 0 && values[i] < least / 2
      ? `< ${least}` : values[i].toLocaleString("en", shape));
  }

  const percent = (share) =>
    share > 0.995 ? "> 99%"
    : share > 0 && share < 0.005 ? "< 1%" : `${Math.round(100 * share)}%`;
  const place = (time) =>
    meta.origin === null ? time
    : Math.round((meta.origin + time * meta.milliseconds) / 1000) * 1000;

  const hasDates = meta.milliseconds !== null;
  const LAST_DATE = Date.UTC(9999, 11, 31);

  function moment(i, time) {
    if (!hasDates) return number(time, 4);
    const date = (origins ? origins[i] : meta.origin) + time * meta.milliseconds;
    if (!(Math.abs(date) < LAST_DATE)) return "–";
    const text = new Date(Math.round(date / 1000) * 1000).toISOString();
    return text.slice(11, 19) === "00:00:00" || meta.milliseconds >= 86400000
      ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
  }

  // ---- table ---------------------------------------------------------------------------

  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const mainReason = (i) => {
    const k = reasons.index[i * nReasons];
    return nReasons && reasons.amount[i * nReasons] !== 0 ? data.reasonNames[k] : "–";
  };
  const likelyKind = unpack(data.likelyKind);
  const isOver = unpack(data.isOver);
  const kindOf = (i) => (isOver[i] ? "–" : data.kinds[likelyKind[i]]);
  const whole = (value) => (Number.isInteger(Math.fround(value)) ? String(value) : number(value));
  const byNumber = (values) => (a, b) => values[a] - values[b];
  const unit = ` ${meta.unit ?? "units of time"}`;
  const countOf = (value, show = whole) =>
    `${show(value)} ${meta.what === "events" && show(value) === "1" ? "event" : meta.what}`;
  const unbroken = (date) => date.replaceAll("-", "\u2011"); // not broken at the end of a line
  const inUnit = meta.unit ? ` (${meta.unit})` : "";
  const window_ = `next ${meta.length}`;
  const atNext = (i) => moment(i, risk.now[i] + risk.next_event[i]);
  const nowOf = (i) => (origins ? origins[i] / meta.milliseconds : 0) + risk.now[i];
  const waitOf = (i) => (hasDates ? nowOf(i) : 0) + risk.next_event[i];
  const figure = (value) => (Number.isFinite(value) ? +value.toPrecision(6) : "");
  // Every column has a tip that explains it, and one or more columns in the CSV file.
  const columns = [
    { name: "id", title: meta.idName, tip: "A click on a row shows its curve and reasons.",
      text: (i) => cut(ids[i]), csv: [[meta.idName, (i) => ids[i]]],
      compare: (a, b) => collator.compare(ids[a], ids[b]) },
    { name: "now", title: hasDates ? "Now" : `Now${inUnit}`, minor: true, number: true,
      tip: "End of its follow-up: the forecast begins here.",
      text: (i) => moment(i, risk.now[i]),
      csv: [[hasDates ? "Now" : `Now${inUnit}`,
             (i) => (hasDates ? moment(i, risk.now[i]) : figure(risk.now[i]))]],
      compare: (a, b) => nowOf(a) - nowOf(b) },
    { name: "so_far", title: `${meta.What} so far`, number: true, minor: true,
      tip: `${meta.What} that were seen up to now.`,
      text: (i) => whole(risk.so_far[i]),
      csv: [[`${meta.What} so far`, (i) => figure(risk.so_far[i])]],
      compare: byNumber(risk.so_far) },
    { name: "expected", title: "Expected", number: true, bar: true,
      tip: `How many ${meta.what} it will have on average in the ${window_}.`,
      text: inColumn(risk.expected),
      csv: [[`Expected ${meta.what}, ${window_}`, (i) => figure(risk.expected[i])]],
      compare: byNumber(risk.expected) },
    { name: "interval", title: `${meta.level} interval`, number: true,
      tip: `The ${meta.what} of the ${window_} lie in it with a probability of ${meta.level}.`,
      text: (i) => `${whole(risk.lower[i])} – ${whole(risk.upper[i])}`,
      csv: [[`${meta.level} interval, lower`, (i) => figure(risk.lower[i])],
            [`${meta.level} interval, upper`, (i) => figure(risk.upper[i])]],
      compare: (a, b) => risk.upper[a] - risk.upper[b] || risk.lower[a] - risk.lower[b] },
    { name: "probability", title: "Any event", number: true,
      tip: `Probability of at least one event in the ${window_}.`,
      text: (i) => percent(risk.probability[i]),
      csv: [["Probability of any event", (i) => figure(risk.probability[i])]],
      compare: byNumber(risk.probability) },
    ...(meta.hasTerminal ? [{ name: "terminal", title: "Terminal event", number: true, minor: true,
      tip: `Probability that it dies or is scrapped in the ${window_}; – if it already has.`,
      text: (i) => (isOver[i] ? "–" : percent(risk.terminal[i])),
      csv: [["Probability of the terminal event", (i) => figure(risk.terminal[i])]],
      compare: byNumber(risk.terminal) }] : []),
    ...(data.kinds.length ? [{ name: "kind", title: "Likely kind",
      tip: `The kind of which most events are expected in the ${window_}.`,
      text: (i) => cut(kindOf(i), 22),
      csv: [["Likely kind", (i) => kindOf(i).replace(/^–$/, "")]],
      compare: (a, b) => collator.compare(kindOf(a), kindOf(b)) }] : []),
    { name: "next_event", title: hasDates ? "Next event by" : `Next event${inUnit}`,
      number: true, minor: true,
      tip: `${hasDates ? "Date" : "Time from now"} by which it has had its next event with a`
        + " probability of one half; – or ∞ if that is never so.",
      text: (i) => (hasDates ? atNext(i) : number(risk.next_event[i])),
      csv: [[`Next event${inUnit}`, (i) => figure(risk.next_event[i])],
            ...(hasDates ? [["Next event by", (i) => atNext(i).replace("–", "")]] : [])],
      compare: (a, b) => (waitOf(a) === waitOf(b) ? 0 : waitOf(a) - waitOf(b)) },
    { name: "own_history", title: "Own history", number: true, minor: true,
      tip: "How many times as many events as similar individuals it is expected to have,"
        + " because of its events so far.",
      text: (i) => `${risk.own_history[i].toFixed(2)} times`,
      csv: [["Own history, factor", (i) => figure(risk.own_history[i])]],
      compare: byNumber(risk.own_history) },
    { name: "reason", title: "Main reason",
      tip: "What moves its expected number most, away from that of the average individual.",
      text: (i) => cut(mainReason(i), 22), csv: [["Main reason", mainReason]],
      compare: (a, b) => collator.compare(mainReason(a), mainReason(b)) },
  ];

  const lowered = ids.map((id) => id.toLowerCase());
  const highest = n ? risk.expected[0] : 1;
  const state = { sort: "expected", down: true, page: 0, size: 15, chosen: -1,
                  rows: Array.from({ length: n }, (_, i) => i) };

  function arrange() {
    const words = byId("search").value.trim().toLowerCase();
    const found = [];
    for (let i = 0; i < n; i++) if (lowered[i].includes(words)) found.push(i);
    const { compare } = columns.find((column) => column.name === state.sort);
    const sign = state.down ? -1 : 1;
    found.sort((a, b) => sign * compare(a, b) || a - b);
    state.rows = found;
    state.page = 0;
    show();
  }

  byId("sides").classList.toggle("many", meta.hasTerminal || data.kinds.length > 0);

  function makeHead() {
    const row = document.createElement("tr");
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.dataset.name = column.name;
      cell.className = [column.number ? "number" : "", column.minor ? "minor" : ""].join(" ");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.title;
      button.title = `${column.tip} A click sorts.`;
      button.addEventListener("click", () => {
        state.down = state.sort === column.name ? !state.down : Boolean(column.number);
        state.sort = column.name;
        arrange();
      });
      cell.append(button);
      row.append(cell);
    }
    byId("risk-head").replaceChildren(row);
  }

  function makeRow(i) {
    const row = document.createElement("tr");
    row.tabIndex = 0;
    row.dataset.row = i;
    row.setAttribute("aria-selected", i === state.chosen);
    for (const column of columns) {
      const cell = document.createElement("td");
      cell.className = [column.number ? "number" : "", column.minor ? "minor" : ""].join(" ");
      cell.textContent = column.text(i);
      if (column.name === "id") cell.title = ids[i];
      if (column.bar) {
        const share = highest > 0 ? (100 * risk.expected[i]) / highest : 0;
        cell.style.setProperty("--share", `${share.toFixed(1)}%`);
        cell.classList.add("bar");
      }
      row.append(cell);
    }
    return row;
  }

  // Spreadsheets take texts that begin like this for formulas, and run them.
  const FORMULA = /^[\t\r]|^\s*[=+\-@]/;
  const quote = (text) =>
    `"${(FORMULA.test(text) ? "'" + text : text).replaceAll('"', '""')}"`;

  function makeCsv() {
    const fields = columns.flatMap((column) => column.csv);
    const lines = [fields.map(([name]) => quote(name)).join(",")];
    for (const i of state.rows) {
      lines.push(fields.map(([, read]) => read(i))
        .map((value) => (typeof value === "number" ? value : quote(value))).join(","));
    }
    return "\ufeff" + lines.join("\r\n") + "\r\n"; // the mark tells spreadsheets it is UTF-8
  }

  function saveCsv() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([makeCsv()], { type: "text/csv" }));
    link.download = `${meta.title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function show() {
    const nPages = Math.max(Math.ceil(state.rows.length / state.size), 1);
    state.page = Math.min(Math.max(state.page, 0), nPages - 1);
    const first = state.page * state.size;
    const shown = state.rows.slice(first, first + state.size);
    byId("risk-rows").replaceChildren(...shown.map(makeRow));
    for (const cell of byId("risk-head").querySelectorAll("th")) {
      const isSorted = cell.dataset.name === state.sort;
      cell.setAttribute("aria-sort",
        isSorted ? (state.down ? "descending" : "ascending") : "none");
    }
    byId("where").textContent = shown.length
      ? `${(first + 1).toLocaleString("en")}–${(first + shown.length).toLocaleString("en")}`
        + ` of ${state.rows.length.toLocaleString("en")}`
      : "none found";
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = state.page === nPages - 1;
  }

  // ---- plots ---------------------------------------------------------------------------

  // Only buttons that keep the numbers here: plotly also has some that send them away.
  const CONFIG = { responsive: true, displaylogo: false, displayModeBar: "hover",
                   showSendToCloud: false, plotlyServerURL: "",
                   modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
  const AXIS = { gridcolor: "#e4e8ec", linecolor: "#aab2bb", zerolinecolor: "#c5ccd4",
                 automargin: true };

  function finish(layout, height) {
    const done = {
      height,
      font: { family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
              size: narrow() ? 11 : 12.5, color: "#1c1f23" },
      margin: { l: 56, r: 16, t: 12, b: 48 },
      paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      hoverlabel: { align: "left" },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } },
      ...layout,
    };
    for (const name of Object.keys(done)) {
      if (/^[xy]axis\d*$/.test(name)) done[name] = { ...AXIS, ...done[name] };
    }
    return done;
  }

  const draw = (name, traces, layout, height) =>
    Plotly.react(byId(name), traces, finish(layout, height), CONFIG);

  // Figures of the fleet are drawn when they come into sight, once.
  const drawn = new Set();
  function drawFigure(name) {
    if (drawn.has(name)) return;
    drawn.add(name);
    const { data: traces, layout, height } = figures[name];
    draw(`figure-${name}`, traces, layout, height);
  }

  const timeAxis = (extra = {}) => ({
    title: { text: escape(meta.timeLabel) }, type: meta.origin === null ? "linear" : "date", ...extra });

  function drawCurve(i) {
    const { leads } = data;
    const m = leads.length, q = curves.past.length / n;
    const entry = curves.entry[i], now = risk.now[i], soFar = risk.so_far[i];
    const seen = { x: [place(entry)], y: [0] };
    for (let k = events.offsets[i]; k < events.offsets[i + 1]; k++) {
      seen.x.push(place(events.times[k]));
      seen.y.push(events.totals[k]);
    }
    seen.x.push(place(now));
    seen.y.push(soFar);
    const past = { x: [place(entry)], y: [0] };
    for (let k = 0; k < q; k++) {
      past.x.push(place(entry + ((now - entry) * (k + 1)) / q));
      past.y.push(curves.past[i * q + k]);
    }
    const ahead = { x: [place(now)], y: [soFar], low: [soFar], high: [soFar] };
    for (let k = 0; k < m; k++) {
      ahead.x.push(place(now + leads[k]));
      ahead.y.push(soFar + curves.expected[i * m + k]);
      ahead.low.push(soFar + curves.lower[i * m + k]);
      ahead.high.push(soFar + curves.upper[i * m + k]);
    }
    const line = { type: "scatter", mode: "lines" };
    const tip = `%{y:.3~g} by %{x}<extra></extra>`;
    draw("individual-curve", [
      { ...line, x: ahead.x, y: ahead.high, line: { width: 0 }, showlegend: false,
        hoverinfo: "skip" },
      { ...line, x: ahead.x, y: ahead.low, line: { width: 0 }, fill: "tonexty",
        fillcolor: "rgba(213,94,0,0.2)", name: `${meta.level} interval`, hoverinfo: "skip" },
      { ...line, ...past, name: "model without own history",
        line: { color: GREY, dash: "dot", width: 1.5 }, hovertemplate: tip },
      { ...line, ...seen, name: "observed", line: { shape: "hv", color: BLUE, width: 2 },
        hovertemplate: tip },
      { ...line, x: ahead.x, y: ahead.y, name: "forecast",
        line: { color: VERMILION, width: 2, dash: "dash" }, hovertemplate: tip },
    ], {
      xaxis: timeAxis(),
      yaxis: { title: { text: `Cumulative ${meta.what}` }, rangemode: "tozero" },
      shapes: [{ type: "line", x0: place(now), x1: place(now), y0: 0, y1: 1, yref: "paper",
                 line: { color: GREY, width: 1 } }],
      annotations: [{ x: place(now), y: 1, yref: "paper", text: "now", showarrow: false,
                      xanchor: "right", yanchor: "top", font: { color: GREY, size: 11 } }],
    }, 320);
  }

  function nameReason(place) {
    const k = reasons.index[place], value = reasons.value[place];
    const name = plain(data.reasonNames[k]);
    const known = data.reasonCategories[k], unlearned = data.unlearned[place];
    if (k >= data.nValued) return name;
    if (unlearned !== undefined) return `${name} = ${plain(unlearned)}`;
    if (Number.isNaN(value)) return `${name} unknown`;
    return `${name} = ${known ? plain(known[value]) : number(value)}`;
  }

  function drawReasons(i) {
    const bars = [];
    // The first is the largest; what is hardly to be seen beside it is summed up.
    const least = nReasons ? 0.005 * Math.abs(reasons.amount[i * nReasons]) : 0;
    let rest = reasons.rest[i];
    for (let k = i * nReasons; k < (i + 1) * nReasons; k++) {
      if (Math.abs(reasons.amount[k]) <= least) rest += reasons.amount[k];
      else bars.push([nameReason(k), reasons.amount[k]]);
    }
    if (Math.abs(rest) > least) bars.push(["all others", rest]);
    byId("individual-sentence").textContent = isOver[i]
      ? "There are no events after a terminal event." : data.sentences[i] + ".";
    byId("no-reasons").hidden = bars.length > 0 || Boolean(isOver[i]);
    byId("individual-reasons").hidden = !bars.length;
    if (!bars.length) return;
    const amounts = bars.map((bar) => bar[1]);
    draw("individual-reasons", [{
      type: "bar", orientation: "h", y: bars.map((_, k) => k), x: amounts,
      marker: { color: amounts.map((amount) => (amount > 0 ? VERMILION : BLUE)) },
      text: amounts.map((amount) => (amount > 0 ? "+" : "−") + number(Math.abs(amount), 2)),
      textposition: "outside", cliponaxis: false, hoverinfo: "skip",
    }], {
      // In two lines: the panel is narrow on every screen.
      xaxis: { title: { text: `Added to the average<br>of ${number(reasons.base[i])}`
                             + ` expected ${meta.what}` },
               zeroline: true, range: stretch(amounts) },
      yaxis: { tickvals: bars.map((_, k) => k), ticktext: bars.map((bar) => bar[0]),
               range: [bars.length - 0.4, -0.6], showgrid: false, zeroline: false },
      showlegend: false,
    }, 105 + 26 * bars.length);
  }

  // Leaves room for the numbers at the ends of bars.
  function stretch(amounts) {
    const low = Math.min(0, ...amounts), high = Math.max(0, ...amounts);
    const room = (narrow() ? 0.3 : 0.18) * (high - low);
    return [low < 0 ? low - room : -0.02 * high, high > 0 ? high + room : -0.02 * low];
  }

  function drawSensors(i) {
    if (!sensors.length) return;
    const m = sensors[0].length / n;
    const entry = curves.entry[i], now = risk.now[i];
    const times = Array.from({ length: m }, (_, k) => place(entry + ((now - entry) * k) / (m - 1)));
    const rows = sensors.length, gap = 0.3 / rows;
    const layout = { xaxis: timeAxis({ anchor: `y${rows > 1 ? rows : ""}` }), showlegend: false,
                     annotations: [] };
    const traces = sensors.map((values, s) => {
      const suffix = s ? String(s + 1) : "";
      const top = 1 - s / rows - 0.12 / rows, bottom = 1 - (s + 1) / rows + gap / 2;
      const known = data.sensors.categories[s];
      layout[`yaxis${suffix}`] = { domain: [bottom, top], nticks: 4 };
      if (known) {
        Object.assign(layout[`yaxis${suffix}`], { tickvals: known.map((_, k) => k),
          ticktext: known.map(plain), range: [-0.5, known.length - 0.5] });
      }
      layout.annotations.push({ text: plain(data.sensors.names[s]), x: 0, xref: "paper",
        xanchor: "left", y: top, yref: "paper", yanchor: "bottom", showarrow: false,
        font: { size: 12 } });
      return { type: "scatter", mode: "lines", x: times, yaxis: `y${suffix}`,
               y: Array.from(values.subarray(i * m, (i + 1) * m)),
               line: { shape: "hv", color: BLUE, width: 1.4 },
               hovertemplate: "%{y:.4~g} at %{x}<extra></extra>" };
    });
    draw("individual-sensors", traces, layout, 80 + 105 * rows);
  }

  function open(i, shouldScroll) {
    state.chosen = i;
    for (const row of byId("risk-rows").children) {
      row.setAttribute("aria-selected", Number(row.dataset.row) === i);
    }
    byId("individual").dataset.row = i;
    byId("individual-title").textContent = `${meta.idName} ${ids[i]}`;
    byId("individual-facts").textContent = isOver[i]
      ? `${countOf(risk.so_far[i])}, then a terminal event ${hasDates ? "on" : "at"}`
        + ` ${unbroken(moment(i, risk.now[i]))}${hasDates ? "" : unit}: no further events.`
      : `${countOf(risk.expected[i], number)} expected in the ${window_}`
      + ` (${meta.level} interval ${whole(risk.lower[i])} to ${whole(risk.upper[i])}),`
      + ` ${percent(risk.probability[i])} probability of at least one event`
      + (Number.isFinite(risk.next_event[i])
        ? `, the next one within ${number(risk.next_event[i])}${unit}`
          + `${hasDates ? ` (by ${unbroken(atNext(i))})` : ""} with a probability of one half` : "")
      + (meta.hasTerminal
        ? `; ${percent(risk.terminal[i])} probability of the terminal event` : "")
      + `; ${countOf(risk.so_far[i])} up to now, ${unbroken(moment(i, risk.now[i]))}`
      + `${hasDates ? "" : unit}. Own history: ${risk.own_history[i].toFixed(1)} times as many`
      + " events as similar individuals.";
    drawCurve(i);
    drawReasons(i);
    drawSensors(i);
    if (shouldScroll) {
      history.replaceState(null, "", `#individual=${encodeURIComponent(ids[i])}`);
      const { top } = byId("individual").getBoundingClientRect();
      if (top < 0 || top > window.innerHeight * 0.6) byId("individual").scrollIntoView();
    }
  }

  // ---- start ---------------------------------------------------------------------------

  function listen() {
    byId("search").addEventListener("input", arrange);
    byId("size").addEventListener("change", (event) => {
      state.size = Number(event.target.value);
      state.page = 0;
      show();
    });
    byId("previous").addEventListener("click", () => { state.page -= 1; show(); });
    byId("next").addEventListener("click", () => { state.page += 1; show(); });
    const body = byId("risk-rows");
    const rowOf = (event) => event.target.closest("tr");
    body.addEventListener("click", (event) => {
      if (rowOf(event)) open(Number(rowOf(event).dataset.row), true);
    });
    body.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open(Number(rowOf(event).dataset.row), true);
    });
    byId("csv").addEventListener("click", saveCsv);
    window.addEventListener("beforeprint", () => {
      for (const name of Object.keys(figures)) drawFigure(name);
      for (const plot of document.querySelectorAll(".js-plotly-plot")) Plotly.Plots.resize(plot);
    });
  }

  function asked() {
    const match = /^#individual=(.*)$/.exec(location.hash);
    if (!match) return -1;
    try {
      return ids.indexOf(decodeURIComponent(match[1]));
    } catch {
      return -1; // not an address that this page has written
    }
  }

  makeHead();
  listen();
  const first = Math.max(asked(), 0);
  state.page = Math.floor(first / state.size);
  show();
  if (n) open(first, false);
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) drawFigure(target.id.replace("figure-", ""));
    }
  }, { rootMargin: "400px" });
  for (const name of Object.keys(figures)) observer.observe(byId(`figure-${name}`));
  document.documentElement.dataset.ready = "yes";
})();
