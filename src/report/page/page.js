// @ts-check
// The script of a page. Without it the page is complete and only less handy.
"use strict";
(() => {
  document.documentElement.classList.add("js");

  /** Opens every closed detail while the page is printed. */
  function openWhilePrinting() {
    /** @type {HTMLDetailsElement[]} */
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = Array.from(document.querySelectorAll("details")).filter((details) => !details.open);
      opened.forEach((details) => { details.open = true; });
    });
    addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
  }

  /** Marks the section that is being read in the navigation. */
  function followSections() {
    const links = new Map();
    document.querySelectorAll(".contents a").forEach((link) => links.set((link.getAttribute("href") ?? "").slice(1), link));
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(target.id)?.setAttribute("aria-current", "location");
      }
    }, { rootMargin: "-20% 0px -70% 0px" });
    document.querySelectorAll("main > section").forEach((section) => observer.observe(section));
  }

  /** Opens the details around the target of a link, so that it can be seen. */
  function openTargets() {
    const open = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      for (let at = target?.parentElement; at; at = at.parentElement) {
        if (at instanceof HTMLDetailsElement) at.open = true;
      }
      target?.scrollIntoView();
    };
    addEventListener("hashchange", open);
    if (location.hash) open();
  }

  /**
   * Filters rows: `<div class="controls" data-filters="ID">` with buttons `data-show="status"` for a table of that id whose
   * rows have `data-status`.
   */
  function connectFilters() {
    document.querySelectorAll("[data-filters]").forEach((controls) => {
      const table = document.getElementById(controls.getAttribute("data-filters") ?? "");
      const buttons = Array.from(controls.querySelectorAll("button[data-show]"));
      buttons.forEach((button) => button.addEventListener("click", () => {
        const shown = button.getAttribute("data-show");
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        table?.querySelectorAll("tbody tr[data-status]").forEach((row) => {
          /** @type {HTMLElement} */ (row).hidden = shown !== "all" && row.getAttribute("data-status") !== shown;
        });
      }));
    });
  }

  /**
   * @typedef {{ listing: string, from: number, to: number }} Cited
   * @typedef {{ path: string, before: string | null, after: string | null }} Change
   * @typedef {{ why: string, quotes: string[], lines: Cited[] }} Citation
   * @typedef {{ step: number, title: string, actor: string | null, state: Record<string, string>, changes: Change[],
   *   lines: [number, number] | null, citations: Citation[] | null }} Step
   * @typedef {{ steps: Step[], back_to: number | null, lasso: string | null, listing: string, start?: number }} Trace
   */

  /**
   * @param {string} name
   * @param {string} [text]
   * @param {string} [kind]
   */
  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  /**
   * Copies a listing of the page into a pane, once; its lines get no ids of their own.
   * @param {Element} pane
   * @param {string} listing
   */
  function fillListing(pane, listing) {
    if (pane.getAttribute("data-listing") === listing) return;
    pane.setAttribute("data-listing", listing);
    const source = document.getElementById(listing)?.nextElementSibling;
    const copies = Array.from(source?.children ?? []).map((line) => {
      const copy = /** @type {Element} */ (line.cloneNode(true));
      copy.querySelectorAll(".marks").forEach((marks) => marks.remove());
      copy.setAttribute("data-line", line.id.replace(/^.*-L/, ""));
      copy.removeAttribute("id");
      return copy;
    });
    pane.replaceChildren(...copies);
  }

  /**
   * Marks lines of a pane and scrolls the first one to its middle, without moving the page.
   * @param {Element} pane
   * @param {[number, number][]} ranges
   */
  function lightLines(pane, ranges) {
    /** @type {HTMLElement | null} */
    let first = null;
    pane.querySelectorAll("[data-line]").forEach((line) => {
      const number = Number(line.getAttribute("data-line"));
      const lit = ranges.some(([from, to]) => from <= number && number <= to);
      line.classList.toggle("lit", lit);
      if (lit && !first) first = /** @type {HTMLElement} */ (line);
    });
    if (first) scrollInside(pane, first);
  }

  /**
   * @param {Element} pane
   * @param {Element} child
   */
  function scrollInside(pane, child) {
    const [outer, inner] = [pane.getBoundingClientRect(), child.getBoundingClientRect()];
    if (inner.top < outer.top + 20 || inner.bottom > outer.bottom - 20) {
      pane.scrollTop += inner.top - outer.top - Math.min(outer.height / 3, 120);
    }
    if (inner.left < outer.left || inner.right > outer.right) pane.scrollLeft += inner.left - outer.left - 30;
  }

  /** One trace with its stepper. */
  class Stepper {
    /**
     * @param {Element} root
     * @param {Trace} trace
     */
    constructor(root, trace) {
      this.root = root;
      this.trace = trace;
      this.at = 0;
      this.slider = /** @type {HTMLInputElement} */ (root.querySelector("input[type=range]"));
      /** @type {Record<string, string>[]} */
      this.states = [];
      trace.steps.forEach((step, at) => this.states.push({ ...(at ? this.states[at - 1] : {}), ...step.state }));
      this.slider.addEventListener("input", () => this.show(Number(this.slider.value) - 1));
      root.querySelectorAll("button[data-go]").forEach((button) => button.addEventListener("click", () => this.go(button.getAttribute("data-go"))));
      root.querySelectorAll("svg .node").forEach((node, at) => node.addEventListener("click", () => this.show(at)));
      const all = root.querySelector(".all-steps");
      if (all instanceof HTMLDetailsElement) all.open = false;
      this.show(trace.start ?? 0);
      // What is folded has no size to scroll in.
      root.closest("details.card")?.addEventListener("toggle", () => this.show(this.at));
    }

    /** @param {string | null} where */
    go(where) {
      const last = this.trace.steps.length - 1;
      const after = this.at < last ? this.at + 1 : this.trace.back_to ?? last;
      const to = { first: 0, back: Math.max(0, this.at - 1), next: after, last }[where ?? ""];
      if (to !== undefined) this.show(to);
    }

    /** @param {number} at */
    show(at) {
      const { steps, back_to: backTo, lasso } = this.trace;
      const [step, previous] = [steps[at], at > 0 ? this.states[at - 1] : null];
      if (!step) return;
      this.at = at;
      this.slider.value = String(at + 1);
      const last = steps.length - 1;
      const by = step.actor ? ` by ${step.actor}` : "";
      const then = at === last && lasso ? ` \u2013 ${lasso}` : "";
      this.slider.setAttribute("aria-valuetext", `${step.step} of ${steps.length}: ${step.title}${by}`);
      const now = this.root.querySelector(".now");
      if (now) now.replaceChildren(element("strong", `${step.step} of ${steps.length}: `), element("code", step.title), `${by}${then}`);
      this.root.querySelectorAll("button[data-go]").forEach((button) => {
        const back = ["first", "back"].includes(button.getAttribute("data-go") ?? "");
        const goesRound = button.getAttribute("data-go") === "next" && backTo !== null;
        // A disabled button would lose the focus of the keyboard.
        button.setAttribute("aria-disabled", String(back ? at === 0 : at === last && !goesRound));
      });
      this.lightNode(at);
      this.showState(this.states[at] ?? {}, previous, step.changes);
      this.showModel(step);
      this.showDocuments(step);
    }

    /** @param {number} at */
    lightNode(at) {
      const box = this.root.querySelector(".lane-box");
      this.root.querySelectorAll("svg .node").forEach((node, index) => {
        node.classList.toggle("lit", index === at);
        if (index === at && box) scrollInside(box, node);
      });
    }

    /**
     * @param {Record<string, string>} state
     * @param {Record<string, string> | null} previous
     * @param {Change[]} changes
     */
    showState(state, previous, changes) {
      const rows = Object.entries(state).sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) => {
        const changed = previous !== null && previous[name] !== value;
        const row = element("tr", undefined, changed ? "changed" : "");
        const head = element("th", name);
        head.setAttribute("scope", "row");
        const cell = element("td");
        const own = changed ? changes.filter(({ path }) => path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`)) : [];
        // A value that is replaced as a whole is shown once, as old and new.
        if (!own.some(({ path, before, after }) => path === name && before !== null && after !== null)) cell.append(value.replace(/\s+/g, " "));
        own.forEach(({ path, before, after }) => {
          const line = element("div", undefined, "change");
          if (path !== name) line.append(`${path.slice(name.length)} `);
          if (before !== null) line.append(element("del", before));
          if (before !== null && after !== null) line.append(" \u2192 ");
          if (before === null) line.append("+ ");
          if (after !== null) line.append(element("ins", after));
          cell.append(line);
        });
        row.append(head, cell);
        return row;
      });
      this.root.querySelector("table.state tbody")?.replaceChildren(...rows);
      const changed = this.root.querySelector("tr.changed");
      if (changed?.closest(".scroll")) scrollInside(/** @type {Element} */ (changed.closest(".scroll")), changed);
    }

    /** @param {Step} step */
    showModel(step) {
      const pane = this.root.querySelector(".model");
      if (!pane) return;
      fillListing(pane, this.trace.listing);
      lightLines(pane, step.lines ? [step.lines] : []);
    }

    /** @param {Step} step */
    showDocuments(step) {
      const [pane, cited] = [this.root.querySelector(".document"), this.root.querySelector(".cited")];
      if (!pane || !cited) return;
      const citations = step.citations ?? [];
      cited.replaceChildren(...citations.map(({ why }) => element("p", why)));
      const lines = citations.flatMap((citation) => citation.lines);
      const first = lines[0];
      const box = pane.closest(".pane");
      if (box instanceof HTMLElement) box.hidden = this.trace.steps.every((any) => !any.citations);
      /** @type {HTMLElement} */ (pane).hidden = !first;
      if (!first) {
        if (!citations.length) cited.replaceChildren(element("p", "No line of the documents is cited for this step.", "quiet"));
        return;
      }
      const title = document.getElementById(first.listing)?.textContent ?? "";
      cited.append(element("p", title, "quiet"));
      fillListing(pane, first.listing);
      lightLines(pane, lines.filter(({ listing }) => listing === first.listing).map(({ from, to }) => [from, to]));
    }
  }

  function connectTraces() {
    const text = document.getElementById("data")?.textContent ?? "{}";
    /** @type {Record<string, Trace>} */
    const traces = JSON.parse(text).traces ?? {};
    /** @type {Stepper[]} */
    const steppers = [];
    document.querySelectorAll("[data-trace]").forEach((root) => {
      const trace = traces[root.getAttribute("data-trace") ?? ""];
      if (trace?.steps.length) steppers.push(new Stepper(root, trace));
    });
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const where = { ArrowLeft: "back", ArrowRight: "next" }[event.key];
      const target = /** @type {Element} */ (event.target);
      // Those move by themselves with the arrow keys, or scroll.
      if (!where || target.closest("input, select, textarea, .wide, .scroll, .listing, .diff")) return;
      const stepper = steppers.find(({ root }) => root.contains(target)) ?? steppers.find(({ root }) => {
        const { top, bottom } = root.getBoundingClientRect();
        return top < innerHeight * 0.7 && bottom > innerHeight * 0.2;
      });
      if (!stepper) return;
      event.preventDefault();
      stepper.go(where);
    });
  }

  openWhilePrinting();
  connectTraces();
  followSections();
  openTargets();
  connectFilters();
})();
