// node tests/browser/live_end.mjs ADDRESS TEXT [PID [FIRST]]
//
// Opens the live page of a run that waits, waits until it shows FIRST (`Running: informal_spec`), puts the keyboard in the report,
// and kills the process PID; without PID, prints `open`, and the caller ends the run. Waits until the page shows TEXT. From then on
// its clock must not run, and its button must not be enabled. Without PID, the report must show TEXT as well. Prints one line per
// finding and exits with 1 if there is one.
import { launch, newContext } from "./chromium.mjs";

const [address, text, pid, first = "Running: informal_spec"] = process.argv.slice(2);
const browser = await launch();
const context = await newContext(browser, { viewport: { width: 1200, height: 900 } });
const page = await context.newPage();
await page.clock.install();
await page.goto(address);
await page.getByText(first).waitFor();
const heading = page.frameLocator("#report").getByRole("heading", { level: 1 });
await heading.waitFor();
await page.locator("#report").focus();
if (pid) process.kill(Number(pid), "SIGKILL");
else console.log("open");
await page.locator("header").getByText(text).first().waitFor();
if (!pid) await heading.getByText(text).waitFor();
const time = await page.locator("#time").textContent();
await page.clock.fastForward("02:00:00");
const later = await page.locator("#time").textContent();
if (!/\d s$/.test(time) || later !== time) {
  console.log(`the clock showed "${time}", and two hours later "${later}"`);
  process.exitCode = 1;
}
if (await page.locator("#stop").isEnabled()) {
  console.log("the button to stop the run is enabled");
  process.exitCode = 1;
}
await browser.close();
