// Lines that run beside each other: each key has a track of its own where it meets others. Pure.

/** Places in which keys run over stretches; those that meet get different tracks. */
export class Tracks {
  constructor() {
    /** @type {Map<number, Map<number, {from: number, to: number, track: number}>>} */
    this.places = new Map();
  }

  /**
   * Let a key run over one more stretch.
   * @param {number} place
   * @param {number} key
   * @param {number} one an end of the stretch
   * @param {number} other
   */
  claim(place, key, one, other) {
    const keys = this.places.get(place) ?? new Map();
    this.places.set(place, keys);
    const known = keys.get(key) ?? { from: Infinity, to: -Infinity, track: 0 };
    const from = Math.min(known.from, one, other);
    keys.set(key, { from, to: Math.max(known.to, one, other), track: 0 });
  }

  /** Give out the tracks, when all is claimed. @param {number} apart of stretches on one track */
  assign(apart) {
    for (const keys of this.places.values()) {
      /** @type {number[]} where each track ends */
      const ends = [];
      for (const stretch of [...keys.values()].sort((one, other) => one.from - other.from)) {
        const free = ends.findIndex((end) => end + apart <= stretch.from);
        stretch.track = free < 0 ? ends.length : free;
        ends[stretch.track] = stretch.to;
      }
    }
  }

  /** @param {number} place @param {number} key @returns {number} its track, from 0 */
  of(place, key) {
    return this.places.get(place)?.get(key)?.track ?? 0;
  }

  /** @param {number} place @returns {number} how many tracks there are */
  count(place) {
    const tracks = [...(this.places.get(place)?.values() ?? [])].map(({ track }) => track);
    return Math.max(-1, ...tracks) + 1;
  }
}
