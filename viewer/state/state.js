// What the page shows now, as signals.

import { computed, signal } from "@preact/signals";
import { kept } from "viewer/state/kept.js";

/** @type {Signal<Loaded | null>} */
export const loaded = signal(null);

/** @type {Signal<Listed[]>} */
export const listing = signal([]);

/** What these lectures have in common. @type {Signal<Course>} */
export const course = signal({});

/**
 * Orders of the sections that are laid out: those around the reader, then what follows, then what
 * precedes.
 * @type {Signal<Set<number>>}
 */
export const laidOut = signal(new Set());

/** Whether a document is on its way. */
export const loading = signal(true);

/** A sentence that stands in place of a document. */
export const problem = signal("");

/** A sentence above the document, until the reader goes on. */
export const notice = signal("");

/** @type {Signal<"read" | "step">} */
export const mode = signal("read");
export const step = signal(0);

/**
 * What Read shows of a book: a chapter by its number, the page before them (0), or all on one page
 * (-1), as a lecture without chapters is.
 */
export const page = signal(-1);

/** The activation that the reader looks at instead of the innermost one, or -1. */
export const chosenFrame = signal(-1);

/** Index of the name whose changes `[` and `]` visit, or -1. */
export const chosenName = signal(-1);

/**
 * What Read scrolls to; a new object scrolls again. top: keep it there on the screen, and do not
 * mark it. takes: its line takes the focus, which was in a panel. find: what is shown instead of
 * that line, once it is there.
 * @type {Signal<{step: number, top?: number, takes?: boolean, find?: Find}>}
 */
export const focus = signal({ step: -1 });

/** @type {Signal<"" | PanelName>} */
export const dialog = signal("");

/** What is searched for, also before the panel of the search is there. */
export const query = signal("");

/**
 * The panel beside the program, which follows each step.
 * @type {Signal<"" | "inspect" | "compare">}
 */
export const docked = signal("");

/** Definitions beside the text, the one that is shown last. @type {Signal<FoundName[]>} */
export const definitions = signal([]);

/** @param {FoundName} definition */
export function openDefinition(definition) {
  definitions.value = [...definitions.value, definition];
}

/** What the inspector is opened on. @type {Signal<Opened | null>} */
export const inspected = signal(null);

/** The step that others are compared with, or -1. */
export const pinned = signal(-1);

/** The part of the run whose claims are listed, as in `scope.js`; empty: the reader's chapter. */
export const claimsOf = signal("");

/** Whether one section at a time is shown, and whether all is laid out for paper. */
export const presenting = signal(false);
export const printing = signal(false);

/** Which slide is shown then, and which of its parts. */
export const shown = signal(0);
export const part = signal(0);

/** What is laid out of a book: on paper, the page before the chapters is all of them. */
export const shownPage = computed(() => (printing.value && page.value === 0 ? -1 : page.value));

/** Whether Step goes on by itself. */
export const playing = signal(false);

/** How many times as fast as usual it does. */
export const speed = signal(1);
export const variablesShown = signal(true);

/** Whether the page shows one section or one step, within another page. */
export const isEmbedded = new URLSearchParams(location.search).has("embed");

/** Whether the outline is shown; null: the reader has not said. @type {Signal<boolean | null>} */
export const outlineShown = signal(null);

/**
 * Pixels across which there is room for an outline: beside an article with its margin, and beside a
 * program with its variables.
 */
const WIDE = { read: 1200, step: 1600 };

/** Whether there is an outline: beside an article, and beside a program where there is room. */
export function hasOutline() {
  return outlineShown.value ?? innerWidth >= WIDE[mode.value];
}

/**
 * How much Read shows beside prose and code: nothing but ticks, the values that the author asks
 * for, or all that was measured.
 * @type {Signal<Density>}
 */
export const density = signal(chosenDensity(kept("density")));

/** @param {string | null} name @returns {Density} */
function chosenDensity(name) {
  return name === "story" || name === "everything" ? name : "evidence";
}

/** How Step shows variables. @type {Signal<"table" | "graph">} */
export const variablesAs = signal(kept("variables") === "graph" ? "graph" : "table");

/** What the reader lets the timeline reach over, if anything. @type {Signal<Reach | null>} */
export const reach = signal(chosenReach(kept("timeline")));

/** @param {string | null} name @returns {Reach | null} */
function chosenReach(name) {
  return name === "section" || name === "call" || name === "run" ? name : null;
}

/** What the timeline reaches over: of a book, a section at first. @returns {Reach} */
export function reached() {
  return reach.value ?? (loaded.value?.book.length ? "section" : "run");
}

/**
 * How Step shows prose: as it reads, as it is written, or not at all.
 * @type {Signal<"rendered" | "raw" | "none">}
 */
export const proseShown = signal("rendered");

/** The loaded document, where one must be there. @returns {Loaded} */
export function current() {
  if (!loaded.value) throw new Error("no document is loaded");
  return loaded.value;
}
