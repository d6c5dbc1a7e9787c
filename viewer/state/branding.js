// How a course looks: its colour, and a style sheet of its own.

const FILE = /^course\/[\w.-]+$/;

/** @param {any} facts of the course, as the list of lectures has them */
export function takeUpCourse(facts) {
  if (facts.language) document.documentElement.lang = facts.language;
  const [light, dark] = Array.isArray(facts.accent) ? facts.accent.map(String) : [];
  if (CSS.supports("color", light ?? "") && CSS.supports("color", dark ?? ""))
    document.documentElement.style.setProperty("--accent", `light-dark(${light}, ${dark})`);
  const sheet = addressOf(facts.css);
  if (sheet && !document.querySelector(`link[href="${sheet}"]`))
    document.head.append(
      Object.assign(document.createElement("link"), { rel: "stylesheet", href: sheet }),
    );
}

/** A file of the course, or nothing where it is none. @param {unknown} path */
export function addressOf(path) {
  return typeof path === "string" && FILE.test(path) ? path : "";
}

/** Links of the course, those that a page may have. @param {any} facts */
export function linksOf(facts) {
  const links = Array.isArray(facts.links) ? facts.links : [];
  return links.filter((/** @type {any} */ { address }) =>
    /^(https?:\/\/|mailto:)/i.test(String(address)),
  );
}
