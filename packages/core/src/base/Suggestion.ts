/**
 * Returns how many letters must be replaced, inserted, deleted or swapped with their neighbor to turn one
 * name into the other. Stops counting above `most`.
 */
export const editDistance = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return Infinity
  let [before, row]: [ReadonlyArray<number>, ReadonlyArray<number>] = [
    [],
    Array.from({ length: other.length + 1 }, (_, at) => at)
  ]
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
        )
      )
    }
    if (Math.min(...next) > most) return Infinity // every further row counts at least as much
    ;[before, row] = [row, next]
  }
  return row.at(-1) ?? 0
}

/** Returns the closest of the names within a distance of `most`. */
export const closest = (
  names: ReadonlyArray<string>,
  most: number,
  distanceTo: (name: string) => number
): string | undefined =>
  names
    .map((one) => ({ one, distance: distanceTo(one) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance)[0]?.one

const bare = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Allows one typo per three letters. Fewer would miss `metdata`, and more would match unrelated words. */
const slipsIn = (name: string) => Math.max(1, Math.floor(name.length / 3))

/** Shorter prefixes match too many names. */
const shortestBeginning = 3

/**
 * Returns the name that a misspelled member most likely stands for. Ignores letter case and punctuation, and
 * treats a prefix as a close match.
 */
export const member = (given: string, names: ReadonlyArray<string>): string | undefined => {
  const name = bare(given)
  const most = slipsIn(name)
  return closest(names, most, (one) =>
    name.length >= shortestBeginning && bare(one).startsWith(name) ? 1 : editDistance(name, bare(one), most)
  )
}
