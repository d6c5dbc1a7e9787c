// Maths as plain text, as far as one line holds it. Pure.

/** @type {Record<string, string>} */
const SIGNS = {
  times: "×",
  cdot: "·",
  cdots: "…",
  ldots: "…",
  dots: "…",
  approx: "≈",
  leq: "≤",
  le: "≤",
  geq: "≥",
  ge: "≥",
  neq: "≠",
  ne: "≠",
  pm: "±",
  to: "→",
  rightarrow: "→",
  leftarrow: "←",
  infty: "∞",
  partial: "∂",
  nabla: "∇",
  sqrt: "√",
  sum: "Σ",
  prod: "Π",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  epsilon: "ε",
  eta: "η",
  theta: "θ",
  lambda: "λ",
  mu: "μ",
  pi: "π",
  sigma: "σ",
  phi: "φ",
  top: "ᵀ",
  quad: " ",
  qquad: " ",
};
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LOWERED = "₀₁₂₃₄₅₆₇₈₉";

/** @param {string} digits @param {string} others */
const digitsAs = (digits, others) => digits.replace(/\d/g, (digit) => others[Number(digit)]);

/** What a formula says, without the marks of TeX. @param {string} tex */
export function plainMaths(tex) {
  return tex
    .replace(/\\(?:[dt]?frac)\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, "$1/$2")
    .replace(/\^\{?(\d+)\}?/g, (_, digits) => digitsAs(digits, RAISED))
    .replace(/_\{?(\d+)\}?/g, (_, digits) => digitsAs(digits, LOWERED))
    .replace(/\\([A-Za-z]+)\s?/g, (_, name) => SIGNS[name] ?? (/^[lr]/.test(name) ? "" : name))
    .replace(/\\[,;:! ]/g, " ")
    .replace(/\\([^])/g, "$1")
    .replace(/[{}]/g, "");
}
