// A menu beside a chart that saves it as PNG, SVG or CSV.
import { add } from "../parts/add.js";
import { download } from "./download.js";
import { csv } from "./table.js";

const SCALE = 4; // resolution of PNG: pixels per pixel of a screen, which gives 384 per inch
const NAME_LENGTH = 100;

const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu; // characters that XML forbids, but that names of flows and scenarios may contain

const written = (picture) => `${new XMLSerializer().serializeToString(picture).replace(NO_XML, "\ufffd")}\n`;

// Returns the picture as pixels: an image in its own resolution, an <svg> in the resolution for print on white.
async function pixels(picture) {
  const isImage = picture instanceof HTMLImageElement, image = isImage ? picture : new Image();
  if (!isImage) image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(written(picture))}`; // the policy of the page forbids blob: addresses
  await image.decode();
  const canvas = document.createElement("canvas"), scale = isImage ? 1 : SCALE;
  canvas.width = scale * image.naturalWidth;
  canvas.height = scale * image.naturalHeight;
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = "#fff";
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const KINDS = {
  PNG: ["image/png", ({ picture }) => pixels(picture())],
  SVG: ["image/svg+xml", ({ picture }) => written(picture())],
  CSV: ["text/csv", ({ rows }) => csv(rows())],
};

// A file name from a title: its letters, digits and dots, with hyphens between words. Long titles are cut between
// words.
function fileName(title) {
  let name = "";
  for (const word of title.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}.]*/gu) || []) {
    const longer = name ? `${name}-${word}` : word.slice(0, NAME_LENGTH);
    if (longer.length > NAME_LENGTH) break;
    name = longer;
  }
  return name.replace(/\.+$/, "") || "chart";
}

// Adds the menu to an element, and returns the menu. Screen readers read `name`. `chart()` is called at every choice
// and returns {title, picture, rows}: `picture()` makes an <svg> or returns an <img> of the page, and `rows()` makes
// the rows of the CSV file.
export function addSave(parent, name, chart, kinds = Object.keys(KINDS)) {
  const menu = add(parent, "details", "", { class: "save" });
  const head = add(menu, "summary", "Save", { "aria-label": `Save ${name}` });
  const files = add(menu, "span", "", { role: "group", "aria-label": `Save ${name} as` });
  const close = () => { menu.open = false; };
  for (const kind of kinds) {
    add(files, "button", kind, { type: "button" }).addEventListener("click", async () => {
      const [type, make] = KINDS[kind], made = chart();
      download(`${fileName(made.title)}.${kind.toLowerCase()}`, await make(made), type);
      close();
      head.focus();
    });
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    head.focus();
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => { if (relatedTarget && !menu.contains(relatedTarget)) close(); });
  return menu;
}
