// The first screen: what came out, why, and of what.

/** Where the time of a rank went: by "kind", "kernel" or "phase", of a replay, of an estimate or of several replays; or that of its device. */
function timesBy(run, by) {
  const list = run.result["time_by_" + by] || run.result[by], part = s => ({name: s.name, mean: s.mean_s, min: s.min_s, max: s.max_s, interval: s.interval_s});
  return (list && list.length ? list : (run.tables || []).find(t => t.by === by)?.rows || []).map(part);
}

/** The largest of a list, and what is left taken together. */
function largest(list, n) {
  const sorted = [...list].sort((a, b) => b.mean - a.mean), rest = sorted.slice(n);
  return rest.length < 2 ? sorted : [...sorted.slice(0, n), {name: "other", mean: rest.reduce((s, r) => s + r.mean, 0)}];
}

/** The host of each rank. */
const hostsOf = run => (Array.isArray(run.result.ranks) ? run.result.ranks : []).map(r => r.host);

function answerOf(run) {
  const a = run.answer, hosts = hostsOf(run), used = new Set(hosts).size, i = a.interval_s;
  const fact = (name, value, note, main) =>
    h("div", {class: main ? "fact main" : "fact"}, h("dt", {}, name), h("dd", {}, value), note ? h("dd", {class: "note"}, note) : null);
  return [
    run.name && h("h2", {}, run.name),
    h("dl", {class: "facts"},
      fact(run.result.stopped_at_s === undefined ? "makespan" : "so far", seconds(a.makespan_s, 5), i
        ? `${between(i.low_s, i.high_s)}, ${percent(i.level, 0)} sure` : "no interval", true),
      a.gflops > 0 ? fact("rate", flops(a.gflops), a.efficiency ? `${percent(a.efficiency)} of ${flops(a.peak_gflops)}, the peak of what the ranks use`
        : "above the speed that the platform states for its cores, so no share of a peak", true) : null,
      a.energy ? fact("energy", joules(a.energy.total_j), powerOf(a.energy)) : null,
      hosts.length ? fact("ranks", count(hosts.length), "on " + count(used) + (used === 1 ? " host" : " hosts")) : null,
      fact(run.result.estimate ? "messages simulated" : "messages", count(a.messages), a.bytes > 0 ? bytes(a.bytes) : null),
      fact("replayed in", seconds(a.wall_s, 3), a.wall_s > 0 ? count(a.messages / a.wall_s) + " messages/s" : null)),
    i || a.no_interval ? h("p", {class: "confidence"}, i ? i.covers : a.no_interval) : null,
    run.diagnosis.length ? h("ol", {class: "diagnosis"}, run.diagnosis.map(s => h("li", {}, s))) : null,
    ...[["kind", "Time of a rank"], ["kernel", "Computation"], ["phase", "Phases"], ["device_by_state", "Devices"],
      ["device_time", "Kernels on devices"]].map(([by, title]) => timesFigure(run, by, title)),
    energyFigure(run),
    partsOf(run),
    inputsOf(run),
  ];
}

/** Where the mean rank's time went, as a bar with its table; phases, and kernels in several queues, lie beside each other and get no bar. */
function timesFigure(run, by, title) {
  const list = timesBy(run, by), sum = list => list.reduce((s, x) => s + x.mean, 0);
  if (!list.length || sum(list) <= 0) return null;
  const {estimate} = run.result, one = run.tables ? "replay" : "rank", beside = {
    phase: "Time from begin to end of each phase, mean of the ranks, and its share of the mean rank's time. Phases may lie inside each other: shares do not add up.",
    device_time: "Kernels in the queues of the mean rank's device, and their share of the rank's time. Queues run at the same time: shares do not add up.",
  }[by], whole = sum(beside ? timesBy(run, "kind") : list);
  const rows = () => table(["name", "", "#share", "#mean", ...(estimate ? ["#± 95 %"] : ["#least of a " + one, "#most of a " + one])],
    [...list].sort((x, y) => y.mean - x.mean).map((x, i) => [x.name, meter(x.mean / whole, colourOf(x.name, i)), percent(x.mean / whole), seconds(x.mean),
      ...(estimate ? [seconds(x.interval, 2)] : [seconds(x.min), seconds(x.max)])]), beside ? null : title);
  if (beside) return figure(run, {title, picture: rows(), how: beside});
  const bar = stackedBar(largest(list, 7).map((x, i) => ({name: x.name, value: x.mean, colour: colourOf(x.name, i), text: seconds(x.mean)})), title);
  return figure(run, {title, picture: bar, rows, how: {kind: "What the mean rank spends its time on, from its begin to its end.", kernel: "The computation of the mean rank by kernel.",
    device_by_state: "What the mean rank's device does meanwhile: any of its queues runs, or none does and the rank waits for messages, or works."}[by]});
}

/** The power of a run, in words. */
function powerOf(e) {
  const peak = e.peak_watts > 0 ? `, peak ${watts(e.peak_watts)} (mean of ${seconds(e.peak_interval_s, 2)})` : "";
  return `mean power ${watts(e.mean_watts)}${peak}${e.gflops_per_watt > 0 ? `, ${digits(e.gflops_per_watt)} Gflops/W` : ""}`;
}

/** The energy of the hosts and links that take most. */
function energyFigure(run) {
  const {hosts, links, makespan_s: time} = run.result, list = [hosts, links].filter(Array.isArray).flat().sort((a, b) => b.energy_j - a.energy_j);
  if (!run.answer.energy || !list.length) return null;
  return figure(run, {title: "Energy", how: "Hosts and links by their energy.",
    ...leading(["host or link", "#energy", "#mean power"], list.map(x => [x.name, joules(x.energy_j), time > 0 ? watts(x.energy_j / time) : "–"]), 8)});
}

/** What the answer was made from: windows of steps, or replays with several seeds or on drawn machines. */
function partsOf(run) {
  const {windows, simulated_steps: simulated, steps, runs, draws} = run.result, list = windows || runs || draws || [];
  if (!list.length) return null;
  return figure(run, windows ? {
    title: "Windows", how: `${count(simulated)} of ${count(steps)} steps were replayed, in windows; the others follow from those beside them. ` +
      "The steps before the counted ones are warm-up.",
    rows: () => table(["steps replayed", "steps counted", "#mean step"], list.map(w => [`${w.from}:${w.to}`, `${w.measured}:${w.to}`, seconds(w.mean_step_s)])),
  } : {
    title: "Replays", how: "Each replay with its seed, which names its random numbers.",
    rows: () => table(["seed", "#makespan", "#rate"], list.map(r => [String(r.seed), seconds(r.makespan_s, 6), r.gflops > 0 ? flops(r.gflops) : "–"])),
  });
}

function inputsOf(run) {
  const i = run.inputs, pair = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  return h("details", {class: "inputs"}, h("summary", {}, "Inputs"), h("dl", {class: "pairs"},
    pair("command", h("code", {}, i.command)), pair("tool", i.tool),
    i.files.map(f => pair(f.what, [f.name, f.sha256 ? h("code", {class: "hash"}, " sha256 " + f.sha256) : null])),
    i.parameters.map(p => pair(p.title, p.value)),
    (run.result.warnings || []).map(w => pair("warning", [w.file, w.line ? ":" + w.line : "", w.file ? ": " : "", w.text || String(w)]))));
}
