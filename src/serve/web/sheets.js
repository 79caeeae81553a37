// xterm.js writes its colours into <style> elements, which our content security policy forbids. The same text in
// constructed style sheets is allowed: they are made by a script of ours, never by markup.

/** Runs `make`, in which whatever asks for a <style> element gets one that only looks so, and hands its text to a style sheet. */
export function withSheets(make) {
  const original = document.createElement;
  document.createElement = function (name, ...rest) {
    // Browsers object to <style> even while it is empty; <template> shows nothing either.
    const isStyle = String(name).toLowerCase() === "style";
    return isStyle ? handOver(original.call(document, "template")) : original.call(document, name, ...rest);
  };
  try {
    return make();
  } finally {
    delete document.createElement;
  }
}

function handOver(element) {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    get: () => "",
    set: (text) => sheet.replaceSync(text),
  });
  const remove = element.remove;
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
    remove.call(element);
  };
  return element;
}
