// A row of a screen with its colours: escape sequences become pieces of text with a look. Pure, up to `drawRow`.

import { h } from "../dom.js";
import { palette } from "../palette.js";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const BRIGHT = NAMES.map((name) => `bright${name[0].toUpperCase()}${name.slice(1)}`);

/** The steps of the colour cube among the 256. */
const CUBE = [0, 95, 135, 175, 215, 255];

/** Gives `[{text, fg, bg, bold, dim, underline, inverse}]`; colours are names of the palette, or CSS. */
export function pieces(row) {
  const found = [];
  let look = {};
  for (const part of row.split(/(\x1b\[[0-9;:]*m)/)) {
    const codes = /^\x1b\[([0-9;:]*)m$/.exec(part);
    if (codes) look = changed(look, codes[1].split(/[;:]/).map(Number));
    else if (part) found.push({ ...look, text: part.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)/g, "") });
  }
  return found;
}

function changed(look, codes) {
  let next = { ...look };
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i];
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(i + 1));
      next[code === 38 ? "fg" : "bg"] = colour;
      i += used;
    } else if (code === 0) next = {};
    else Object.assign(next, simple(code));
  }
  return next;
}

function simple(code) {
  if (code >= 30 && code <= 37) return { fg: NAMES[code - 30] };
  if (code >= 40 && code <= 47) return { bg: NAMES[code - 40] };
  if (code >= 90 && code <= 97) return { fg: BRIGHT[code - 90] };
  if (code >= 100 && code <= 107) return { bg: BRIGHT[code - 100] };
  return {
    1: { bold: true }, 2: { dim: true }, 4: { underline: true }, 7: { inverse: true }, 22: { bold: false, dim: false },
    24: { underline: false }, 27: { inverse: false }, 39: { fg: undefined }, 49: { bg: undefined },
  }[code] ?? {};
}

/** A colour of the 256, or one of its own; and how many codes it took. */
function extended([kind, ...rest]) {
  if (kind === 2) return [`rgb(${rest.slice(0, 3).join(" ")})`, 4];
  if (kind !== 5) return [undefined, 0];
  const n = rest[0];
  if (n < 16) return [n < 8 ? NAMES[n] : BRIGHT[n - 8], 2];
  if (n > 231) return [`rgb(${Array(3).fill(8 + (n - 232) * 10).join(" ")})`, 2];
  const [r, g, b] = [Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map((step) => CUBE[step]);
  return [`rgb(${r} ${g} ${b})`, 2];
}

/** A row as elements. */
export function drawRow(row, dark) {
  const colours = palette(dark);
  const css = (name, otherwise) => (name ? (colours[name] ?? name) : otherwise);
  return pieces(row).map((piece) => {
    const { text, fg, bg, inverse, bold, dim, underline } = piece;
    if (!fg && !bg && !inverse && !bold && !dim && !underline) return text;
    const span = h("span", {}, text);
    const [front, back] = inverse ? [css(bg, colours.background), css(fg, colours.foreground)] : [css(fg, null), css(bg, null)];
    if (front) span.style.color = front;
    if (back) span.style.background = back;
    if (bold) span.style.fontWeight = "600";
    if (dim) span.style.opacity = "0.65";
    if (underline) span.style.textDecoration = "underline";
    return span;
  });
}
