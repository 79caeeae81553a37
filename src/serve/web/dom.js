// Elements, made without markup: whatever a program or a model says stays text.

export const byId = (id) => document.getElementById(id);

/** `h("p", {class: "dim", onclick: f}, "text", child)`: strings become text nodes; null and false are left out. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Shows these children and nothing else. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** An address that may be followed: the web's own, and no other scheme. */
export function safeLink(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

export function link(url, ...children) {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

/** The first so many characters, and a sign that there were more. */
export function cut(text, length) {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** 75 → "1 min 15 s" */
export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
