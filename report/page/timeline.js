// Recorded windows: what each rank does when, action by action, with the messages between them.

class Timeline {
  /** w is the i-th window of a run. */
  constructor(run, w, i) {
    Object.assign(this, {w, lanes: 1 + (w.queues || []).length, hosts: hostsOf(run), colours: w.states.map(colourOf), chosen: -1, messages: true});
    this.x = Extent.named("window" + (i || ""), w.from_s, w.to_s, 1e-9);
    this.y = Extent.named(`window${i || ""}ranks`, w.first_rank, w.first_rank + w.ranks, 1);
    this.picture = new Picture({
      label: "Timeline of " + w.title, x: this.x, y: this.y, height: clamp(4 + 1.2 * w.ranks * this.lanes, 14, 36),
      hint: "Choose an action to see its arguments and messages.",
      xAxis: {title: "time", ticks: timeTicks}, yAxis: {title: "rank", ticks: countedTicks(String)},
      paint: c => this.paint(c), describe: at => this.text(this.sliceAt(at)), step: (at, dx, dy) => this.step(at, dx, dy),
      choose: at => this.choose(this.sliceAt(at)),
    });
  }

  /** The first slice of a row that ends after a time, or of the rows behind it; they are in this order. Rows are lanes of ranks. */
  after(row, time) {
    const {w} = this;
    let low = 0, high = w.slices;
    while (low < high) {
      const middle = (low + high) >> 1, r = w.rank[middle];
      if (r > row || r === row && w.end[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  rankOf(s) { return Math.floor(this.w.rank[s] / this.lanes); }

  sliceAt({x, y}) {
    const {w} = this, row = Math.floor(y * this.lanes), s = this.after(row, x);
    return w.rank[s] === row && w.begin[s] <= x ? s : -1;
  }

  step({x, y}, dx, dy) {
    const {w, lanes} = this, row = clamp(Math.floor(y * lanes) + dy, w.first_rank * lanes, (w.first_rank + w.ranks) * lanes - 1), s = this.after(row, x) + dx;
    return {x: dx && w.rank[s] === row ? (w.begin[s] + w.end[s]) / 2 : x, y: (row + 0.5) / lanes};
  }

  text(s) {
    if (s < 0) return "";
    const {w, hosts, lanes} = this, r = this.rankOf(s), what = [w.names[w.name[s]], w.args[w.arg[s]]].filter(Boolean).join(" "), lane = w.rank[s] % lanes;
    const where = (hosts[r] ? " on " + hosts[r] : "") + (lane ? ", queue " + w.queues[lane - 1] : "");
    return `rank ${r}${where}: ${what}, ${lane ? "" : w.states[w.state[s]] + ", "}${seconds(w.end[s] - w.begin[s])} from ${moment(w.begin[s])}`;
  }

  choose(s) {
    this.chosen = s;
    this.picture.redraw();
    if (s < 0) return;
    const {w} = this, list = this.seenMessages(3).map(m =>
      `${w.source[m]} → ${w.target[m]} ${bytes(w.bytes[m])} tag ${w.tag[m]} in ${seconds(w.arrived[m] - w.sent[m], 3)}`);
    this.picture.readout.textContent = this.text(s) + (list.length ? ". Messages: " + list.join("; ") : "");
  }

  /** The messages in view, up to one more than most; if an action is chosen those that it posts or waits for: sent, or arriving, within it. */
  seenMessages(most) {
    const {w, x, chosen: s} = this, rank = s < 0 || w.rank[s] % this.lanes ? -1 : this.rankOf(s), seen = [], within = time => time >= w.begin[s] && time <= w.end[s];
    for (let m = 0; m < w.arrows && seen.length <= most; m++) {
      if (s < 0 ? w.sent[m] < x.high && w.arrived[m] > x.low
        : w.source[m] === rank && within(w.sent[m]) || w.target[m] === rank && within(w.arrived[m])) seen.push(m);
    }
    return seen;
  }

  paint(c) {
    const {y, picture, lanes} = this, height = picture.area.height / y.width / lanes, every = Math.max(1, Math.floor(1 / height));
    Object.assign(c, {font: Math.min(picture.em, height * 0.7) + "px " + themed("font"), textBaseline: "middle", textAlign: "left"});
    for (let row = Math.floor(y.low * lanes); row < y.high * lanes; row += every) this.paintRow(c, row, picture.toY(row / lanes), height);
    if (this.messages) this.paintMessages(c);
  }

  /** Draws the slices of a row; what lies within a pixel that is drawn is not drawn again. */
  paintRow(c, row, top, height) {
    const {w, x, colours, picture, picture: {area}} = this, tall = Math.max(1, height - (height > 5 ? 1 : 0));
    for (let s = this.after(row, x.low), drawn = -1; w.rank[s] === row && w.begin[s] < x.high; s++) {
      const left = picture.toX(w.begin[s]), right = picture.toX(w.end[s]), colour = colours[w.state[s]];
      if (right < drawn) continue;
      drawn = Math.max(right, left + 0.7);
      c.fillStyle = colour;
      c.fillRect(left, top, drawn - left, tall);
      if (s === this.chosen) {
        Object.assign(c, {strokeStyle: themed("ink"), lineWidth: 2});
        c.strokeRect(left, top, drawn - left, tall);
      }
      if (right - left > 30 && height >= 10) {
        c.fillStyle = inkOn(colour);
        label(c, w.names[w.name[s]], Math.max(left, area.left) + 4, Math.min(right, area.left + area.width) - 4, top + tall / 2);
      }
    }
  }

  /** Draws messages as arrows, if there are so few that they can be told apart. */
  paintMessages(c) {
    const {w, picture, chosen} = this, most = chosen < 0 ? 600 : 3000, seen = this.seenMessages(most);
    if (seen.length > most) return;
    Object.assign(c, {strokeStyle: themed("ink"), lineWidth: 1, globalAlpha: chosen < 0 ? clamp(30 / seen.length, 0.08, 0.4) : 0.9});
    c.beginPath();
    for (const m of seen) {
      const x = picture.toX(w.arrived[m]), y = picture.toY(w.target[m] + 0.5), x0 = picture.toX(w.sent[m]), y0 = picture.toY(w.source[m] + 0.5);
      c.moveTo(x0, y0);
      c.lineTo(x, y);
      for (const side of [2.7, -2.7]) {
        const angle = Math.atan2(y - y0, x - x0) + side;
        c.moveTo(x, y);
        c.lineTo(x + 6 * Math.cos(angle), y + 6 * Math.sin(angle));
      }
    }
    c.stroke();
  }

  find(wanted) {
    const {w, x, y} = this, rank = rankNamed(wanted, this.hosts), names = w.names.map(t => t.includes(wanted)), args = w.args.map(t => t.includes(wanted));
    if (rank >= w.first_rank && rank < w.first_rank + w.ranks) {
      y.set(rank - 3, rank + 4);
      this.picture.point({x: x.middle, y: rank + 0.5});
      return "rank " + rank;
    }
    const found = wanted ? [...w.rank.keys()].filter(s => names[w.name[s]] || args[w.arg[s]]) : [];
    if (!found.length) return "not found";
    const s = found.find(s => s > this.chosen) ?? found[0], middle = (w.begin[s] + w.end[s]) / 2, half = Math.min(x.width, 20 * (w.end[s] - w.begin[s])) / 2;
    x.set(middle - half, middle + half);
    y.show(this.rankOf(s) + 0.5);
    this.choose(s);
    return count(found.length) + " found; Enter: the next";
  }

  table() {
    const {w, x, y, lanes} = this, most = 500, rows = [Math.floor(y.low) * lanes, y.high * lanes], seen = [...w.rank.keys()].filter(s =>
      w.end[s] > x.low && w.begin[s] < x.high && w.rank[s] >= rows[0] && w.rank[s] < rows[1]);
    return table([lanes > 1 ? "rank, queue" : "rank", "action", "arguments", "state", "#begin", "#time"], seen.slice(0, most).map(s =>
      [[this.rankOf(s), (w.queues || [])[w.rank[s] % lanes - 1]].filter(v => v !== undefined).join(", "), w.names[w.name[s]], w.args[w.arg[s]], w.states[w.state[s]], moment(w.begin[s]), seconds(w.end[s] - w.begin[s])]),
    "Actions that are seen" + (seen.length > most ? `, the first ${most}` : ""));
  }
}

/** Writes as much of a text as fits between two places. */
function label(c, text, left, right, y) {
  const fits = Math.floor((right - left) / c.measureText("n").width);
  if (fits > 1) c.fillText(text.length > fits ? text.slice(0, fits - 1) + "…" : text, left, y, right - left);
}

async function timelineOf(run, packed, i) {
  const w = await unpack(packed, {
    rank: Uint32Array, begin: Float64Array, end: Float64Array, name: Uint16Array, state: Uint16Array, arg: Uint32Array,
    source: Uint32Array, target: Uint32Array, sent: Float64Array, arrived: Float64Array, bytes: Float64Array, tag: Int32Array,
  }), timeline = new Timeline(run, w, i), {picture} = timeline;
  return figure(run, {
    title: w.title,
    picture: [w.note ? h("p", {class: "label"}, w.note) : null, picture.element, stateLegend(w.states)],
    controls: [checkbox("messages", on => { timeline.messages = on; picture.redraw(); }),
      searchBox("rank, action or argument", text => timeline.find(text))],
    how: "What each rank does when" + (w.queues ? `, and below it the queues of its device (${w.queues.join(", ")})` : "") + "; arrows are messages, from the post of the send to the end of the transfer, where few enough are in view. " +
      "Click or Enter chooses an action: its messages alone are drawn.",
    rows: () => timeline.table(),
  });
}
