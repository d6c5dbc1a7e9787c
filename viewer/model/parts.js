// What a value holds, and the ways into it in Python. Pure.

/**
 * Parts of a value with what leads to them in Python.
 * @param {Value} value
 * @returns {[string, Value][]}
 */
export function partsOf(value) {
  if (value.fields) return Object.entries(value.fields).map(([name, part]) => [`.${name}`, part]);
  if (value.entries) return value.entries.map(([key, part]) => [`[${keyText(key)}]`, part]);
  return (value.items ?? []).map((part, index) => [`[${index}]`, part]);
}

/** @param {Value} key */
function keyText(key) {
  return typeof key.value === "string"
    ? `'${key.value}'`
    : String(key.value ?? key.text ?? key.type);
}

/**
 * The way from one value to another inside it, or null.
 * @param {Value} value
 * @param {Value} wanted
 * @returns {string | null}
 */
export function pathTo(value, wanted) {
  if (value === wanted) return "";
  for (const [name, part] of partsOf(value)) {
    const rest = pathTo(part, wanted);
    if (rest !== null) return name + rest;
  }
  return null;
}
