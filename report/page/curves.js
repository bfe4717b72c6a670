// Curves over an axis that they share with other pictures: uPlot with our ranges, keys and themes.

/** The lines that uPlot draws of series, the topmost first: values are drawn, said are written, down colours what is between a line and the next. */
function linesOf(series, stacked) {
  if (!stacked) {
    return series.flatMap(s => (s.high ? [s, {...s, name: "most", values: s.high, width: 0.5, down: s.colour + "33"},
      {...s, name: "least", values: s.low, width: 0.5}] : [s]));
  }
  const lines = [];
  series.forEach((s, i) => {
    const values = i ? s.values.map((v, k) => v + lines[i - 1].values[k]) : s.values;
    lines.push({...s, values, said: s.values, width: 0.5, fill: s.colour + "dd", down: i && s.colour + "dd"});
  });
  return lines.reverse();
}

/**
 * o: label, x (values), range, xAxis {title, ticks, name}, yTitle, write(value), tallest (an Extent of the y axis, or null),
 * series [{name, values, colour, dash, low, high}], stacked.
 */
function chart(o) {
  const lines = linesOf(o.series, o.stacked), place = h("div", {class: "chart", tabindex: 0, role: "application", "aria-label": o.label + ". " + keysOfPictures});
  const em = 0.78 * parseFloat(getComputedStyle(document.documentElement).fontSize); // as .chart has it
  const font = Math.round(em) + "px " + themed("font"); // uPlot scales digits before px to the pixels of the screen: whole ones alone
  const line = {stroke: () => themed("line"), width: 1}, spots = u => o.xAxis.ticks(u.scales.x.min, u.scales.x.max, u.width / (8 * em));
  const look = {stroke: () => themed("soft"), grid: line, ticks: line, font, labelFont: font, labelSize: 1.6 * em, size: 2.4 * em};
  const series = lines.map(l => ({
    label: l.name, stroke: l.colour, fill: l.fill, width: l.width || 1.5, dash: l.dash, points: {show: false},
    value: (u, v, _, k) => (v == null || k == null ? "–" : o.write((l.said || l.values)[k])),
  }));
  const u = new uPlot({
    width: 40 * em, height: 24 * em, bands: lines.flatMap((l, i) => (l.down ? [{series: [i + 1, i + 2], fill: l.down}] : [])),
    series: [{label: o.xAxis.title, value: (_, v) => (v == null ? "–" : o.xAxis.name(v))}, ...series],
    scales: {x: {time: false}, y: {range: (_, low, high) => [Math.min(0, low * 1.03), Math.max(0, (o.tallest || {high}).high * 1.03) || (low < 0 ? 0 : 1)]}},
    legend: {markers: {width: 2, dash: (_, i) => (lines[i - 1].dash ? "dashed" : "solid"), fill: (_, i) => (lines[i - 1].dash ? null : lines[i - 1].colour)}},
    cursor: {sync: {key: o.xAxis.title}, drag: {x: true, y: false}},
    axes: [{...look, label: o.xAxis.title, splits: u => spots(u).map(t => t.at), values: u => spots(u).map(t => t.text)},
      {...look, label: o.yTitle, size: 5.6 * em, values: (_, list) => list.map(v => o.write(v, 3))}],
    hooks: {setScale: [(u, key) => { if (key === "x" && u.status) o.range.set(u.scales.x.min, u.scales.x.max); }]},
  }, [o.x, ...lines.map(l => l.values)], place);
  o.range.listeners.push(drawn(place, () => {
    const {low, high} = o.range, width = place.clientWidth;
    u.batch(() => {
      if (u.width !== width && width > 100) u.setSize({width, height: 24 * em});
      u.setScale("x", {min: low, max: high});
    });
  }));
  place.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step) {
      const at = clamp((u.cursor.idx ?? Math.floor(o.x.length / 2)) + step, 0, o.x.length - 1);
      o.range.show(o.x[at]);
      u.setCursor({left: u.valToPos(o.x[at], "x"), top: u.over.clientHeight / 2});
    } else if (!keyMoves(event, o.range)) return;
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

/** Time per step: what the mean rank does, and for one thing the spread over the ranks. */
async function curvesOf(run) {
  const {series, columns: {count: n}} = run.record, {values} = await unpack(series, {values: Float32Array}), axis = columnAxis(run.record.columns);
  const x = Array.from({length: n}, (_, c) => axis.at(c)), plane = i => Array.from(values.subarray(i * n, (i + 1) * n));
  const all = ["kind", "kernel", "phase"].flatMap(by => series[by + "s"].map(name => ({by, name})))
    .map((s, i) => ({...s, values: plane(3 * i), low: plane(3 * i + 1), high: plane(3 * i + 2)})); // of the mean rank, the least and the most
  const of = by => all.filter(s => s.by === by).map(s => ({...s, total: s.values.reduce((a, b) => a + b, 0)}))
    .sort((a, b) => b.total - a.total).map((s, i) => ({...s, colour: colourOf(s.name, i)})); // as the bars have them
  const groups = ["kind", "kernel", "phase"].map(of).filter(list => list.length), singles = groups.flat(), place = h("div", {});
  const tallest = Extent.named("time of a rank", 0, Math.max(...x.map((_, c) => of("kind").reduce((sum, s) => sum + s.values[c], 0))), 1e-9); // in all runs
  let shown = groups[0];
  const draw = i => {
    const group = groups[i], single = singles[i - groups.length];
    shown = group || [single];
    place.replaceChildren(chart({
      label: "Time of a rank in each " + axis.one, x, range: axis.range, xAxis: axis, yTitle: "time of a rank", write: seconds,
      stacked: group && shown[0].by !== "phase", tallest: group ? tallest : null, series: group ? group.map(s => ({...s, high: null})) : shown,
    }));
  };
  draw(0);
  return figure(run, {
    title: "Time per " + axis.one, picture: place,
    controls: [dropdown("show", [...groups.map(([s]) => "all by " + s.by), ...singles.map(s => s.by + ": " + s.name)], draw)],
    how: `Seconds of the mean rank within each ${axis.one}, stacked; phases are lines, as they may lie inside each other. ` +
      "A single thing is shown with the band from the least to the most of a rank. Drag to zoom.",
    rows: () => table([axis.one, ...shown.map(s => "#" + s.name)], x.map((v, c) => [axis.name(v), ...shown.map(s => seconds(s.values[c]))]), "Mean over the ranks"),
  });
}
