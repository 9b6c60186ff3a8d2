/** How often something may happen: `count` times at once, and on average once every `everyMillis`. */
export interface Rate {
  readonly count: number
  readonly everyMillis: number
}

/** So many a minute, all of them at once if need be. */
export const perMinute = (count: number): Rate => ({ count, everyMillis: 60_000 / count })

/** So many a second, all of them at once if need be. */
export const perSecond = (count: number): Rate => ({ count, everyMillis: 1000 / count })

/** How many a rate comes to in a minute. */
export const inAMinute = ({ everyMillis }: Rate): number => Math.round(60_000 / everyMillis)

/** The most names that are remembered: the one that has been quiet the longest is forgotten first, as if it had never come. */
export const maxNames = 100_000

/** What a name may still do at one of its rates, after what it has just asked for. */
export interface Room {
  /** Whether that was within this rate. */
  readonly isWithin: boolean
  /** How many it may do now. */
  readonly left: number
  /** In how long it may do the next one: 0 where it may at once. */
  readonly nextMillis: number
  /** In how long it may do `count` of them again. */
  readonly wholeMillis: number
}

// What a sum of fractions may be short of by rounding.
const exactly = 0.99

/**
 * Keeps each name to all of its rates, by this process's own count. What one of them refuses costs nothing of any.
 * Of each name one number is kept for each rate: when it will have been quiet for long enough to be new.
 */
export const meter = (...rates: ReadonlyArray<Rate>) => {
  const newAtMillis = new Map<string, ReadonlyArray<number>>()
  let originMillis: number | undefined

  return (name: string, clockMillis: number): ReadonlyArray<Room> => {
    // Small numbers keep the fractions of a millisecond that add up.
    originMillis ??= clockMillis
    const nowMillis = clockMillis - originMillis
    const before = newAtMillis.get(name)
    const asked = rates.map(({ count, everyMillis }, n) => {
      const mostMillis = count * everyMillis
      // A clock that was put back costs nobody more than what there is.
      const busyMillis = Math.min(Math.max((before?.[n] ?? nowMillis) - nowMillis, 0), mostMillis)
      return { everyMillis, mostMillis, busyMillis, isWithin: busyMillis + everyMillis * exactly <= mostMillis }
    })
    const isTaken = asked.every(({ isWithin }) => isWithin)
    const rooms = asked.map(({ everyMillis, mostMillis, busyMillis, isWithin }): Room => {
      const wholeMillis = isTaken ? busyMillis + everyMillis : busyMillis
      const left = Math.max(Math.floor((mostMillis - wholeMillis) / everyMillis + 1 - exactly), 0)
      return { isWithin, left, nextMillis: Math.max(wholeMillis + everyMillis - mostMillis, 0), wholeMillis }
    })
    if (isTaken) {
      newAtMillis.delete(name)
      newAtMillis.set(
        name,
        rooms.map(({ wholeMillis }) => nowMillis + wholeMillis)
      )
      const [quietest] = newAtMillis.keys()
      if (newAtMillis.size > maxNames && quietest !== undefined) newAtMillis.delete(quietest)
    }
    return rooms
  }
}

/** The same of one rate, where only the answer is of interest: whether it may. */
export const make = (rate: Rate) => {
  const take = meter(rate)
  return (name: string, nowMillis: number): boolean => take(name, nowMillis).every(({ isWithin }) => isWithin)
}
