// Puts the page together: a section for each thing that some run has recorded.

function efficiencies(run) {
  const p = run.pop, row = (depth, name, value, how) => [h("span", {class: "depth" + depth}, name),
    meter(value, value < 0.8 ? "#D55E00" : "#009E73"), percent(value), value < 0.8 ? "worth a look" : "acceptable", how];
  return figure(run, {
    title: "POP efficiencies",
    how: "Each is the product of those below it that are set further in; from 80 % on POP calls one acceptable. " + p.notes.join(" "),
    picture: table(["efficiency", "", "#", "", "from"], [
      row(0, "parallel", p.parallel, "load balance × communication"),
      row(1, "load balance", p.load_balance, `${seconds(p.mean_useful_s)} of computation of the mean rank, ${seconds(p.most_useful_s)} of the one with most`),
      row(1, "communication", p.communication, "serialisation × transfer"),
      row(2, "serialisation", p.serialisation, `${seconds(p.most_useful_s)} of computation, ${seconds(p.ideal_s)} on a network that takes no time`),
      row(2, "transfer", p.transfer, "wire × contention"),
      row(3, "wire", p.wire, `${seconds(p.ideal_s)} on a network that takes no time, ${seconds(p.uncontended_s)} where no message slows another`),
      row(3, "contention", p.contention, `${seconds(p.uncontended_s)} where no message slows another, ${seconds(p.runtime_s)} as it is`)]),
  });
}

/** The sections: which runs have them, and what they show of one. */
const sections = [
  ["differences", "Differences", run => run.base, run => Promise.all([differencesOf(run.base, run), behindOf(run.base, run)])],
  ["answer", "Answer", () => true, answerOf],
  ["steps", "Over time", run => run.record && run.record.columns.count > 1, curvesOf],
  ["matrix", "Matrix", run => run.record && run.record.columns.count > 0, matrixOf],
  ["timeline", "Timeline", run => run.timelines && run.timelines.length, run => Promise.all(run.timelines.map((w, i) => timelineOf(run, w, i)))],
  ["path", "Critical path", run => run.path && run.path.seconds_s > 0, pathOf],
  ["links", "Links", run => run.record && run.record.links.levels.length, linksOf],
  ["communication", "Communication", run => run.record && run.record.communication.length && run.answer.messages, communicationOf],
  ["pop", "Efficiency", run => run.pop, efficiencies],
];

async function main() {
  const {runs, comparison} = JSON.parse(document.getElementById("report-data").textContent, (_, v) => v ?? []), place = readFragment();
  if (runs.length > 1) runs.forEach((run, i) => Object.assign(run, {name: "ABCDEFGH"[i], base: i ? runs[0] : null, against: comparison?.others[i - 1]}));
  beginTheme(place.theme);
  const shown = sections.filter(([, , has]) => runs.some(has));
  const body = h("main", {}, h("header", {}, runs.map(run => [h("h1", {}, run.name && run.name + ": ", run.program || run.title), run.machine ? h("p", {class: "machine"}, run.machine) : null,
    h("p", {class: "labels"}, labels(run), run.name && h("code", {}, run.inputs.command))])));
  const change = () => { setTheme(!isDark()); place.theme = document.documentElement.dataset.theme; };
  const toggle = h("button", {type: "button", class: "theme", onclick: change}, "Light or dark");
  const links = shown.map(([id, title]) => h("li", {}, h("a", {href: "#" + id}, title)));
  document.body.append(h("nav", {"aria-label": "sections"}, h("ul", {}, links), toggle), body);
  for (const [id, title, has, make] of shown) {
    const section = body.appendChild(h("section", {id, "aria-label": title}, id === "answer" ? null : h("h2", {}, title)));
    for (const run of runs.filter(has)) section.append(...[await make(run)].flat(3).filter(Boolean));
  }
  followFragment(place);
  if (place.section && place.section !== shown[0][0]) document.getElementById(place.section)?.scrollIntoView();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

main().catch(error => {
  document.body.prepend(h("p", {role: "alert", class: "error"}, "This report cannot be shown: " + error.message));
  throw error;
});
