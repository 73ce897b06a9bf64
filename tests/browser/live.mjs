// node tests/browser/live.mjs ADDRESS
//
// Opens the live page of a run that waits, prints one line per finding, stops the run with the button, and waits until the
// page says so. Exits with 1 if there is a finding.
import { axeSource, launch, newContext } from "./chromium.mjs";

const address = process.argv[2];
const browser = await launch();
let findings = 0;
const say = (what) => {
  findings += 1;
  console.log(what);
};

for (const [width, colorScheme] of [[375, "dark"], [1600, "light"]]) {
  const context = await newContext(browser, { viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) say(`a request to ${request.url()}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) say(`${width} px: console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => say(`${width} px: script error: ${error.message}`));
  await page.goto(address);
  await page.getByText("Running: informal_spec").waitFor();
  await page.frameLocator("#report").getByRole("heading", { level: 1 }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) say(`${width} px: the body is ${wide} px too wide`);
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"], iframes: false }));
  for (const { id, impact, help } of violations.filter((v) => ["serious", "critical"].includes(v.impact))) {
    say(`${width} px: axe ${impact} ${id}: ${help}`);
  }
  if (width === 1600) {
    await page.locator("#stop").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Stopped, can be resumed").first().waitFor();
    if (await page.locator("#stop").isEnabled()) say("the run has ended, and the button still stops it");
  }
  await context.close();
}
await browser.close();
process.exitCode = findings > 0 ? 1 : 0;
