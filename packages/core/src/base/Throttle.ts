import * as Caller from "./Caller.ts"

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

/** What is left of one rate before a request is counted. */
const ask = ({ count, everyMillis }: Rate, newAtMillis: number | undefined, nowMillis: number) => {
  const mostMillis = count * everyMillis
  // If the clock was put back, the caller waits no longer than the whole allowance takes.
  const busyMillis = Math.min(Math.max((newAtMillis ?? nowMillis) - nowMillis, 0), mostMillis)
  return { everyMillis, mostMillis, busyMillis, isWithin: busyMillis + everyMillis * exactly <= mostMillis }
}

const roomOf = ({ everyMillis, mostMillis, busyMillis, isWithin }: ReturnType<typeof ask>, isTaken: boolean): Room => {
  const wholeMillis = isTaken ? busyMillis + everyMillis : busyMillis
  const left = Math.max(Math.floor((mostMillis - wholeMillis) / everyMillis + 1 - exactly), 0)
  return { isWithin, left, nextMillis: Math.max(wholeMillis + everyMillis - mostMillis, 0), wholeMillis }
}

const remember = <A>(names: Map<string, A>, name: string, value: A): void => {
  names.delete(name)
  names.set(name, value)
  const [quietest] = names.keys()
  if (names.size > maxNames && quietest !== undefined) names.delete(quietest)
}

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
    const asked = rates.map((rate, n) => ask(rate, before?.[n], nowMillis))
    const isTaken = asked.every(({ isWithin }) => isWithin)
    const rooms = asked.map((one) => roomOf(one, isTaken))
    if (isTaken) {
      const untils = rooms.map(({ wholeMillis }) => nowMillis + wholeMillis)
      remember(newAtMillis, name, untils)
    }
    return rooms
  }
}

/**
 * Keeps each caller to a rate, and each wider network to a multiple of it (`Caller.widths`). A request that one network refuses costs nothing of the others.
 * Returns the room of the network that refuses, or else the room of the caller alone.
 */
export const callers = (rate: Rate) => {
  const newAtMillis = new Map<string, number>()
  let originMillis: number | undefined

  return (address: string, clockMillis: number): Room => {
    originMillis ??= clockMillis
    const nowMillis = clockMillis - originMillis
    const networks = Caller.networks(address)
    const asked = networks.map(({ name, times }) =>
      ask({ count: rate.count * times, everyMillis: rate.everyMillis / times }, newAtMillis.get(name), nowMillis)
    )
    const isTaken = asked.every(({ isWithin }) => isWithin)
    const rooms = asked.map((one) => roomOf(one, isTaken))
    if (isTaken) networks.forEach(({ name }, n) => remember(newAtMillis, name, nowMillis + (rooms[n]?.wholeMillis ?? 0)))
    return rooms.find(({ isWithin }) => !isWithin) ?? rooms.at(-1) ?? roomOf(ask(rate, undefined, nowMillis), false)
  }
}

/** The same of one rate, where only the answer is of interest: whether it may. */
export const make = (rate: Rate) => {
  const take = meter(rate)
  return (name: string, nowMillis: number): boolean => take(name, nowMillis).every(({ isWithin }) => isWithin)
}

/** The reserve of a shared rate, as a multiple of the rate, and how often one network may use it. */
export const reserve = { times: 4, perNetwork: perMinute(1) } as const

/**
 * A rate that strangers share. Once it is used up, it serves networks that have asked for nothing in the last minute, from a reserve: a network cannot
 * use up the others' part.
 */
export const shared = (rate: Rate) => {
  const mayAsk = make(rate)
  const newcomerMayAsk = make({ count: rate.count * reserve.times, everyMillis: rate.everyMillis / reserve.times })
  const isNewcomer = make(reserve.perNetwork)
  return (name: string, caller: string, nowMillis: number): boolean => {
    const isNew = isNewcomer(`${name} ${Caller.networks(caller)[0]?.name}`, nowMillis)
    return mayAsk(name, nowMillis) || (isNew && newcomerMayAsk(name, nowMillis))
  }
}
