// @ts-check
"use strict";
// Shows each state of the fleet that the server sends. Rows are kept, so that a selection or the place in the page survives.
(() => {
  /**
   * @typedef {{run: string, state: string, why: string, since: string, attempts: number | null, worker: string | null}} Run
   * @typedef {{cost_usd: number, tokens: number}} Use
   * @typedef {{key: string, limits: {max_cost_usd: number | null, requests_per_minute: number | null, tokens_per_minute: number | null},
   *   spent: Use, under_way: number, runs: number, expected: Use, waiting: number, unreported: number,
   *   requests_last_minute: number, tokens_last_minute: number, stopped: string | null, stopped_seconds: number | null}} Key
   * @typedef {{address: string, version: string, jobs: string[], gets_new_jobs: boolean, running: number, registered: string}} Workers
   * @typedef {{engine_time: string, runs: Run[], keys: Key[], workers: Workers[],
   *   jobs: {service: string, status: string, jobs: number}[]}} Fleet
   * @typedef {{fleet: Fleet | null, counts: string, more: number, error: {why: string, since: string} | null}} Seen
   * @typedef {{text: string, tone?: string, time?: string}} Cell
   */

  /** @type {Seen | null} */
  let seen = null;
  /** The clock of the engine minus that of this machine, in milliseconds. */
  let ahead = 0;
  /** When the connection was lost. @type {number | null} */
  let lost = null;

  /** What each state means for a person. @type {Record<string, string>} */
  const TONES = { stuck: "bad", failed: "bad", stopped: "open", parked: "open", working: "good", ended: "", waiting: "" };

  /** Puts a row for each list of cells into a table. @param {string} id @param {Cell[][]} rows */
  const fill = (id, rows) => {
    const table = /** @type {HTMLTableElement} */ (element(id));
    const labels = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent ?? "");
    const body = table.tBodies[0] ?? table.createTBody();
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, at) => {
      const row = body.rows[at] ?? body.insertRow();
      cells.forEach(({ text, tone, time }, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = row.insertCell();
          cell.dataset["label"] = labels[column] ?? "";
          cell.append(document.createElement("span"));
        }
        const span = /** @type {HTMLElement} */ (cell.firstChild);
        const kind = tone === undefined ? "" : `tag ${tone}`;
        if (span.className !== kind) span.className = kind;
        if (time !== undefined) span.dataset["since"] = time;
        else if (span.textContent !== text) span.textContent = text;
      });
    });
    table.hidden = rows.length === 0;
    element(`${id}-none`).hidden = rows.length > 0;
  };

  const showTimes = () => {
    const error = seen?.error;
    // What is not known to go on does not age.
    const now = (lost ?? (error ? Date.parse(error.since) : Date.now())) + ahead;
    for (const place of document.querySelectorAll("[data-since]")) {
      const since = Date.parse(/** @type {HTMLElement} */ (place).dataset["since"] ?? "");
      const text = duration((now - since) / 1000);
      if (place.textContent !== text) place.textContent = text;
    }
    if (lost) setText("message", "The connection is lost: tlaforge watch has ended. Trying again …");
    else if (error) {
      const for_ = duration((Date.now() - Date.parse(error.since)) / 1000);
      const then = seen?.fleet ? " What follows is as it was then." : "";
      setText("message", `No usable answer since ${new Date(error.since).toLocaleTimeString()}, for ${for_}: ${error.why}.${then}`);
    } else setText("message", "");
  };

  /** @param {number | null} limit @param {(n: number) => string} words */
  const of = (limit, words) => (limit === null ? "" : ` of ${words(limit)}`);
  /** @param {number} usd */
  const dollars = (usd) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

  /** @param {Key} key @returns {Cell} */
  const breaker = ({ stopped, stopped_seconds: seconds }) => {
    if (stopped === null) return { text: "closed", tone: "good" };
    const closes = seconds === null ? "by tlaforge fleet limits --resume" : `in ${duration(seconds)}`;
    return { text: `open: ${stopped} (closes ${closes})`, tone: "bad" };
  };

  /** @param {Fleet} fleet @param {number} more */
  const showFleet = (fleet, more) => {
    fill("runs", fleet.runs.map((run) => [
      { text: run.state, tone: TONES[run.state] ?? "" },
      { text: "", time: run.since },
      { text: run.run },
      { text: run.state === "stuck" && run.attempts ? `attempt ${run.attempts}: ${run.why}` : run.why },
    ]));
    setText("more", more ? `and ${number(more)} more: tlaforge fleet status --all lists them` : "");
    fill("keys", fleet.keys.map((key) => [
      { text: key.key },
      breaker(key),
      { text: dollars(key.spent.cost_usd) + of(key.limits.max_cost_usd, dollars) },
      { text: number(key.requests_last_minute) + of(key.limits.requests_per_minute, number) },
      { text: number(key.tokens_last_minute) + of(key.limits.tokens_per_minute, number) },
      { text: `${number(key.under_way)}, ${dollars(key.expected.cost_usd)}` },
      { text: number(key.waiting) },
      { text: number(key.unreported) },
    ]));
    fill("workers", fleet.workers.map((workers) => [
      { text: workers.version },
      { text: workers.address },
      { text: workers.gets_new_jobs ? workers.jobs.join(", ") : "no new jobs" },
      { text: number(workers.running) },
      { text: "", time: workers.registered },
    ]));
    fill("jobs", fleet.jobs.map((job) => [{ text: job.service }, { text: job.status }, { text: number(job.jobs) }]));
  };

  /** @param {Seen} now */
  const show = (now) => {
    seen = now;
    lost = null;
    const { fleet, counts, more, error } = now;
    if (fleet && !error) ahead = Date.parse(fleet.engine_time) - Date.now();
    const heading = fleet ? (counts ? `Runs: ${counts}` : "No runs in the last day")
      : error ? "The engine has not answered yet" : "Asking the engine …";
    setText("heading", heading);
    document.title = `${error ? "no answer · " : ""}${heading}`;
    const states = fleet?.runs.map((run) => TONES[run.state]) ?? [];
    const tone = error || states.includes("bad") ? "bad" : states.includes("open") ? "open" : "plain";
    element("top").className = `top ${tone}`;
    element("fleet").hidden = !fleet;
    if (fleet) showFleet(fleet, more);
    showTimes();
  };

  const events = new EventSource("events");
  events.onmessage = (message) => show(JSON.parse(message.data));
  events.onerror = () => {
    lost ??= Date.now();
    element("top").className = "top bad";
    showTimes();
  };
  setInterval(showTimes, 1000);
})();
