// Two runs: what differs, and where the one falls behind the other.

/** The makespan and the mean rank's times in both, the greatest differences first. */
function differencesOf(first, second) {
  const list = ["kind", "kernel", "phase"].flatMap(by => {
    const [a, b] = [first, second].map(run => new Map(timesBy(run, by).map(x => [x.name, x.mean])));
    return [...new Set([...a.keys(), ...b.keys()])].map(name => ({name: `${by}: ${name}`, a: a.get(name) || 0, b: b.get(name) || 0}));
  }).sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
  list.unshift({name: "makespan", a: first.answer.makespan_s, b: second.answer.makespan_s});
  const most = Math.max(...list.map(x => Math.abs(x.b - x.a)), 1e-300), columns = ["what", "#A", "#" + second.name, `#${second.name} − A`, "#relative", ""];
  const rows = list.map(({name, a, b}) => [name, seconds(a), seconds(b), signed(b - a, seconds),
    a > 0 ? signed((b - a) / a, x => percent(x, 2)) : "–", meter(Math.abs(b - a) / most, b > a ? "#D55E00" : "#009E73")]);
  return figure(second, {
    title: "Mean time of a rank", ...leading(columns, rows, 12),
    how: `Green bars: ${second.name} takes less than A; red ones: more. ` + "The greatest differences come first. Phases may lie inside each other.",
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
  return figure(second, {
    title: "How far behind A", how: `When the mean rank begins each step, less when that of A does. Where the curve rises, ${second.name} is slower.`,
    picture: chart({
      label: behind, x: values.map((_, c) => axis.at(c - 0.5)), range: axis.range, xAxis: axis, yTitle: behind,
      write: v => (v === 0 ? "0 s" : signed(v, x => seconds(x, 3))), series: [{name: behind, colour: palette[5], values}],
    }),
    rows: () => table(["step", "#A", "#" + second.name, "#" + behind],
      values.map((v, i) => [axis.name(axis.at(i)), seconds(from.starts[i]), seconds(to.starts[i]), signed(v, seconds)])),
  });
}
