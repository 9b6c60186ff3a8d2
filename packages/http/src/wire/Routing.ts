/**
 * Router settings that allow one spelling per path: letter case, repeated slashes and a trailing slash
 * matter.
 */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }
