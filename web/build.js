// Builds the page, and what reports run, into the package, or into a folder that is named. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(HERE, "../python/fullpipe");
const TO = process.argv[2] || PACKAGE;
const PAGE = join(TO, "cli/ui/static"), REPORT = join(TO, "report/static");
const LOOKS = join(PACKAGE, "report/assets");
const NOT_SHIPPED = ["esbuild", "axe-core"]; // what builds, and what tests
const read = (path) => readFileSync(path, "utf8").trim();
const walked = (folder) =>
  readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walked(path) : [path];
  });

// The colours and strokes of algorithms, as every figure has them.
const palette = read(join(PACKAGE, "palette.py"));
const COLOURS = palette.match(/^COLOURS = \((.*)\)$/m)[1].match(/#\w{6}/g);
const DASHES = JSON.parse(palette.match(/^STROKES = (.*)$/m)[1].replaceAll("(", "[").replaceAll(")", "]"));
const numbers = (name) => palette.match(new RegExp(`^${name} = \\((.*)\\)$`, "m"))[1].split(",").map(Number);
const SHADES = numbers("_SHADES"), DARK_SHADES = numbers("_DARK_SHADES");

// A colour mixed with white (positive part) or with black, as in palette.py. Python rounds halves to even numbers.
function shadedOnce(colour, part) {
  const target = part > 0 ? 255 : 0, even = (x) => (x % 1 === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
  const mixed = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)).map((value) => even(value + (target - value) * Math.abs(part)));
  return part ? `#${mixed.map((value) => value.toString(16).toUpperCase().padStart(2, "0")).join("")}` : colour;
}
// The colours of flows of one algorithm: all colours, then all in the second shade, and so on.
const shaded = (colours) => SHADES.flatMap((part) => colours.map((colour) => shadedOnce(colour, part)));
const shadedOnDark = (colours) => DARK_SHADES.flatMap((part) => colours.map((colour, n) => shadedOnce(colour, n === colours.length - 1 ? -part : part)));
const variables = (colours) => colours.map((colour, n) => `--c${n}:${colour};`).join("");

const UPLOT_CSS = read(join(HERE, "node_modules/uplot/dist/uPlot.min.css"));

function style() {
  const colours = variables(shaded(COLOURS)), named = read(join(LOOKS, "dark.css"));
  const onDark = COLOURS.map((colour, n) => named.match(new RegExp(`--c${n}:(#\\w{6})`))?.[1] || colour);
  const looks = shaded(COLOURS).map((_, n) => `.c${n}{--k:var(--c${n})}`).join("");
  const dashes = DASHES.map((dash, n) => dash.length ? `.d${n}.line{stroke-dasharray:${dash.join(" ")}}` : "").join("");
  const light = read(join(LOOKS, "light.css")), dark = named + variables(shadedOnDark(onDark));
  const themes = `:root{${colours}${light}}:root[data-theme=dark]{${dark}}`
    + `@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark}}}`;
  const own = walked(join(HERE, "src")).filter((path) => path.endsWith(".css")).map(read);
  return [themes, UPLOT_CSS, read(join(LOOKS, "shared.css")), looks + dashes, ...own].join("\n");
}

const OF_REPORT = ["@preact/signals-core", "uplot"];
const aboutOf = (name) => JSON.parse(read(join(HERE, "node_modules", name, "package.json")));

function ofPage() {
  const used = Object.keys(JSON.parse(read(join(HERE, "package.json"))).devDependencies).filter((name) => !NOT_SHIPPED.includes(name));
  return [...new Set([...used, "@lezer/common", "@lezer/lr", "@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"])].sort();
}

function licenceOf(name) {
  const folder = join(HERE, "node_modules", name), file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return file ? read(join(folder, file)) : "";
}

const named = (name) => `${name} ${aboutOf(name).version} (${aboutOf(name).license})`;
const licences = (names) => names.map((name) => `${named(name)}\n\n${licenceOf(name)}\n`).join(`\n${"-".repeat(80)}\n\n`);

// A report goes without the licences beside it, so it says whose they are.
const credits = OF_REPORT.map((name) => `${named(name)} ${licenceOf(name).match(/^Copyright.*$/m)[0]}`).join("; ");

// What the bundle was made of, so that a stale one is found without npm.
export function fingerprint() {
  const sources = [...walked(join(HERE, "src")), join(HERE, "build.js"), join(HERE, "package-lock.json"),
    join(LOOKS, "light.css"), join(LOOKS, "dark.css"), join(LOOKS, "shared.css"), join(PACKAGE, "palette.py")];
  const hash = createHash("sha256");
  for (const path of sources) {
    hash.update(`${relative(join(HERE, ".."), path)}\n`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

for (const folder of [PAGE, REPORT]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
const options = {
  bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", absWorkingDir: HERE,
  define: { DASHES: JSON.stringify(DASHES) },
};
await build({
  ...options, entryPoints: { app: join(HERE, "src/main.js"), editor: join(HERE, "src/editor/code.js") },
  format: "esm", outdir: PAGE, external: ["/static/*"],
});
await build({
  ...options, entryPoints: { report: join(HERE, "src/report/main.js") }, format: "iife", outdir: REPORT, banner: { js: `/*! With ${credits} */` },
});
const written = [
  [PAGE, "app.css", style()], [PAGE, "third-party.txt", licences(ofPage())], [PAGE, "sources.sha256", fingerprint()],
  [REPORT, "charts.css", `${UPLOT_CSS}\n${read(join(HERE, "src/save/save.css"))}`], [REPORT, "third-party.txt", licences(OF_REPORT)],
];
for (const [folder, name, text] of written) writeFileSync(join(folder, name), `${text}\n`);
cpSync(join(HERE, "src/index.html"), join(PAGE, "index.html"));
