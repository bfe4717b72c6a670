// Two runs: what differs, by their comparison, and where the one falls behind the other.

/** What a figure of both runs is named and labelled by. */
const bothOf = (first, second) => ({name: second.name, labels: [first, second].flatMap(run => run.labels.map(text => `${run.name}: ${text}`))});

/** The makespan, the rate and the mean rank's times in both, the greatest differences first; null if nothing has compared them. */
function differencesOf(first, second) {
  const {name, against: c} = second, size = d => Math.abs(d.difference), soft = x => h("span", {class: "soft"}, x);
  if (!c) return null;
  const times = ["kind", "kernel", "device", "phase"].flatMap(by => c["time_by_" + by].map(d => ({...d, name: `${by}: ${d.name}`}))).sort((x, y) => size(y) - size(x));
  const list = [{...c.makespan_s, name: "makespan"}, ...times], most = Math.max(...list.map(size), 1e-300), colours = {more: "#D55E00", less: "#009E73"};
  const chance = p => (p === undefined ? "–" : p < 0.0001 ? "<0.0001" : p.toFixed(4)), share = x => percent(x, 2);
  const row = ({name: what, a, b, difference, interval: i, relative, p, p_holm: holm = p, verdict}, write, bar) => {
    const change = verdict === "equal" ? ["=", "–", "="] : [signed(difference, write),
      i ? ["low", "high"].map(end => signed(i[end], x => write(x, 3))).join(" to ") : "–", relative === undefined ? "new" : signed(relative, share)];
    const cells = [what, write(a), write(b), ...change, chance(holm), verdict];
    return [...(colours[verdict] ? cells : cells.map(soft)), bar ? meter(bar / most, colours[verdict] || "var(--soft)") : ""];
  };
  const rows = list.map(d => row(d, seconds, size(d))), rate = c.gflops ? [row({...c.gflops, name: "rate"}, flops)] : [];
  const columns = ["what", "#A", "#" + name, `#${name} − A`, "#95 % interval", "#relative", "#p", name + " is", ""];
  const shown = leading(columns, rows.toSpliced(1, 0, ...rate), 14), said = c.says.map(text => h("p", {}, text.replace(/\bB\b/g, name) + "."));
  return figure(bothOf(first, second), {
    title: "Mean time of a rank", ...shown, picture: [said, c.warnings.map(text => h("p", {class: "label"}, text)), shown.picture],
    how: `Green: ${name} takes less than A; red: more; grey: no more than noise may make. The greatest differences come first. Phases may lie inside each other.`,
  });
}

/** How much later the second run begins each step; null if the two do not have the same steps. */
async function behindOf(first, second) {
  const [a, b] = [first, second].map(run => run.record && run.record.columns);
  if (!a || !b || a.kind !== "step" || b.kind !== "step" || a.first !== b.first || a.count !== b.count) return null;
  const [from, to] = await Promise.all([a, b].map(columns => unpack(columns, {starts: Float64Array}))), axis = columnAxis(a);
  const values = Array.from(to.starts, (v, i) => v - from.starts[i]);
  if (values.every(v => v === 0)) return null;
  const behind = second.name + " behind A";
  return figure(bothOf(first, second), {
    title: "How far behind A", how: `When the mean rank begins each step, less when that of A does. Where the curve rises, ${second.name} is slower.`,
    picture: chart({
      label: behind, x: values.map((_, c) => axis.at(c - 0.5)), range: axis.range, xAxis: axis, yTitle: behind,
      write: v => (v === 0 ? "0 s" : signed(v, x => seconds(x, 3))), series: [{name: behind, colour: "#D55E00", values}],
    }),
    rows: () => table(["step", "#A", "#" + second.name, "#" + behind],
      values.map((v, i) => [axis.name(axis.at(i)), seconds(from.starts[i]), seconds(to.starts[i]), signed(v, seconds)])),
  });
}
