// Numbers as people write them: `1,000`, `16 GB`, `3.2e9`, `2/3 * 10^6`, `25 %`. Pure.

/** What stands behind a number; a unit of its own counts as 1. @type {Record<string, number>} */
const FACTORS = {
  "%": 0.01,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  m: 1e-3,
  u: 1e-6,
  µ: 1e-6,
  n: 1e-9,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

const UNIT = /^(?:B|bytes?|FLOPs?|FLOP\/s|s|seconds?|tokens?|parameters?)$/;
const NUMBER = String.raw`(?:\d[\d,_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const PARTS = new RegExp(String.raw`\s*(${NUMBER}|\*\*|[-+*/^()×·%]|[A-Za-zµ][A-Za-zµ/]*)`, "giy");

/**
 * The number that a text says, or null.
 * @param {string} text
 * @param {boolean} [isOfBytes] `7 B` are bytes, and not billions
 * @returns {number | null}
 */
export function reckon(text, isOfBytes = false) {
  const parts = partsOf(text.trim());
  if (!parts?.length) return null;
  const reader = new Reader(parts, isOfBytes);
  const found = reader.sum();
  return reader.isAtEnd() && Number.isFinite(found) ? found : null;
}

/** @param {string} text @returns {string[] | null} */
function partsOf(text) {
  const parts = [];
  PARTS.lastIndex = 0;
  for (let end = 0; end < text.length; end = PARTS.lastIndex) {
    const found = PARTS.exec(text);
    if (!found) return null;
    parts.push(found[1]);
  }
  return parts;
}

/**
 * Commas group by three digits, as in `1,000`; any other is a decimal point, as many write it.
 * @param {string} digits
 */
function numeral(digits) {
  const plain = digits.replace(/_/g, "");
  const isGrouped = /^[1-9]\d{0,2}(?:,\d{3})+(?!\d|,)/.test(plain);
  return Number(isGrouped ? plain.replace(/,/g, "") : plain.replace(",", "."));
}

/** Sums of products of powers of numbers. */
class Reader {
  /** @param {string[]} parts @param {boolean} isOfBytes */
  constructor(parts, isOfBytes) {
    this.parts = parts;
    this.isOfBytes = isOfBytes;
    this.at = 0;
  }

  isAtEnd() {
    return this.at >= this.parts.length;
  }

  /** @param {string[]} signs @returns {string | undefined} the sign that stands here, passed */
  take(...signs) {
    return signs.includes(this.parts[this.at]) ? this.parts[this.at++] : undefined;
  }

  /** @returns {number} */
  sum() {
    let result = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-"))
      result += (sign === "-" ? -1 : 1) * this.product();
    return result;
  }

  /** @returns {number} */
  product() {
    let result = this.power();
    const signs = ["*", "/", "×", "·"];
    for (let sign = this.take(...signs); sign; sign = this.take(...signs)) {
      const factor = this.power();
      result = sign === "/" ? result / factor : result * factor;
    }
    return result;
  }

  /** @returns {number} */
  power() {
    if (this.take("-")) return -this.power();
    const base = this.number();
    return this.take("^", "**") ? base ** this.power() : base;
  }

  /** @returns {number} NaN where there is none */
  number() {
    if (this.take("(")) {
      const result = this.sum();
      return this.take(")") ? result * this.factor() : NaN;
    }
    const digits = this.parts[this.at++] ?? "";
    return /^[\d.]/.test(digits) ? numeral(digits) * this.factor() : NaN;
  }

  /** What the word behind a number stands for. */
  factor() {
    const word = this.parts[this.at] ?? "";
    if (!/^(?:%|[A-Za-zµ])/.test(word)) return 1;
    this.at++;
    if (word === "B" && !this.isOfBytes) return 1e9;
    const next = this.parts[this.at] ?? "";
    if (Object.hasOwn(FACTORS, word)) {
      if (UNIT.test(next)) this.at++; // 3 million bytes
      return FACTORS[word];
    }
    if (UNIT.test(word)) return 1;
    const [, prefix, unit] = /^(Ki|Mi|Gi|Ti|[kKMGTPmuµn])(\D+)$/.exec(word) ?? [];
    return prefix && UNIT.test(unit) ? FACTORS[prefix] : NaN;
  }
}
