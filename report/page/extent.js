// What stretch of an axis is seen: pictures that share an Extent are zoomed and moved together.

/** A value, or the nearest between two others. */
const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

class Extent {
  /** The extent of a name, made if there is none; if there is, it grows to cover both runs. */
  static named(name, low, high, least) {
    const e = cached(Extent.all, name, () => new Extent(low, high, least)), {whole, full: [first, last]} = e;
    e.full = [Math.min(low, first), Math.max(high, last)];
    if (whole) e.reset();
    if (Extent.asked.has(name)) e.set(...Extent.asked.get(name)); // by the page's address
    return e;
  }

  constructor(low, high, least) {
    this.full = [low, high > low ? high : low + least];
    [this.low, this.high] = this.full;
    this.least = Math.min(least, this.width); // that it can be narrowed to
    this.listeners = [];
  }

  get width() { return this.high - this.low; }
  get middle() { return (this.low + this.high) / 2; }
  get whole() { return this.low === this.full[0] && this.high === this.full[1]; }

  /** Shows what is between two values, as far as there is something. */
  set(low, high) {
    const [first, last] = this.full, width = clamp(high - low, this.least, last - first);
    low = Math.max(first, Math.min((low + high - width) / 2, last - width));
    high = low + width > last - width * 1e-9 ? last : low + width;
    if (low === this.low && high === this.high) return;
    [this.low, this.high] = [low, high];
    this.listeners.forEach(f => f());
    document.dispatchEvent(new Event("moved"));
  }

  /** Shows factor times as much, with the value at where it is. */
  zoom(factor, at = this.middle) {
    const width = clamp(this.width * factor, this.least, this.full[1] - this.full[0]), low = at - (at - this.low) * width / this.width;
    this.set(low, low + width);
  }

  /** Moves by a share of what is seen. */
  move(share) { this.set(this.low + share * this.width, this.high + share * this.width); }

  /** Moves a value that is not seen to the middle. */
  show(value) { if (value < this.low || value > this.high) this.move((value - this.middle) / this.width); }

  reset() { this.set(...this.full); }
}
Extent.all = new Map();
Extent.asked = new Map();

const keysOfPictures = "W, S: zoom; A, D: move; with Shift: rows. Arrows: cursor. 0: all.";

/** What the keys of Perfetto do to the extents of a picture, x and if it has rows y; true if the key is one. */
function keyMoves(event, x, y = x) {
  const one = [event.shiftKey ? y : x], both = new Set([x, y]), closer = e => e.zoom(0.7), further = e => e.zoom(1 / 0.7);
  const [moved, move] = {
    w: [one, closer], s: [one, further], a: [one, e => e.move(-0.2)], d: [one, e => e.move(0.2)],
    "+": [both, closer], "=": [both, closer], "-": [both, further], 0: [both, e => e.reset()],
  }[event.key.toLowerCase()] || [];
  if (!moved || event.ctrlKey || event.altKey || event.metaKey) return false;
  moved.forEach(move);
  return true;
}

/** Has mouse and touch move the extents of a picture: drag, pinch, and the wheel where it has the focus. */
function pointerMoves(picture) {
  const {canvas, x, y} = picture, down = new Map(); // where each finger is
  let moved = 0; // pixels, of a press with one finger
  /** Middle and spread of the fingers to a side. */
  const grip = side => {
    const all = [...down.values()].map(p => p[side]), low = Math.min(...all), high = Math.max(...all);
    return {middle: (low + high) / 2, spread: Math.max(20, high - low)};
  };
  /** Has an extent follow from a grip to the next, over so many pixels. */
  const follow = (extent, from, to, begin, size) => {
    extent.move((from.middle - to.middle) / size);
    if (from.spread !== to.spread) extent.zoom(from.spread / to.spread, extent.low + (to.middle - begin) / size * extent.width);
  };
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const factor = Math.exp(clamp(event.deltaY, -60, 60) * 0.005), at = picture.valuesAt(event);
    x.zoom(factor, at.x);
    if (picture.wheelRows) y.zoom(factor, at.y);
  }, {passive: false});
  canvas.addEventListener("pointerdown", event => {
    moved = down.size ? Infinity : 0;
    down.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const last = down.get(event.pointerId), now = {x: event.offsetX, y: event.offsetY}, {area} = picture;
    if (!last) return picture.say(picture.valuesAt(event));
    moved += Math.hypot(now.x - last.x, now.y - last.y);
    if (moved <= 3) return; // a press that trembles
    const from = {x: grip("x"), y: grip("y")};
    down.set(event.pointerId, now);
    follow(x, from.x, grip("x"), area.left, area.width);
    follow(y, from.y, grip("y"), area.top, area.height);
  });
  canvas.addEventListener("pointerup", event => { if (moved <= 3) picture.press(picture.valuesAt(event)); });
  canvas.addEventListener("lostpointercapture", event => down.delete(event.pointerId)); // up, or the browser's own gesture
  canvas.addEventListener("dblclick", () => [x, y].forEach(e => e.reset()));
}
