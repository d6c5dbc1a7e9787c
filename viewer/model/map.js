// A drawing of what depends on what: chapters as boxes in reading order, each part of the lecture
// in a band, and lines that run between the boxes. Lines from one chapter run together; those from
// two never lie on each other. Pure.

import { Tracks } from "viewer/model/tracks.js";

/** Sizes, in the units of the drawing. */
const BOX = 150;
const LINE = 16;
const BETWEEN = 32;
const LABELS = 86;
const MARGIN = 11;
const GAP = 44;

/** Between two lines that run beside each other; of their corners; between two ends at a box. */
const APART = 7;
const RADIUS = 6;
const ENDS = 13;

/** Letters on a line of a box, and how many lines there are. */
const LETTERS = 15;
const LETTERS_OF_PARTS = 11;
const LINES = 3;
const HEIGHT = LINES * LINE + 12;

/**
 * A title on a few lines.
 * @param {string} title
 * @param {number} letters on a line
 * @returns {string[]}
 */
export function linesOfTitle(title, letters) {
  /** @type {string[]} */
  const lines = [];
  for (const word of title.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`;
    if (lines.length && longer.length <= letters) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.length > LINES ? [...lines.slice(0, LINES - 1), `${lines[LINES - 1]} …`] : lines;
}

/**
 * Where each chapter stands: in reading order, each part from a row of its own.
 * @param {{part: string}[]} chapters
 * @param {number} columns
 */
function placed(chapters, columns) {
  /** @type {{title: string, first: number, last: number}[]} */
  const bands = [];
  let [row, column] = [-1, columns];
  const seats = chapters.map(({ part }, index) => {
    const isNew = index === 0 || part !== chapters[index - 1].part;
    if (isNew || column === columns) [row, column] = [row + 1, 0];
    if (isNew) bands.push({ title: part, first: row, last: row });
    bands[bands.length - 1].last = row;
    return { number: index + 1, row, column: column++ };
  });
  return { seats, bands, rows: row + 1 };
}

/** Boxes of one size along a line, with gaps before, between and after them. */
class Axis {
  /** @param {number} begin @param {number} box @param {number[]} gaps */
  constructor(begin, box, gaps) {
    this.gaps = gaps;
    /** Where each gap begins. @type {number[]} */
    this.begins = [];
    this.end = begin;
    for (const gap of gaps) {
      this.begins.push(this.end);
      this.end += gap + box;
    }
    this.end -= box;
  }

  /** @param {number} index @returns {number} where a box begins */
  box(index) {
    return this.begins[index] + this.gaps[index];
  }

  /** Where a line runs in a gap. @param {number} gap @param {number} key @param {Tracks} tracks */
  track(gap, key, tracks) {
    const beside = tracks.of(gap, key) - (tracks.count(gap) - 1) / 2;
    return this.begins[gap] + this.gaps[gap] / 2 + APART * beside;
  }
}

/** A way from one box to another, between rows and columns. */
class Route {
  /** @param {Seat} from @param {Seat} to */
  constructor(from, to) {
    this.from = from;
    this.to = to;
    const isInRow = from.row === to.row;
    this.isBeside = isInRow && from.column + 1 === to.column;
    /** The gap in which it leaves: each is above the row of its number. */
    this.gap = isInRow ? from.row : from.row + 1;
    /** Whether it passes rows, in the gap of a column. */
    this.passes = to.row > from.row + 1;
    this.column = to.column + (from.column > to.column ? 1 : 0);
    this.leave = 0;
    this.enter = 0;
    this.lane = 0;
  }

  /** Where it comes from, for the box that it enters. */
  get side() {
    return this.passes ? this.lane : this.leave;
  }

  /** Where it stands from left to right. @param {Axis} across @param {Tracks} lanes */
  place(across, lanes) {
    const isOver = this.from.row === this.to.row && !this.isBeside;
    // What leaves a box above must not meet what enters it there.
    this.leave = across.box(this.from.column) + BOX / 2 + (isOver ? ENDS / 2 : 0);
    this.enter = across.box(this.to.column) + BOX / 2;
    this.lane = across.track(this.column, this.from.number, lanes);
  }

  /** @param {Tracks} lanes */
  claimLane(lanes) {
    if (this.passes) lanes.claim(this.column, this.from.number, this.gap, this.to.row);
  }

  /** @param {Tracks} runs */
  claimRuns(runs) {
    const { number } = this.from;
    if (this.isBeside) return;
    runs.claim(this.gap, number, this.leave, this.passes ? this.lane : this.enter);
    if (this.passes) runs.claim(this.to.row, number, this.lane, this.enter);
  }

  /**
   * Its corners.
   * @param {Axis} down
   * @param {Tracks} runs
   * @returns {[x: number, y: number][]}
   */
  corners(down, runs) {
    const { from, to, leave, enter, lane, gap } = this;
    const top = down.box(to.row);
    if (this.isBeside)
      return [
        [leave + BOX / 2, top + HEIGHT / 2],
        [enter - BOX / 2, top + HEIGHT / 2],
      ];
    const begin = down.box(from.row) + (from.row === to.row ? 0 : HEIGHT);
    const run = down.track(gap, from.number, runs);
    const last = this.passes ? down.track(to.row, from.number, runs) : run;
    /** @type {[number, number][]} */
    const passing = [
      [lane, run],
      [lane, last],
    ];
    return [
      [leave, begin],
      [leave, run],
      ...(this.passes ? passing : []),
      [enter, last],
      [enter, top],
    ];
  }
}

/** Let lines enter a box beside each other, each on its side. @param {Route[]} routes */
function spread(routes) {
  const above = routes.filter((route) => !route.isBeside);
  const isStraight = (/** @type {Route} */ route) => !route.passes && route.side === route.enter;
  for (const sign of [-1, 1]) {
    const own = above
      .filter((route) => !isStraight(route) && (route.side < route.enter ? -1 : 1) === sign)
      .sort((one, other) => sign * (one.side - other.side));
    const step = Math.min(ENDS, (BOX / 2 - 8) / Math.max(1, own.length));
    own.forEach((route, index) => (route.enter += sign * step * (index + 1)));
  }
}

/**
 * A line with round corners.
 * @param {[x: number, y: number][]} corners
 * @returns {string} as SVG writes it
 */
function rounded(corners) {
  const [begin, ...rest] = corners.filter(
    ([x, y], index) => !index || x !== corners[index - 1][0] || y !== corners[index - 1][1],
  );
  let [path, before] = [`M${begin}`, begin];
  rest.forEach((corner, index) => {
    const after = rest[index + 1];
    if (!after) return (path += `L${corner}`);
    const toward = (/** @type {[number, number]} */ [x, y]) => {
      const length = Math.hypot(x - corner[0], y - corner[1]);
      const part = Math.min(RADIUS, length / 2) / length;
      return [corner[0] + part * (x - corner[0]), corner[1] + part * (y - corner[1])];
    };
    path += `L${toward(before)}Q${corner} ${toward(after)}`;
    before = corner;
  });
  return path;
}

/**
 * The drawing.
 * @param {{title: string, part: string}[]} chapters
 * @param {number[][]} needs by chapter, the numbers of chapters before it
 * @param {number} most columns
 * @returns {Drawing}
 */
export function drawingOf(chapters, needs, most) {
  const { seats, bands, rows } = placed(chapters, most);
  const routes = needs.flatMap((own, index) =>
    own.map((number) => new Route(seats[number - 1], seats[index])),
  );
  const [lanes, runs] = [new Tracks(), new Tracks()];
  for (const route of routes) route.claimLane(lanes);
  lanes.assign(1);
  const columns = Math.max(...seats.map(({ column }) => column)) + 1;
  const left = chapters.some(({ part }) => part) ? LABELS : 0;
  const across = new Axis(
    left,
    BOX,
    gaps(columns, (column) => Math.max(BETWEEN, APART * (lanes.count(column) + 1))),
  );
  for (const route of routes) route.place(across, lanes);
  for (const seat of seats) spread(routes.filter(({ to }) => to === seat));
  for (const route of routes) route.claimRuns(runs);
  runs.assign(APART);
  const down = new Axis(
    0,
    HEIGHT,
    gaps(rows, (row) => {
      const isInside = (row > 0 && row < rows) || runs.count(row) > 0;
      return isInside ? GAP + APART * Math.max(0, runs.count(row) - 2) : 2 * MARGIN;
    }),
  );
  return {
    width: across.end,
    height: down.end,
    boxes: seats.map(({ number, row, column }) => ({
      number,
      lines: linesOfTitle(chapters[number - 1].title, LETTERS),
      x: across.box(column),
      y: down.box(row),
      width: BOX,
      height: HEIGHT,
    })),
    lines: routes.map((route) => lineOf(route, route.corners(down, runs))),
    bands: bands.map(({ title, first, last }) => ({
      lines: linesOfTitle(title.split(":")[0].replace(/\.$/, ""), LETTERS_OF_PARTS),
      y: down.box(first) - MARGIN,
      height: down.box(last) - down.box(first) + HEIGHT + 2 * MARGIN,
    })),
  };
}

/** How wide gaps are: before each of some boxes and after the last.
 * @param {number} boxes @param {(index: number) => number} width */
function gaps(boxes, width) {
  return Array.from({ length: boxes + 1 }, (_, index) => width(index));
}

/** @param {Route} route @param {[x: number, y: number][]} corners @returns {Drawing["lines"][0]} */
function lineOf({ from, to, isBeside }, corners) {
  const end = corners[corners.length - 1];
  return { from: from.number, to: to.number, path: rounded(corners), end, isBeside };
}
