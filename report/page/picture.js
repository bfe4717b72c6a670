// A canvas with axes, a cursor and a line of text that says what is under it.

const largestCanvas = 32767; // pixels: a canvas beyond draws nothing

/** Returns what has an element drawn in the next frame: at once if it is in view, else when it comes there. */
function drawn(element, draw) {
  let asked = false, seen = false;
  const frame = () => { if (seen && asked) requestAnimationFrame(() => { if (asked) draw(); asked = false; }); };
  const soon = () => { if (!asked) { asked = true; frame(); } };
  new IntersectionObserver(list => { seen = list.pop().isIntersecting; frame(); }, {rootMargin: "20%"}).observe(element);
  new ResizeObserver(soon).observe(element);
  document.addEventListener("theme", soon);
  document.addEventListener("print", draw);
  return soon;
}

class Picture {
  /**
   * o.label says what it shows; o.x and o.y are Extents; o.height is in rem, o.left, of the labels of rows, in em.
   * o.xAxis and o.yAxis are {title, ticks(low, high, n) => [{at, text}]}.
   * o.paint(context, picture) draws; o.describe({x, y}) returns the text for a place, and
   * o.step({x, y}, dx, dy) the place beside it; o.choose({x, y}) is called for a click or Enter.
   */
  constructor(o) {
    Object.assign(this, {wheelRows: false, left: 5, cursor: null, area: {left: 0, top: 0, width: 1, height: 1}, choose() {}}, o);
    this.canvas = h("canvas", {tabindex: 0, role: "application", "aria-label": o.label + ". " + keysOfPictures, style: {height: o.height + "rem"}});
    this.readout = h("p", {class: "readout", role: "status"}, o.hint || "Move over the picture, or use the arrow keys.");
    this.element = h("div", {class: "picture"}, this.canvas, this.readout);
    this.redraw = drawn(this.canvas, () => this.draw());
    pointerMoves(this);
    this.canvas.addEventListener("keydown", event => this.key(event));
    [this.x, this.y].forEach(e => e.listeners.push(this.redraw));
  }

  key(event) {
    const arrow = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (arrow) {
      this.point(this.step(this.cursor || {x: this.x.middle, y: this.y.middle}, ...arrow));
      this.x.show(this.cursor.x);
      this.y.show(this.cursor.y);
    } else if (event.key === "Enter" && this.cursor) this.press(this.cursor);
    else if (!keyMoves(event, this.x, this.y)) return;
    event.preventDefault();
  }

  /** Puts the cursor on a place and says what is there. */
  point(at) {
    this.cursor = at;
    this.say(at);
    this.redraw();
  }

  press(at) {
    this.canvas.focus({preventScroll: true});
    this.point(at);
    this.choose(at);
  }

  say(at) { this.readout.textContent = this.describe(at) || this.readout.textContent; }

  /** The values under the pointer. */
  valuesAt({offsetX, offsetY}) {
    const {x, y, area: a} = this;
    return {x: x.low + (offsetX - a.left) / a.width * x.width, y: y.low + (offsetY - a.top) / a.height * y.width};
  }

  toX(value) { return this.area.left + (value - this.x.low) / this.x.width * this.area.width; }
  toY(value) { return this.area.top + (value - this.y.low) / this.y.width * this.area.height; }

  /** Fits the canvas to its place on the page; false if it has none. */
  fit() {
    const {canvas, canvas: {clientWidth: width, clientHeight: height}} = this, em = this.em = parseFloat(getComputedStyle(canvas).fontSize);
    if (width < (this.left + 4) * em) return false;
    this.ratio = Math.min(devicePixelRatio || 1, largestCanvas / Math.max(width, height));
    const size = [Math.floor(width * this.ratio), Math.floor(height * this.ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    this.area = {left: this.left * em, top: em / 2, width: width - (this.left + 1) * em, height: height - 4 * em};
    return true;
  }

  draw() {
    const begin = performance.now();
    if (!this.fit()) return;
    const c = this.canvas.getContext("2d", {alpha: false}), a = this.area;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = themed("paper");
    c.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    c.save();
    c.beginPath();
    c.rect(a.left, a.top, a.width, a.height);
    c.clip();
    this.paint(c, this);
    if (this.cursor) {
      Object.assign(c, {fillStyle: themed("ink"), globalAlpha: 0.5});
      c.fillRect(this.toX(this.cursor.x) - 0.5, a.top, 1, a.height);
      c.fillRect(a.left, this.toY(this.cursor.y) - 0.5, a.width, 1);
    }
    c.restore();
    this.drawAxes(c);
    Picture.lastFrame = performance.now() - begin;
  }

  drawAxes(c) {
    const {area: a, em, xAxis, yAxis} = this, below = a.top + a.height;
    Object.assign(c, {font: em + "px " + themed("font"), fillStyle: themed("soft"), strokeStyle: themed("line")});
    c.strokeRect(a.left - 0.5, a.top - 0.5, a.width + 1, a.height + 1);
    Object.assign(c, {textAlign: "center", textBaseline: "top"});
    for (const t of xAxis.ticks(this.x.low, this.x.high, a.width / (7 * em))) {
      c.fillRect(this.toX(t.at), below, 1, 4);
      c.fillText(t.text, Math.min(this.toX(t.at), a.left + a.width - c.measureText(t.text).width / 2), below + 6);
    }
    c.fillText(xAxis.title, a.left + a.width / 2, below + 1.9 * em);
    Object.assign(c, {textAlign: "right", textBaseline: "middle"});
    for (const t of yAxis.ticks(this.y.low, this.y.high, a.height / (2.2 * em))) {
      const y = this.toY(t.at);
      if (y < a.top || y > below) continue;
      c.fillRect(a.left - 4, y, 4, 1);
      c.fillText(t.text, a.left - 7, Math.max(y, a.top + em / 2));
    }
    c.textAlign = "center";
    c.translate(em * 0.7, a.top + a.height / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(yAxis.title, 0, 0);
  }
}

/** Ticks of things that are counted, in the middle of each: name(i) writes the i-th. */
const countedTicks = name => (low, high, n) =>
  ticks(low, high, n, 1).list.filter(Number.isInteger).map(i => ({at: i + 0.5, text: name(i)})).filter(t => t.at <= high);

/** Ticks of an axis of seconds, all in the unit that suits the largest. */
const timeTicks = (low, high, n) => {
  const {list, step} = ticks(low, high, n), largest = Math.max(...list.map(Math.abs), step);
  const [factor, prefix] = small.find(([f]) => largest >= f) || small[small.length - 1];
  const places = clamp(-Math.floor(Math.log10(step / factor) + 1e-9), 0, 9);
  return list.map(at => ({at, text: (at / factor).toFixed(places) + " " + prefix + "s"}));
};
