// What lays out chapters and sections: fetched at once, but not by the front page, which needs none
// of it at first.

import { signal } from "@preact/signals";

/** The component, once it is there. @type {Signal<any>} */
export const article = signal(null);

/** Fetch it. */
export async function fetchArticle() {
  article.value ??= (await import("viewer/views/article.js")).Article;
}
