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
/**
 * Lines of code that one statement spans. steps: what ran on it last; at: the one that a link names;
 * unfolded: its calls stand below as sections; calls: those that do not, and how deep they are.
 */
interface CodeLine {
  block: { first: number; last: number };
  file: SourceFile;
  indent: number;
  steps: number[];
  at?: number;
  ran: boolean;
  spaced?: boolean;
  unfolded?: boolean;
  calls?: number[];
  depth?: number;
  unfold?: Unfold;
}
/** Draws what ran in a call. */
type Unfold = (activation: number, depth: number) => any;
/** A block of code, what it printed and drew, and the prose below. */
interface PageRow {
  lines: CodeLine[];
  after: any[];
  prose: any[];
}
/** What a statement shows, by where it stands; sections: calls that are unfolded below it. */
interface CodeParts {
  line: CodeLine | null;
  said: any;
  after: any[];
  sections: any[];
}
/** A loop where it stands in the article. */
interface LoopOnPage {
  block: LoopBlock;
  scope: Scope;
  turns: Turns;
  indent: number;
  depth: number;
  /** What stands below its first line. */
  below: any;
  /** Whether its section ends with it. */
  isLast?: boolean;
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
