// A command with a button that copies it to the clipboard.
import { html, useState } from "./html.js";

// A command that can be copied. If the clipboard is not available, the text of the command is selected.
export function Command({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async (event) => {
    const code = event.target.closest(".command").querySelector("code");
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      getSelection().selectAllChildren(code);
    }
  };
  return html`<div class="command">
    <code tabindex="0" role="group" aria-label=${label}>${text}</code>
    <button type="button" onClick=${copy}>${done ? "Copied" : "Copy"}</button>
  </div>`;
}
