// node tests/browser/picture.mjs PAGE.html PICTURE.png [--width 1600] [--dark] [--viewport] [--keys "ArrowRight,Enter"]
//   [--click "CSS SELECTOR"] [--print]
// Takes a picture of the whole page (with --viewport: of its first 900 px). For looking at pages; no test uses it.
import { parseArgs } from "node:util";
import { addressOf, launch } from "./chromium.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: "string", default: "1600" },
    dark: { type: "boolean", default: false },
    viewport: { type: "boolean", default: false },
    print: { type: "boolean", default: false },
    click: { type: "string", multiple: true, default: [] },
    keys: { type: "string", default: "" },
  },
});
const [file, picture] = positionals;
const browser = await launch();
const page = await browser.newPage({
  viewport: { width: Number(values.width), height: 900 },
  colorScheme: values.dark ? "dark" : "light",
});
page.on("console", (message) => console.error(`console ${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => console.error(`error: ${error}`));
await page.goto(addressOf(file));
if (values.print) await page.emulateMedia({ media: "print" });
for (const selector of values.click) await page.click(selector);
for (const key of values.keys.split(",").filter(Boolean)) await page.keyboard.press(key);
await page.screenshot({ path: picture, fullPage: !values.viewport });
await browser.close();
