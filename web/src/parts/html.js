// The functions of preact that the views use.
export { h, render } from "preact";
export { useEffect, useMemo, useRef, useState } from "preact/hooks";
export { computed, signal } from "@preact/signals";
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
