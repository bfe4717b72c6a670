// The page's address keeps section, theme and zoom, so that a link leads to a place.

/** Reads "#matrix&theme=dark&columns=10,50": ranges are for those that are made later. */
function readFragment() {
  const [section, ...settings] = decodeURIComponent(location.hash.slice(1)).split("&");
  const place = {section, theme: ""};
  for (const [name, value = ""] of settings.map(s => s.split("="))) {
    const numbers = value.split(",").map(Number);
    if (name === "theme") place.theme = value;
    else if (numbers.length === 2 && numbers.every(isFinite)) Extent.asked.set(name, numbers);
  }
  return place;
}

/** Keeps the address up to date: a part of a second after the last change. */
function followFragment(place) {
  let timer = 0;
  const write = () => {
    const settings = [place.section];
    if (place.theme) settings.push("theme=" + place.theme);
    Extent.all.forEach((r, name) => { if (!r.whole) settings.push(name + "=" + [r.low, r.high].map(v => +v.toPrecision(9))); });
    history.replaceState(null, "", "#" + settings.join("&"));
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(write, 250); };
  ["moved", "theme"].forEach(event => document.addEventListener(event, soon));
  const seen = new IntersectionObserver(entries => entries.filter(e => e.isIntersecting).forEach(e => {
    place.section = e.target.id;
    document.querySelectorAll("nav a").forEach(a => a.setAttribute("aria-current", a.hash === "#" + place.section));
    soon();
  }), {rootMargin: "-15% 0px -75% 0px"});
  document.querySelectorAll("main > section").forEach(s => seen.observe(s));
}
