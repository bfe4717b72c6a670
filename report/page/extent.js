// What stretch of an axis is seen: pictures that share an Extent are zoomed and moved together.

class Extent {
  /** The extent of a name, made if there is none; if there is, it grows to cover both runs. */
  static named(name, low, high, least) {
    let r = Extent.all.get(name);
    if (!r) Extent.all.set(name, r = new Extent(low, high, least));
    else if (low < r.full[0] || high > r.full[1]) {
      const whole = r.whole;
      r.full = [Math.min(low, r.full[0]), Math.max(high, r.full[1])];
      if (whole) r.reset();
    }
    const asked = Extent.asked.get(name); // by the page's address
    if (asked) r.set(...asked);
    return r;
  }

  constructor(low, high, least) {
    this.full = [low, high > low ? high : low + least];
    [this.low, this.high] = this.full;
    this.least = Math.min(least, this.width); // that it can be narrowed to
    this.listeners = [];
  }

  get width() { return this.high - this.low; }
  get whole() { return this.low === this.full[0] && this.high === this.full[1]; }

  /** Shows what is between two values, as far as there is something. */
  set(low, high) {
    const [first, last] = this.full;
    const width = Math.min(Math.max(high - low, this.least), last - first);
    low = Math.max(first, Math.min((low + high - width) / 2, last - width));
    high = low + width > last - width * 1e-9 ? last : low + width;
    if (low === this.low && high === this.high) return;
    [this.low, this.high] = [low, high];
    this.listeners.forEach(f => f());
    document.dispatchEvent(new Event("moved"));
  }

  /** Shows factor times as much, with the value at where it is. */
  zoom(factor, at = (this.low + this.high) / 2) {
    const width = Math.min(Math.max(this.width * factor, this.least), this.full[1] - this.full[0]);
    const low = at - (at - this.low) * width / this.width;
    this.set(low, low + width);
  }

  /** Moves by a share of what is seen. */
  move(share) {
    const by = Math.max(this.full[0] - this.low, Math.min(share * this.width, this.full[1] - this.high));
    this.set(this.low + by, this.high + by);
  }

  /** Moves as little as needed to see a value. */
  show(value) {
    if (value < this.low) this.move((value - this.low) / this.width - 0.1);
    if (value > this.high) this.move((value - this.high) / this.width + 0.1);
  }

  reset() { this.set(...this.full); }
}
Extent.all = new Map();
Extent.asked = new Map();

const keysOfPictures = "W, S: zoom; A, D: move; with Shift: rows. Arrows: cursor. 0: all.";

/** What the keys of Perfetto do to the extents of a picture; true if the key is one. */
function keyMoves(event, x, y) {
  const one = [event.shiftKey && y ? y : x], both = [x, y].filter(Boolean), closer = r => r.zoom(0.7), further = r => r.zoom(1 / 0.7);
  const [moved, move] = {
    w: [one, closer], s: [one, further], a: [one, r => r.move(-0.2)], d: [one, r => r.move(0.2)],
    "+": [both, closer], "=": [both, closer], "-": [both, further], 0: [both, r => r.reset()],
  }[event.key.toLowerCase()] || [];
  if (!moved || event.ctrlKey || event.altKey || event.metaKey) return false;
  moved.forEach(move);
  return true;
}

/** Has mouse and touch move the extents of a picture: drag, pinch, and the wheel where it has the focus. */
function pointerMoves(picture) {
  const {canvas, x, y} = picture, down = new Map();
  let moved = 0;
  const spread = axis => Math.abs([...down.values()].reduce((s, p, i) => s + (i ? -1 : 1) * p[axis], 0));
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), at = picture.valuesAt(event);
    x.zoom(factor, at.x);
    if (y && picture.wheelRows) y.zoom(factor, at.y);
  }, {passive: false});
  canvas.addEventListener("pointerdown", event => {
    down.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener("pointermove", event => {
    const last = down.get(event.pointerId), now = {x: event.offsetX, y: event.offsetY};
    if (!last) return picture.say(picture.valuesAt(event));
    const before = {x: spread("x"), y: spread("y")};
    down.set(event.pointerId, now);
    moved += Math.hypot(now.x - last.x, now.y - last.y);
    if (down.size === 1 && moved > 3) {
      x.move((last.x - now.x) / picture.area.width);
      if (y) y.move((last.y - now.y) / picture.area.height);
    } else if (down.size === 2) {
      const at = picture.valuesAt(event);
      if (before.x > 20) x.zoom(before.x / Math.max(1, spread("x")), at.x);
      if (y && before.y > 20) y.zoom(before.y / Math.max(1, spread("y")), at.y);
    }
  });
  const up = event => {
    if (event.type === "pointerup" && down.size === 1 && moved <= 3) picture.press(picture.valuesAt(event));
    down.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("dblclick", () => { x.reset(); if (y) y.reset(); });
}
