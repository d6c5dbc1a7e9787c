// What components pass to each other, for the type check only: no browser loads this file.

/** A component. */
type View<Properties> = (properties: Properties) => any;
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
interface Variable {
  name: number;
  text: string;
  value: Value;
  count: number;
  changed: boolean;
}
