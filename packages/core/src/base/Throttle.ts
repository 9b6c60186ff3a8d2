/** How often something may happen: `count` times at once, and on average once every `everyMillis`. */
export interface Rate {
  readonly count: number
  readonly everyMillis: number
}

/** So many a minute, all of them at once if need be. */
export const perMinute = (count: number): Rate => ({ count, everyMillis: 60_000 / count })

/** How many a rate comes to in a minute. */
export const inAMinute = ({ everyMillis }: Rate): number => Math.round(60_000 / everyMillis)

/** The most names that are remembered: the one that has been quiet the longest is forgotten first, as if it had never come. */
const maxNames = 100_000

/**
 * Keeps each name to its rate, by this process's own count. What is refused costs nothing of the rate.
 * Of each name one number is kept: when it will have been quiet for long enough to be new.
 */
export const make = ({ count, everyMillis }: Rate) => {
  const newAtMillis = new Map<string, number>()

  return (name: string, nowMillis: number): boolean => {
    const atMillis = Math.max(newAtMillis.get(name) ?? 0, nowMillis) + everyMillis
    if (atMillis - nowMillis > count * everyMillis) return false
    newAtMillis.delete(name)
    newAtMillis.set(name, atMillis)
    const [quietest] = newAtMillis.keys()
    if (newAtMillis.size > maxNames && quietest !== undefined) newAtMillis.delete(quietest)
    return true
  }
}
