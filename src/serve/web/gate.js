// The form that asks for the token, once.

import { get } from "./api.js";
import { byId } from "./dom.js";
import { current, forget, keep } from "./token.js";

/** Lets nobody pass whom coop would not: resolves with what lies at `path` once a token is right, or none is needed. */
export async function admitted(path) {
  for (;;) {
    try {
      return await get(path);
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error;
      const wrong = current() !== null;
      if (error.status === 403 && !wrong) throw error;
      forget();
      await asked(wrong);
    }
  }
}

/** The question that is open: whoever else needs the token waits for the same answer. */
let pending = null;

export function asked(wrong) {
  const dialog = byId("gate");
  byId("gate-error").textContent = wrong ? dialog.dataset.wrong : "";
  pending ??= new Promise((resolve) => {
    // There is nothing to see without it.
    dialog.oncancel = (event) => event.preventDefault();
    byId("gate-form").onsubmit = (event) => {
      event.preventDefault();
      keep(byId("token").value.trim(), byId("token-keep").checked);
      byId("token").value = "";
      dialog.close();
      pending = null;
      resolve();
    };
    dialog.showModal();
    byId("token").focus();
  });
  return pending;
}
