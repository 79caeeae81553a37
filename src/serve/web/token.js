// The token: taken from the address's fragment once, asked for otherwise, kept where the user wants it.

const NAME = "coop-token";

// Sessions behind one proxy share an origin; each has its own token.
const folder = new URL(".", document.baseURI).pathname;
const slot = `${NAME}:${folder}`;

// A box at `/box/NAME/` is passed on by who serves all boxes, and asks for that one's token.
const above = `${NAME}:${folder.replace(/box\/[^/]+\/$/, "")}`;

let token = fromFragment() ?? stored(sessionStorage) ?? stored(localStorage);

/** `#token=…` never reaches a server; it is removed so that it stays out of histories and screenshots too. */
function fromFragment() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  store(sessionStorage, given);
  return given;
}

// A browser may keep nothing for anybody; then it is asked for again.
function stored(storage) {
  try {
    return storage.getItem(slot) ?? storage.getItem(above);
  } catch {
    return null;
  }
}

function store(storage, value) {
  try {
    if (value === null) storage.removeItem(slot);
    else storage.setItem(slot, value);
  } catch {
    // See above.
  }
}

export const current = () => token;

/** Keeps it for this tab, or for this browser. */
export function keep(value, forLong) {
  token = value;
  store(sessionStorage, value);
  store(localStorage, forLong ? value : null);
}

/** It was refused. Wherever it was kept it would come back with the next reload, also from who serves all boxes. */
export function forget() {
  const wrong = token;
  token = null;
  for (const storage of [sessionStorage, localStorage]) {
    try {
      for (const one of [slot, above]) if (storage.getItem(one) === wrong) storage.removeItem(one);
    } catch {
      // See above.
    }
  }
}

/** What a WebSocket offers: what is spoken, and the token, which must not be in its address. */
export function subprotocols() {
  if (!token) return ["coop.v1"];
  const bytes = String.fromCharCode(...new TextEncoder().encode(token));
  const word = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return ["coop.v1", `coop.token.${word}`];
}
