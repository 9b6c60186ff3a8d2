import * as Caller from "./Caller.ts"

/** A rate limit: `count` requests at once, and on average one every `everyMillis`. */
export interface Rate {
  readonly count: number
  readonly everyMillis: number
}

/** Returns a rate of `count` per minute. The whole count can be used at once. */
export const perMinute = (count: number): Rate => ({ count, everyMillis: 60_000 / count })

/** Returns a rate of `count` per second. The whole count can be used at once. */
export const perSecond = (count: number): Rate => ({ count, everyMillis: 1000 / count })

/** Returns the number per minute that a rate allows. */
export const inAMinute = ({ everyMillis }: Rate): number => Math.round(60_000 / everyMillis)

/**
 * Maximum number of names tracked. When it is reached, the least recently seen name is evicted and starts
 * again from zero.
 */
export const maxNames = 100_000

/** A name's remaining allowance at one rate after a request. */
export interface Room {
  /** True if the request was within this rate. */
  readonly isWithin: boolean
  /** Number of requests allowed now. */
  readonly left: number
  /** Milliseconds until the next request is allowed; 0 if it is allowed now. */
  readonly nextMillis: number
  /** Milliseconds until the whole allowance of `count` is available again. */
  readonly wholeMillis: number
}

// Tolerance for rounding errors in sums of fractions.
const exactly = 0.99

/** Maximum time between reading the clock and counting the request. Requests can be counted in another order. */
const lateMillis = 1000

/**
 * Returns a function that converts the clock's time to the time since the first request, which is small enough to keep
 * fractions of a millisecond. After the clock is set back, time continues from the last request. Otherwise, callers
 * would have to wait until the clock catches up, or could send more than their allowance.
 */
const elapsing = () => {
  let originMillis: number | undefined
  let lastMillis = 0
  return (clockMillis: number): number => {
    originMillis ??= clockMillis
    if (clockMillis - originMillis < lastMillis - lateMillis) originMillis = clockMillis - lastMillis
    lastMillis = Math.max(lastMillis, clockMillis - originMillis)
    return lastMillis
  }
}

/** Checks a request against one rate without counting it. */
const ask = ({ count, everyMillis }: Rate, newAtMillis: number | undefined, nowMillis: number) => {
  const mostMillis = count * everyMillis
  const busyMillis = Math.max((newAtMillis ?? nowMillis) - nowMillis, 0)
  return { everyMillis, mostMillis, busyMillis, isWithin: busyMillis + everyMillis * exactly <= mostMillis }
}

const roomOf = (
  { everyMillis, mostMillis, busyMillis, isWithin }: ReturnType<typeof ask>,
  isTaken: boolean
): Room => {
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
 * Applies all of these rates to each name, counted by this process. A request that one rate rejects does not
 * count toward any. Stores one number per name and rate: the time when the allowance is full again.
 */
export const meter = (...rates: ReadonlyArray<Rate>) => {
  const newAtMillis = new Map<string, ReadonlyArray<number>>()
  const elapsed = elapsing()

  return (name: string, clockMillis: number): ReadonlyArray<Room> => {
    const nowMillis = elapsed(clockMillis)
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
 * Limits each network to its multiple of a rate. A request that one network rejects does not count toward the
 * others. Returns the remaining allowance of the network that rejects the request, or else the narrowest one's.
 */
const nested = (rate: Rate) => {
  const newAtMillis = new Map<string, number>()
  const elapsed = elapsing()

  return (networks: ReadonlyArray<Caller.Network>, clockMillis: number): Room => {
    const nowMillis = elapsed(clockMillis)
    const asked = networks.map(({ name, times }) =>
      ask(
        { count: rate.count * times, everyMillis: rate.everyMillis / times },
        newAtMillis.get(name),
        nowMillis
      )
    )
    const isTaken = asked.every(({ isWithin }) => isWithin)
    const rooms = asked.map((one) => roomOf(one, isTaken))
    if (isTaken)
      for (const [n, { name }] of networks.entries())
        remember(newAtMillis, name, nowMillis + (rooms[n]?.wholeMillis ?? 0))
    return (
      rooms.find(({ isWithin }) => !isWithin) ??
      rooms.at(-1) ??
      roomOf(ask(rate, undefined, nowMillis), false)
    )
  }
}

/** Limits each caller to a rate, and each wider network to a multiple of it (`Caller.widths`). */
export const callers = (rate: Rate) => {
  const take = nested(rate)
  return (address: string, clockMillis: number): Room => take(Caller.networks(address), clockMillis)
}

/** Limits each name to one rate. Returns whether the request is allowed. */
export const make = (rate: Rate) => {
  const take = meter(rate)
  return (name: string, nowMillis: number): boolean => take(name, nowMillis).every(({ isWithin }) => isWithin)
}

/**
 * Reserve of a shared rate, as a multiple of that rate, and the rate at which one /24 or /48 may use the reserve.
 * Its provider's networks may use it at a multiple of that rate (`Caller.newcomerNetworks`).
 */
export const reserve = { times: 4, perNetwork: perMinute(1) } as const

/**
 * A rate shared by callers that are not authenticated. When it is used up, a reserve serves networks that
 * sent no request in the last minute, so neither a network nor a provider's networks can use up the others' share.
 */
export const shared = (rate: Rate) => {
  const mayAsk = make(rate)
  const newcomerMayAsk = make({
    count: rate.count * reserve.times,
    everyMillis: rate.everyMillis / reserve.times
  })
  const newcomers = nested(reserve.perNetwork)
  return (name: string, caller: string, nowMillis: number): boolean => {
    const networks = Caller.newcomerNetworks(caller).map((network) => ({
      ...network,
      name: `${name} ${network.name}`
    }))
    const isNew = newcomers(networks, nowMillis).isWithin
    return mayAsk(name, nowMillis) || (isNew && newcomerMayAsk(name, nowMillis))
  }
}
