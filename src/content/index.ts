/** What tool authors import as `filechat/content`. */
export {};
