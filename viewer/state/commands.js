// One table of commands: their keys, titles and buttons, and what the help lists.

import {
  docked,
  pinned,
  playing,
  proseShown,
  reach,
  reached,
  step,
  variablesAs,
  variablesShown,
} from "viewer/state/state.js";
import { changeAsking } from "viewer/state/answers.js";
import { keep } from "viewer/state/kept.js";
import { nextTheme } from "viewer/state/theme.js";
import {
  closePanel,
  switchMode,
  toggleClaims,
  toggleDialog,
  toggleOutline,
  toggleSearch,
  unlessClosed,
} from "viewer/state/toggles.js";
import { fetchRules } from "viewer/state/withheld.js";

/** @type {Command[]} */
export const COMMANDS = [
  {
    id: "back",
    keys: ["ArrowLeft", "h", "PageUp", "Shift+ "],
    title: "Step back",
    where: "step",
    run: ofView,
  },
  {
    id: "forward",
    keys: ["ArrowRight", "l", " ", "PageDown"],
    title: "Step forward",
    where: "step",
    run: ofView,
  },
  {
    id: "backOver",
    keys: ["k", "Shift+ArrowLeft"],
    title: "Back over calls",
    where: "step",
    run: ofView,
  },
  {
    id: "over",
    keys: ["j", "Shift+ArrowRight"],
    title: "Step over calls",
    where: "step",
    run: ofView,
  },
  {
    id: "out",
    keys: ["u"],
    title: "Out of this call",
    where: "step",
    run: ofView,
  },
  {
    id: "first",
    keys: ["Home"],
    title: "First step",
    where: "step",
    run: ofView,
  },
  {
    id: "last",
    keys: ["End"],
    title: "Last step",
    where: "step",
    run: ofView,
  },
  {
    id: "lineAbove",
    keys: ["ArrowUp"],
    title: "Choose the line above; Enter runs to it",
    where: "step",
    run: ofView,
  },
  {
    id: "lineBelow",
    keys: ["ArrowDown"],
    title: "Choose the line below; Enter runs to it",
    where: "step",
    run: ofView,
  },
  { id: "play", keys: ["A", "p"], title: "Play or pause", where: "step", run: togglePlay },
  { id: "speed", keys: [">"], title: "Play faster or slower", where: "step", run: ofView },
  {
    id: "variables",
    keys: ["E"],
    title: "Show or hide the variables",
    label: "variables",
    where: "step",
    run: () => (variablesShown.value = !variablesShown.value),
  },
  {
    id: "graph",
    keys: ["G"],
    title: "Variables as a table, or as a graph of objects",
    label: "graph",
    where: "step",
    run: toggleGraph,
  },
  {
    id: "reach",
    keys: ["z"],
    title: "Timeline of the whole run, this section or this call",
    where: "step",
    run: changeReach,
  },
  {
    id: "raw",
    keys: ["R"],
    title: "Prose as it is written, or as it reads",
    label: "source",
    where: "step",
    run: () => toggleProse("raw"),
  },
  {
    id: "notes",
    keys: ["N"],
    title: "Hide or show the prose",
    label: "prose",
    where: "step",
    run: () => toggleProse("none"),
  },
  {
    id: "previousChange",
    keys: ["["],
    title: "Previous change of the chosen variable",
    where: "step",
    run: ofView,
  },
  {
    id: "nextChange",
    keys: ["]"],
    title: "Next change of the chosen variable",
    where: "step",
    run: ofView,
  },
  {
    id: "inspect",
    keys: ["i"],
    title: "Inspect the chosen variable, or what the line is about",
    label: "inspect",
    where: "step",
    run: async () => (await unlessClosed(inspecting))?.("value"),
  },
  {
    id: "history",
    keys: ["v"],
    title: "Its values over the run",
    label: "history",
    where: "step",
    run: async () => (await unlessClosed(inspecting))?.("history"),
  },
  {
    id: "pin",
    keys: ["m"],
    title: "Pin this step as A, or unpin it",
    label: "pin A",
    where: "step",
    run: () => (pinned.value = pinned.value === step.value ? -1 : step.value),
  },
  {
    id: "compare",
    keys: ["d"],
    title: "What differs between A and this step",
    label: "A → B",
    where: "step",
    run: () => (docked.value = docked.value === "compare" ? "" : "compare"),
  },
  {
    id: "nextSection",
    keys: ["j", "]"],
    title: "Next section",
    where: "read",
    run: async () => (await ways()).goToSection(1),
  },
  {
    id: "previousSection",
    keys: ["k", "["],
    title: "This section from its title, or the one before",
    where: "read",
    run: async () => (await ways()).goToSection(-1),
  },
  {
    id: "nextChapter",
    keys: ["n", "ArrowRight"],
    title: "Next chapter",
    where: "read",
    run: async () => (await ways()).goToChapter(1),
  },
  {
    id: "previousChapter",
    keys: ["p", "ArrowLeft"],
    title: "Previous chapter, or the front page",
    where: "read",
    run: async () => (await ways()).goToChapter(-1),
  },
  {
    id: "nextLine",
    keys: ["."],
    title: "What the next line measured",
    where: "read",
    run: ofView,
  },
  {
    id: "previousLine",
    keys: [","],
    title: "What the line before measured",
    where: "read",
    run: ofView,
  },
  {
    id: "density",
    keys: ["e"],
    title: "Beside code: nothing, what its author shows, or all that was measured",
    where: "read",
    menu: true,
    run: async () => (await ways()).changeDensity(),
  },
  {
    id: "legend",
    keys: ["L"],
    title: "What stands beside code, explained",
    where: "any",
    menu: true,
    run: () => toggleDialog("legend"),
  },
  {
    id: "whole",
    keys: ["w"],
    title: "A chapter at a time, or all on one page",
    where: "any",
    menu: true,
    run: async () => (await ways()).toggleWhole(),
  },
  {
    id: "path",
    keys: ["S"],
    title: "The short path, or all sections",
    where: "any",
    menu: true,
    run: async () => (await ways()).togglePath(),
  },
  {
    id: "asking",
    keys: ["Q"],
    title: "Predict: marked claims, all with a number, or none",
    where: "any",
    menu: true,
    run: async () => {
      await fetchRules();
      changeAsking();
    },
  },
  {
    id: "mode",
    keys: ["r", "Enter"],
    title: "Switch between Read and Step",
    where: "any",
    run: switchMode,
  },
  { id: "outline", keys: ["o"], title: "Outline", where: "any", run: toggleOutline },
  { id: "claims", keys: ["c"], title: "Claims", where: "any", run: toggleClaims },
  {
    id: "search",
    keys: ["/", "g"],
    title: "Search text, code, names and values, or go to a step",
    where: "any",
    run: toggleSearch,
  },
  {
    id: "glossary",
    keys: ["W"],
    title: "Glossary: terms and letters",
    where: "any",
    menu: true,
    run: () => toggleDialog("glossary"),
  },
  {
    id: "progress",
    keys: ["Y"],
    title: "Your answers: predictions and exercises",
    where: "any",
    menu: true,
    run: () => toggleDialog("progress"),
  },
  {
    id: "costs",
    keys: ["C"],
    title: "Costs: table, roofline, memory",
    label: "Costs",
    where: "any",
    menu: true,
    run: () => toggleDialog("costs"),
  },
  {
    id: "present",
    keys: ["P"],
    title: "Present one section at a time",
    where: "any",
    menu: true,
    run: ofView,
  },
  {
    id: "print",
    keys: ["Ctrl+p"],
    title: "Print what is shown, or save it as PDF; in Story without the code",
    where: "any",
    menu: true,
    run: ofView,
  },
  {
    id: "theme",
    keys: ["t"],
    title: "Light, dark or automatic",
    where: "any",
    menu: true,
    run: nextTheme,
  },
  {
    id: "help",
    keys: ["?"],
    title: "Keys",
    label: "?",
    where: "any",
    menu: true,
    run: () => toggleDialog("help"),
  },
  { id: "menu", keys: ["M"], title: "More", where: "any", run: () => toggleDialog("menu") },
  {
    id: "close",
    keys: ["Escape"],
    title: "Close a panel",
    where: "any",
    run: closePanel,
  },
];

/** @param {string} id @returns {Command} */
export function command(id) {
  const found = COMMANDS.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`no command ${id}`);
  return found;
}

/** Fetched when something is inspected. */
async function inspecting() {
  return (await import("viewer/state/inspecting.js")).inspectChosen;
}

/** Ways through an article, fetched when one is taken. */
function ways() {
  return import("viewer/state/ways.js");
}

/** Takes the place of what `main.js` and `moves.js` add: commands that a view carries out. */
export function ofView() {}

/** */
function togglePlay() {
  playing.value = !playing.value;
}

/** The reader's choice lasts. */
function toggleGraph() {
  variablesAs.value = variablesAs.value === "table" ? "graph" : "table";
  keep("variables", variablesAs.value);
}

/** Over more or less of the run; the reader's choice lasts. */
function changeReach() {
  const next = /** @type {const} */ ({ run: "section", section: "call", call: "run" });
  reach.value = next[reached()];
  keep("timeline", reach.value);
}

/** @param {"raw" | "none"} how */
function toggleProse(how) {
  proseShown.value = proseShown.value === how ? "rendered" : how;
}
