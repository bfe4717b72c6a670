// Elements, and the parts that all sections are made of. Text is never read as markup.

const svgNames = new Set(["svg", "path", "title"]);

/** Makes an element: h("p", {class: "note", onclick: f}, "text", child); null children are left out. */
function h(name, attributes, ...children) {
  const svg = svgNames.has(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [p, v] of Object.entries(value)) e.style.setProperty(p, v);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat(9).filter(c => c !== null && c !== undefined && c !== false));
  return e;
}

/** A table; columns that begin with "#" hold numbers, and the first cell of a row names it. */
function table(columns, rows, caption) {
  const number = columns.map(c => c.startsWith("#"));
  const cell = (content, i) => i === 0
    ? h("th", {scope: "row"}, content)
    : h("td", {class: number[i] ? "number" : null}, content);
  return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption || "table"}, h("table", {},
    caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, columns.map((c, i) => h("th", {scope: "col", class: number[i] ? "number" : null}, c.replace(/^#/, ""))))),
    h("tbody", {}, rows.map(row => h("tr", {}, row.map(cell))))));
}

/** A table that is made when somebody opens it. */
function fold(summary, make) {
  const e = h("details", {}, h("summary", {}, summary));
  let shown = null;
  e.addEventListener("toggle", () => {
    if (shown) shown.remove();
    shown = e.open ? make() : null;
    if (shown) e.append(shown);
  });
  return e;
}

/** A picture with its title, the labels of its run, how to read it, and its numbers as a table. */
function figure(run, {title, controls, picture, how, rows}) {
  const heading = h("h3", {}, title);
  const e = h("figure", {}, h("div", {class: "head"}, heading, labels(run), h("div", {class: "controls"}, controls)),
    picture, h("figcaption", {}, how), rows ? fold("Table", rows) : null);
  heading.id = "f" + figure.number++;
  e.setAttribute("role", "group");
  e.setAttribute("aria-labelledby", heading.id);
  return e;
}
figure.number = 0;

/** What every figure of a run is labelled with. */
const labels = run => run.labels.map(text => h("span", {class: "label"}, text));

/** A choice of one of some, side by side. */
function choice(name, options, choose) {
  const group = "choice" + choice.number++;
  return h("span", {class: "choice", role: "radiogroup", "aria-label": name}, options.map((text, i) =>
    h("label", {}, h("input", {type: "radio", name: group, checked: i === 0, onchange: () => choose(i)}), text)));
}
choice.number = 0;

/** A choice of one of many: a list that drops down. */
function dropdown(name, options, chosen, choose) {
  const select = h("select", {onchange: () => choose(select.selectedIndex)},
    options.map((text, i) => h("option", {selected: i === chosen}, text)));
  return h("label", {}, name + " ", select);
}

/** Something that is on or off, first on. */
const checkbox = (text, change) => h("label", {}, h("input", {type: "checkbox", checked: true, onchange: e => change(e.target.checked)}), " " + text);

/** A field that looks for a text when Enter is pressed and says what it found. */
function searchBox(what, find) {
  const said = h("output", {}), field = h("input", {type: "search", placeholder: what, "aria-label": "search for " + what});
  return h("form", {class: "search", role: "search", onsubmit: event => {
    event.preventDefault();
    said.textContent = find(field.value.trim());
  }}, field, said);
}

/** A key of colours. */
const legend = parts => h("ul", {class: "legend"}, parts.map(({name, colour, text}) =>
  h("li", {}, h("i", {style: {background: colour}}), name, text ? h("span", {class: "value"}, text) : null)));

/** One bar of several parts [{name, value, colour, text}], as wide as all of them together. */
function stackedBar(parts, what) {
  const sum = parts.reduce((s, p) => s + p.value, 0);
  const label = what + ": " + parts.map(p => p.name + " " + percent(p.value / sum)).join(", ");
  return h("div", {},
    h("div", {class: "bar", role: "img", "aria-label": label}, parts.map(p =>
      h("span", {style: {width: 100 * p.value / sum + "%", background: p.colour, color: inkOn(p.colour)}, title: p.name + " " + p.text},
        p.value / sum > 0.09 ? p.name + " " + percent(p.value / sum, 0) : null))),
    legend(parts));
}

/** A bar in a cell of a table, as long as a share of 1. */
const meter = (share, colour) => h("span", {class: "meter", "aria-hidden": "true"},
  h("span", {style: {width: 100 * Math.max(0, Math.min(1, share)) + "%", background: colour || "var(--accent)"}}));
