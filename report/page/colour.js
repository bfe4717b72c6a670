// Colours that the colour-blind tell apart (Okabe and Ito), and the two themes.

/** Of kernels, phases and links: the first ones are none of those below, so that a colour has one meaning. */
const palette = ["#0072B2", "#56B4E9", "#009E73", "#8E7CC3", "#94D1B9", "#5F7A8A", "#B5DDF5", "#999999"];

/**
 * What has the same colour everywhere: kinds of time, and parts of the critical path. All kinds of waiting are shades of
 * the colour that stands for their sum in matrix and timeline, and messages on the path are shades of another.
 */
const known = {
  compute: "#0072B2", waiting: "#E69F00", poll: "#D55E00", overhead: "#CC79A7", sleep: "#666666", other: "#777777",
  recv: "#E69F00", send: "#FFD58A", wait: "#8A6100", exchange: "#F0E442", collective: "#B87333",
  device: "#6A3D9A", busy: "#0072B2", "waits for messages": "#E69F00", "waits for the host": "#B8A9C9",
  kernel: "#0072B2", flop: "#0072B2", wire: "#56B4E9", contention: "#009E73", latency: "#B5DDF5",
};

/** The colour of a name that is the i-th of its list. */
const colourOf = (name, i) => known[name] || palette[i % palette.length];
/** The key of states; waiting is a sum of kinds. */
const stateLegend = states => legend(states.map((name, i) =>
  ({name, colour: colourOf(name, i), text: name === "waiting" ? "in send, recv, exchange, wait, collective" : null})));
/** Red, green and blue of a colour such as "#0072B2". */
const rgb = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
/** Black or white, whichever is read better on a colour. */
const inkOn = colour => (rgb(colour).reduce((sum, v, i) => sum + v * [0.299, 0.587, 0.114][i], 0) > 140 ? "#000000" : "#ffffff");
/** A colour of the style sheet, such as themed("ink"). */
const themed = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const isDark = () => document.documentElement.dataset.theme === "dark";

/** 256 pixels from the paper's colour to another, as the bytes of an image have them. */
function shades(colour, least = 0) {
  const from = rgb(themed("paper")), to = rgb(colour);
  return Uint32Array.from({length: 256}, (_, i) => {
    const t = i === 0 ? 0 : least + (1 - least) * i / 255;
    const [r, g, b] = from.map((f, k) => Math.round(f + (to[k] - f) * t));
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  });
}

/** Switches the theme and has all pictures drawn anew. */
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.dispatchEvent(new Event("theme"));
}

/** The theme of the fragment, else of the system, of which changes are followed; paper is white. */
function beginTheme(chosen) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(chosen ? chosen === "dark" : system.matches);
  if (!chosen) system.addEventListener("change", event => setTheme(event.matches));
  addEventListener("beforeprint", () => {
    const before = isDark();
    addEventListener("afterprint", () => setTheme(before), {once: true});
    setTheme(false);
    document.dispatchEvent(new Event("print"));
    document.querySelectorAll(".inputs").forEach(e => { e.open = true; });
  });
}
