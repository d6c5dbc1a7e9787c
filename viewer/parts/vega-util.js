// The interpreter imports these from a package of its own; the bundle of Vega has them too.

import "vega";

export const { ascending, isString, DisallowedObjectProperties } = /** @type {any} */ (globalThis)
  .vega;
