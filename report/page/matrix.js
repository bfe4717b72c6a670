// The matrix: ranks by steps, coloured by what takes most of a rank's time.

class Matrix {
  constructor(run, m, columns, way) {
    const {states} = run.record;
    Object.assign(this, {m, columns, way, states, colours: states.map(colourOf), hosts: hostsOf(run), axis: columnAxis(columns), mode: 0});
    this.y = Extent.named("ranks", 0, m.ranks, 4 * m.ranks_per_row);
    this.sort(0);
    this.picture = new Picture({
      label: `Ranks by ${this.axis.many}, coloured by what takes most of the time`, x: this.axis.range, y: this.y, height: 28, wheelRows: true,
      xAxis: this.axis, yAxis: {title: "rank", ticks: countedTicks(v => (v >= 0 && v < m.ranks ? String(this.rowAt(v) * m.ranks_per_row) : ""))},
      paint: c => this.paint(c), describe: at => this.describe(at), step: (at, dx, dy) => ({
        x: this.axis.at(clamp((this.columnAt(at.x) + dx + 0.5) * m.columns_per_col - 0.5, 0, columns.count - 1)),
        y: clamp(Math.floor(at.y) + dy * m.ranks_per_row, 0, m.ranks - 1) + 0.5,
      }),
    });
  }

  /** Sorts the rows by the i-th order. */
  sort(i) {
    const {m} = this, order = this.order = m.orders[i].rows;
    this.shares = new Pyramid(this.states.length, m.rows, m.cols, m.mean, m.most, order);
    this.lengths = new Pyramid(1, m.rows, m.cols, m.length, [], order);
    this.places = upTo(m.rows); // of the rows
    order.forEach((row, place) => { this.places[row] = place; });
  }

  /** The row at a value of the y axis, and the middle of a rank's row on it. */
  rowAt(v) { return this.order[Math.floor(v / this.m.ranks_per_row)]; }
  middleOf(rank) { return (this.places[Math.floor(rank / this.m.ranks_per_row)] + 0.5) * this.m.ranks_per_row; }
  columnAt(v) { return Math.floor((v - this.axis.first) / (this.axis.per * this.m.columns_per_col)); }

  nameOf(row) {
    const per = this.m.ranks_per_row, last = Math.min(this.m.ranks, (row + 1) * per) - 1;
    return per === 1 ? `rank ${row}${this.hosts[row] ? " on " + this.hosts[row] : ""}` : `ranks ${row * per} to ${last}`;
  }

  /** The share of a state in a cell, by m.mean or m.most. */
  shareOf(state, row, c, of = this.m.mean) { return of[(state * this.m.cols + c) * this.m.rows + row] / 255; }

  /** The longest that a rank of a cell is in a column of it, in seconds. */
  lengthOf(row, c) {
    const {m, columns} = this, longest = columns.longest.subarray(c * m.columns_per_col, (c + 1) * m.columns_per_col);
    return m.length[c * m.rows + row] / 255 * Math.max(...longest);
  }

  paint(c) {
    const {m, mode, axis} = this, pyramid = mode > this.states.length ? this.lengths : this.shares;
    pyramid.paint(c, this.picture, axis.first, axis.per * m.columns_per_col, m.ranks_per_row, mode + themed("paper"), () => this.colouring());
    if (this.way && this.way.shown) this.way.paint(c, this.picture, rank => this.middleOf(rank));
  }

  /** Colours a cell by the state with the largest mean share, as fully as the greatest share of it; or by one thing alone. */
  colouring() {
    const {mode, colours} = this, all = colours.map(colour => shades(colour, 0.12));
    if (mode > 0) {
      const one = shades(colours[mode - 1] || "#D55E00", 0.05), plane = (mode - 1) % colours.length; // of lengths, which has one plane
      return (level, cell) => one[level.most[cell + plane * level.rows * level.cols]];
    }
    return (level, cell) => {
      const plane = level.rows * level.cols;
      let best = cell, state = 0;
      for (let p = 1, at = cell + plane; p < all.length; p++, at += plane) if (level.mean[at] > level.mean[best]) { best = at; state = p; }
      return all[state][level.most[best]];
    };
  }

  describe(at) {
    const {m} = this, c = this.columnAt(at.x);
    if (c < 0 || c >= m.cols || at.y < 0 || at.y >= m.ranks) return "";
    const row = this.rowAt(at.y), parts = this.states.map((name, p) => ({name, mean: this.shareOf(p, row, c), most: this.shareOf(p, row, c, m.most)}));
    const shares = parts.filter(p => p.mean > 0 || p.most > 0).sort((a, b) => b.mean - a.mean)
      .map(p => `${p.name} ${percent(p.mean)}` + (p.most > p.mean ? ` (most ${percent(p.most)})` : "")); // most is NaN where it is not kept
    return `${this.nameOf(row)}, ${this.axis.one} ${this.axis.name(at.x)}: ${seconds(this.lengthOf(row, c), 3)}; ${shares.join(", ")}`;
  }

  find(text) {
    const {m, y} = this, rank = rankNamed(text, this.hosts);
    if (rank < 0 || rank >= m.ranks) return "no such rank";
    const middle = this.middleOf(rank);
    y.set(middle - 8 * m.ranks_per_row, middle + 8 * m.ranks_per_row);
    this.picture.point({x: this.axis.range.middle, y: middle});
    return "rank " + rank;
  }

  /** Seconds of each state by rank, of what is seen. */
  table() {
    const {m, y, states, axis: {range}} = this, most = 200;
    const c0 = Math.max(0, this.columnAt(range.low)), c1 = Math.min(m.cols, this.columnAt(range.high - 1e-9) + 1);
    const seen = this.order.subarray(Math.floor(y.low / m.ranks_per_row), Math.ceil(y.high / m.ranks_per_row));
    const rows = Array.from(seen.subarray(0, most), row => {
      const sums = states.map(() => 0);
      for (let c = c0; c < c1; c++) sums.forEach((_, p) => { sums[p] += this.lengthOf(row, c) * this.shareOf(p, row, c) * m.columns_per_col; });
      return [this.nameOf(row), ...sums.map(v => seconds(v, 3))];
    });
    const cut = seen.length > most ? `; the first ${most} of ${seen.length} rows` : "";
    return table(["rank", ...states.map(s => "#" + s)], rows, `Time by state of what is seen, about: shares are kept to ${percent(1 / m.share_steps)}${cut}`);
  }
}

async function matrixOf(run) {
  const m = await unpack(run.record.matrix, {mean: Uint8Array, most: Uint8Array, length: Uint8Array}), way = await wayOf(run);
  m.orders = await Promise.all(m.orders.map(o => unpack(o, {rows: Uint32Array})));
  m.orders.forEach(o => { if (!o.rows.length) o.rows = upTo(m.rows); });
  const matrix = new Matrix(run, m, await unpack(run.record.columns, {longest: Float32Array}), way), {states, colours, picture, axis} = matrix;
  const cell = m.ranks_per_row * m.columns_per_col === 1 ? `A cell is a rank in a ${axis.one}`
    : `A cell of the data is ${m.ranks_per_row} ranks in ${m.columns_per_col} ${axis.many}`;
  return figure(run, {
    title: `Ranks by ${axis.many}`,
    picture: [picture.element, stateLegend(states)],
    controls: [
      dropdown("show", ["what takes most", ...states.map(s => "share of " + s), "length"], i => { matrix.mode = i; picture.redraw(); }),
      dropdown("order by", m.orders.map(o => o.name), i => { matrix.sort(i); picture.redraw(); }),
      way ? checkbox("critical path", on => { way.shown = on; picture.redraw(); }) : null,
      searchBox("rank or host", text => matrix.find(text))],
    how: `${cell}; a pixel may be several, of which the greatest share is kept. The fuller the colour, the larger the share; ` +
      `length is the time that a rank is in a ${axis.one}, against the longest there.`,
    rows: () => matrix.table(),
  });
}
