// @ts-check
// The stepper of traces. Of a long trace the script also draws the lanes, where they are seen, and the list of all steps.
"use strict";
(() => {
  /** Rows that are drawn above and below the visible part of the lanes of a long trace. */
  const AROUND = 60;

  /**
   * @typedef {{ listing: string, from: number, to: number }} Cited
   * @typedef {{ path: string, before: string | null, after: string | null }} Change
   * @typedef {{ text: string, listing: string | null, from: number }} Quote
   * @typedef {{ why: string, quotes: Quote[], lines: Cited[] }} Citation
   * @typedef {{ step: number, title: string, actor: string | null, state: Record<string, string>, changes: Change[],
   *   lines: [number, number] | null, citations: Citation[] | null }} Step
   * @typedef {{ label: string, x: number, y: number, width: number, height: number }} Node
   * @typedef {{ path: string, label: string, x: number, y: number, from: number, to: number }} Arrow
   * @typedef {{ nodes: Node[], arrows: Arrow[], row: number, head: number }} Lanes
   * @typedef {{ steps: Step[], back_to: number | null, lasso: string | null, listing: string, lanes?: Lanes,
   *   start?: number }} Trace
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
   * @param {string} name
   * @param {Record<string, string | number>} attributes
   * @param {string} [text]
   */
  function drawn(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, String(value)));
    if (text !== undefined) made.textContent = text;
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

  /**
   * A change as one element: `path old -> new`.
   * @param {Change} change
   * @param {string} path
   * @param {string} name
   */
  function changeElement({ before, after }, path, name) {
    const line = element(name, path ? `${path} ` : "", "change");
    if (before !== null) line.append(element("del", before));
    line.append(before !== null && after !== null ? " \u2192 " : before === null ? "+ " : "");
    if (after !== null) line.append(element("ins", after));
    return line;
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
      this.finding = root.closest("[data-finding]") ?? root;
      this.at = 0;
      /** The rows of the lanes that are drawn, if the script draws them. */
      this.from = 0;
      this.to = 0;
      this.box = /** @type {HTMLElement} */ (root.querySelector(".lane-box"));
      this.slider = /** @type {HTMLInputElement} */ (root.querySelector("input[type=range]"));
      /** @type {Record<string, string>[]} */
      this.states = [];
      trace.steps.forEach((step, at) => this.states.push({ ...(at ? this.states[at - 1] : {}), ...step.state }));
      this.slider.addEventListener("input", () => this.show(Number(this.slider.value) - 1));
      root.querySelectorAll("button[data-go]").forEach((button) => button.addEventListener("click", () => this.go(button.getAttribute("data-go"))));
      root.querySelector("svg.lanes")?.addEventListener("click", (event) => {
        const node = /** @type {Element} */ (event.target).closest(".node");
        if (node) this.show(Number(node.getAttribute("data-at")));
      });
      if (trace.lanes) this.box.addEventListener("scroll", () => this.drawLanes());
      const all = root.querySelector(".all-steps");
      if (all instanceof HTMLDetailsElement) {
        all.open = false;
        if (all.hasAttribute("data-late")) all.addEventListener("toggle", () => this.listSteps(all), { once: true });
      }
      this.at = trace.start ?? 0;
      const card = root.closest("details.card");
      // What is folded has no size to scroll in, and a page may have many traces.
      if (!(card instanceof HTMLDetailsElement) || card.open) this.show(this.at);
      card?.addEventListener("toggle", () => this.show(this.at));
    }

    /** @param {string | null} where */
    go(where) {
      const last = this.trace.steps.length - 1;
      const after = this.at < last ? this.at + 1 : this.trace.back_to ?? last;
      const to = { first: 0, back: Math.max(0, this.at - 1), next: after, last }[where ?? ""];
      if (to !== undefined) this.show(to, where === "next" && this.at === last && to < last);
    }

    /**
     * @param {number} at
     * @param {boolean} [isAgain] whether the last step of a loop leads here
     */
    show(at, isAgain = false) {
      const { steps, back_to: backTo, lasso } = this.trace;
      const before = isAgain ? steps.length - 1 : at - 1;
      const [step, state, previous] = [steps[at], this.states[at] ?? {}, before >= 0 ? this.states[before] ?? null : null];
      if (!step) return;
      this.at = at;
      this.slider.value = String(at + 1);
      const last = steps.length - 1;
      const by = step.actor && !step.title.includes("(") ? ` by ${step.actor}` : "";
      const then = isAgain ? ` \u2013 again, after step ${steps[last]?.step}` : at === last && lasso ? ` \u2013 ${lasso}` : "";
      this.slider.setAttribute("aria-valuetext", `${step.step} of ${steps.length}: ${step.title}${by}`);
      this.root.querySelector(".now")?.replaceChildren(element("strong", `${step.step} of ${steps.length}: `), element("code", step.title), `${by}${then}`);
      this.root.querySelectorAll("button[data-go]").forEach((button) => {
        const back = ["first", "back"].includes(button.getAttribute("data-go") ?? "");
        const goesRound = button.getAttribute("data-go") === "next" && backTo !== null;
        // A disabled button would lose the focus of the keyboard.
        button.setAttribute("aria-disabled", String(back ? at === 0 : at === last && !goesRound));
      });
      this.showWords(step);
      this.lightNode(at);
      // The changes of a step are those since the state before it, which after the loop is another one.
      const isNew = (/** @type {string} */ name) => previous !== null && previous[name] !== state[name];
      const sinceLast = () => Object.keys(state).filter(isNew).map((name) => ({ path: name, before: previous?.[name] ?? null, after: state[name] ?? null }));
      this.showState(state, previous, isAgain ? sinceLast() : step.changes);
      this.showModel(step);
      this.showDocuments(step);
    }

    /**
     * What the documents say of the step.
     * @param {Step} step
     */
    showWords(step) {
      const words = (step.citations ?? []).map(({ why, quotes }) => {
        const part = element("div");
        const list = element("ul", undefined, "quotes");
        quotes.forEach(({ text, listing, from }) => {
          const item = element("li");
          const link = element(listing ? "a" : "span", text);
          if (listing) link.setAttribute("href", `#${listing}-L${from}`);
          item.append(link);
          list.append(item);
        });
        part.append(element("p", why, "why"), list);
        return part;
      });
      this.root.querySelector(".told")?.replaceChildren(...words);
    }

    /** @param {number} at */
    lightNode(at) {
      const lanes = this.trace.lanes;
      if (lanes) {
        const [top, height] = [lanes.head + at * lanes.row, this.box.clientHeight];
        if (top < this.box.scrollTop + lanes.row || top > this.box.scrollTop + height - 2 * lanes.row) this.box.scrollTop = top - height / 3;
        this.drawLanes();
      }
      this.root.querySelector("svg .node.lit")?.classList.remove("lit");
      const node = this.root.querySelector(`svg .node[data-at="${at}"]`);
      node?.classList.add("lit");
      if (node && !lanes) scrollInside(this.box, node);
    }

    /** Draws the part of the lanes that is seen, and some rows around it. */
    drawLanes() {
      const { lanes } = this.trace;
      const layer = this.root.querySelector("svg .drawn");
      if (!lanes || !layer) return;
      const first = Math.floor(this.box.scrollTop / lanes.row);
      const last = first + Math.ceil(this.box.clientHeight / lanes.row);
      if (this.to && (first >= this.from || this.from === 0) && (last <= this.to || this.to === lanes.nodes.length)) return;
      [this.from, this.to] = [Math.max(0, first - AROUND), Math.min(lanes.nodes.length, last + AROUND)];
      const head = layer.getAttribute("data-head") ?? "";
      const arrows = lanes.arrows.filter(({ from, to }) => to >= this.from && from < this.to).flatMap(({ path, label, x, y }) => [
        drawn("path", { class: "message", d: path, "marker-end": `url(#${head})` }),
        drawn("text", { class: "element", x, y, "text-anchor": "middle" }, label),
      ]);
      const nodes = lanes.nodes.slice(this.from, this.to).map(({ label, x, y, width, height }, index) => {
        const at = this.from + index;
        const node = drawn("g", { class: at === this.at ? "node lit" : "node", "data-at": at });
        node.append(
          drawn("text", { class: "n", x: 34, y: y + 17, "text-anchor": "end" }, String(this.trace.steps[at]?.step)),
          drawn("rect", { x, y, width, height, rx: 5 }),
          drawn("text", { x: x + width / 2, y: y + 17, "text-anchor": "middle" }, label),
        );
        return node;
      });
      layer.replaceChildren(...arrows, ...nodes);
    }

    /**
     * All steps of a long trace, when they are asked for.
     * @param {Element} all
     */
    listSteps(all) {
      const list = element("ol", undefined, "steps");
      this.trace.steps.forEach(({ step, title, changes }) => {
        const item = element("li");
        item.setAttribute("value", String(step));
        item.append(element("code", title));
        changes.forEach((change) => item.append(changeElement(change, change.path, "div")));
        list.append(item);
      });
      all.append(list);
    }

    /**
     * What changed comes first, and the program counters last.
     * @param {Record<string, string>} state
     * @param {Record<string, string> | null} previous
     * @param {Change[]} changes
     */
    showState(state, previous, changes) {
      const isChanged = (/** @type {string} */ name) => previous !== null && previous[name] !== state[name];
      const rank = (/** @type {string} */ name) => (name === "pc" ? 2 : isChanged(name) ? 0 : 1);
      const names = Object.keys(state).sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
      const rows = names.map((name) => {
        const row = element("tr", undefined, isChanged(name) ? "changed" : "");
        const head = element("th", name);
        head.setAttribute("scope", "row");
        const cell = element("td");
        const own = isChanged(name) ? changes.filter(({ path }) => path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`)) : [];
        // A value that is replaced as a whole is shown once, as old and new.
        if (!own.some(({ path, before, after }) => path === name && before !== null && after !== null)) cell.append((state[name] ?? "").replace(/\s+/g, " "));
        own.forEach((change) => cell.append(changeElement(change, change.path.slice(name.length), "div")));
        row.append(head, cell);
        return row;
      });
      this.root.querySelector("table.state tbody")?.replaceChildren(...rows);
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
      const lines = (step.citations ?? []).flatMap((citation) => citation.lines);
      const first = lines[0];
      const box = pane.closest(".pane");
      if (box instanceof HTMLElement) box.hidden = !this.trace.steps.some((any) => any.citations?.some(({ lines }) => lines.length));
      /** @type {HTMLElement} */ (pane).hidden = !first;
      if (!first) {
        cited.textContent = "No line of the documents is cited for this step.";
        return;
      }
      cited.textContent = document.getElementById(first.listing)?.textContent ?? "";
      fillListing(pane, first.listing);
      lightLines(pane, lines.filter(({ listing }) => listing === first.listing).map(({ from, to }) => [from, to]));
    }
  }

  /** @type {Record<string, Trace>} */
  const traces = JSON.parse(document.getElementById("data")?.textContent ?? "{}").traces ?? {};
  /** @type {Stepper[]} */
  const steppers = [];
  document.querySelectorAll("[data-trace]").forEach((root) => {
    const trace = traces[root.getAttribute("data-trace") ?? ""];
    if (trace?.steps.length) steppers.push(new Stepper(root, trace));
  });
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = /** @type {Element} */ (event.target);
    if (target.closest("select, textarea, input:not([type=range])")) return;
    const inside = steppers.find(({ root }) => root.contains(target)) ?? steppers.find(({ finding }) => finding.contains(target));
    const where = { ArrowLeft: "back", ArrowRight: "next", Home: inside && "first", End: inside && "last" }[event.key];
    if (!where) return;
    // Without a focus, the keys belong to the trace that is seen, unless what has the focus scrolls by them.
    const seen = () => target.closest(".wide, .scroll, .listing, .diff, input") ? undefined : steppers.find(({ root }) => {
      const { top, bottom } = root.getBoundingClientRect();
      return root.checkVisibility() && top < innerHeight * 0.7 && bottom > innerHeight * 0.2;
    });
    const stepper = inside ?? seen();
    if (!stepper) return;
    event.preventDefault();
    stepper.go(where);
  });
})();
