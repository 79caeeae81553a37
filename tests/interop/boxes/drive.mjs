// The page of all boxes, in a real Chromium: `drive.mjs COOP CHROMIUM [word…]`, all promises when no word is given.
import { chromium } from "playwright-core";
import { keepAll } from "../page/promises.mjs";
import { launch } from "../page/window.mjs";
import { doing } from "./doing.mjs";
import { picture } from "./picture.mjs";
import { reaching } from "./reaching.mjs";
import { tiles } from "./tiles.mjs";
import { User } from "./user.mjs";

const [bin, executablePath, ...words] = process.argv.slice(2);

const browser = await launch(chromium, executablePath);
await keepAll(browser, [...tiles, ...doing, ...reaching, ...picture], words, (track) => ({
  user: async (...flags) => track(await User.serving(bin, flags)),
}));
