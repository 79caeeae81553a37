// A question of the page itself, before something that cannot be undone.

import { byId } from "./dom.js";

export function ask({ title, text, yes }) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  return new Promise((resolve) => {
    let agreed = false;
    byId("confirm-yes").onclick = () => {
      agreed = true;
      dialog.close();
    };
    byId("confirm-no").onclick = () => dialog.close();
    dialog.onclose = () => resolve(agreed);
    dialog.showModal();
    byId("confirm-no").focus();
  });
}
