// Text to the clipboard, and files to the user.
import { html, useState } from "./html.js";

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A command that can be copied; where the clipboard is not to be had, it is selected.
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
