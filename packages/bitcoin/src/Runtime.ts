/**
 * The minimum Node version. Effect's Node platform requires it, and every release is tested on it
 * (docs/decisions/packages.md#0069).
 */
export const minimumNode = "22.19.0"

/** Returns an error message if satrail can't run on this Node version; undefined if it can. */
export const problem = (version: string, minimum = minimumNode): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [majorAtLeast = 0, minorAtLeast = 0] = minimum.split(".").map(Number)
  if (major > majorAtLeast || (major === majorAtLeast && minor >= minorAtLeast)) return undefined
  return `satrail requires Node ${minimum} or later, but this is Node ${version}. Install a newer version from https://nodejs.org.`
}
