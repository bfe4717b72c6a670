// Planes of a matrix in levels: each halves rows or columns, and keeps mean and maximum.

class Pyramid {
  /** mean and most (empty: the same) are planes of columns of bytes; order is the row at each place. */
  constructor(planes, rows, cols, mean, most, order) {
    const byRows = values => {
      const to = new Uint8Array(values.length);
      for (let p = 0, at = 0; p < planes; p++) {
        for (const row of order) for (let c = 0; c < cols; c++) to[at++] = values[(p * cols + c) * rows + row];
      }
      return to;
    };
    const first = {rows, cols, mean: byRows(mean)};
    first.most = most.length ? byRows(most) : first.mean;
    Object.assign(this, {planes, levels: new Map([["0,0", first]]), images: new Map(), look: ""});
  }

  /** The level with 2^i columns and 2^j rows in a cell, made when it is first asked for. */
  level(i, j) {
    return cached(this.levels, i + "," + j, () => (i > 0 ? this.halve(this.level(i - 1, j), 1, 2) : this.halve(this.level(i, j - 1), 2, 1)));
  }

  halve(from, down, across) {
    const rows = Math.ceil(from.rows / down), cols = Math.ceil(from.cols / across), size = this.planes * rows * cols;
    const to = {rows, cols, mean: new Uint8Array(size), most: new Uint8Array(size)};
    for (let p = 0, at = 0; p < this.planes; p++) {
      for (let r = 0; r < rows; r++) {
        const last = Math.min(from.rows - 1, r * down + down - 1), a = (p * from.rows + r * down) * from.cols, b = (p * from.rows + last) * from.cols;
        for (let c = 0; c < cols; c++, at++) {
          const left = a + c * across, right = b + Math.min(from.cols - 1, c * across + across - 1);
          to.mean[at] = (from.mean[left] + from.mean[right] + 1) >> 1;
          to.most[at] = Math.max(from.most[left], from.most[right]);
        }
      }
    }
    return to;
  }

  /**
   * Paints what a picture shows, whose columns hold perX values of the x axis, from x0 on, and rows perY of the y axis, with about a
   * cell for each pixel. A look has a name for what make() returns: the colour by level and cell, plane p at + p * level.rows * level.cols.
   */
  paint(c, {x, y, area, ratio}, x0, perX, perY, look, make) {
    if (look !== this.look) {
      Object.assign(this, {look, colour: make()});
      this.images.clear();
    }
    const coarse = (values, pixels) => Math.max(0, Math.ceil(Math.log2(values / pixels) - 1e-6));
    const i = coarse(x.width / perX, area.width * ratio), j = coarse(y.width / perY, area.height * ratio), width = perX * 2 ** i, height = perY * 2 ** j;
    c.imageSmoothingEnabled = false;
    c.drawImage(cached(this.images, i + "," + j, () => this.image(this.level(i, j))),
      (x.low - x0) / width, y.low / height, x.width / width, y.width / height, area.left, area.top, area.width, area.height);
  }

  /** All cells of a level as a canvas. */
  image(level) {
    const {rows, cols} = level, image = new ImageData(cols, rows), canvas = h("canvas", {width: cols, height: rows});
    const pixels = new Uint32Array(image.data.buffer);
    for (let cell = 0; cell < pixels.length; cell++) pixels[cell] = this.colour(level, cell);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }
}

/** The numbers from 0 up to n. */
const upTo = n => Uint32Array.from({length: n}, (_, i) => i);

/** What a map has for a key, made if it has nothing. */
function cached(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}
