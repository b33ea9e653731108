// The editor of a scenario file. It is a separate bundle, which the page fetches when the view is opened.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { color: "var(--fore)", backgroundColor: "var(--back)", border: "1px solid var(--rule)", borderRadius: "5px", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace", lineHeight: "1.5", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--link) 8%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--fore)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--link) 25%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--fore)", border: "1px solid var(--rule)" },
});
const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--good)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
]);

// The editor is within a shadow root, where scripts may create style sheets, so that the policy of the page stays
// strict.
export function create(place, text, onChange) {
  const root = place.shadowRoot || place.attachShadow({ mode: "open" });
  const changed = EditorView.updateListener.of((update) => { if (update.docChanged) onChange(update.state.doc.toString()); });
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({ doc: text, extensions: [
      lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching(),
      StreamLanguage.define(toml), syntaxHighlighting(colours), look, changed,
      EditorView.contentAttributes.of({ "aria-label": "The scenario as TOML", tabindex: "0" }), keymap.of([...defaultKeymap, ...historyKeymap]),
    ] }),
  });
  return {
    // Replaces the text. Equal parts are not replaced, so that the cursor stays in its place.
    write(next) {
      const now = view.state.doc.toString();
      if (now === next) return;
      let from = 0;
      while (from < now.length && from < next.length && now[from] === next[from]) from += 1;
      let end = 0;
      while (end < now.length - from && end < next.length - from && now[now.length - 1 - end] === next[next.length - 1 - end]) end += 1;
      view.dispatch({ changes: { from, to: now.length - end, insert: next.slice(from, next.length - end) } });
    },
    mark(problems) {
      const marks = problems.map((problem) => {
        const line = view.state.doc.line(Math.min(Math.max(problem.line, 1), view.state.doc.lines));
        return { from: line.from, to: line.to, severity: "error", message: problem.message };
      });
      view.dispatch(setDiagnostics(view.state, marks.sort((a, b) => a.from - b.from)));
    },
    destroy: () => view.destroy(),
  };
}
