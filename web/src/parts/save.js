// The menu of a chart of the page that saves it.
import { addSave } from "../save/menu.js";
import { html, useEffect, useRef } from "./html.js";

// `chart`: a function as for `addSave`, called at every choice. Screen readers read `title`.
export function Save({ title, chart, kinds }) {
  const place = useRef(null), live = useRef(null);
  live.current = chart;
  useEffect(() => {
    const menu = addSave(place.current, title, () => live.current(), kinds);
    return () => menu.remove();
  }, [title, String(kinds)]);
  return html`<span class="saves" ref=${place}></span>`;
}
