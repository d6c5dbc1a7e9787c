// Few rules, each for a reason. Names and types are checked by `tsc`, layout by Prettier, and which
// module may import which by tests/viewer/test_shelves.py.

import globals from "globals";

const mistakes = {
  "array-callback-return": "error", // a callback that forgets to return gives undefined
  "no-constant-binary-expression": "error", // conditions that always come out the same
  "no-constructor-return": "error",
  "no-duplicate-imports": "error",
  "no-self-compare": "error",
  "no-sparse-arrays": "error",
  "no-template-curly-in-string": "error", // "${...}" in quotes was meant for a template
  "no-unreachable-loop": "error",
  "no-unsafe-finally": "error",
  "no-useless-escape": "error", // in a regular expression it hides what is meant
  eqeqeq: "error", // == converts
  "no-fallthrough": "error",
};

const safety = {
  "no-eval": "error", // the page's policy forbids what makes code of text
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-console": ["error", { allow: ["warn"] }], // tests fail when a page prints anything
  "no-restricted-properties": [
    "error", // text of a document becomes text nodes; what is markup goes through DOMPurify
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe"].map((property) => ({
      property,
    })),
    { object: "document", property: "write" },
  ],
};

const plainness = {
  "no-var": "error",
  "prefer-const": "error",
  "object-shorthand": "error",
  "prefer-arrow-callback": "error",
  "prefer-template": "error",
  "no-else-return": "error", // no branch after a return
  "no-lonely-if": "error",
  "no-unneeded-ternary": "error",
  "no-useless-rename": "error",
  "no-useless-return": "error",
  "dot-notation": "error",
};

const size = {
  "max-lines-per-function": ["error", { max: 60 }], // what is longer has parts, and they have names
  "max-lines": ["error", { max: 400 }],
  "max-depth": ["error", 4],
  // Prettier leaves strings and templates as they are. Addresses and drawings cannot be broken.
  "max-len": ["error", { code: 100, ignoreUrls: true, ignorePattern: '^ +"M[ \\w.-]+",$' }],
};

export default [
  { ignores: ["**/vendor/", "**/node_modules/", "tests/samples/", ".venv/"] },
  {
    files: ["viewer/**/*.js", "tests/**/*.js", "*.config.js"],
    languageOptions: { ecmaVersion: "latest", sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: { ...mistakes, ...safety, ...plainness, ...size },
  },
];
