// Who sends how much to whom, and how the links bear it.

async function communicationOf(run) {
  const kinds = await Promise.all(run.record.communication.map(m => unpack(m, {bytes: Float32Array, messages: Float32Array})));
  const shows = kinds.flatMap(m => [{m, what: "bytes", write: bytes}, {m, what: "messages", write: v => count(v) + " messages"}]), place = h("div", {class: "square"});
  const nameOf = m => i => (m.labels && m.labels.length ? m.labels[i] : m.per_cell > 1 ? `${i * m.per_cell}–${(i + 1) * m.per_cell - 1}` : String(i));
  let shown = kinds[0], picture;
  const draw = ({m, what, write}) => {
    const n = m.size, values = m[what], name = nameOf(m);
    shown = m;
    const most = values.reduce((a, b) => Math.max(a, b), 0), least = values.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), most);
    const depth = Math.log(most / least) || 1, shade = v => (v > 0 ? 55 + 200 * Math.log(v / least) / depth : 0);
    const levels = Uint8Array.from(values, (_, i) => shade(values[i % n * n + Math.floor(i / n)])); // columns, not rows
    const pyramid = new Pyramid(1, n, n, levels, [], upTo(n)), range = side => Extent.named(m.by.replace(" ", "-") + "-" + side, 0, n, Math.min(n, 4));
    const axis = side => ({title: `${side} (${m.by})`, ticks: countedTicks(i => (i >= 0 && i < n ? name(i) : ""))});
    picture = new Picture({
      label: "Communication by " + m.by, x: range("to"), y: range("from"), height: 30, wheelRows: true,
      xAxis: axis("receiver"), yAxis: axis("sender"), left: 8,
      paint: c => pyramid.paint(c, picture, 0, 1, 1, themed("paper"), (colour = shades("#0072B2")) => (level, cell) => colour[level.most[cell]]),
      describe(p) {
        const r = Math.floor(p.y), c = Math.floor(p.x);
        if (r < 0 || c < 0 || r >= n || c >= n) return "";
        return `${m.by} ${name(r)} to ${name(c)}: ${bytes(m.bytes[r * n + c])} in ${count(m.messages[r * n + c])} messages`;
      },
      step: (p, dx, dy) => ({x: clamp(Math.floor(p.x) + dx, 0, n - 1) + 0.5, y: clamp(Math.floor(p.y) + dy, 0, n - 1) + 0.5}),
    });
    const scale = [write(least) + " ", h("span", {class: "meter ramp"}), ` ${write(most)}, by the logarithm; blank: nothing`];
    place.replaceChildren(picture.element, h("p", {class: "scale"}, scale));
  };
  draw(shows[0]);
  return figure(run, {
    title: "Point to point", picture: place, how: "Rows send, columns receive; the messages of collective operations are among them.",
    controls: [dropdown("show", shows.map(s => s.what + " by " + s.m.by), i => draw(shows[i]))],
    rows: () => {
      const m = shown, name = nameOf(m), pairs = Array.from(m.bytes.keys()).filter(i => m.messages[i] > 0);
      return table(["from", "to", "#bytes", "#messages"], pairs.sort((a, b) => m.bytes[b] - m.bytes[a]).slice(0, 100).map(i =>
        [name(Math.floor(i / m.size)), name(i % m.size), bytes(m.bytes[i]), count(m.messages[i])]), "The largest 100 by bytes");
    },
  });
}

async function linksOf(run) {
  const links = await unpack(run.record.links, {use: Float32Array, bound: Float32Array}), n = links.slices;
  const hot = await Promise.all(links.hottest.map(l => unpack(l, {over: Float32Array})));
  const x = Array.from({length: n}, (_, i) => (i + 0.5) * links.seconds_s), part = (values, i) => Array.from(values.subarray(i * n, (i + 1) * n));
  const range = Extent.named("time", 0, n * links.seconds_s, 4 * links.seconds_s), place = h("div", {});
  const xAxis = {title: "time", ticks: timeTicks, name: v => seconds(v)}, all = Array.from(links.levels.keys());
  const level = i => `${links.levels[i]} (${count(links.number[i])}${links.shared[i] ? "" : ", not shared"})`;
  const lostOn = all.map(i => part(links.bound, i).reduce((a, b) => a + b, 0));
  let lost = false, chosen = all.length > 4 ? lostOn.indexOf(Math.max(...lostOn)) : -1; // many are not told apart
  const draw = () => place.replaceChildren(chart({
    label: lost ? "Time lost to sharing by level of links" : "Use of links by level", x, range, xAxis,
    yTitle: lost ? "time lost to sharing" : "share of the capacity", write: lost ? seconds : v => percent(v, 1),
    series: (chosen < 0 ? all : [chosen]).flatMap(i => {
      const colour = palette[i % palette.length];
      return lost ? [{name: level(i), colour, values: part(links.bound, i)}]
        : [{name: level(i) + ", mean", colour, values: part(links.use, 2 * i)},
          {name: links.levels[i] + ", most used", colour, dash: [4, 3], values: part(links.use, 2 * i + 1)}];
    }),
  }));
  draw();
  const top = Math.max(...hot.map(l => l.over.reduce((a, b) => Math.max(a, b), 0)), 1e-9);
  const curve = over => Array.from(over, (v, i) => `${i * 100 / (n - 1 || 1)}% ${100 - 100 * v / top}%`);
  const spark = over => h("span", {class: "spark", "aria-hidden": "true", style: {"clip-path": `polygon(0 100%, ${curve(over)}, 100% 100%)`}});
  return [figure(run, {
    title: "Links over time", picture: place,
    controls: [dropdown("level", ["all", ...links.levels], i => { chosen = i - 1; draw(); }, chosen + 1),
      dropdown("show", ["use", "time lost"], i => { lost = i === 1; draw(); })],
    how: "By level, in brackets how many links of it carry anything. Use is the share of their capacity, their mean and the most used one of each moment; " +
      "time lost is what messages took longer because a link was shared, of all messages together.",
    rows: () => table(["time", ...links.levels.flatMap(l => ["#" + l + " mean", "#most", "#lost"])], x.map((t, k) => [seconds(t), ...links.levels.flatMap((_, i) =>
      [percent(links.use[2 * i * n + k]), percent(links.use[(2 * i + 1) * n + k]), seconds(links.bound[i * n + k], 3)])])),
  }), hot.length ? figure(run, {
    title: "Hottest links", how: `Links by the time that messages lost on them; the curve is their use over the run, its full height ${percent(top)}.`,
    picture: table(["link", "level", "#time lost", "#carried", "#use", "over time"],
      hot.map(l => [l.name, links.levels[l.level], seconds(l.lost_s, 3), bytes(l.bytes), percent(l.use), spark(l.over)])),
  }) : null];
}
