// Colours of series, in charts and in figures.

export const SERIES = [
  "light-dark(#1f5fa8, #7fb4f0)",
  "light-dark(#c2571a, #f0a06a)",
  "light-dark(#1c7a45, #63c58b)",
  "light-dark(#8a4fa3, #cf9fe3)",
  "light-dark(#a3392f, #ef8f86)",
  "light-dark(#6b6a1f, #cfcd74)",
];

/** In place of the colours that Vega and others draw with by default.
 * @type {Record<string, string>} */
export const IN_PLACE_OF = {
  "#4c78a8": SERIES[0],
  "#f58518": SERIES[1],
  "#54a24b": SERIES[2],
  "#b279a2": SERIES[3],
  "#e45756": SERIES[4],
  "#eeca3b": SERIES[5],
};
