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
export const maxNames = 100_000

/** What a name may still do, after what it has just asked for. */
export interface Room {
  /** Whether that was within its rate. */
  readonly isWithin: boolean
  /** How many it may do now. */
  readonly left: number
  /** In how long it may do the next one: 0 where it may at once. */
  readonly nextMillis: number
  /** In how long it may do `count` of them again. */
  readonly wholeMillis: number
}

/**
 * Keeps each name to its rate, by this process's own count. What is refused costs nothing of the rate.
 * Of each name one number is kept: when it will have been quiet for long enough to be new.
 */
export const meter = ({ count, everyMillis }: Rate) => {
  const newAtMillis = new Map<string, number>()
  const mostMillis = count * everyMillis

  return (name: string, nowMillis: number): Room => {
    // A clock that was put back costs nobody more than what there is.
    const busyMillis = Math.min(Math.max((newAtMillis.get(name) ?? 0) - nowMillis, 0), mostMillis)
    const isWithin = busyMillis + everyMillis <= mostMillis
    const wholeMillis = isWithin ? busyMillis + everyMillis : busyMillis
    if (isWithin) {
      newAtMillis.delete(name)
      newAtMillis.set(name, nowMillis + wholeMillis)
      const [quietest] = newAtMillis.keys()
      if (newAtMillis.size > maxNames && quietest !== undefined) newAtMillis.delete(quietest)
    }
    const left = Math.floor((mostMillis - wholeMillis) / everyMillis)
    return { isWithin, left, nextMillis: Math.max(wholeMillis + everyMillis - mostMillis, 0), wholeMillis }
  }
}

/** The same where only the answer is of interest: whether it may. */
export const make = (rate: Rate) => {
  const take = meter(rate)
  return (name: string, nowMillis: number): boolean => take(name, nowMillis).isWithin
}
