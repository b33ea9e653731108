// What lines look like. Light or dark: the system's, until one chooses. Kept for the next time.
import { signal } from "./html.js";

const KEY = "fullpipe-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const kept = localStorage.getItem(KEY);
if (kept === "dark" || kept === "light") root.dataset.theme = kept;
const now = () => root.dataset.theme || (system.matches ? "dark" : "light");

export const theme = signal(now());
system.addEventListener("change", () => { theme.value = now(); });

export function turn() {
  root.dataset.theme = theme.value === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, root.dataset.theme);
  theme.value = now();
}

export const DASHES = [[], [7, 4], [2, 3], [8, 3, 2, 3]]; // as `.d1` to `.d3` of page.css, and as reports have them
export const variable = (name) => getComputedStyle(root).getPropertyValue(name).trim();
