/** The lowest Node that this runs on. Effect's platform for Node asks for it, and every release is installed and run on it (docs/decisions/packages.md#0069). */
export const minimumNode = "22.19.0"

/** Why this cannot run on a version of Node, in one sentence; undefined where it can. */
export const problem = (version: string, minimum = minimumNode): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [majorAtLeast = 0, minorAtLeast = 0] = minimum.split(".").map(Number)
  if (major > majorAtLeast || (major === majorAtLeast && minor >= minorAtLeast)) return undefined
  return `satrail needs Node ${minimum} or later, and this is Node ${version}: install a newer one from https://nodejs.org.`
}
