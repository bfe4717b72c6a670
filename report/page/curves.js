// Curves over an axis that they share with other pictures: uPlot with our ranges, keys and themes.

/**
 * o: label, x (values), range, xAxis {title, ticks}, yTitle, write(value), most (of the y axis, or 0),
 * series [{name, values, colour, dash, low, high}], stacked.
 */
function chart(o) {
  const n = o.series.length, data = [o.x], series = [{label: o.xAxis.title, value: (u, v) => (v == null ? "–" : o.xAxis.name(v))}], bands = [];
  const add = (values, s, more) => { data.push(values); return series.push({stroke: s.colour, points: {show: false}, dash: s.dash, width: 1.5, ...more}) - 1; };
  if (o.stacked) {
    const sums = [];
    o.series.forEach((s, i) => sums.push(s.values.map((v, k) => v + (i ? sums[i - 1][k] : 0))));
    for (let i = n - 1; i >= 0; i--) { // the topmost first: each is filled down to the next
      const s = o.series[i];
      const at = add(sums[i], s, {label: s.name, fill: s.colour + "dd", width: 0.5, value: (u, v, k, idx) => (idx == null ? "–" : o.write(s.values[idx]))});
      if (i > 0) bands.push({series: [at, at + 1]});
    }
  } else {
    o.series.forEach(s => {
      const value = (u, v) => (v == null ? "–" : o.write(v));
      add(s.values, s, {label: s.name, value});
      if (!s.high) return;
      const high = add(s.high, s, {label: "most", value, width: 0.5}), low = add(s.low, s, {label: "least", value, width: 0.5});
      bands.push({series: [high, low], fill: s.colour + "33"});
    });
  }
  const place = h("div", {class: "chart", tabindex: 0, role: "application", "aria-label": o.label + ". " + keysOfPictures});
  const soft = () => themed("soft"), line = {stroke: () => themed("line"), width: 1};
  const spots = u => o.xAxis.ticks(u.scales.x.min, u.scales.x.max, u.width / (8 * em()));
  let u = null;
  const em = () => parseFloat(getComputedStyle(place).fontSize), height = () => 24 * em();
  const make = width => {
    const size = em(), font = size + "px " + themed("font");
    const look = {stroke: soft, grid: line, ticks: line, font, labelFont: font, labelSize: 1.6 * size, size: 2.4 * size};
    u = new uPlot({
      width, height: height(), series, bands,
      scales: {x: {time: false}, y: {range: (_, low, high) => [Math.min(0, low * 1.03), Math.max(0, o.most || high * 1.03) || (low < 0 ? 0 : 1)]}},
      legend: {markers: {width: 0, fill: (_, i) => series[i].stroke}},
      cursor: {sync: {key: o.xAxis.title}, drag: {x: true, y: false}},
      axes: [{...look, label: o.xAxis.title, splits: u => spots(u).map(t => t.at), values: u => spots(u).map(t => t.text)},
        {...look, label: o.yTitle, size: 5.6 * size, values: (_, list) => list.map(v => o.write(v, 3))}],
      hooks: {setScale: [(u, key) => { if (key === "x" && u.status) o.range.set(u.scales.x.min, u.scales.x.max); }]},
    }, data, place);
    follow();
  };
  const follow = () => {
    const {low, high} = o.range;
    if (u && place.isConnected && (u.scales.x.min !== low || u.scales.x.max !== high)) u.setScale("x", {min: low, max: high});
  };
  o.range.listeners.push(follow);
  document.addEventListener("theme", () => u && u.redraw(false));
  new ResizeObserver(() => {
    const width = place.clientWidth;
    if (width > 100) requestAnimationFrame(() => { // not while sizes are observed
      u ? u.width !== width && u.setSize({width, height: height()}) : make(width);
    });
  }).observe(place);
  place.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step && u) {
      const at = Math.max(0, Math.min(o.x.length - 1, (u.cursor.idx ?? Math.floor(o.x.length / 2)) + step));
      o.range.show(o.x[at]);
      u.setCursor({left: u.valToPos(o.x[at], "x"), top: u.over.clientHeight / 2});
    } else if (!keyMoves(event, o.range, null)) return;
    event.preventDefault();
  });
  return place;
}

/** The axis of a record's columns, in steps or in seconds; at(c) is the middle of a column, one and many are its name. */
function columnAxis(columns) {
  const steps = columns.kind === "step", first = steps ? columns.first : 0, per = steps ? columns.steps_per_column : columns.seconds_s;
  const begin = v => first + Math.floor((v - first) / per + 1e-9) * per, write = steps ? count : seconds;
  const range = Extent.named(steps ? "steps" : "time", first, first + columns.count * per, 4 * per);
  return {
    first, per, range, name: v => write(begin(v)), at: c => first + (c + 0.5) * per, ticks: steps ? countedTicks(count) : timeTicks,
    title: steps ? "step" : "time", one: steps ? "step" : "slice of time", many: steps ? "steps" : "slices of time",
  };
}

/** The most that the mean rank is in a column of some run, for the same axis in all. */
async function tallestOf(runs) {
  const lists = await Promise.all(runs.filter(run => run.record).map(async ({record: {series, columns: {count: n}}}) => {
    const {values} = await unpack(series, {values: Float32Array});
    return Array.from({length: n}, (_, c) => series.kinds.reduce((sum, _, i) => sum + values[i * 3 * n + c], 0));
  }));
  return lists.flat().reduce((a, b) => Math.max(a, b), 0);
}

/** Time per step: what the mean rank does, and for one thing the spread over the ranks. */
async function curvesOf(run, runs) {
  const {columns, series} = run.record, {values} = await unpack(series, {values: Float32Array}), tallest = runs.length > 1 ? await tallestOf(runs) : 0;
  const n = columns.count, axis = columnAxis(columns), x = Array.from({length: n}, (_, c) => axis.at(c));
  const names = [series.kinds, series.kernels, series.phases];
  const from = [0, names[0].length, names[0].length + names[1].length];
  const plane = (row, what) => Array.from(values.subarray((row * 3 + what) * n, (row * 3 + what + 1) * n));
  const place = h("div", {}), one = h("span", {});
  const kinds = [0, 1, 2].filter(i => names[i].length);
  let by = kinds[0], single = 0;
  const draw = () => {
    const rows = names[by].map((name, i) => ({name, row: from[by] + i, total: plane(from[by] + i, 0).reduce((a, b) => a + b, 0)}));
    const list = rows.sort((a, b) => b.total - a.total).map((s, i) => ({...s, colour: colourOf(s.name, i)})); // as the bars have them
    one.replaceChildren(dropdown("show", ["all", ...list.map(s => s.name)], single, i => { single = i; draw(); }));
    const shown = single ? [list[single - 1]] : list, stacked = !single && by < 2;
    place.replaceChildren(chart({
      label: "Time of a rank in each " + axis.one, x, range: axis.range, xAxis: axis, yTitle: "time of a rank", write: seconds, stacked, most: single ? 0 : tallest,
      series: shown.map(s => ({...s, values: plane(s.row, 0), ...(single ? {low: plane(s.row, 1), high: plane(s.row, 2)} : {})})),
    }));
  };
  draw();
  return figure(run, {
    title: "Time per " + axis.one + named(run, runs), picture: place,
    controls: [choice("by", kinds.map(i => ["kind", "kernel", "phase"][i]), i => { by = kinds[i]; single = 0; draw(); }), one],
    how: `Seconds of the mean rank within each ${axis.one}, stacked; phases are lines, as they may lie inside each other. ` +
      "A single thing is shown with the band from the least to the most of a rank. Drag to zoom.",
    rows: () => table([axis.one, ...names[by].map(s => "#" + s)],
      x.map((v, c) => [axis.name(v), ...names[by].map((_, i) => seconds(values[(from[by] + i) * 3 * n + c]))]), "Mean over the ranks"),
  });
}
