// @ts-check
// Draws the graph of the reachable states. States can be merged by the value of a variable.
// Its rows are the depths of the states. dagre chooses rows of its own, and elkjs, which can be given rows, has 1.6 MB: nearly
// all that a page may have.
"use strict";
(() => {
  /**
   * @typedef {[values: string[], depth: number, violated: string[], witnesses: string[]]} State
   * @typedef {[from: number, to: number, action: string | null]} Edge
   * @typedef {{ constrained: boolean, variables: string[], states: State[], edges: Edge[], trace: number[] }} Graph
   * @typedef {{ states: number[], depth: number, x: number, y: number }} Place
   */
  const SVG = "http://www.w3.org/2000/svg";
  const [COLUMN, ROW, RADIUS] = [44, 64, 11];

  /**
   * @param {string} name
   * @param {Record<string, string | number>} attributes
   */
  function svg(name, attributes) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, String(value)));
    return made;
  }

  /**
   * @param {string} name
   * @param {string} [text]
   */
  function html(name, text) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** The graph with its view; `chosen` and the path to it are numbers of places. */
  class GraphView {
    /**
     * @param {Element} root
     * @param {Graph} graph
     */
    constructor(root, graph) {
      this.root = root;
      this.graph = graph;
      this.box = /** @type {HTMLElement} */ (root.querySelector(".graph-box"));
      this.pane = /** @type {HTMLElement} */ (root.querySelector(".graph-state"));
      const merge = /** @type {HTMLSelectElement} */ (root.querySelector("[data-merge]"));
      merge.addEventListener("change", () => this.draw(merge.value === "" ? null : Number(merge.value)));
      root.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => this.zoom(button.getAttribute("data-zoom"))));
      /** @type {number[]} */
      this.placeOf = [];
      /** @type {Place[]} */
      this.places = [];
      /** @type {Map<string, { from: number, to: number, actions: Set<string>, line: Element | null }>} */
      this.links = new Map();
      this.connectBox();
      this.draw(null);
    }

    /** @param {number | null} variable */
    draw(variable) {
      const { states, edges } = this.graph;
      /** @type {Map<string, Place>} */
      const byKey = new Map();
      this.placeOf = [];
      this.places = [];
      states.forEach(([values, depth], number) => {
        const key = variable === null ? String(number) : values[variable] ?? "";
        let place = byKey.get(key);
        if (!place) {
          place = { states: [], depth, x: 0, y: 0 };
          byKey.set(key, place);
          this.places.push(place);
        }
        place.states.push(number);
        this.placeOf[number] = this.places.indexOf(place);
      });
      this.variable = variable;
      this.links = new Map();
      edges.forEach(([from, to, action]) => {
        const [source, target] = [this.placeOf[from] ?? 0, this.placeOf[to] ?? 0];
        if (source === target) return;
        const known = this.links.get(`${source} ${target}`) ?? { from: source, to: target, actions: new Set(), line: null };
        if (action) action.split(", ").forEach((name) => known.actions.add(name));
        this.links.set(`${source} ${target}`, known);
      });
      this.layOut();
      this.render();
      const last = this.graph.trace.at(-1);
      this.choose(last === undefined ? 0 : this.placeOf[last] ?? 0, false);
      this.zoom("fit");
    }

    /** Rows by depth; within a row, by the mean place of the neighbours above and below, in a few sweeps. */
    layOut() {
      /** @type {number[][]} */
      const rows = [];
      this.places.forEach(({ depth }, at) => (rows[depth] ??= []).push(at));
      /** @type {number[][]} */
      const near = this.places.map(() => []);
      this.links.forEach(({ from, to }) => {
        near[from]?.push(to);
        near[to]?.push(from);
      });
      const spread = () => rows.forEach((row) => row.forEach((at, index) => {
        const place = /** @type {Place} */ (this.places[at]);
        place.x = (index - (row.length - 1) / 2) * COLUMN;
        place.y = place.depth * ROW;
      }));
      spread();
      for (let sweep = 0; sweep < 8; sweep += 1) {
        const order = sweep % 2 ? [...rows].reverse() : rows;
        order.forEach((row) => {
          const mean = new Map(row.map((at) => {
            const own = /** @type {Place} */ (this.places[at]);
            const others = (near[at] ?? []).map((other) => /** @type {Place} */ (this.places[other])).filter(({ depth }) => depth !== own.depth);
            return [at, others.length ? others.reduce((sum, { x }) => sum + x, 0) / others.length : own.x];
          }));
          row.sort((one, other) => (mean.get(one) ?? 0) - (mean.get(other) ?? 0) || one - other);
          row.forEach((at, index) => { /** @type {Place} */ (this.places[at]).x = (index - (row.length - 1) / 2) * COLUMN; });
        });
      }
      const xs = this.places.map(({ x }) => x);
      const left = Math.min(...xs) - COLUMN;
      this.whole = { x: left, y: -ROW / 2, width: Math.max(...xs) + COLUMN - left, height: rows.length * ROW };
    }

    render() {
      const { states, edges } = this.graph;
      const leaves = new Set(edges.map(([from]) => from));
      const constrained = this.graph.constrained;
      const merged = this.variable !== null && this.variable !== undefined;
      const picture = svg("svg", { "aria-hidden": "true", focusable: "false" });
      this.links.forEach((link) => {
        const [from, to] = [/** @type {Place} */ (this.places[link.from]), /** @type {Place} */ (this.places[link.to])];
        const [dx, dy] = [to.x - from.x, to.y - from.y];
        const length = Math.hypot(dx, dy) || 1;
        const [ux, uy] = [dx / length, dy / length];
        // Steps back bend more, so that they do not lie on steps forward.
        const bend = to.depth > from.depth ? 4 : 22;
        const [endX, endY] = [to.x - ux * (RADIUS + 3), to.y - uy * (RADIUS + 3)];
        const [middleX, middleY] = [(from.x + to.x) / 2 - uy * bend, (from.y + to.y) / 2 + ux * bend];
        link.line = svg("path", { class: "link", d: `M${from.x} ${from.y} Q${middleX} ${middleY} ${endX} ${endY}`, "marker-end": "url(#graph-head)" });
        const title = svg("title", {});
        title.textContent = [...link.actions].join(", ") || "a step";
        link.line.append(title);
        picture.append(link.line);
      });
      this.dots = this.places.map((place, at) => {
        const has = (/** @type {(state: State, number: number) => boolean} */ test) => place.states.some((number) => test(/** @type {State} */ (states[number]), number));
        const kinds = [
          has(([, depth]) => depth === 0) ? "initial" : "",
          has(([, , violated]) => violated.length > 0) ? "violating" : "",
          has(([, , , witnesses]) => witnesses.length > 0) ? "witness" : "",
          !merged && !constrained && has((_, number) => !leaves.has(number)) ? "final" : "",
        ];
        const dot = svg("g", { class: `state ${kinds.join(" ")}`, transform: `translate(${place.x} ${place.y})` });
        const title = svg("title", {});
        title.textContent = this.describe(at);
        const text = svg("text", { "text-anchor": "middle", y: 4 });
        text.textContent = place.states.length > 1 ? `${place.states.length}` : String((place.states[0] ?? 0) + 1);
        dot.append(title, svg("circle", { r: RADIUS }), text);
        dot.addEventListener("click", () => { if (!this.moved) this.choose(at, true); });
        picture.append(dot);
        return dot;
      });
      const marker = svg("marker", { id: "graph-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
      marker.append(svg("path", { d: "M0 0 L8 4 L0 8 Z" }));
      const definitions = svg("defs", {});
      definitions.append(marker);
      picture.prepend(definitions);
      this.picture = picture;
      this.box.replaceChildren(picture);
    }

    /** @param {number} at */
    describe(at) {
      const { variables, states } = this.graph;
      const place = /** @type {Place} */ (this.places[at]);
      const [values] = /** @type {State} */ (states[place.states[0] ?? 0]);
      if (this.variable !== null && this.variable !== undefined) {
        return `${variables[this.variable]} = ${values[this.variable]}\n${place.states.length} states`;
      }
      return [`state ${(place.states[0] ?? 0) + 1}`, ...variables.map((name, index) => `${name} = ${values[index]}`)].join("\n");
    }

    /**
     * A shortest path from an initial state, as numbers of places.
     * @param {number} target
     */
    pathTo(target) {
      /** @type {Map<number, number | null>} */
      const before = new Map();
      const queue = this.places.flatMap(({ depth }, at) => (depth === 0 ? [at] : []));
      queue.forEach((at) => before.set(at, null));
      for (const at of queue) {
        this.links.forEach(({ from, to }) => {
          if (from === at && !before.has(to)) {
            before.set(to, at);
            queue.push(to);
          }
        });
      }
      const path = [];
      for (let at = /** @type {number | null | undefined} */ (target); at !== null && at !== undefined; at = before.get(at)) path.unshift(at);
      return path;
    }

    /**
     * @param {number} at
     * @param {boolean} moves whether the view follows
     */
    choose(at, moves) {
      this.chosen = at;
      const path = this.pathTo(at);
      const onPath = new Set(path.slice(1).map((to, index) => `${path[index]} ${to}`));
      this.links.forEach(({ line }, key) => line?.classList.toggle("on-path", onPath.has(key)));
      this.dots?.forEach((dot, index) => {
        dot.classList.toggle("on-path", path.includes(index));
        dot.classList.toggle("chosen", index === at);
      });
      this.showPath(path);
      const [place, view] = [this.places[at], this.view];
      if (!moves || !place || !view) return;
      const margin = 2 * RADIUS;
      if (place.x < view.x + margin || place.x > view.x + view.width - margin || place.y < view.y + margin || place.y > view.y + view.height - margin) {
        this.look({ ...view, x: place.x - view.width / 2, y: place.y - view.height / 2 });
      }
    }

    /** @param {number[]} path */
    showPath(path) {
      const { variables, states } = this.graph;
      const place = /** @type {Place} */ (this.places[this.chosen ?? 0]);
      const number = place.states[0] ?? 0;
      const [values, , violated, witnesses] = /** @type {State} */ (states[number]);
      const merged = this.variable !== null && this.variable !== undefined;
      const title = html("h3", merged ? `${variables[this.variable ?? 0]} = ${values[this.variable ?? 0]}` : `State ${number + 1}`);
      const parts = [title];
      if (merged) parts.push(html("p", `${place.states.length} states`));
      if (violated.length && !merged) parts.push(html("p", `Violates ${violated.join(", ")}`));
      if (witnesses.length && !merged) parts.push(html("p", `Reaches ${witnesses.join(", ")}`));
      if (!merged) {
        const table = html("table");
        table.className = "state";
        const body = html("tbody");
        variables.forEach((name, index) => {
          const row = html("tr");
          const head = html("th", name);
          head.setAttribute("scope", "row");
          row.append(head, html("td", values[index]));
          body.append(row);
        });
        table.append(body);
        parts.push(table);
      }
      const steps = path.length === 2 ? "1 step" : `${path.length - 1} steps`;
      // A group has several states: the next step may leave another one than the last step entered.
      const chain = merged ? `A chain of ${steps} between groups, not always one behaviour` : `The path to it, ${steps}`;
      parts.push(html("h4", path.length > 1 ? chain : "It is initial"));
      const list = html("ol");
      path.slice(1).forEach((to, index) => {
        const from = path[index] ?? 0;
        const link = this.links.get(`${from} ${to}`);
        const item = html("li");
        item.append(html("code", [...(link?.actions ?? [])].join(", ") || "a step"));
        if (!merged) {
          const [old] = /** @type {State} */ (states[this.places[from]?.states[0] ?? 0]);
          const [now] = /** @type {State} */ (states[this.places[to]?.states[0] ?? 0]);
          variables.forEach((name, variable) => {
            if (old[variable] !== now[variable]) item.append(html("div", `${name}: ${old[variable]} \u2192 ${now[variable]}`));
          });
        }
        list.append(item);
      });
      parts.push(list);
      this.pane.replaceChildren(...parts);
    }

    /** @param {{ x: number, y: number, width: number, height: number }} view */
    look(view) {
      this.view = view;
      this.picture?.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    }

    /** @param {string | null} how */
    zoom(how) {
      const { width, height } = this.whole ?? { width: 1, height: 1 };
      if (how === "fit" || !this.view) {
        // A small graph is not blown up.
        const [least, most] = [Math.max(width, this.box.clientWidth || 600), Math.max(height, this.box.clientHeight || 400)];
        const { x, y } = this.whole ?? { x: 0, y: 0 };
        this.look({ x: x - (least - width) / 2, y: y - (most - height) / 2, width: least, height: most });
        return;
      }
      const factor = how === "in" ? 0.75 : 1 / 0.75;
      const { x, y, width: w, height: h } = this.view;
      this.look({ x: x + (w * (1 - factor)) / 2, y: y + (h * (1 - factor)) / 2, width: w * factor, height: h * factor });
    }

    connectBox() {
      /** @type {{ x: number, y: number, view: { x: number, y: number, width: number, height: number } } | null} */
      let drag = null;
      this.moved = false;
      this.box.addEventListener("pointerdown", (event) => {
        this.moved = false;
        if (this.view) drag = { x: event.clientX, y: event.clientY, view: this.view };
      });
      addEventListener("pointermove", (event) => {
        if (!drag) return;
        const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
        if (Math.hypot(dx, dy) > 4) this.moved = true;
        const scale = Math.max(drag.view.width / this.box.clientWidth, drag.view.height / this.box.clientHeight);
        if (this.moved) this.look({ ...drag.view, x: drag.view.x - dx * scale, y: drag.view.y - dy * scale });
      });
      addEventListener("pointerup", () => { drag = null; });
      this.box.addEventListener("wheel", (event) => {
        // Without a key the page scrolls, as everywhere else.
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? "in" : "out");
      }, { passive: false });
      this.box.addEventListener("keydown", (event) => {
        const how = { "+": "in", "-": "out", 0: "fit" }[event.key];
        if (how) this.zoom(how);
        else if (!this.go(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
      });
    }

    /**
     * Chooses the state before or after the chosen one on a path, or its neighbour in the row.
     * @param {string} key
     */
    go(key) {
      const chosen = this.chosen ?? 0;
      const own = /** @type {Place} */ (this.places[chosen]);
      const links = [...this.links.values()];
      let to;
      if (key === "ArrowUp") to = this.pathTo(chosen).at(-2);
      else if (key === "ArrowDown") to = links.find((link) => link.from === chosen && (this.places[link.to]?.depth ?? 0) > own.depth)?.to;
      else if (key === "ArrowLeft" || key === "ArrowRight") {
        const row = this.places.map((place, at) => ({ place, at })).filter(({ place }) => place.depth === own.depth);
        row.sort((one, other) => one.place.x - other.place.x);
        to = row[row.findIndex(({ at }) => at === chosen) + (key === "ArrowLeft" ? -1 : 1)]?.at;
      } else return false;
      if (to !== undefined) this.choose(to, true);
      return true;
    }
  }

  const root = document.querySelector("[data-graph]");
  /** @type {Graph | null} */
  const graph = JSON.parse(document.getElementById("data")?.textContent ?? "{}").graph ?? null;
  if (root && graph) new GraphView(root, graph);
})();
