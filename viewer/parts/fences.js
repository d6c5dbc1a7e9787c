// The colours of code between fences in a text.

import { piecesOf } from "viewer/model/colours.js";

/** @param {Element} place code as plain text */
export function colour(place) {
  place.replaceChildren(
    ...piecesOf(place.textContent ?? "").map(([text, kind]) => {
      const piece = document.createElement("span");
      piece.textContent = text;
      if (kind) piece.className = `token-${kind}`;
      return kind ? piece : text;
    }),
  );
}
