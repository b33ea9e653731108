// Builds the page into the package. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(HERE, "../python/fullpipe");
const OUT = process.argv[2] || join(PACKAGE, "cli/ui/static");
const REPORT = join(PACKAGE, "report/assets");
const NOT_SHIPPED = ["esbuild", "axe-core"]; // what builds, and what tests
const read = (path) => readFileSync(path, "utf8").trim();
const walked = (folder) =>
  readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walked(path) : [path];
  });

// The colours of algorithms, as every figure has them.
const palette = read(join(PACKAGE, "palette.py")).match(/COLOURS = \(([^)]*)\)/)[1].match(/#\w{6}/g);

function style() {
  const colours = palette.map((colour, n) => `--c${n}:${colour};`).join("");
  const light = read(join(REPORT, "light.css")), dark = read(join(REPORT, "dark.css"));
  const themes = `:root{${colours}${light}}:root[data-theme=dark]{${dark}}`
    + `@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark}}}`;
  const own = walked(join(HERE, "src")).filter((path) => path.endsWith(".css")).map(read);
  return [themes, read(join(HERE, "node_modules/uplot/dist/uPlot.min.css")), ...own].join("\n");
}

function licences() {
  const used = Object.keys(JSON.parse(read(join(HERE, "package.json"))).devDependencies).filter((name) => !NOT_SHIPPED.includes(name));
  const all = [...new Set([...used, "@preact/signals-core", "@lezer/common", "@lezer/lr",
    "@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"])].sort();
  return all.map((name) => {
    const folder = join(HERE, "node_modules", name);
    const about = JSON.parse(read(join(folder, "package.json")));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${about.version} (${about.license})\n\n${file ? read(join(folder, file)) : ""}\n`;
  }).join(`\n${"-".repeat(80)}\n\n`);
}

// What the bundle was made of, so that a stale one is found without npm.
export function fingerprint() {
  const sources = [...walked(join(HERE, "src")), join(HERE, "build.js"), join(HERE, "package-lock.json"),
    join(REPORT, "light.css"), join(REPORT, "dark.css"), join(PACKAGE, "palette.py")];
  const hash = createHash("sha256");
  for (const path of sources) {
    hash.update(`${relative(join(HERE, ".."), path)}\n`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
await build({
  entryPoints: { app: join(HERE, "src/main.js"), editor: join(HERE, "src/editor/code.js") },
  bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none",
  outdir: OUT, absWorkingDir: HERE, external: ["/static/*"],
});
writeFileSync(join(OUT, "app.css"), style() + "\n");
writeFileSync(join(OUT, "third-party.txt"), licences());
writeFileSync(join(OUT, "sources.sha256"), fingerprint() + "\n");
cpSync(join(HERE, "src/index.html"), join(OUT, "index.html"));
