// Ways from chapter to chapter, for a map: without detours, back, and all that one leads to. Pure.

/**
 * What each needs, without what it needs through another that it needs.
 * @param {number[][]} needs by chapter, the numbers of chapters before it
 * @returns {number[][]}
 */
export function withoutDetours(needs) {
  /** @type {Set<number>[]} by chapter, all that it needs */
  const all = [];
  return needs.map((own) => {
    const through = new Set(own.flatMap((number) => [...all[number - 1]]));
    all.push(new Set([...own, ...through]));
    return own.filter((number) => !through.has(number)).sort((one, other) => one - other);
  });
}

/** By chapter, those that need it. @param {number[][]} needs @returns {number[][]} */
export function usersOf(needs) {
  return needs.map((_, index) =>
    needs.flatMap((own, user) => (own.includes(index + 1) ? [user + 1] : [])),
  );
}

/**
 * All that one leads to, step by step.
 * @param {number[][]} next by chapter
 * @param {number} number
 * @returns {Set<number>} without itself
 */
export function reachable(next, number) {
  const found = new Set(next[number - 1]);
  for (const other of found) for (const more of next[other - 1]) found.add(more);
  return found;
}
