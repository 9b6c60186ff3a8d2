/**
 * The minimum Node version. Effect's platform for Node requires it, and every release is installed and run on
 * it (docs/decisions/packages.md#0069).
 */
export const minimumNode = "22.19.0"

/** Returns why this cannot run on a Node version, in one sentence; undefined if it can. */
export const problem = (version: string, minimum = minimumNode): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [majorAtLeast = 0, minorAtLeast = 0] = minimum.split(".").map(Number)
  if (major > majorAtLeast || (major === majorAtLeast && minor >= minorAtLeast)) return undefined
  return `satrail needs Node ${minimum} or later, and this is Node ${version}: install a newer one from https://nodejs.org.`
}
