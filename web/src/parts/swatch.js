// A sample of a line, shown beside the name of the line.
import { html } from "./html.js";

export const swatch = ({ colour, dash }) => html`<svg class=${`swatch ${colour === null ? "v-even" : `c${colour}`}`} viewBox="0 0 22 8" aria-hidden="true"><path d="M0 4H22" class=${`line d${dash}`} /></svg>`;
