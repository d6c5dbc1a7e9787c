// Large pictures, which lie beside the document. Fetched when there is one.

import { useEffect, useState } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { Svg } from "viewer/parts/picture.js";
import { addressOf } from "viewer/parts/prose.js";

/** @param {{file: string, name: string, bare?: boolean}} properties */
export function SvgFile({ file, name, bare }) {
  const [source, setSource] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    fetched(file).then(setSource);
  }, [file]);
  if (source === null) return html`<figure class="picture"></figure>`;
  return html`<${Svg} source=${source} name=${name} bare=${bare} />`;
}

/** @param {string} file @returns {Promise<string>} empty if it is not there */
async function fetched(file) {
  try {
    const response = await fetch(addressOf({ mime: "", file }));
    return response.ok ? await response.text() : "";
  } catch {
    return "";
  }
}
