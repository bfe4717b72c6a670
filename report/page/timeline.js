// Recorded windows: what each rank does when, action by action, with the messages between them.

class Timeline {
  static async of(run, w, i) {
    return new Timeline(run, i, await unpack(w, {
      rank: Uint32Array, begin: Float64Array, end: Float64Array, name: Uint16Array, state: Uint16Array, arg: Uint32Array,
      source: Uint32Array, target: Uint32Array, sent: Float64Array, arrived: Float64Array, bytes: Float64Array, tag: Int32Array,
    }));
  }

  constructor(run, i, w) {
    Object.assign(this, {w, hosts: hostsOf(run), colours: w.states.map(colourOf), chosen: -1, messages: true});
    const key = "window" + (i || "");
    this.x = Extent.named(key, w.from_s, w.to_s, 1e-9);
    this.y = Extent.named(key + "ranks", w.first_rank, w.first_rank + w.ranks, 1);
    this.starts = new Uint32Array(w.ranks + 1); // of each rank's slices
    w.rank.forEach(r => { this.starts[r - w.first_rank + 1]++; });
    for (let r = 0; r < w.ranks; r++) this.starts[r + 1] += this.starts[r];
    this.picture = new Picture({
      label: "Timeline of " + w.title, x: this.x, y: this.y, height: Math.max(14, Math.min(36, 4 + 1.2 * w.ranks)),
      hint: "Choose an action to see its arguments and messages.",
      xAxis: {title: "time", ticks: timeTicks}, yAxis: {title: "rank", ticks: countedTicks(String)},
      paint: c => this.paint(c), describe: at => this.text(this.sliceAt(at)), step: (at, dx, dy) => this.step(at, dx, dy),
      press: at => this.choose(this.sliceAt(at)),
    });
  }

  /** The first slice of a row that ends after a time. */
  after(row, time) {
    let low = this.starts[row], high = this.starts[row + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.w.end[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  sliceAt(at) {
    const {w, starts} = this, row = Math.floor(at.y) - w.first_rank;
    if (row < 0 || row >= w.ranks) return -1;
    const s = this.after(row, at.x);
    return s < starts[row + 1] && w.begin[s] <= at.x ? s : -1;
  }

  step(at, dx, dy) {
    const {w, starts} = this, row = Math.max(0, Math.min(Math.floor(at.y) - w.first_rank + dy, w.ranks - 1));
    const s = Math.max(starts[row], Math.min(this.after(row, at.x) + dx, starts[row + 1] - 1));
    return {x: dx && s < starts[row + 1] ? (w.begin[s] + w.end[s]) / 2 : at.x, y: row + w.first_rank + 0.5};
  }

  text(s) {
    if (s < 0) return "";
    const {w, hosts} = this, r = w.rank[s], what = [w.names[w.name[s]], w.args[w.arg[s]]].filter(Boolean).join(" ");
    return `rank ${r}${hosts[r] ? " on " + hosts[r] : ""}: ${what}, ${w.states[w.state[s]]}, ${seconds(w.end[s] - w.begin[s])} from ${moment(w.begin[s])}`;
  }

  choose(s) {
    this.chosen = s;
    const w = this.w, list = [];
    for (let m = 0; s >= 0 && m < w.arrows && list.length < 4; m++) {
      if (this.touches(m, s)) list.push(`${w.source[m]} → ${w.target[m]} ${bytes(w.bytes[m])} tag ${w.tag[m]} in ${seconds(w.arrived[m] - w.sent[m], 3)}`);
    }
    if (s >= 0) this.picture.readout.textContent = this.text(s) + (list.length ? ". Messages: " + list.join("; ") : "");
    this.picture.redraw();
  }

  /** Whether a message is one that a slice posts or waits for: it is sent, or arrives, within it. */
  touches(m, s) {
    const w = this.w, within = time => time >= w.begin[s] && time <= w.end[s];
    return w.source[m] === w.rank[s] && within(w.sent[m]) || w.target[m] === w.rank[s] && within(w.arrived[m]);
  }

  paint(c) {
    const {w, y, picture} = this, height = picture.area.height / y.width, every = Math.max(1, Math.floor(1 / height));
    const first = Math.max(0, Math.floor(y.low) - w.first_rank), last = Math.min(w.ranks, Math.ceil(y.high) - w.first_rank);
    c.font = Math.min(picture.em, height * 0.7) + "px " + themed("font");
    c.textBaseline = "middle";
    c.textAlign = "left";
    for (let row = first; row < last; row += every) this.paintRow(c, row, picture.toY(row + w.first_rank), height);
    if (this.messages) this.paintMessages(c);
  }

  /** Draws the slices of a row; what lies within a pixel that is drawn is not drawn again. */
  paintRow(c, row, top, height) {
    const {w, x, colours, picture, picture: {area}} = this, tall = Math.max(1, height - (height > 5 ? 1 : 0));
    for (let s = this.after(row, x.low), drawn = -1; s < this.starts[row + 1] && w.begin[s] < x.high; s++) {
      const left = picture.toX(w.begin[s]), right = picture.toX(w.end[s]), colour = colours[w.state[s]];
      if (right < drawn) continue;
      drawn = Math.max(right, left + 0.7);
      c.fillStyle = colour;
      c.fillRect(left, top, drawn - left, tall);
      if (s === this.chosen) {
        c.strokeStyle = themed("ink");
        c.lineWidth = 2;
        c.strokeRect(left, top, drawn - left, tall);
      }
      if (right - left > 30 && height >= 10) {
        c.fillStyle = inkOn(colour);
        label(c, w.names[w.name[s]], Math.max(left, area.left) + 4, Math.min(right, area.left + area.width) - 4, top + tall / 2);
      }
    }
  }

  /** Draws messages as arrows: those of the chosen slice, or all that are seen if so few can be told apart. */
  paintMessages(c) {
    const {w, x, picture, chosen} = this, most = chosen < 0 ? 600 : 3000, seen = [];
    for (let m = 0; m < w.arrows && seen.length <= most && w.sent[m] < x.high; m++) {
      if (w.arrived[m] > x.low && (chosen < 0 || this.touches(m, chosen))) seen.push(m);
    }
    if (seen.length > most) return;
    c.strokeStyle = themed("ink");
    c.globalAlpha = chosen < 0 ? Math.max(0.08, Math.min(0.4, 30 / seen.length)) : 0.9;
    c.lineWidth = 1;
    c.beginPath();
    for (const m of seen) {
      arrow(c, picture.toX(w.sent[m]), picture.toY(w.source[m] + 0.5), picture.toX(w.arrived[m]), picture.toY(w.target[m] + 0.5));
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  find(wanted) {
    const {w, x, y} = this, rank = Number((/^(?:rank )?(\d+)$/.exec(wanted) || [])[1] ?? -1);
    if (rank >= w.first_rank && rank < w.first_rank + w.ranks) {
      y.set(rank - 3, rank + 4);
      this.picture.point({x: (x.low + x.high) / 2, y: rank + 0.5});
      return "rank " + rank;
    }
    const names = w.names.map(t => t.includes(wanted)), args = w.args.map(t => t.includes(wanted));
    let found = -1, number = 0;
    for (let k = 1; wanted && k <= w.slices; k++) { // from the one behind the chosen one, around
      const s = (this.chosen + k) % w.slices;
      if (!names[w.name[s]] && !args[w.arg[s]]) continue;
      number++;
      if (found < 0) found = s;
    }
    if (found < 0) return "not found";
    const middle = (w.begin[found] + w.end[found]) / 2, half = Math.min(x.width, 20 * (w.end[found] - w.begin[found])) / 2;
    x.set(middle - half, middle + half);
    y.show(w.rank[found] + 0.5);
    this.choose(found);
    return count(number) + " found; Enter: the next";
  }

  table() {
    const {w, x, y} = this, most = 500, rows = [], first = Math.floor(y.low);
    for (let s = 0; s < w.slices && rows.length < most; s++) {
      if (w.end[s] <= x.low || w.begin[s] >= x.high || w.rank[s] < first || w.rank[s] >= y.high) continue;
      rows.push([String(w.rank[s]), w.names[w.name[s]], w.args[w.arg[s]], w.states[w.state[s]], moment(w.begin[s]), seconds(w.end[s] - w.begin[s])]);
    }
    const caption = "Actions that are seen" + (rows.length === most ? `, the first ${most}` : "");
    return table(["rank", "action", "arguments", "state", "#begin", "#time"], rows, caption);
  }
}

/** Writes as much of a text as fits between two places. */
function label(c, text, left, right, y) {
  const fits = Math.floor((right - left) / c.measureText("n").width);
  if (fits > 1) c.fillText(text.length > fits ? text.slice(0, fits - 1) + "…" : text, left, y, right - left);
}

function arrow(c, x0, y0, x1, y1) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  for (const side of [2.7, -2.7]) {
    c.moveTo(x1, y1);
    c.lineTo(x1 + 6 * Math.cos(angle + side), y1 + 6 * Math.sin(angle + side));
  }
}

async function timelineOf(run, runs, w, i) {
  const timeline = await Timeline.of(run, w, i), {picture, colours} = timeline;
  return figure(run, {
    title: w.title + named(run, runs),
    picture: [w.note ? h("p", {class: "label"}, w.note) : null, picture.element, legend(w.states.map((name, i) => ({name, colour: colours[i]})))],
    controls: [checkbox("messages", on => { timeline.messages = on; picture.redraw(); }),
      searchBox("rank, action or argument", text => timeline.find(text))],
    how: "What each rank does when; arrows are messages, from the post of the send to the end of the transfer, where few enough are in view. " +
      "Click or Enter chooses an action: its messages alone are drawn.",
    rows: () => timeline.table(),
  });
}
