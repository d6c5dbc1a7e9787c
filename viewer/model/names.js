// Where names in code come from: definitions in the files of a document, run or not. Pure. Fetched
// when a reader points at a name.

import { shortPaths } from "viewer/model/places.js";
import { indentOf, linesOf } from "viewer/model/source.js";

const DEFINITION = /^(\s*)(?:async\s+)?(def|class)\s+([\p{ID_Start}_][\p{ID_Continue}]*)/u;
const CONSTANT = /^([\p{ID_Start}_][\p{ID_Continue}]*)\s*(?::[^=]+)?=(?!=)/u;
const FROM = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)/gm;
const IMPORT = /^[ \t]*import[ \t]+([^\n#]+)/gm;
const DOCSTRING = /^\s*[rRuU]?("""|''')(.*)/;
/** The end of the line that ends the head of a function or a class. */
const HEAD_END = /:\s*(?:#.*)?$/;
const NAME = /[\p{ID_Start}_][\p{ID_Continue}]*/gu;

/**
 * Top-level names of a file -> the line of each; methods as `Class.method`.
 * @type {WeakMap<SourceFile, Map<string, number>>}
 */
const known = new WeakMap();

/** @param {SourceFile} file */
function definitionsIn(file) {
  const found = known.get(file) ?? new Map();
  if (known.has(file)) return found;
  known.set(file, found);
  let owner = "";
  linesOf(file).forEach((text, index) => {
    const [, indent = "", kind = "", name = ""] = DEFINITION.exec(text) ?? [];
    const constant = CONSTANT.exec(text)?.[1];
    if (name && !indent) {
      if (!found.has(name)) found.set(name, index + 1);
      owner = kind === "class" ? name : "";
    } else if (name && owner && kind === "def") found.set(`${owner}.${name}`, index + 1);
    else if (constant && !found.has(constant)) found.set(constant, index + 1);
  });
  return found;
}

/**
 * The file of a module, or -1.
 * @param {Lecture} document
 * @param {string} module such as `lecture.lib.figures`
 */
function fileOfModule({ files }, module) {
  const path = module.replaceAll(".", "/");
  const ends = [`${path}.py`, `${path}/__init__.py`];
  const short = files.map((file) => file.path);
  const whole = short.findIndex((own) => ends.includes(own));
  return whole >= 0 || !path
    ? whole
    : short.findIndex((own) => ends.some((end) => own.endsWith(`/${end}`)));
}

/** @param {string} path of the file @param {string} module as it is imported there */
function absolute(path, module) {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0;
  if (!dots) return module;
  const folders = path.split("/").slice(0, -dots);
  return [...folders, module.slice(dots)].filter(Boolean).join(".");
}

/**
 * What an import binds a name to: a module, and a name in it if not the module itself.
 * @param {SourceFile} file
 * @param {string} name
 * @returns {{module: string, member: string} | null}
 */
function importOf({ path, source }, name) {
  for (const [, module, names] of source.matchAll(FROM))
    for (const part of names
      .replace(/[()]/g, "")
      .replace(/#[^\n]*/g, "")
      .split(",")) {
      const [member, alias = member] = part.trim().split(/\s+as\s+/);
      if (alias === name) return { module: absolute(path, module), member };
    }
  for (const [, modules] of source.matchAll(IMPORT))
    for (const part of modules.split(",")) {
      const [module, alias = module.split(".")[0]] = part.trim().split(/\s+as\s+/);
      if (alias === name) return { module, member: "" };
    }
  return null;
}

/**
 * Where a chain of names leads, such as `figures.strides` or `Work`.
 * @param {Lecture} document
 * @param {number} file in which it is written
 * @param {string[]} chain
 * @param {number} [depth] imports that were followed
 * @returns {FoundName | null}
 */
export function resolve(document, file, chain, depth = 0) {
  const own = document.files[file];
  const definitions = definitionsIn(own);
  const [first, ...rest] = chain;
  const line = definitions.get(chain.slice(0, 2).join(".")) ?? definitions.get(first);
  if (line && (rest.length === 0 || definitions.has(chain.slice(0, 2).join("."))))
    return definitionAt(document, file, line);
  if (depth > 4) return null;
  const imported = importOf(own, first);
  if (!imported) return rest.length ? methodNamed(document, rest[rest.length - 1]) : null;
  const { module, member } = imported;
  const submodule = member ? fileOfModule(document, `${module}.${member}`) : -1;
  const target = submodule >= 0 ? submodule : fileOfModule(document, module);
  const onwards = submodule >= 0 || !member ? rest : [member, ...rest];
  if (target < 0) return { file: -1, line: 0, last: 0, kind: "module", text: module };
  if (!onwards.length) return { ...wholeFile(document, target), kind: "module" };
  return resolve(document, target, onwards, depth + 1);
}

/**
 * The only method of that name in any file.
 * @param {Lecture} document
 * @param {string} name
 */
function methodNamed(document, name) {
  const found = document.files.flatMap((source, file) =>
    [...definitionsIn(source)].flatMap(([whole, line]) =>
      whole.endsWith(`.${name}`) ? [{ file, line }] : [],
    ),
  );
  return found.length === 1 ? definitionAt(document, found[0].file, found[0].line) : null;
}

/** The only definition of a name in any file, as prose speaks of it.
 * @param {Lecture} document @param {string} name @returns {FoundName | null} */
export function definitionNamed(document, name) {
  const path = /\.py$/.test(name) ? fileOfPath(document, name) : -1;
  if (path >= 0) return wholeFile(document, path);
  const found = document.files.flatMap((source, file) => {
    const line = definitionsIn(source).get(name);
    return line ? [{ file, line }] : [];
  });
  return found.length === 1 ? definitionAt(document, found[0].file, found[0].line) : null;
}

/** @param {Lecture} document @param {string} path */
function fileOfPath({ files }, path) {
  return files.findIndex((file) => file.path === path || file.path.endsWith(`/${path}`));
}

/** @param {Lecture} document @param {number} file @returns {FoundName} */
function wholeFile({ files }, file) {
  const lines = linesOf(files[file]);
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  return { file, line: 1, last, kind: "file", text: docstringFrom(lines) };
}

/** The first line of a docstring with which lines begin, or nothing. @param {string[]} lines */
function docstringFrom(lines) {
  const first = lines.findIndex((text) => text.trim() && !/^\s*#/.test(text));
  const [, quotes, text] = DOCSTRING.exec(lines[first] ?? "") ?? [];
  if (!quotes) return "";
  return text.trim() ? text.split(quotes)[0].trim() : (lines[first + 1] ?? "").trim();
}

/**
 * The lines of a definition, with the comments above it, and the first line of its docstring.
 * @param {Lecture} document
 * @param {number} file
 * @param {number} line
 * @returns {FoundName}
 */
function definitionAt({ files }, file, line) {
  const lines = linesOf(files[file]);
  const kind = DEFINITION.exec(lines[line - 1])?.[2] ?? "constant";
  let first = line;
  while (/^\s*[@#]/.test(lines[first - 2] ?? "")) first--;
  const indent = indentOf(lines[line - 1]);
  let last = line;
  for (let at = line; at < lines.length; at++) {
    const text = lines[at];
    const isInside = indentOf(text) > indent || /^\s*[)\]}]/.test(text);
    if (text.trim() && !isInside) break;
    if (text.trim()) last = at + 1;
  }
  const body = lines.slice(line - 1, last);
  const head = body.findIndex((text) => HEAD_END.test(text));
  const text = kind === "constant" || head < 0 ? "" : docstringFrom(body.slice(head + 1));
  return { file, line: first, last, kind, text };
}

/**
 * The smallest definition that a line is in, a method or what stands in its file by itself, or else
 * the whole file.
 * @param {Lecture} document
 * @param {number} file
 * @param {number} line
 * @returns {FoundName}
 */
export function definitionAround(document, file, line) {
  const heads = [...definitionsIn(document.files[file]).values()].filter((head) => head <= line);
  for (const head of heads.sort((one, other) => other - one)) {
    const found = definitionAt(document, file, head);
    if (line <= found.last) return found;
    if (!/^\s/.test(linesOf(document.files[file])[head - 1])) break;
  }
  return wholeFile(document, file);
}

/** The name of the function, class or constant that a line defines, or nothing.
 * @param {string} text */
export function definedOn(text) {
  return DEFINITION.exec(text)?.[3] ?? CONSTANT.exec(text)?.[1] ?? "";
}

/**
 * The chain of names that a column of a line stands in, up to the name under it.
 * @param {string} text
 * @param {number} column
 * @returns {{chain: string[], start: number, end: number} | null}
 */
export function chainAt(text, column) {
  for (const { 0: name, index: start } of text.matchAll(NAME)) {
    const end = start + name.length;
    if (column < start || column > end) continue;
    const before = /[\p{ID_Continue}.]*$/u.exec(text.slice(0, start))?.[0] ?? "";
    const chain = [...before.split(".").filter(Boolean), name];
    return before.endsWith(".") || !before ? { chain, start, end } : null;
  }
  return null;
}

/** Names of definitions on a line, each with where it leads.
 * @param {Lecture} document @param {number} file @param {string} text
 * @returns {{name: string, definition: FoundName}[]} */
export function namesOn(document, file, text) {
  const found = new Map();
  for (const { index } of text.matchAll(NAME)) {
    const at = chainAt(text, index);
    const definition = at && resolve(document, file, at.chain);
    if (definition && definition.file >= 0 && definition.kind !== "module")
      found.set(at.chain.join("."), definition);
  }
  return [...found].map(([name, definition]) => ({ name, definition }));
}

/** Where a definition stands, as a reader knows the file. @param {Lecture} document
 * @param {FoundName} definition */
export function placeOf({ files }, { file, line }) {
  return `${shortPaths(files.map(({ path }) => path))[file]}:${line}`;
}
