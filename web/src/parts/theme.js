// The theme, light or dark: the theme of the system until the user chooses one. The browser stores the choice.
import { signal } from "@preact/signals-core";

const KEY = "fullpipe-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const kept = stored((storage) => storage.getItem(KEY));
if (kept === "dark" || kept === "light") root.dataset.theme = kept;
const now = () => root.dataset.theme || (system.matches ? "dark" : "light");

// A report in a frame of another site may have no storage, and then any access to the storage throws an error.
function stored(what) {
  try {
    return what(localStorage);
  } catch {
    return null;
  }
}

export const theme = signal(now());
system.addEventListener("change", () => { theme.value = now(); });

export function turn() {
  root.dataset.theme = theme.value === "dark" ? "light" : "dark";
  stored((storage) => storage.setItem(KEY, root.dataset.theme));
  theme.value = now();
}

export const variable = (name) => getComputedStyle(root).getPropertyValue(name).trim();

// Calls `make` while the page has its light colours. The browser paints nothing meanwhile.
export function inLight(make) {
  const before = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    return make();
  } finally {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
  }
}
