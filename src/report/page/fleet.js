// @ts-check
"use strict";
// Shows each state of the fleet that the server sends. Rows are kept, so that a selection or the place in the page survives.
(() => {
  /**
   * @typedef {{run: string, state: string, why: string, since: string, attempts: number | null, worker: string | null}} Run
   * @typedef {{cost_usd: number, tokens: number}} Use
   * @typedef {{key: string, why: string}} UnreadableKey
   * @typedef {{key: string, limits: {max_cost_usd: number | null, requests_per_minute: number | null, tokens_per_minute: number | null},
   *   spent: Use, under_way: number, runs: number, expected: Use, waiting: number, unreported: number,
   *   requests_last_minute: number, tokens_last_minute: number, stopped: string | null, stopped_seconds: number | null}} Key
   * @typedef {{address: string, version: string, jobs: string[], gets_new_jobs: boolean, running: number, registered: string}} Workers
   * @typedef {{engine_time: string, runs: Run[], keys: Key[], unreadable_keys: UnreadableKey[], workers: Workers[],
   *   jobs: {service: string, status: string, jobs: number}[]}} Fleet
   * @typedef {{fleet: Fleet | null, counts: string, unlisted: number, error: {why: string, since: string} | null}} PageState
   * @typedef {{text: string, tone?: string, since?: string}} Cell
   */

  /** @type {PageState | null} */
  let shown = null;
  /** The clock of the engine minus that of this machine, in milliseconds. */
  let clockOffset = 0;
  /** When the connection was lost. @type {number | null} */
  let lostAt = null;

  /** What each state means for a person. @type {Record<string, string>} */
  const TONES = { stuck: "bad", failed: "bad", stopped: "open", parked: "open", working: "good", waiting: "", not_read: "open", ended: "" };

  /** Puts a row for each list of cells into a table. @param {string} id @param {Cell[][]} rows */
  const fillTable = (id, rows) => {
    const table = /** @type {HTMLTableElement} */ (element(id));
    const labels = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent ?? "");
    const body = table.tBodies[0] ?? table.createTBody();
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, index) => {
      const row = body.rows[index] ?? body.insertRow();
      cells.forEach(({ text, tone, since }, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = row.insertCell();
          cell.dataset["label"] = labels[column] ?? "";
          cell.append(document.createElement("span"));
        }
        const span = /** @type {HTMLElement} */ (cell.firstChild);
        const className = tone === undefined ? "" : `tag ${tone}`;
        if (span.className !== className) span.className = className;
        if (since !== undefined) span.dataset["since"] = since;
        else if (span.textContent !== text) span.textContent = text;
      });
    });
    table.hidden = rows.length === 0;
    element(`${id}-none`).hidden = rows.length > 0;
  };

  const showTimes = () => {
    const error = shown?.error;
    // What is not known to go on does not age.
    const now = (lostAt ?? (error ? Date.parse(error.since) : Date.now())) + clockOffset;
    for (const span of document.querySelectorAll("[data-since]")) {
      const since = Date.parse(/** @type {HTMLElement} */ (span).dataset["since"] ?? "");
      const text = duration((now - since) / 1000);
      if (span.textContent !== text) span.textContent = text;
    }
    if (lostAt) setText("message", "The connection is lost: tlaforge watch has ended. Trying again …");
    else if (error) {
      const elapsed = duration((Date.now() - Date.parse(error.since)) / 1000);
      const note = shown?.fleet ? " What follows is as it was then." : "";
      setText("message", `No usable answer since ${new Date(error.since).toLocaleTimeString()}, for ${elapsed}: ${error.why}.${note}`);
    } else setText("message", "");
  };

  /** ` of 40`, or nothing without a limit. @param {number | null} limit @param {(n: number) => string} format */
  const ofLimit = (limit, format) => (limit === null ? "" : ` of ${format(limit)}`);
  /** @param {number} usd */
  const dollars = (usd) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

  /** @param {Key} key @returns {Cell} */
  const breakerCell = ({ stopped, stopped_seconds: seconds }) => {
    if (stopped === null) return { text: "closed", tone: "good" };
    const closes = seconds === null ? "by tlaforge fleet limits --resume" : `in ${duration(seconds)}`;
    return { text: `open: ${stopped} (closes ${closes})`, tone: "bad" };
  };

  /** @param {Fleet} fleet @param {number} unlisted */
  const showFleet = (fleet, unlisted) => {
    fillTable("runs", fleet.runs.map((run) => [
      { text: run.state.replace("_", " "), tone: TONES[run.state] ?? "" },
      { text: "", since: run.since },
      { text: run.run },
      { text: run.state === "stuck" && run.attempts ? `attempt ${run.attempts}: ${run.why}` : run.why },
    ]));
    setText("more", unlisted ? `and ${number(unlisted)} more: tlaforge fleet status --all lists them` : "");
    const unreadable = fleet.unreadable_keys.map(({ key, why }) =>
      [{ text: key }, { text: `cannot be read: ${why}`, tone: "bad" }, ...Array.from({ length: 6 }, () => ({ text: "" }))]);
    fillTable("keys", [...unreadable, ...fleet.keys.map((key) => [
      { text: key.key },
      breakerCell(key),
      { text: dollars(key.spent.cost_usd) + ofLimit(key.limits.max_cost_usd, dollars) },
      { text: number(key.requests_last_minute) + ofLimit(key.limits.requests_per_minute, number) },
      { text: number(key.tokens_last_minute) + ofLimit(key.limits.tokens_per_minute, number) },
      { text: `${number(key.under_way)}, ${dollars(key.expected.cost_usd)}` },
      { text: number(key.waiting) },
      { text: number(key.unreported) },
    ])]);
    fillTable("workers", fleet.workers.map((workers) => [
      { text: workers.version },
      { text: workers.address },
      { text: workers.gets_new_jobs ? workers.jobs.join(", ") : "no new jobs" },
      { text: number(workers.running) },
      { text: "", since: workers.registered },
    ]));
    fillTable("jobs", fleet.jobs.map((job) => [{ text: job.service }, { text: job.status }, { text: number(job.jobs) }]));
  };

  /** @param {PageState} state */
  const show = (state) => {
    shown = state;
    lostAt = null;
    const { fleet, counts, unlisted, error } = state;
    if (fleet && !error) clockOffset = Date.parse(fleet.engine_time) - Date.now();
    const heading = fleet ? (counts ? `Runs: ${counts}` : "No runs in the last day")
      : error ? "The engine has not answered yet" : "Asking the engine …";
    setText("heading", heading);
    document.title = `${error ? "no answer · " : ""}${heading}`;
    const tones = fleet?.runs.map((run) => TONES[run.state]) ?? [];
    if (fleet?.unreadable_keys.length) tones.push("bad");
    const tone = error || tones.includes("bad") ? "bad" : tones.includes("open") ? "open" : "plain";
    element("top").className = `top ${tone}`;
    element("fleet").hidden = !fleet;
    if (fleet) showFleet(fleet, unlisted);
    showTimes();
  };

  const events = new EventSource("events");
  events.onmessage = (message) => show(JSON.parse(message.data));
  events.onerror = () => {
    lostAt ??= Date.now();
    element("top").className = "top bad";
    showTimes();
  };
  setInterval(showTimes, 1000);
})();
