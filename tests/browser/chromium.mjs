// Starts Debian's Chromium, found on PATH or named by CHROMIUM. Its packages are in target/browser, where scripts/setup
// installs them, so that no folder of packages lies between the sources.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const require = createRequire(new URL("../../target/browser/", import.meta.url));
const { chromium } = require("playwright-core");

export const axeSource = require("axe-core").source;

const onPath = () => {
  const { accessSync, constants } = require("node:fs");
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // The next one.
      }
    }
  }
  throw new Error("there is no Chromium: install it (apt-get install chromium), or name it with CHROMIUM");
};

/** Milliseconds after which something hangs: far beyond the need of a slow machine. */
const PATIENCE = 300_000;

/** A window whose operations wait as long. */
export const newContext = async (browser, options) => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  return context;
};

export const launch = () =>
  chromium.launch({
    timeout: PATIENCE,
    executablePath: process.env.CHROMIUM ?? onPath(),
    headless: true,
    // Root in a container has no sandbox of its own; the pages are ours and have no network. A container's /dev/shm is small.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });

/** Address of a page: of a file, unless it is one already. */
export const addressOf = (page) => (/^[a-z]+:\/\//.test(page) ? page : pathToFileURL(path.resolve(page)).href);
