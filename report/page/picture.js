// A canvas with axes, a cursor and a line of text that says what is under it.

const largestCanvas = 32767; // pixels: a canvas beyond draws nothing

class Picture {
  /**
   * o.label says what it shows; o.x and o.y are Extents; o.height is in rem, o.left, of the labels of rows, in em.
   * o.xAxis and o.yAxis are {title, ticks(low, high, n) => [{at, text}]}.
   * o.paint(context, picture) draws; o.describe({x, y}) returns the text for a place, and
   * o.step({x, y}, dx, dy) the place beside it; o.press({x, y}) is called for a click or Enter.
   */
  constructor(o) {
    Object.assign(this, {wheelRows: false, left: 5}, o);
    this.canvas = h("canvas", {tabindex: 0, role: "application", "aria-label": o.label + ". " + keysOfPictures});
    this.readout = h("p", {class: "readout", role: "status"}, o.hint || "Move over the picture, or use the arrow keys.");
    this.element = h("div", {class: "picture"}, this.canvas, this.readout);
    this.canvas.style.height = o.height + "rem";
    this.cursor = null;
    pointerMoves(this);
    this.canvas.addEventListener("keydown", event => this.key(event));
    [this.x, this.y].forEach(r => r.listeners.push(() => this.redraw()));
    document.addEventListener("theme", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  key(event) {
    const arrow = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (arrow) {
      const from = this.cursor || {x: (this.x.low + this.x.high) / 2, y: (this.y.low + this.y.high) / 2};
      this.point(this.step(from, ...arrow));
      this.x.show(this.cursor.x);
      this.y.show(this.cursor.y);
    } else if (event.key === "Enter" && this.cursor) this.press(this.cursor);
    else if (!keyMoves(event, this.x, this.y)) return;
    event.preventDefault();
  }

  press() {}

  /** Puts the cursor on a place and says what is there. */
  point(at) {
    this.cursor = at;
    this.say(at);
    this.redraw();
  }

  say(at) { this.readout.textContent = this.describe(at) || this.readout.textContent; }

  /** The values under the pointer. */
  valuesAt(event) {
    const a = this.area;
    return {
      x: this.x.low + (event.offsetX - a.left) / a.width * this.x.width,
      y: this.y.low + (event.offsetY - a.top) / a.height * this.y.width,
    };
  }

  toX(value) { return this.area.left + (value - this.x.low) / this.x.width * this.area.width; }
  toY(value) { return this.area.top + (value - this.y.low) / this.y.width * this.area.height; }

  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const begin = performance.now();
      if (this.fit()) this.draw();
      Picture.lastFrame = performance.now() - begin;
    });
  }

  /** Fits the canvas to its place on the page; false if it has none. */
  fit() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const em = this.em = parseFloat(getComputedStyle(this.canvas).fontSize), left = this.left * em;
    if (width < left + 4 * em) return false;
    this.ratio = Math.min(devicePixelRatio || 1, largestCanvas / Math.max(width, height));
    const size = [Math.floor(width * this.ratio), Math.floor(height * this.ratio)];
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
    this.area = {left, top: em / 2, width: width - left - em, height: height - 4 * em};
    return true;
  }

  draw() {
    const c = this.canvas.getContext("2d"), a = this.area;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    c.fillStyle = themed("paper");
    c.fillRect(a.left, a.top, a.width, a.height);
    c.save();
    c.beginPath();
    c.rect(a.left, a.top, a.width, a.height);
    c.clip();
    this.paint(c, this);
    this.drawCursor(c);
    c.restore();
    this.drawAxes(c);
  }

  drawCursor(c) {
    if (!this.cursor) return;
    const a = this.area, x = this.toX(this.cursor.x), y = this.toY(this.cursor.y);
    c.strokeStyle = themed("ink");
    c.globalAlpha = 0.5;
    c.setLineDash([3, 3]);
    c.beginPath();
    c.moveTo(x, a.top); c.lineTo(x, a.top + a.height);
    c.moveTo(a.left, y); c.lineTo(a.left + a.width, y);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  drawAxes(c) {
    const a = this.area, size = this.em;
    c.font = size + "px " + themed("font");
    c.fillStyle = themed("soft");
    c.strokeStyle = themed("line");
    c.strokeRect(a.left - 0.5, a.top - 0.5, a.width + 1, a.height + 1);
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const t of this.xAxis.ticks(this.x.low, this.x.high, a.width / (7 * size))) {
      const x = this.toX(t.at);
      c.fillRect(x, a.top + a.height, 1, 4);
      c.fillText(t.text, Math.min(x, a.left + a.width - c.measureText(t.text).width / 2), a.top + a.height + 6);
    }
    c.fillText(this.xAxis.title, a.left + a.width / 2, a.top + a.height + 1.9 * size);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const t of this.yAxis.ticks(this.y.low, this.y.high, a.height / (2.2 * size))) {
      const y = this.toY(t.at);
      if (y < a.top || y > a.top + a.height) continue;
      c.fillRect(a.left - 4, y, 4, 1);
      c.fillText(t.text, a.left - 7, Math.max(y, a.top + size / 2));
    }
    c.save();
    c.translate(size * 0.7, a.top + a.height / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(this.yAxis.title, 0, 0);
    c.restore();
  }
}

/** Ticks of things that are counted, in the middle of each: name(i) writes the i-th. */
const countedTicks = name => (low, high, n) =>
  ticks(low, high, n, 1).list.filter(Number.isInteger).map(i => ({at: i + 0.5, text: name(i)})).filter(t => t.at <= high);

/** Ticks of an axis of seconds. */
const timeTicks = (low, high, n) => {
  const t = ticks(low, high, n), texts = secondTicks(t);
  return t.list.map((at, i) => ({at, text: texts[i]}));
};
