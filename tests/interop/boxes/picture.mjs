// The picture for the README: a few boxes at work, one of which asks.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { says, tile } from "./tiles.mjs";

const PICTURE = join(dirname(fileURLToPath(import.meta.url)), "boxes.png");

export const picture = [
  ["a few boxes at work look like this", async (world) => {
    const user = await world.user();
    await user.agent("api-tests");
    await user.shell("docs", "--workspace", "overlay");
    await user.shell("parser");
    await user.agent("refactor", { workspace_mode: "overlay" });
    await user.shell("yesterday");
    await user.coop("stop", "yesterday");
    await user.types("docs", "clear; printf '\\e[1mWriting docs\\e[0m\\n\\n \\e[32m✔\\e[0m install.md\\n \\e[32m✔\\e[0m boxes.md\\n \\e[33m…\\e[0m network.md\\n'; read -r");
    await user.types("parser", "clear; printf '\\e[32mrunning 3 tests\\e[0m\\ntest numbers ... \\e[32mok\\e[0m\\ntest strings ... \\e[32mok\\e[0m\\ntest nested  ... \\e[31mFAILED\\e[0m\\n'; read -r");
    await user.asks("api-tests");
    const window = await world.open(user.url, { viewport: { width: 1280, height: 800 } });
    await says(window, "api-tests", "asks: permission");
    await says(window, "yesterday", "stopped");
    await window.at("#counts").getByText("1 asking, 3 running, 1 standing still").waitFor();
    await window.at("#asking .tile .card button:not(:disabled)").first().waitFor();
    for (const [name, words] of [["docs", "network.md"], ["parser", "FAILED"], ["refactor", "Played for tests"]]) {
      await tile(window, name).locator(".screen").getByText(words).first().waitFor();
    }
    await window.page.evaluate(() => new Promise((rest) => requestIdleCallback(rest, { timeout: 2000 })));
    await window.page.screenshot({ path: PICTURE });
  }],
];
