// Numbers with their units, as people read them.

/** Rounds to so many significant digits, or to a whole number, with commas between thousands. */
function digits(value, significant = 4) {
  if (!isFinite(value)) return "–";
  if (value === 0) return "0";
  const n = Math.max(significant, Math.floor(Math.log10(Math.abs(value))) + 1);
  return value.toLocaleString("en-US", {minimumSignificantDigits: n, maximumSignificantDigits: n});
}

/** Writes a value with the prefix that leaves it between 1 and 1000. */
function prefixed(value, unit, prefixes, significant) {
  const [factor, prefix] = prefixes.find(([f]) => Math.abs(value) >= f * 0.9995) || prefixes[prefixes.length - 1];
  return digits(value / factor, significant) + " " + prefix + unit;
}

const small = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
const large = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
/** Seconds, from ns up to thousands of s. */
const seconds = (value, significant = 4) => (value === 0 ? "0 s" : prefixed(value, "s", small, significant));
/** Two times with the digits that tell them apart. */
const between = (a, b, n = 4) => (n < 15 && a < b && seconds(a, n) === seconds(b, n) ? between(a, b, n + 1) : seconds(a, n) + " to " + seconds(b, n));
/** A point of time with all digits that tell it from others nearby. */
const moment = value => Number(value.toPrecision(10)) + " s";
/** Bytes with decimal prefixes. */
const bytes = value => prefixed(value, "B", large, 3);
/** A rate of flop/s, given in Gflop/s. */
const flops = gflops => prefixed(gflops * 1e9, "flop/s", large, 4);
/** An energy and a power. */
const joules = value => prefixed(value, "J", large, 5), watts = value => prefixed(value, "W", large, 4);
/** A share of 1 in percent. */
const percent = (value, places = 1) => (isFinite(value) ? (100 * value).toFixed(places) + " %" : "–");
/** A whole number. */
const count = value => value.toLocaleString("en-US", {maximumFractionDigits: 0});
/** Writes a difference with its sign. */
const signed = (value, write) => (value > 0 ? "+" : value < 0 ? "−" : "±") + write(Math.abs(value));

/** Places of ticks between two values: at most about n, at 1, 2 or 5 times a power of ten. */
function ticks(low, high, n, least = 0) {
  const rough = Math.max((high - low) / Math.max(1, n), least, 1e-15), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * 0.999), list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && list.length < 100; i++) list.push(i * step + 0); // never -0
  return {list, step};
}
