// The critical path: what bounds the makespan, and where it runs.

function pathOf(run) {
  const p = run.path, kinds = new Map(), columns = ["part", "", "kind", "phase", "links, queue", "#share", "#time", "#count", "#bytes"];
  p.parts.forEach(x => kinds.set(x.queue || x.kind, (kinds.get(x.queue || x.kind) || 0) + x.seconds_s));
  const bar = [...kinds].map(([name, value], i) => ({name, value, colour: colourOf(name, name.startsWith("queue ") ? i : 7), text: seconds(value)})).sort((a, b) => b.value - a.value);
  const row = x => [x.name, meter(x.seconds_s / p.seconds_s, colourOf(x.kind, 7)), x.kind, x.phase || "", x.level || x.queue || "",
    percent(x.seconds_s / p.seconds_s), seconds(x.seconds_s), x.count ? count(x.count) : "", x.bytes ? bytes(x.bytes) : ""];
  const parts = leading(columns, p.parts.map(row), 10), most = Math.max(...p.what_if.map(w => Math.abs(w.gain_s)), 1e-300);
  // Changes that gain next to nothing share a row.
  const worth = p.what_if.filter(w => w.gain_s >= 0.001 * p.seconds_s), rest = p.what_if.length - worth.length;
  const tail = rest ? [[count(rest) + (worth.length ? " more" : "") + (rest === 1 ? " change gains" : " changes gain") + " less than 0.1 %" +
    (rest === 1 ? "" : " each"), "", "", "", ""]] : [];
  const ifs = ["change", "", "#gain", "#of the makespan", "#by a replay"], rowOf = w => [w.what, meter(w.gain_s / most), seconds(w.gain_s, 3),
    percent(w.gain_s / p.seconds_s, 2), w.replayed_s === undefined ? "not confirmed" : seconds(w.replayed_s, 3)];
  return [figure(run, {
    title: "What the critical path consists of", ...parts, picture: [stackedBar(bar, "Critical path"), parts.picture],
    how: `The longest chain of work and messages, ${seconds(p.seconds_s, 6)}${p.rank < 0 ? "" : `, up to rank ${p.rank}, which ends last`}: ` +
      "only what is on it can make the run shorter. " + p.notes.join(" "),
  }), p.what_if.length ? figure(run, {
    title: "What if", how: "What the makespan would gain, by the slope of the path, and what it does gain where a replay has tried.",
    picture: table(ifs, [...worth.slice(0, 8).map(rowOf), ...tail]), rows: p.what_if.length > Math.min(worth.length, 8) ? () => table(ifs, p.what_if.map(rowOf)) : null,
  }) : null];
}

/** The way of the path over the matrix, up to its end; null if there is none. */
async function wayOf(run) {
  if (!run.path || !run.path.hops.number) return null;
  const hops = await unpack(run.path.hops, {ranks: Uint32Array, times: Float64Array}), ranks = [...hops.ranks, run.path.rank];
  const columns = await unpack(run.record.columns, {starts: Float64Array}), {starts} = columns, axis = columnAxis(columns);
  let c = 0;
  const at = [...hops.times, run.path.seconds_s].map(time => {
    while (c < columns.count - 1 && starts[c + 1] <= time) c++;
    return axis.at(c - 0.5 + clamp((time - starts[c]) / (starts[c + 1] - starts[c] || 1), 0, 1));
  });
  return {
    shown: true,
    paint(c, picture, middleOf) {
      c.beginPath();
      at.forEach((x, i) => [ranks[i - 1] ?? ranks[i], ranks[i]].forEach(rank => c.lineTo(picture.toX(x), picture.toY(middleOf(rank)))));
      for (const [width, colour] of [[2.5, "paper"], [1, "ink"]]) {
        Object.assign(c, {lineWidth: width * picture.em / 12, strokeStyle: themed(colour)});
        c.stroke();
      }
    },
  };
}
