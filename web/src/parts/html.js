// What every view needs of preact, in one place.
export { h, render, Fragment } from "preact";
export { useEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, useComputed, useSignal } from "@preact/signals";
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
