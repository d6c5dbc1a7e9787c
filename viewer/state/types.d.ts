// What the page holds, for the type check only: no browser loads this file.

type Signal<T> = import("@preact/signals").Signal<T>;
/** What finds a part of the article once it is laid out. */
type Find = () => Element | null;
/** A document as it came; undefined where it is no JSON. */
interface Answer {
  isLocal?: boolean;
  found: boolean;
  size: number;
  document: any;
  /** What was measured, where it comes in parts. */
  rest?: Promise<any> | null;
}
/** A line of the home page. */
interface Course {
  title?: string;
  author?: string;
  date?: string;
  licence?: string;
  language?: string;
  /** A colour on light and one on dark. */
  accent?: string[];
  /** Where the picture lies. */
  logo?: string;
  /** Where the style sheet lies. */
  css?: string;
  links?: { title: string; address: string }[];
}
interface Listed {
  group?: string;
  file: string;
  module: string;
  title: string;
  steps: number;
  claims: number;
  failed: boolean;
  times?: boolean;
  /** Labels of times from other machines. */
  machines?: string[];
}
/** A document with everything computed from it once. */
interface Loaded {
  times: Times | null;
  name: string;
  document: Lecture;
  model: Model;
  cost: CostMeter;
  /** Its sections; of those, the ones that are shown. */
  all: Section[];
  sections: Section[];
  /** Sections that the short path leaves out, where the reader takes it. */
  leftOut: Set<number>;
  /** Its chapters, none where it is one page; of those, the ones that are shown. */
  chapters: Chapter[];
  book: Chapter[];
}
type Reach = "run" | "section" | "call";
type Theme = "auto" | "light" | "dark";
/** Of which claims readers are asked before they see them. */
type Asking = "marked" | "all" | "none";
/** What a reader said to a question; without a grade, both sides were asked for. */
interface Reply {
  text: string;
  grade: "right" | "near" | "off" | "shown" | "solved";
}
type Replies = Record<string, Reply>;
type Density = "story" | "evidence" | "everything";
type PanelName =
  | "claims"
  | "search"
  | "help"
  | "outline"
  | "inspect"
  | "menu"
  | "costs"
  | "legend"
  | "glossary"
  | "progress";
/**
 * Keys as `KeyboardEvent.key`, with `Shift+` before named keys; label: what the button shows that
 * has no icon; where the keys hold, and whether the menu lists it.
 */
interface Command {
  id: string;
  keys: string[];
  title: string;
  label?: string;
  where: "read" | "step" | "any" | "present";
  menu?: boolean;
  run: () => void;
}
