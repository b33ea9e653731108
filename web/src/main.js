// The frame of the page: it loads the catalogue from the server, shows a view, and reports a server that does not
// answer.
import { html, render, signal, useEffect } from "./parts/html.js";
import { connection, get } from "./parts/server.js";
import { theme, turn } from "./parts/theme.js";
import { Editor } from "./editor/page.js";
import { RunList } from "./runs/list.js";
import { OneRun, TwoRuns } from "./runs/run.js";
import { OneStudy, Studies } from "./studies/page.js";
import { WhatIf } from "./whatif/page.js";

const VIEWS = { "what-if": ["What if", WhatIf], editor: ["Editor", Editor], runs: ["Runs", RunList], studies: ["Studies", Studies] };
const INNER = { run: ["Run", OneRun, "runs"], compare: ["Comparison", TwoRuns, "runs"], study: ["Study", OneStudy, "studies"] };
const VIEW = { ...VIEWS, ...INNER };
const read = () => {
  const [name, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = name.split("/");
  return { view: VIEW[view] ? view : "what-if", rest, query };
};
const route = signal(read());
addEventListener("hashchange", () => { route.value = read(); });
const known = signal(null);

function Lost() {
  if (connection.value === "yes") return null;
  const why = connection.value === "gone" ? "The server of this page has stopped." : "This browser no longer has access to the server of this page.";
  return html`<p class="lost" role="alert">${why} Start <code>fullpipe ui</code> again and open the printed address. To restore your settings, append the part of this page's address from <code>#</code> on to the new address. <button type="button" onClick=${load}>Try again</button></p>`;
}

async function load() {
  try {
    known.value = await get("/api/about");
  } catch { /* the signal `connection` reports the error */ }
}

function Page() {
  const { view, rest, query } = route.value, [title, View, within] = VIEW[view];
  useEffect(() => { document.title = `${title} · fullpipe`; }, [view]);
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>To the content</a>
    <header><span class="brand">fullpipe</span>
      <nav aria-label="Views">${Object.entries(VIEWS).map(([name, [label]]) => html`<a href=${`#/${name}`} aria-current=${name === (within || view) ? "page" : null}>${label}</a>`)}</nav>
      <button type="button" class="theme" onClick=${turn} aria-label=${theme.value === "dark" ? "Light colours" : "Dark colours"}>${theme.value === "dark" ? "Light" : "Dark"}</button>
    </header>
    <${Lost} />
    <main id="main" tabindex="-1">${known.value && html`<${View} key=${view} known=${known.value} rest=${rest} query=${query} />`}</main>`;
}

load();
render(html`<${Page} />`, document.body);
