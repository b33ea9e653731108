// The button that makes a report, with a field for the question that the report answers.
import { html, signal, useState } from "./html.js";
import { download } from "../save/download.js";
import { Refused } from "./server.js";

const LONGEST = 300; // longest question that the server accepts, in characters
const asked = signal(""); // the question, shared by all reports of the page

// `name`: name of the file. `make`: returns the text of the report for a question. `children`: further buttons.
export function Report({ label, name, make, children }) {
  const [state, setState] = useState({ problem: "", isMaking: false }), question = asked.value;
  const save = async () => {
    setState({ problem: "", isMaking: true });
    try {
      download(name, await make(question), "text/html");
      setState({ problem: "", isMaking: false });
    } catch (error) {
      setState({ problem: error instanceof Refused ? error.problems[0] : "the server does not answer", isMaking: false });
    }
  };
  return html`<label class="question">Question that the report answers<input type="text" maxlength=${LONGEST} placeholder="may be left out" value=${question} onInput=${(event) => { asked.value = event.target.value; }} /></label>
    <p class="buttons"><button type="button" disabled=${state.isMaking} onClick=${save}>${state.isMaking ? "Writing …" : label}</button>${children}</p>
    ${state.problem && html`<p class="problem" role="alert">${state.problem}</p>`}`;
}
