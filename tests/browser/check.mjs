// node tests/browser/check.mjs PAGE.html...
//
// Opens pages as a person would and prints one line per finding: an error on the console, a request to the network, a body that
// is wider than the window, an accessibility rule of axe that is broken seriously, a part that a print leaves out. Exits with 1
// if there is any. No rule depends on speed.
//
// Each trace (`.trace`) has a slider and a table of the state (`table.state`): the keys that step it have to change the table.
import { addressOf, axeSource, launch, newContext } from "./chromium.mjs";

const WIDTHS = [375, 640, 1600];
const SCHEMES = ["light", "dark"];
/** The accessibility rules take seconds, so each scheme is checked at one width; in a campaign, at both. */
const AXE = { light: 375, dark: 1600 };
const campaign = process.env.TLAFORGE_CAMPAIGN !== undefined;

const browser = await launch();
let findings = 0;

const report = (file, where, what) => {
  findings += 1;
  console.log(`${file}: ${where}: ${what}`);
};

/** Opens `file` in a window of its own and lets `look` judge it. */
const open = async (file, options, look) => {
  const where = `${options.viewport.width} px, ${options.colorScheme}`;
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const address = addressOf(file);
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.split("#")[0] === address.split("#")[0] || url.startsWith("data:") || url.startsWith("blob:")) return route.continue();
    report(file, where, `a request to ${url}`);
    return route.abort();
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) report(file, where, `console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => report(file, where, `script error: ${error.message}`));
  page.on("dialog", (dialog) => {
    report(file, where, `a dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(address);
  await look(page, (what) => report(file, where, what));
  await context.close();
};

const checkWidth = async (page, say) => {
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return null;
    const clips = (e) => e && e !== document.body && (getComputedStyle(e).overflowX !== "visible" || clips(e.parentElement));
    const out = [...document.querySelectorAll("body *")]
      .filter((e) => e.getBoundingClientRect().right > clientWidth + 1 && !clips(e.parentElement))
      .slice(0, 5)
      .map((e) => `${e.tagName.toLowerCase()}${e.id && "#" + e.id}.${e.getAttribute("class") ?? ""}`);
    return `the body is ${scrollWidth} px wide: ${out.join(", ")}`;
  });
  if (wide) say(wide);
};

const checkAccessibility = async (page, say) => {
  // Evaluated through the debugger, so a strict content security policy of the page does not matter.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, help, nodes } of violations.filter((v) => ["serious", "critical"].includes(v.impact))) {
    say(`axe ${impact} ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
};

const checkSteppers = async (page, say) => {
  const steppers = page.locator(".trace[data-trace]");
  for (let index = 0; index < (await steppers.count()); index += 1) {
    const stepper = steppers.nth(index);
    await stepper.evaluate((element) => {
      for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    });
    if (!(await stepper.isVisible())) continue;
    const slider = stepper.locator("input[type=range]").first();
    if ((await slider.getAttribute("max")) === (await slider.getAttribute("min"))) continue;
    const shown = () => stepper.locator("table.state").first().innerHTML();
    await slider.focus();
    await page.keyboard.press("Home");
    const first = await shown();
    await page.keyboard.press("ArrowRight");
    const second = await shown();
    if (first === second) say(`stepper ${index + 1}: ArrowRight does not change the state table`);
    await page.keyboard.press("ArrowLeft");
    if ((await shown()) !== first) say(`stepper ${index + 1}: ArrowLeft does not go back`);
    await page.keyboard.press("End");
    const value = await slider.inputValue();
    if (value !== (await slider.getAttribute("max"))) say(`stepper ${index + 1}: End stops at ${value}`);
  }
};

/** The behaviour that leads to a witness: opened and stepped from its heading with the keys alone. */
const checkStories = async (page, say) => {
  for (const story of await page.locator("details.story:has(.trace[data-trace])").all()) {
    await story.evaluate((element) => {
      for (let e = element.parentElement; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
      element.open = false;
    });
    const heading = story.locator("summary").first();
    await heading.focus();
    await page.keyboard.press("Enter");
    const [slider, now] = [story.locator("input[type=range]"), story.locator(".now")];
    const [first, last] = await Promise.all([slider.getAttribute("min"), slider.getAttribute("max")]);
    // It is drawn when it is opened, which a browser reports a little later.
    await now.locator("strong").waitFor();
    await page.keyboard.press("Home");
    if ((await slider.inputValue()) !== first) say(`story ${await heading.innerText()}: Home does not go to its first state`);
    if (first === last) continue;
    await page.keyboard.press("ArrowRight");
    if (!(await now.innerText()).startsWith(`2 of ${last}: `)) say(`story ${await heading.innerText()}: ArrowRight does not step`);
  }
};

/** The buttons above a table show the rows of one status, and the first one all. */
const checkFilters = async (page, say) => {
  for (const controls of await page.locator("[data-filters]").all()) {
    const table = page.locator(`#${await controls.getAttribute("data-filters")}`);
    await table.evaluate((element) => {
      for (let e = element.parentElement; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    });
    const shown = () => table.locator("tbody tr[data-status]:visible").count();
    const all = await shown();
    for (const button of await controls.locator("button[data-show]").all()) {
      const status = await button.getAttribute("data-show");
      await button.focus();
      await page.keyboard.press("Enter");
      const wanted = status === "all" ? all : await table.locator(`tbody tr[data-status="${status}"]`).count();
      if ((await shown()) !== wanted || wanted === 0) say(`the filter ${status} shows ${await shown()} of ${wanted} rows`);
    }
    await controls.locator("button[data-show=all]").click();
  }
};

/** A state can be chosen with the keys and with the mouse, and states are merged by a variable. */
const checkGraph = async (page, say) => {
  const graph = page.locator("[data-graph]");
  if ((await graph.count()) === 0) return;
  const pane = graph.locator(".graph-state");
  const states = graph.locator(".graph-box .state");
  await states.first().click();
  const initial = await pane.innerText();
  await graph.locator(".graph-box").focus();
  await page.keyboard.press("ArrowDown");
  const next = await pane.innerText();
  if (initial === next) say("graph: ArrowDown does not choose another state");
  if (!next.includes("The path to it, 1 step")) say(`graph: the path to the second row is not one step: ${next}`);
  await page.keyboard.press("ArrowUp");
  if (!(await pane.innerText()).includes("It is initial")) say("graph: ArrowUp does not go back to the initial state");
  const view = () => graph.locator(".graph-box svg").getAttribute("viewBox");
  const before = await view();
  await page.keyboard.press("+");
  if ((await view()) === before) say("graph: + does not zoom");
  await graph.locator("[data-zoom=fit]").click();
  const single = await states.count();
  await graph.locator("[data-merge]").selectOption({ index: 1 });
  const merged = await states.count();
  if (merged >= single || merged === 0) say(`graph: merged by a variable it has ${merged} of ${single} states`);
  await graph.locator("[data-merge]").selectOption({ index: 0 });
  if ((await states.count()) !== single) say("graph: it does not come back from merging");
};

const checkPrint = async (page, say) => {
  await page.emulateMedia({ media: "print" });
  const hidden = await page.evaluate(() =>
    [...document.querySelectorAll("main section, main details > *:not(summary), main tbody tr")]
      .filter((e) => !e.closest(".js-only") && e.textContent.trim() && e.getClientRects().length === 0)
      .map((e) => `${e.tagName.toLowerCase()}#${e.id || e.parentElement.id || e.textContent.trim().slice(0, 30)}`),
  );
  if (hidden.length > 0) say(`a print leaves out ${hidden.slice(0, 5).join(", ")}`);
};

for (const file of process.argv.slice(2)) {
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      // A layout does not depend on the colours.
      if (!campaign && width !== 1600 && colorScheme !== (width === 375 ? "light" : "dark")) continue;
      await open(file, { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" }, async (page, say) => {
        await checkWidth(page, say);
        // Its rules do not depend on the width, except at the smallest, where menus fold.
        if (width !== 640 && (campaign || AXE[colorScheme] === width)) await checkAccessibility(page, say);
        if (width === 1600 && colorScheme === "light") {
          await checkStories(page, say);
          await checkSteppers(page, say);
          await checkFilters(page, say);
          await checkGraph(page, say);
          await checkPrint(page, say);
        }
      });
    }
  }
}
await browser.close();
process.exitCode = findings > 0 ? 1 : 0;
