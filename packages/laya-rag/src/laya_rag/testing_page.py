"""What must hold on every page for every reader, as JavaScript that a test runs in a browser.

Each is a function without arguments that returns what is wrong, in words; an empty list is right.
"""

#: What a screen reader or a keyboard would stumble over, and texts that nobody wrote.
FAULTS = """() => {
  const found = [];
  const visible = (node) => node.checkVisibility();
  const named = (node) =>
    node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.length;
  for (const node of document.querySelectorAll("button, a, input, textarea, summary")) {
    if (!named(node)) found.push(`no name: ${node.outerHTML}`);
  }
  const levels = [...document.querySelectorAll("h1,h2,h3,h4")].filter(visible)
    .map((node) => +node.tagName[1]);
  if (levels.filter((level) => level === 1).length !== 1) found.push(`not one h1: ${levels}`);
  levels.forEach((level, place) => {
    const before = place ? levels[place - 1] : level;
    if (level > before + 1) found.push(`h${level} after h${before}`);
  });
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  if (new Set(ids).size !== ids.length) found.push("an id is there twice");
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      const id = node.getAttribute(name);
      if (!document.getElementById(id)) found.push(`${name}: no ${id}`);
    }
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent) found.push("a table has no caption");
    if (table.querySelector("thead th:not([scope=col])")) found.push("a header has no scope");
  }
  for (const meter of document.querySelectorAll("[role=meter]")) {
    for (const name of ["aria-label", "aria-valuenow", "aria-valuemin", "aria-valuemax"]) {
      if (!meter.hasAttribute(name)) found.push(`a meter has no ${name}`);
    }
  }
  if (document.querySelector("[tabindex]:not([tabindex='0']):not([tabindex='-1'])")) {
    found.push("a positive tabindex");
  }
  const text = document.body.innerText;
  for (const wrong of ["undefined", "[object", "NaN", "{n}"]) {
    if (text.includes(wrong)) found.push(`says ${wrong}`);
  }
  return found;
}"""

#: Text whose contrast with its ground is below 4.5 (WCAG 2.2, 1.4.3), by computed colours.
FAINT = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((channels(color)[3] ?? 1) > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const pair = [luminance(getComputedStyle(node).color), luminance(background(node))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""
