// A terminal that asks nothing and answers nothing: the program's queries are answered once, by coop, from its own
// picture. Of several browsers each would answer, late, and again for what a redraw repeats.

const SILENT = () => true;

/** Swallows what would make xterm.js write an answer. */
export function answerNothing(terminal) {
  const { parser } = terminal;
  // DA1, DA2, DA3; DSR and CPR in both forms; DECRQM in both; XTVERSION; reports of the window.
  const queries = [
    { final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" },
    { final: "n" }, { prefix: "?", final: "n" },
    { intermediates: "$", final: "p" }, { prefix: "?", intermediates: "$", final: "p" },
    { prefix: ">", final: "q" }, { final: "t" }, { prefix: "?", final: "u" },
  ];
  for (const query of queries) parser.registerCsiHandler(query, SILENT);
  // DECRQSS and XTGETTCAP.
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, SILENT);
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, SILENT);
  // Colours may be set, but not asked for.
  for (const colour of [4, 10, 11, 12]) parser.registerOscHandler(colour, (data) => data.includes("?"));
}
