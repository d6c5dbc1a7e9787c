// What components pass to each other, for the type check only: no browser loads this file.

/** A component. */
type View<Properties> = (properties: Properties) => any;
/** Code between fences. */
interface Fence {
  code: string;
  language: string;
}
interface Formula {
  tex: string;
  display: boolean;
}
/** A line of the article, what stands beside it, and what follows below. */
interface PageRow {
  line: any;
  aside: any[];
  rest: any[];
  steps: number[];
  tall: [value: any, lines: number][];
  height: number;
}
/** What a block of code shows, by where it stands; sections: calls that are unfolded below it. */
interface CodeParts {
  line: any;
  aside: any[];
  tall: [value: any, lines: number][];
  steps: number[];
  rest: any[];
  sections: any[];
}
/** A drawing: its size, and the edges of the plot inside it. */
interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}
/** A name of an open call that stands for the same object, or views the same storage. */
interface Sharer {
  activation: number;
  name: number;
  text: string;
}
