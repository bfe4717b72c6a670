// Planes of a matrix in levels: each halves rows or columns, and keeps mean and maximum.

class Pyramid {
  /** mean and most are planes of rows x cols bytes; order is the row at each place, or empty. */
  constructor(planes, rows, cols, mean, most, order) {
    this.planes = planes;
    const sorted = plane => (order && order.length ? inOrder(plane, planes, rows, cols, order) : plane);
    const first = {rows, cols, mean: sorted(mean)};
    first.most = most.length ? sorted(most) : first.mean;
    this.levels = new Map([["0,0", first]]);
  }

  /** The level with 2^i columns and 2^j rows in a cell, made when it is first asked for. */
  level(i, j) {
    const key = i + "," + j;
    if (!this.levels.has(key)) {
      const from = i > 0 ? this.level(i - 1, j) : this.level(i, j - 1);
      this.levels.set(key, i > 0 ? this.halve(from, 1, 2) : this.halve(from, 2, 1));
    }
    return this.levels.get(key);
  }

  halve(from, down, across) {
    const rows = Math.ceil(from.rows / down), cols = Math.ceil(from.cols / across), size = this.planes * rows * cols;
    const to = {rows, cols, mean: new Uint8Array(size), most: new Uint8Array(size)};
    for (let p = 0, at = 0; p < this.planes; p++) {
      for (let r = 0; r < rows; r++) {
        const base = (p * from.rows + r * down) * from.cols;
        const below = down === 2 && r * 2 + 1 < from.rows ? from.cols : 0;
        for (let c = 0; c < cols; c++, at++) {
          const a = base + c * across, b = a + (down === 2 ? below : c * 2 + 1 < from.cols ? 1 : 0);
          to.mean[at] = (from.mean[a] + from.mean[b] + 1) >> 1;
          to.most[at] = Math.max(from.most[a], from.most[b]);
        }
      }
    }
    return to;
  }
}

/** Planes of columns, one behind the other, as planes of rows. */
function byRows(plane, planes, rows, cols) {
  const to = new Uint8Array(plane.length);
  for (let p = 0, at = 0; p < planes; p++) {
    for (let c = 0; c < cols; c++) for (let r = 0; r < rows; r++) to[(p * rows + r) * cols + c] = plane[at++];
  }
  return to;
}

function inOrder(plane, planes, rows, cols, order) {
  const sorted = new Uint8Array(plane.length);
  for (let p = 0; p < planes; p++) {
    for (let r = 0; r < rows; r++) {
      const from = (p * rows + order[r]) * cols;
      sorted.set(plane.subarray(from, from + cols), (p * rows + r) * cols);
    }
  }
  return sorted;
}

/**
 * Draws what a picture shows of a pyramid, whose first level has perX values of the x axis in a
 * column and perY of the y axis in a row: at least a cell for each pixel, coloured by
 * pixel(level, cell), where plane p of a cell is at cell + p * level.rows * level.cols.
 */
function paintCells(c, picture, pyramid, x0, perX, perY, pixel) {
  const {x, y, area, ratio} = picture;
  const coarse = (values, pixels) => Math.max(0, Math.ceil(Math.log2(values / pixels) - 1e-6));
  const i = coarse(x.width / perX, area.width * ratio), j = coarse(y.width / perY, area.height * ratio);
  const level = pyramid.level(i, j), width = perX * 2 ** i, height = perY * 2 ** j;
  const c0 = Math.max(0, Math.floor((x.low - x0) / width)), c1 = Math.min(level.cols, Math.ceil((x.high - x0) / width));
  const r0 = Math.max(0, Math.floor(y.low / height)), r1 = Math.min(level.rows, Math.ceil(y.high / height));
  if (c1 <= c0 || r1 <= r0) return;
  const image = new ImageData(c1 - c0, r1 - r0), pixels = new Uint32Array(image.data.buffer);
  for (let r = r0, at = 0; r < r1; r++) {
    for (let cell = r * level.cols + c0, end = r * level.cols + c1; cell < end; cell++) pixels[at++] = pixel(level, cell);
  }
  const cells = picture.cells || (picture.cells = document.createElement("canvas"));
  [cells.width, cells.height] = [c1 - c0, r1 - r0];
  cells.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = false;
  const left = picture.toX(x0 + c0 * width), top = picture.toY(r0 * height);
  c.drawImage(cells, left, top, picture.toX(x0 + c1 * width) - left, picture.toY(r1 * height) - top);
}
