/** A path has one spelling: the letter case, each slash and the end of it count. For whatever router the routes are put into. */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }
