// @ts-check
"use strict";
// What the live pages share.

/** @param {string} id @returns {HTMLElement} */
const element = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
};
/** @param {string} id @param {string} text */
const setText = (id, text) => {
  const place = element(id);
  if (place.textContent !== text) place.textContent = text;
};
/** @param {number} n */
const number = (n) => n.toLocaleString("en");
/** Whole seconds as `1 h 2 min 3 s`. @param {number} seconds */
const duration = (seconds) => {
  const s = Math.max(0, Math.floor(seconds));
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return [h ? `${h} h` : "", h || m ? `${m} min` : "", `${s % 60} s`].filter(Boolean).join(" ");
};
