// Two runs: what differs, and where the one falls behind the other.

/** The mean rank's times in both, the greatest difference first. */
function differenceTable(first, second) {
  const rows = [], add = (name, a, b) => rows.push([name, seconds(a), seconds(b), signed(b - a, seconds),
    a > 0 ? signed((b - a) / a, x => percent(x, 2)) : "–", meter(Math.abs(b - a) / most, b > a ? "#D55E00" : "#009E73")]);
  let most = Math.abs(second.answer.makespan_s - first.answer.makespan_s);
  const lists = ["kind", "kernel", "phase"].map(by => {
    const a = new Map(timesBy(first, by).map(x => [x.name, x.mean])), b = new Map(timesBy(second, by).map(x => [x.name, x.mean]));
    const names = [...new Set([...a.keys(), ...b.keys()])].map(n => [n, a.get(n) || 0, b.get(n) || 0]);
    names.forEach(([, x, y]) => { most = Math.max(most, Math.abs(y - x)); });
    return [by, names.sort((x, y) => Math.abs(y[2] - y[1]) - Math.abs(x[2] - x[1]))];
  });
  add("makespan", first.answer.makespan_s, second.answer.makespan_s);
  lists.forEach(([by, names]) => names.forEach(([n, a, b]) => add(by + ": " + n, a, b)));
  return table(["what", "#A", "#B", "#B − A", "#relative", ""], rows, "Mean time of a rank in A and in B");
}

/** How much later the second run begins each step; null if the two do not have the same steps. */
async function behindOf(first, second) {
  const [a, b] = [first, second].map(run => run.record && run.record.columns);
  if (!a || !b || a.kind !== "step" || b.kind !== "step" || a.first !== b.first || a.count !== b.count) return null;
  const [from, to] = await Promise.all([a, b].map(columns => unpack(columns, {starts: Float64Array}))), axis = columnAxis(a);
  const values = Array.from(to.starts, (v, i) => v - from.starts[i]);
  return figure(second, {
    title: "B behind A", how: "When the mean rank of B begins each step, less when that of A does. Where the curve rises, B is slower.",
    picture: chart({
      label: "How far B is behind A", x: values.map((_, c) => axis.at(c - 0.5)), range: axis.range, xAxis: axis, yTitle: "B behind A",
      write: v => (v === 0 ? "0 s" : signed(v, x => seconds(x, 3))), series: [{name: "B behind A", colour: palette[5], values}],
    }),
    rows: () => table(["step", "#A", "#B", "#B behind A"],
      values.map((v, i) => [axis.name(axis.at(i)), seconds(from.starts[i]), seconds(to.starts[i]), signed(v, seconds)])),
  });
}
