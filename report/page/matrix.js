// The matrix: ranks by steps, coloured by what takes most of a rank's time.

class Matrix {
  static async of(run) {
    const {matrix, columns} = run.record;
    const m = await unpack(matrix, {mean: Uint8Array, most: Uint8Array, length: Uint8Array});
    for (const [name, planes] of [["mean", run.record.states.length], ["most", m.most.length && run.record.states.length], ["length", 1]]) {
      m[name] = byRows(m[name], planes, m.rows, m.cols);
    }
    m.orders = await Promise.all(matrix.orders.map(o => unpack(o, {rows: Uint32Array})));
    return new Matrix(run, m, await unpack(columns, {longest: Float32Array}), await wayOf(run));
  }

  constructor(run, m, columns, way) {
    Object.assign(this, {run, m, columns, way, states: run.record.states, axis: columnAxis(columns), mode: 0});
    this.colours = this.states.map(colourOf);
    this.hosts = hostsOf(run);
    this.y = Extent.named("ranks", 0, m.ranks, 4 * m.ranks_per_row);
    this.sort(0);
    this.picture = new Picture({
      label: `Ranks by ${this.axis.many}, coloured by what takes most of the time`, x: this.axis.range, y: this.y, height: 28, wheelRows: true,
      xAxis: this.axis, yAxis: {title: "rank", ticks: countedTicks(v => (v >= 0 && v < m.ranks ? String(this.rowAt(v) * m.ranks_per_row) : ""))},
      paint: c => this.paint(c), describe: at => this.describe(at), step: (at, dx, dy) => ({
        x: this.axis.at(Math.max(0, Math.min((this.columnAt(at.x) + dx + 0.5) * m.columns_per_col - 0.5, columns.count - 1))),
        y: Math.max(0, Math.min(Math.floor(at.y) + dy * m.ranks_per_row, m.ranks - 1)) + 0.5,
      }),
    });
  }

  /** Sorts the rows by the i-th order. */
  sort(i) {
    const m = this.m;
    this.order = m.orders[i].rows;
    this.shares = new Pyramid(this.states.length, m.rows, m.cols, m.mean, m.most, this.order);
    this.lengths = new Pyramid(1, m.rows, m.cols, m.length, [], this.order);
    this.places = Uint32Array.from({length: m.rows}, (_, r) => r); // of the rows
    this.order.forEach((row, place) => { this.places[row] = place; });
  }

  /** The row at a value of the y axis, and the middle of a rank's row on it. */
  rowAt(v) { const place = Math.floor(v / this.m.ranks_per_row); return this.order.length ? this.order[place] : place; }
  middleOf(rank) { return (this.places[Math.floor(rank / this.m.ranks_per_row)] + 0.5) * this.m.ranks_per_row; }
  columnAt(v) { return Math.floor((v - this.axis.first) / (this.axis.per * this.m.columns_per_col)); }

  nameOf(row) {
    const per = this.m.ranks_per_row, last = Math.min(this.m.ranks, (row + 1) * per) - 1;
    return per === 1 ? `rank ${row}${this.hosts[row] ? " on " + this.hosts[row] : ""}` : `ranks ${row * per} to ${last}`;
  }

  /** The longest that a rank of a cell is in a column of it, in seconds. */
  lengthOf(row, c) {
    const {m, columns} = this, longest = columns.longest.subarray(c * m.columns_per_col, (c + 1) * m.columns_per_col);
    return m.length[row * m.cols + c] / 255 * Math.max(...longest);
  }

  paint(c) {
    const {m, mode, states, colours} = this, draw = (pyramid, pixel) =>
      paintCells(c, this.picture, pyramid, this.axis.first, this.axis.per * m.columns_per_col, m.ranks_per_row, pixel);
    if (mode === 0) draw(this.shares, this.dominant());
    else {
      const one = shades(mode > states.length ? "#D55E00" : colours[mode - 1], 0.05), plane = mode > states.length ? 0 : mode - 1;
      draw(mode > states.length ? this.lengths : this.shares, (level, cell) => one[level.most[cell + plane * level.rows * level.cols]]);
    }
    if (this.way && this.way.shown) this.way.paint(c, this.picture, rank => this.middleOf(rank));
  }

  /** Colours a cell by the state with the largest mean share, as fully as the greatest share of it. */
  dominant() {
    const all = this.colours.map(colour => shades(colour, 0.12));
    return (level, cell) => {
      const plane = level.rows * level.cols;
      let best = cell, state = 0;
      for (let p = 1, at = cell + plane; p < all.length; p++, at += plane) if (level.mean[at] > level.mean[best]) { best = at; state = p; }
      return all[state][level.most[best]];
    };
  }

  describe(at) {
    const {m, columns} = this, c = this.columnAt(at.x);
    if (c < 0 || c >= m.cols || at.y < 0 || at.y >= m.ranks) return "";
    const row = this.rowAt(at.y), parts = this.states.map((name, p) => {
      const cell = (p * m.rows + row) * m.cols + c;
      return {name, mean: m.mean[cell] / 255, most: m.most.length ? m.most[cell] / 255 : 0};
    });
    const shares = parts.filter(p => p.mean + p.most > 0).sort((a, b) => b.mean - a.mean)
      .map(p => `${p.name} ${percent(p.mean)}` + (p.most > p.mean ? ` (most ${percent(p.most)})` : ""));
    return `${this.nameOf(row)}, ${this.axis.one} ${this.axis.name(at.x)}: ${seconds(this.lengthOf(row, c), 3)}; ${shares.join(", ")}`;
  }

  find(text) {
    const {m, y} = this, rank = /^\d+$/.test(text) ? Number(text) : this.hosts.indexOf(text);
    if (rank < 0 || rank >= m.ranks) return "no such rank";
    const middle = this.middleOf(rank);
    y.set(middle - 8 * m.ranks_per_row, middle + 8 * m.ranks_per_row);
    this.picture.point({x: (this.axis.range.low + this.axis.range.high) / 2, y: middle});
    return "rank " + rank;
  }

  /** Seconds of each state by rank, of what is seen. */
  table() {
    const {m, y, states} = this, {range} = this.axis, most = 200, rows = [];
    const c0 = Math.max(0, this.columnAt(range.low)), c1 = Math.min(m.cols, this.columnAt(range.high - 1e-9) + 1);
    const first = Math.floor(y.low / m.ranks_per_row), last = Math.min(m.rows, Math.ceil(y.high / m.ranks_per_row));
    for (let place = first; place < Math.min(last, first + most); place++) {
      const row = this.rowAt((place + 0.5) * m.ranks_per_row), sums = new Float64Array(states.length);
      for (let c = c0; c < c1; c++) {
        const length = this.lengthOf(row, c) * m.columns_per_col / 255;
        for (let p = 0; p < sums.length; p++) sums[p] += length * m.mean[(p * m.rows + row) * m.cols + c];
      }
      rows.push([this.nameOf(row), ...Array.from(sums, v => seconds(v, 3))]);
    }
    const cut = last - first > most ? `; the first ${most} of ${last - first} rows` : "";
    return table(["rank", ...states.map(s => "#" + s)], rows, `Time by state of what is seen, about: shares are kept to ${percent(1 / m.share_steps)}${cut}`);
  }
}

async function matrixOf(run, runs) {
  const matrix = await Matrix.of(run), {m, states, colours, picture, way, axis} = matrix;
  const cell = m.ranks_per_row * m.columns_per_col === 1 ? `A cell is a rank in a ${axis.one}`
    : `A cell of the data is ${m.ranks_per_row} ranks in ${m.columns_per_col} ${axis.many}`;
  return figure(run, {
    title: `Ranks by ${axis.many}` + named(run, runs),
    picture: [picture.element, legend(states.map((name, i) => ({name, colour: colours[i]})))],
    controls: [
      dropdown("show", ["what takes most", ...states.map(s => "share of " + s), "length"], 0, i => { matrix.mode = i; picture.redraw(); }),
      dropdown("order by", m.orders.map(o => o.name), 0, i => { matrix.sort(i); picture.redraw(); }),
      way ? checkbox("critical path", on => { way.shown = on; picture.redraw(); }) : null,
      searchBox("rank or host", text => matrix.find(text))],
    how: `${cell}; a pixel may be several, of which the greatest share is kept. The fuller the colour, the larger the share; ` +
      `length is the time that a rank is in a ${axis.one}, against the longest there.`,
    rows: () => matrix.table(),
  });
}
