// node tests/browser/fleet.mjs ADDRESS TEXT...
//
// Opens the live page of a fleet, waits until it shows each TEXT, and prints one line per finding: an error on the console, a
// request elsewhere, a body that is wider than the window, an accessibility rule that is broken seriously. Exits with 1 if there
// is one.
import { axeSource, launch, newContext } from "./chromium.mjs";

const [address, ...texts] = process.argv.slice(2);
const browser = await launch();
let findings = 0;

for (const [width, colorScheme] of [[400, "dark"], [1280, "light"]]) {
  const say = (what) => {
    findings += 1;
    console.log(`${width} px: ${what}`);
  };
  const context = await newContext(browser, { viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) say(`a request to ${request.url()}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) say(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => say(`script error: ${error.message}`));
  await page.goto(address);
  for (const text of texts) await page.getByText(text).first().waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) say(`the body is ${wide} px too wide`);
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, help } of violations.filter((v) => ["serious", "critical"].includes(v.impact))) {
    say(`axe ${impact} ${id}: ${help}`);
  }
  await context.close();
}
await browser.close();
process.exitCode = findings > 0 ? 1 : 0;
