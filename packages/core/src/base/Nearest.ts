/** How many letters must be changed, added, left out or swapped with their neighbour to make one of the other; more than `most` is not counted. */
export const distance = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return Infinity
  let [before, row]: [ReadonlyArray<number>, ReadonlyArray<number>] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
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
    ;[before, row] = [row, next]
  }
  return row.at(-1) ?? 0
}

/** The nearest of some names, if one is at most so far away. */
export const of = (names: ReadonlyArray<string>, most: number, distanceTo: (name: string) => number): string | undefined =>
  names
    .map((one) => ({ one, distance: distanceTo(one) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance)[0]?.one

const bare = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** As many slips as a third of the name has letters: fewer would miss `metdata`, and more would take one word for another. */
const slipsIn = (name: string) => Math.max(1, Math.floor(name.length / 3))

/** Shorter beginnings begin too much. */
const shortestBeginning = 3

/** Which of the names a member was meant to have that has another: letter case and marks do not count, and a beginning is near. */
export const member = (given: string, names: ReadonlyArray<string>): string | undefined => {
  const name = bare(given)
  const most = slipsIn(name)
  return of(names, most, (one) => (name.length >= shortestBeginning && bare(one).startsWith(name) ? 1 : distance(name, bare(one), most)))
}
