// Lines that are marked and brought into view without a layout.

/**
 * The lines of a program, of which some are marked. It measures when sizes change, so that a step
 * need not wait for a layout, and the mark is a layer of its own, so that no line is painted again.
 */
export class Pane {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.marker = /** @type {HTMLElement} */ (element.querySelector(".marker"));
    /** @type {any} */
    this.filled = null;
    /** @type {Map<number, HTMLElement>} */
    this.lines = new Map();
    /** @type {HTMLElement[]} */
    this.marked = [];
    this.place = [0, 0, ""];
    this.scrolled = () => (this.top = element.scrollTop);
    element.addEventListener("scroll", this.scrolled, { passive: true });
    this.watcher = new ResizeObserver(() => {
      this.measure();
      this.show();
    });
    this.watcher.observe(element);
    this.watcher.observe(/** @type {HTMLElement} */ (element.lastElementChild));
  }

  /** Measure the lines, when they are new. @param {any[]} chunks */
  fill(chunks) {
    if (chunks === this.filled) return;
    this.filled = chunks;
    this.lines = new Map();
    for (const line of /** @type {NodeListOf<HTMLElement>} */ (
      this.element.querySelectorAll("[data-line]")
    ))
      this.lines.set(Number(line.dataset.line), line);
    this.measure();
  }

  measure() {
    this.top = this.element.scrollTop;
    this.height = this.element.clientHeight;
    this.lowest = this.element.scrollHeight - this.height;
    /** @type {Map<number, [top: number, bottom: number]>} */
    this.bounds = new Map(
      [...this.lines].map(([number, { offsetTop, offsetHeight }]) => [
        number,
        [offsetTop, offsetTop + offsetHeight],
      ]),
    );
  }

  /** @param {string} mark first line, last line and class, or nothing */
  mark(mark) {
    for (const line of this.marked) line.classList.remove("current", "caller");
    this.marked = [];
    if (!mark) return;
    const [first, last, name] = mark.split(" ");
    for (let number = Number(first); number <= Number(last); number++) {
      const line = this.lines.get(number);
      line?.classList.add(name);
      if (line) this.marked.push(line);
    }
    this.place = [Number(first), Number(last), name];
    this.show();
  }

  /** Put the marker on its lines, and these well inside the pane. */
  show() {
    const [first, last, name] = /** @type {[number, number, string]} */ (this.place);
    const [top, end] = this.bounds?.get(first) ?? [0, 0];
    const bottom = this.bounds?.get(last)?.[1] ?? end;
    this.marker.classList.toggle("of-caller", name === "caller");
    this.marker.style.transform = `translateY(${top}px) scaleY(${bottom - top})`;
    const { height = 0, top: from = 0, lowest = 0 } = this;
    const margin = Math.min(120, height / 4);
    const isInside = bottom <= top || (top >= from + margin && bottom <= from + height - margin);
    const target = Math.round(Math.max(0, Math.min(lowest, top - height / 3)));
    if (!isInside && target !== from) this.element.scrollTo({ top: target, behavior: "instant" });
  }

  close() {
    for (const line of this.marked) line.classList.remove("current", "caller");
    this.watcher.disconnect();
    this.element.removeEventListener("scroll", this.scrolled);
  }
}
