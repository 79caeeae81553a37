// Where tiles are: those that ask first, in the order in which they began to, so that a new question never moves the
// buttons of an older one; the others by name.

import { byId } from "../dom.js";

const PLACES = ["asking", "live", "still"];

/** Puts a tile where it belongs. Whoever types in it goes on typing. */
export function put(tile, place) {
  const { element } = tile;
  if (element.dataset.place === place) return;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  element.dataset.place = place;
  const tiles = byId(place).querySelector(".tiles");
  const after = place === "asking" ? null : [...tiles.children].find((other) => other.dataset.name > tile.name);
  tiles.insertBefore(element, after ?? null);
  focused?.focus({ preventScroll: true });
}

/** Sections without a tile are not shown. */
export function tidy(any) {
  for (const place of PLACES) byId(place).hidden = byId(place).querySelector(".tiles").children.length === 0;
  byId("none").hidden = any;
}

/** The tiles as they are seen, one after the other. */
export const inOrder = () => PLACES.flatMap((place) => [...byId(place).querySelectorAll(".tile")]);

/** Goes to the tile that is so many steps away from the one with the focus. */
export function step(by) {
  const tiles = inOrder();
  const here = tiles.findIndex((tile) => tile.contains(document.activeElement));
  const next = here < 0 ? (by > 0 ? 0 : tiles.length - 1) : Math.min(Math.max(here + by, 0), tiles.length - 1);
  tiles[next]?.focus();
}
