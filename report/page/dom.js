// Elements, and the parts that all sections are made of. Text is never read as markup.

/** Makes an element: h("p", {class: "note", onclick: f}, "text", child); null children are left out. */
function h(name, attributes, ...children) {
  const e = document.createElement(name), given = v => v !== undefined && v !== null && v !== false;
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "style") Object.entries(value).forEach(([p, v]) => e.style.setProperty(p, v));
    else if (given(value)) e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat(9).filter(given));
  return e;
}

/** A table; columns that begin with "#" hold numbers, and the first cell of a row names it. */
function table(columns, rows, caption) {
  const style = columns.map(c => (c.startsWith("#") ? "number" : null));
  const cell = (content, i) => (i === 0 ? h("th", {scope: "row"}, content) : h("td", {class: style[i]}, content));
  return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption || "table"}, h("table", {},
    caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, columns.map((c, i) => h("th", {scope: "col", class: style[i]}, c.replace(/^#/, ""))))),
    h("tbody", {}, rows.map(row => h("tr", {}, row.map(cell))))));
}

/** A picture with its title, the labels of its run, how to read it, and its numbers as a table, made whenever it is opened. */
function figure(run, {title, controls, picture, how, rows}) {
  const place = h("div", {}), show = event => place.replaceChildren(...(event.target.open ? [rows()] : []));
  const named = title + (run.name ? " · " + run.name : "");
  return h("figure", {role: "group", "aria-label": named},
    h("div", {class: "head"}, h("h3", {}, named), labels(run), h("div", {class: "controls"}, controls)),
    picture, h("figcaption", {}, how), rows ? h("details", {ontoggle: show}, h("summary", {}, "Table"), place) : null);
}

/** The first rows of a table as the picture of a figure, and all behind it if there are more than most. */
const leading = (columns, rows, most) => ({picture: table(columns, rows.slice(0, most)), rows: rows.length > most ? () => table(columns, rows) : null});
/** What every figure of a run is labelled with. */
const labels = run => run.labels.map(text => h("span", {class: "label"}, text));

/** A choice of one of some, which calls choose with its index. */
const dropdown = (name, options, choose, chosen = 0) => h("label", {}, name + " ",
  h("select", {onchange: e => choose(e.target.selectedIndex)}, options.map((text, i) => h("option", {selected: i === chosen}, text))));

/** Something that is on or off, first on. */
const checkbox = (text, change) => h("label", {}, h("input", {type: "checkbox", checked: true, onchange: e => change(e.target.checked)}), " " + text);

/** A field that looks for a text when Enter is pressed and says what it found. */
function searchBox(what, find) {
  const said = h("output", {}), field = h("input", {type: "search", placeholder: what, "aria-label": "search for " + what});
  const search = event => { event.preventDefault(); said.textContent = find(field.value.trim()); };
  return h("form", {class: "search", role: "search", onsubmit: search}, field, said);
}

/** The rank that a text names, by its number or its host; -1: none. */
const rankNamed = (text, hosts) => (/^(rank )?\d+$/.test(text) ? Number(text.replace("rank ", "")) : hosts.indexOf(text));

/** A key of colours. */
const legend = parts => h("ul", {class: "legend"}, parts.map(({name, colour, text}) =>
  h("li", {}, h("i", {style: {background: colour}}), name, text ? h("span", {class: "value"}, text) : null)));

/** One bar of several parts [{name, value, colour, text}], as wide as all of them together. */
function stackedBar(parts, what) {
  const sum = parts.reduce((s, p) => s + p.value, 0), shares = parts.map(p => p.name + " " + percent(p.value / sum)).join(", ");
  return h("div", {},
    h("div", {class: "bar", role: "img", "aria-label": what + ": " + shares}, parts.map(p =>
      h("span", {style: {width: 100 * p.value / sum + "%", background: p.colour, color: inkOn(p.colour)}, title: p.name + " " + p.text},
        p.value / sum > 0.09 ? p.name + " " + percent(p.value / sum, 0) : null))),
    legend(parts));
}

/** A bar in a cell of a table, as long as a share of 1. */
const meter = (share, colour) => h("span", {class: "meter", "aria-hidden": "true"},
  h("span", {style: {width: 100 * clamp(share, 0, 1) + "%", background: colour || "var(--accent)"}}));
