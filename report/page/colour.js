// Colours that the colour-blind tell apart (Okabe and Ito), and the two themes.

const palette = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"];

/** What has the same colour everywhere. */
const known = {
  compute: "#0072B2", wait: "#E69F00", poll: "#D55E00", overhead: "#CC79A7", collective: "#009E73",
  transfer: "#56B4E9", send: "#56B4E9", recv: "#F0E442", exchange: "#999999", sleep: "#666666", other: "#777777",
};

/** The colour of a name that is the i-th of its list. */
const colourOf = (name, i) => known[name] || palette[i % palette.length];

/** Red, green and blue of a colour such as "#0072B2". */
const rgb = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));

/** Black or white, whichever is read better on a colour. */
function inkOn(colour) {
  const [r, g, b] = rgb(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000000" : "#ffffff";
}

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
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  document.dispatchEvent(new Event("theme"));
}

/** The theme of the fragment, else of the system, of which changes are followed. */
function beginTheme(chosen) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(chosen || (system.matches ? "dark" : "light"));
  if (!chosen) system.addEventListener("change", event => setTheme(event.matches ? "dark" : "light"));
  let before = null;
  addEventListener("beforeprint", () => {
    before = isDark() ? "dark" : "light";
    setTheme("light");
    document.querySelectorAll(".inputs").forEach(e => { e.open = true; });
  });
  addEventListener("afterprint", () => setTheme(before));
}
