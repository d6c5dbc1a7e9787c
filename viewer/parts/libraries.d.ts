// Libraries that are imported for effect and leave a global object behind.

declare const katex: {
  render(tex: string, element: HTMLElement, options: Record<string, unknown>): void;
};
declare const DOMPurify: typeof import("dompurify").default;
declare module "katex";
declare module "vega";
declare module "vega-lite";
declare module "vega-interpreter" {
  export const expressionInterpreter: unknown;
}
