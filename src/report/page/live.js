// @ts-check
"use strict";
// Shows each status that the server sends, and asks for the report again when a revision has closed.
(() => {
  /**
   * @typedef {{heading: string, finished: boolean, running: boolean, may_run_elsewhere: boolean,
   *   work: {node: string, rev: number, attempt: number, since: string} | null,
   *   check: {run: string, generated: number, distinct: number, queue: number} | null,
   *   closed_revisions: number, answers: number, tokens: number, cost_usd: number, unpriced: number,
   *   max_tokens: number | null, max_cost: number | null, max_time: string | number | null,
   *   started: string | null, ended: string | null, lines: string[], error?: string}} Status
   */

  const stop = /** @type {HTMLButtonElement} */ (element("stop"));
  const renew = /** @type {HTMLButtonElement} */ (element("renew"));
  const report = /** @type {HTMLIFrameElement} */ (element("report"));

  /** @type {Status | null} */
  let status = null;
  /** The checker's last count of states with its time, for the rate. @type {{run: string, generated: number, at: number, rate: number} | null} */
  let counted = null;
  /** When the connection was lost. @type {number | null} */
  let lost = null;
  /** Whether the frame is loading a report, and whether a newer one is to follow it. */
  let isLoading = false;
  let isOutdated = false;
  /** Whether the last status had an error. */
  let hadError = false;

  const showTimes = () => {
    if (!status) return;
    const { work, started, ended, max_time: limit } = status;
    const now = ended ? Date.parse(ended) : lost ?? Date.now();
    /** @param {string} at */
    const secondsSince = (at) => (now - Date.parse(at)) / 1000;
    // A process elsewhere may be working on it or may have died: only its last event is known.
    const ago = (lost ?? Date.now()) - Date.parse(work?.since ?? "");
    const how = !work ? "" : status.may_run_elsewhere ? `began ${duration(ago / 1000)} ago` : `for ${duration(secondsSince(work.since))}`;
    setText("attempt", status.may_run_elsewhere ? "Last attempt" : "At work");
    setText("work", work ? `${work.node}, revision ${work.rev}, attempt ${work.attempt}, ${how}` : "–");
    if (started) setText("time", duration(secondsSince(started)) + (limit ? ` of ${limit}` : ""));
  };

  /** @param {Status} now */
  const showCheck = (now) => {
    if (!now.check) {
      counted = null;
      return setText("check", "–");
    }
    const { run, generated, distinct, queue } = now.check;
    const at = Date.now();
    if (!counted || counted.run !== run) {
      counted = { run, generated, at, rate: 0 };
    } else if (generated > counted.generated && at > counted.at) {
      counted = { run, generated, at, rate: (generated - counted.generated) / ((at - counted.at) / 1000) };
    }
    const rate = counted.rate ? `, ${number(Math.round(counted.rate))} states/s` : "";
    setText("check", `${run}: ${number(distinct)} distinct states, ${number(queue)} on the queue${rate}`);
  };

  /** @param {Status} now */
  const show = (now) => {
    const before = status;
    status = now;
    lost = null;
    const heading = now.finished || now.may_run_elsewhere ? now.heading
      : !now.running ? "not finished, and no process works on it"
      : now.work ? `running: ${now.work.node}` : "running";
    setText("heading", heading.charAt(0).toUpperCase() + heading.slice(1));
    document.title = heading;
    const unknown = now.unpriced ? `${now.unpriced} calls of unknown price` : "";
    const cost = [now.cost_usd || !unknown ? `${now.cost_usd.toFixed(2)} USD` : "", unknown].filter(Boolean).join(" and ");
    setText("cost", cost + (now.max_cost ? ` of ${now.max_cost} USD` : ""));
    setText("answers", `${now.answers}, ${number(now.tokens)} tokens` + (now.max_tokens ? ` of ${number(now.max_tokens)}` : ""));
    setText("revisions", String(now.closed_revisions));
    showCheck(now);
    showTimes();
    const lines = element("lines");
    const isAtEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4;
    setText("lines", now.lines.join("\n"));
    if (isAtEnd) lines.scrollTop = lines.scrollHeight;
    stop.disabled = !now.running || now.finished;
    // The outcome is shown at once, because the server may end soon after the run.
    if (!before || now.finished && !before.finished) showReport();
    else if (before.closed_revisions !== now.closed_revisions) {
      // A person who reads in the report decides when it changes.
      if (document.activeElement === report) renew.hidden = false;
      else if (isLoading) isOutdated = true;
      else showReport();
    }
  };

  const showReport = () => {
    renew.hidden = true;
    isLoading = true;
    isOutdated = false;
    report.src = "report";
  };
  report.addEventListener("load", () => {
    isLoading = false;
    if (isOutdated) showReport();
  });

  const events = new EventSource("events");
  events.onmessage = (message) => {
    /** @type {Status} */
    const now = JSON.parse(message.data);
    show(now);
    if (now.error || hadError) setText("message", now.error ? `This is not up to date: ${now.error}` : "");
    hadError = !!now.error;
    if (now.finished) events.close();
  };
  events.onerror = () => {
    setText("message", "The connection is lost: the run or its server has ended. Trying again …");
    lost ??= Date.now();
    stop.disabled = true;
    showTimes();
  };
  events.onopen = () => setText("message", "");
  setInterval(showTimes, 1000);

  renew.addEventListener("click", showReport);
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    try {
      const answer = await fetch("stop", { method: "POST" });
      setText("message", (await answer.text()).trim());
    } catch {
      setText("message", "The server does not answer.");
    }
  });
})();
