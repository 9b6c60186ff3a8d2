/**
 * Router settings that allow one spelling per path: letter case, repeated slashes and a trailing slash
 * matter.
 */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/** Returns the URL without the slash at the end of its path, or undefined if there is none. */
export const withoutSlash = (url: string): URL | undefined => {
  const { pathname, search } = new URL(url, "http://inside")
  return pathname.endsWith("/") && pathname !== "/" ? new URL(`http://inside${pathname.slice(0, -1)}${search}`) : undefined
}
