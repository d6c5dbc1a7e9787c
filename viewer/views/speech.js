// What a screen reader hears while one steps. Fetched while the reader rests.

import { effect } from "@preact/signals";
import { narrate } from "viewer/model/narration.js";
import { loaded, mode, step } from "viewer/state/state.js";
import { isAhead } from "viewer/state/stops.js";

/** Milliseconds of rest at a step, of which one then hears. */
const REST = 100;

effect(() => {
  if (!loaded.value || mode.value !== "step") return;
  const { model } = loaded.value;
  const at = step.value;
  const ahead = isAhead();
  const timer = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = narrate(model, at, ahead);
  }, REST);
  return () => clearTimeout(timer);
});
