import type net from "node:net"

/** How long a connection waits for its next question. Servers close theirs after five seconds or more. */
export const idleMillis = 4000

/** How long after its address was checked a connection is used. Then its name is looked up, and checked, again. */
export const maxAgeMillis = 60_000

/** How many wait for one place. */
export const maxPerPlace = 16

/** A connection, and when it was opened to an address that was checked. */
export interface Opened {
  readonly socket: net.Socket
  readonly atMillis: number
}

interface Waiting extends Opened {
  readonly end: () => void
}

/** Connections that stand and wait for the next question to the same place. */
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
    /** One that may be used; undefined where none waits. */
    take: (place: string, nowMillis: number): Opened | undefined => {
      for (const one of waiting.get(place) ?? []) {
        const socket = leave(place, one)
        if (!socket.destroyed && nowMillis - one.atMillis < maxAgeMillis) return { socket: socket.ref(), atMillis: one.atMillis }
        socket.destroy()
      }
      return undefined
    },
    /** It is free. Whatever comes before it is asked something ends it. */
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
      // Nobody waits for it: it keeps no process from its end.
      socket.setTimeout(idleMillis).unref()
    }
  }
}
export type Idle = ReturnType<typeof make>
