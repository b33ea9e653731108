// Requests to the server that this page came from.
import { signal } from "./html.js";

// Whether the server answers: "yes", "gone" (it does not), or "closed" (it refuses this browser).
export const connection = signal("yes");

export class Refused extends Error {
  constructor(problems) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name !== "AbortError") connection.value = "gone";
    throw error;
  }
  connection.value = answer.status === 401 || answer.status === 403 ? "closed" : "yes";
  if (answer.ok) return answer;
  const problems = await answer.json().then((body) => body.problems, () => null);
  throw new Refused(problems || [`the server answers ${answer.status}`]);
}

const posted = (body, signal) => ({
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
});

export const get = async (path, signal) => (await request(path, { signal })).json();
export const getBytes = async (path, signal) => (await request(path, { signal })).arrayBuffer();
export const post = async (path, body, signal) => (await request(path, posted(body, signal))).json();
export const postText = async (path, body, signal) => (await request(path, posted(body, signal))).text();

// Yields the events of a streamed answer as [name, data], with the data as text.
export async function* events(path, body, signal) {
  const answer = await request(path, posted(body, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [name, data] = part.split("\n");
      yield [name.slice("event: ".length), data.slice("data: ".length)];
    }
  }
}

export const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

// The columns that `packed.py` has packed into a buffer, by name.
export function columnsOf(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const found = {};
  header.columns.forEach((name, n) => {
    found[name] = new Float32Array(buffer, 4 + length + 4 * n * header.rows, header.rows);
  });
  return found;
}

// Concatenates the columns of several parts.
export function joined(parts) {
  const found = {};
  for (const name of Object.keys(parts[0] || {})) {
    const whole = new Float32Array(parts.reduce((sum, part) => sum + part[name].length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part[name], at);
      at += part[name].length;
    }
    found[name] = whole;
  }
  return found;
}
