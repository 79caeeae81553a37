// The page that coop serves, in a real Chromium: `drive.mjs COOP CHROMIUM [word…]`, all promises when no word is given.
import { chromium } from "playwright-core";
import { Coop } from "./coop.mjs";
import { dialogs } from "./dialogs.mjs";
import { messages } from "./messages.mjs";
import { network } from "./network.mjs";
import { keepAll } from "./promises.mjs";
import { session } from "./session.mjs";
import { sight } from "./sight.mjs";
import { terminal } from "./terminal.mjs";
import { token } from "./token.mjs";
import { transcripts } from "./transcripts.mjs";
import { launch } from "./window.mjs";

const [bin, executablePath, ...words] = process.argv.slice(2);

const browser = await launch(chromium, executablePath);
await keepAll(browser, [...terminal, ...session, ...token, ...dialogs, ...sight, ...messages, ...transcripts, ...network], words, (track) => ({
  bin,
  start: async (...rest) => track(await Coop.start(bin, ...rest)),
  shell: async (...rest) => track(await Coop.shell(bin, ...rest)),
  borrowed: async () => track(await Coop.borrowed(bin)),
  agent: async (...rest) => track(await Coop.agent(bin, ...rest)),
  played: async (...rest) => track(await Coop.played(bin, ...rest)),
}));
