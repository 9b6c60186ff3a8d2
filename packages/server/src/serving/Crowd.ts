import * as Caller from "@satrail/core/base/Caller"

interface Held<A> {
  readonly item: A
  /** The caller's networks, widest first. */
  readonly networks: ReadonlyArray<string>
}

/** Returns how many each holder loses if the largest holder loses one, `count` times. */
const lossesOf = (sizes: ReadonlyArray<number>, count: number): ReadonlyArray<number> => {
  const above = (level: number) => sizes.reduce((sum, size) => sum + Math.max(size - level, 0), 0)
  let [level, high] = [0, sizes.reduce((most, size) => Math.max(most, size), 0)]
  while (level < high) {
    const middle = Math.floor((level + high) / 2)
    if (above(middle) <= count) high = middle
    else level = middle + 1
  }
  // Larger holders are cut to `level`. If that is not enough, the first holders at `level` lose one more each.
  let rest = count - above(level)
  return sizes.map((size) => (size < level ? 0 : size - level + (rest-- > 0 ? 1 : 0)))
}

const picked = <A>(held: ReadonlyArray<Held<A>>, count: number, depth: number): ReadonlyArray<A> => {
  if (count === 0) return []
  if (held[0]?.networks[depth] === undefined) return held.slice(0, count).map(({ item }) => item)
  const groups = new Map<string, Array<Held<A>>>()
  for (const one of held) {
    const name = one.networks[depth] ?? ""
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [one])
    else group.push(one)
  }
  const all = [...groups.values()]
  const losses = lossesOf(
    all.map(({ length }) => length),
    count
  )
  return all.flatMap((group, n) => picked(group, losses[n] ?? 0, depth + 1))
}

/**
 * Picks `count` of the items: again and again the first item of the largest holder, in the largest network. Groups all
 * items once, because a search for the largest holder per item would take minutes for 65,536 callers.
 */
export const pick = <A>(items: Iterable<A>, callerOf: (item: A) => string, count: number): ReadonlyArray<A> =>
  picked(
    Array.from(items, (item) => ({
      item,
      networks: Caller.networks(callerOf(item)).map(({ name }) => name)
    })),
    count,
    0
  )
