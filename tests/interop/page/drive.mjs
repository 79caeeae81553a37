// The page that coop serves, in a real Chromium: `drive.mjs COOP CHROMIUM [word…]`, all promises when no word is given.
import { chromium } from "playwright-core";
import { Coop } from "./coop.mjs";
import { dialogs } from "./dialogs.mjs";
import { network } from "./network.mjs";
import { keepAll } from "./promises.mjs";
import { terminal } from "./terminal.mjs";
import { token } from "./token.mjs";
import { transcripts } from "./transcripts.mjs";
import { launch } from "./window.mjs";

const [bin, executablePath, ...words] = process.argv.slice(2);

const browser = await launch(chromium, executablePath);
await keepAll(browser, [...terminal, ...token, ...dialogs, ...transcripts, ...network], words, (track) => ({
  bin,
  shell: async (...rest) => track(await Coop.shell(bin, ...rest)),
  borrowed: async () => track(await Coop.borrowed(bin)),
  agent: async (...rest) => track(await Coop.agent(bin, ...rest)),
}));
