import type net from "node:net"

/** How long an idle connection is kept. Servers close idle connections after five seconds or more. */
export const idleMillis = 4000

/**
 * How long a connection is used after its address was checked. After that, a new connection is opened, for
 * which the name is resolved and checked again.
 */
export const maxAgeMillis = 60_000

/** Maximum number of idle connections per target. */
export const maxPerPlace = 16

/** A connection to a checked address, and the time when it was opened. */
export interface Opened {
  readonly socket: net.Socket
  readonly atMillis: number
}

interface Waiting extends Opened {
  readonly end: () => void
}

export const make = () => {
  const waiting = new Map<string, Set<Waiting>>()

  const leave = (place: string, one: Waiting) => {
    const others = waiting.get(place)
    others?.delete(one)
    if (others?.size === 0) waiting.delete(place)
    for (const event of ["timeout", "error", "data", "end"]) one.socket.off(event, one.end)
    return one.socket.setTimeout(0)
  }

  return {
    /** Takes a usable connection to a target; undefined if there is none. */
    take: (place: string, nowMillis: number): Opened | undefined => {
      for (const one of waiting.get(place) ?? []) {
        const socket = leave(place, one)
        if (!socket.destroyed && nowMillis - one.atMillis < maxAgeMillis)
          return { socket: socket.ref(), atMillis: one.atMillis }
        socket.destroy()
      }
      return undefined
    },
    /** Returns a connection to the pool. Data received before the next request closes it. */
    give: (place: string, { socket, atMillis }: Opened): void => {
      const others = waiting.get(place) ?? new Set()
      if (others.size >= maxPerPlace) return void socket.destroy()
      const one: Waiting = {
        socket,
        atMillis,
        end: () => {
          leave(place, one).destroy()
        }
      }
      waiting.set(place, others.add(one))
      for (const event of ["timeout", "error", "data", "end"]) socket.on(event, one.end)
      // An unused connection must not keep the process alive.
      socket.setTimeout(idleMillis).unref()
    }
  }
}
export type Idle = ReturnType<typeof make>
