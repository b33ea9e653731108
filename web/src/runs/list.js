// The stored runs: filters at the left, a table at the right. The chosen filters are in the address of the page.
import { html, signal, useEffect, useState } from "../parts/html.js";
import { count, plain, rate, score, share, time } from "../parts/numbers.js";
import { Refused, get } from "../parts/server.js";

const LABELS = {
  goodput_bps: "goodput of all, in total", rtt_mean_s: "RTT, mean of flows", retransmitted_packets: "retransmitted",
  started: "started, UTC", content: "content of files", call_score: "call score (MOS)", page_p50: "page load, median", stall_ratio: "video stalled",
};
const SHOWN = {
  goodput_bps: rate, rtt_mean_s: time, retransmitted_packets: count, call_score: score, page_p50: time, stall_ratio: (part) => share(part, 2),
};
const moment = (text) => text.slice(0, 16).replace("T", " ");
const short = (name) => name.replace(/^topology\./, "");
const go = (asked) => { location.hash = `#/runs?${asked}`; };

const ticked = signal([]); // the chosen runs, which stay chosen when the user comes back from another page

function useAnswer(query) {
  const [state, setState] = useState({ answer: null, problems: [] });
  useEffect(() => {
    const stop = new AbortController();
    get(`/api/runs?${query}`, stop.signal).then(
      (answer) => setState({ answer, problems: [] }),
      (error) => { if (!stop.signal.aborted) setState((before) => ({ ...before, problems: error instanceof Refused ? error.problems : ["the server does not answer"] })); },
    );
    return () => stop.abort();
  }, [query]);
  return state;
}

function Filter({ filter, asked }) {
  const chosen = asked.getAll("where").filter((one) => one.startsWith(`${filter.column}=`));
  if (filter.values.length < 2 && !chosen.length) return null;
  const toggle = (text) => {
    const next = new URLSearchParams(asked), all = next.getAll("where");
    next.delete("where");
    next.delete("from");
    (all.includes(text) ? all.filter((one) => one !== text) : [...all, text]).forEach((one) => next.append("where", one));
    go(next);
  };
  return html`<details class="filter" open=${filter.values.length <= 12 || chosen.length > 0}><summary title=${filter.column}>${LABELS[filter.column] || short(filter.column)}</summary>
    <ul>${filter.values.map(([value, runs]) => {
      const text = `${filter.column}=${value}`;
      return html`<li key=${text}><label><input type="checkbox" checked=${chosen.includes(text)} onChange=${() => toggle(text)} /><span>${value === "" ? "no files" : value}</span> <small>${count(runs)}</small></label></li>`;
    })}</ul>
    ${filter.others > 0 && html`<p class="note">and ${count(filter.others)} other values</p>`}
  </details>`;
}

function Head({ name, asked }) {
  const by = asked.get("sort") || "-started", is = by.replace(/^-/, "") === name, down = by.startsWith("-");
  const sort = () => {
    const next = new URLSearchParams(asked);
    next.set("sort", is && !down ? `-${name}` : name);
    next.delete("from");
    go(next);
  };
  return html`<th scope="col" class=${SHOWN[name] || name === "seed" ? "n" : ""} aria-sort=${is ? (down ? "descending" : "ascending") : null}>
    <button type="button" class="plain" title=${name} onClick=${sort}>${LABELS[name] || short(name)}${is ? (down ? " ↓" : " ↑") : ""}</button></th>`;
}

function Row({ row, columns, chosen, choose }) {
  const [id, ...values] = row, at = columns.indexOf("scenario");
  return html`<tr>
    <td><input type="checkbox" aria-label=${`Choose for a comparison: ${values.slice(0, at + 3).filter((value) => value !== null).join(", ")}`} checked=${chosen.includes(id)} onChange=${() => choose(id)} /></td>
    ${values.map((value, n) => {
      const shown = SHOWN[columns[n]] || (columns[n] === "started" && moment) || (typeof value === "number" && columns[n] !== "seed" ? plain : (one) => one);
      const text = value === null || value === "" ? "–" : shown(value);
      return html`<td class=${SHOWN[columns[n]] || typeof value === "number" ? "n" : "cut"}>${n === at ? html`<a href=${`#/run/${id}`} title=${value}>${text}</a>` : text}</td>`;
    })}
  </tr>`;
}

export function RunList({ known, query }) {
  const { answer, problems } = useAnswer(query);
  const asked = new URLSearchParams(query), chosen = ticked.value;
  const choose = (id) => { ticked.value = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2); };
  const search = (event) => {
    const next = new URLSearchParams(asked);
    next.set("name", event.target.value);
    next.delete("from");
    go(next);
  };
  const from = Number(asked.get("from") || 0);
  const turn = (by) => {
    const next = new URLSearchParams(asked);
    next.set("from", Math.max(0, from + by));
    go(next);
  };
  if (!answer) return html`<div class="wide-page"><h1>Runs</h1>${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}</div>`;
  if (!answer.total) {
    return html`<div class="wide-page"><h1>Runs</h1><p>The store ${known.store} has no runs yet. This page lists the runs of commands in a terminal, and runs that you keep in <a href="#/what-if">What if</a> or in the editor. For example, this command makes five runs:</p>
      <p><code>fullpipe run cubic-vs-bbr1 --seeds 5</code></p></div>`;
  }
  const last = Math.min(from + answer.rows.length, answer.matching);
  return html`<div class="with-aside">
    <aside aria-label="Filters">
      <label class="search">Name of the scenario<input type="search" value=${asked.get("name") || ""} onChange=${search} /></label>
      ${answer.filters.map((filter) => html`<${Filter} key=${filter.column} filter=${filter} asked=${asked} />`)}
      ${["where", "name"].some((key) => asked.get(key)) && html`<p><button type="button" onClick=${() => go("")}>Show all runs</button></p>`}
    </aside>
    <div class="results">
      <h1>Runs <small>${answer.matching < answer.total ? `${count(answer.matching)} of ` : ""}${count(answer.total)} in ${known.store}</small></h1>
      ${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}
      ${answer.damaged.map((line) => html`<p class="problem">${line}</p>`)}
      <p class="buttons"><a class=${`button${chosen.length === 2 ? "" : " off"}`} aria-disabled=${chosen.length === 2 ? null : "true"} href=${chosen.length === 2 ? `#/compare/${chosen.join("/")}` : null}>Compare the two chosen</a>
        <span class="note">${chosen.length === 2 ? "" : `Choose ${chosen.length ? "one more" : "two runs"} to show two runs side by side.`}</span></p>
      <div class="scroll" tabindex="0" role="group" aria-label="Runs"><table>
        <thead><tr><th scope="col"><span class="aside">chosen</span></th>${answer.columns.map((name) => html`<${Head} key=${name} name=${name} asked=${asked} />`)}</tr></thead>
        <tbody>${answer.rows.map((row) => html`<${Row} key=${row[0]} row=${row} columns=${answer.columns} chosen=${chosen} choose=${choose} />`)}</tbody>
      </table></div>
      ${answer.matching > answer.rows.length && html`<p class="buttons">
        ${from > 0 && html`<button type="button" onClick=${() => turn(-200)}>Earlier rows</button>`}
        <span>${count(from + 1)} to ${count(last)} of ${count(answer.matching)}</span>
        ${last < answer.matching && html`<button type="button" onClick=${() => turn(200)}>Further rows</button>`}</p>`}
    </div>
  </div>`;
}
