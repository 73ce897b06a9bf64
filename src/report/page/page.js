// @ts-check
// The script of a page. Without it the page is complete and only less handy.
"use strict";
(() => {
  document.documentElement.classList.add("js");

  /** Opens every closed detail while the page is printed, except those that a script fills when they are opened. */
  function openWhilePrinting() {
    /** @type {HTMLDetailsElement[]} */
    let opened = [];
    addEventListener("beforeprint", () => {
      /** @type {NodeListOf<HTMLDetailsElement>} */
      const all = document.querySelectorAll("details:not([data-late])");
      opened = Array.from(all).filter((details) => !details.open);
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

  /** Makes links of the names of requirements, assumptions, open points and witnesses inside of texts. */
  function linkNames() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    /** @type {Text[]} */
    const texts = [];
    while (walker.nextNode()) {
      const text = /** @type {Text} */ (walker.currentNode);
      const isProse = text.parentElement?.closest("p, li, dd, td") && !text.parentElement.closest("a, code, pre, svg, script, style, summary, .listing, .diff, .chart, .now");
      if (isProse && /\b[RWAO]\d/.test(text.data)) texts.push(text);
    }
    for (const text of texts) {
      const parts = text.data.split(/\b([RWAO]\d+)\b/);
      const row = text.parentElement?.closest("[id]")?.id;
      if (!parts.some((name, at) => at % 2 && name !== row && document.getElementById(name))) continue;
      text.replaceWith(...parts.map((name, at) => {
        if (at % 2 === 0 || name === row || !document.getElementById(name)) return name;
        const link = document.createElement("a");
        link.href = `#${name}`;
        link.textContent = name;
        return link;
      }));
    }
  }

  /** Marks all lines of a cited place, not only the first one. */
  function lightPlaces() {
    addEventListener("click", (event) => {
      const link = /** @type {Element} */ (event.target).closest?.("a[data-to]");
      const [, listing, from] = /^#(.*)-L(\d+)$/.exec(link?.getAttribute("href") ?? "") ?? [];
      if (!link || !from) return;
      document.querySelectorAll("main .line.place").forEach((line) => line.classList.remove("place"));
      for (let at = Number(from); at <= Number(link.getAttribute("data-to")); at += 1) document.getElementById(`${listing}-L${at}`)?.classList.add("place");
    });
  }

  linkNames();
  lightPlaces();
  openWhilePrinting();
  followSections();
  openTargets();
  connectFilters();
})();
