/** The names of the core's ports. */
export const ports = ["store", "node", "chain", "signer", "web"] as const
export type Port = (typeof ports)[number]

/** Whether the fault strikes before or after the call takes effect. */
export type When = "before" | "after"

/**
 * A fault injected into a call. `dies`: the process dies. `orphaned`: the process dies, and the call arrives
 * later. `unanswered`: the caller receives no response. `stray`: the caller receives no response, and the call
 * arrives later. `late`: the call or its response arrives late, whatever happens to the caller. `frozen`: the
 * whole process stops for a while, then continues. `repeated`: the call arrives twice. `contradicted`: the
 * response is an earlier state or "unknown". A node may report either, and contradict it later.
 */
export type Fate =
  | { readonly _tag: "dies"; readonly when: When; readonly backAfterMillis: number }
  | { readonly _tag: "orphaned"; readonly millis: number; readonly backAfterMillis: number }
  | { readonly _tag: "unanswered"; readonly when: When }
  | { readonly _tag: "stray"; readonly millis: number }
  | { readonly _tag: "late"; readonly when: When; readonly millis: number }
  | { readonly _tag: "frozen"; readonly when: When; readonly millis: number }
  | { readonly _tag: "repeated" }
  | { readonly _tag: "contradicted"; readonly said: number }

/** A fault for one call. The first `skips` matching calls are not affected; the next one is. */
export interface Trap {
  /** The process to which it applies, or null for all. */
  readonly process: number | null
  readonly port: Port | null
  /** The name of a call, or the kind of a committed Change. */
  readonly call: string | null
  readonly skips: number
  readonly fate: Fate
}

/** A call that was made. */
export interface Taken {
  readonly call: string
  /** Whether the response was an empty list. */
  foundNothing: boolean
}

/** The faults that have not been injected yet. */
export interface Traps {
  readonly set: (trap: Trap) => void
  /** Returns the fault of this call, if any. */
  readonly spring: (
    process: number,
    port: Port,
    call: string
  ) => { readonly fate: Fate | undefined; readonly taken: Taken }
  /** Returns, in order, the calls made since this function was last called. */
  readonly taken: () => ReadonlyArray<Readonly<Taken>>
  readonly clear: () => void
}

export const make = (): Traps => {
  let all: ReadonlyArray<{ readonly trap: Trap; left: number }> = []
  let calls: Array<Taken> = []
  return {
    set: (trap) => {
      all = [...all, { trap, left: trap.skips }]
    },
    spring: (process, port, call) => {
      const taken: Taken = { call, foundNothing: false }
      calls.push(taken)
      for (const one of all) {
        const { trap } = one
        if (trap.process !== null && trap.process !== process) continue
        if (trap.port !== null && trap.port !== port) continue
        if (trap.call !== null && trap.call !== call) continue
        if (one.left > 0) one.left--
        else {
          all = all.filter((other) => other !== one)
          return { fate: trap.fate, taken }
        }
      }
      return { fate: undefined, taken }
    },
    taken: () => {
      const taken = calls
      calls = []
      return taken
    },
    clear: () => {
      all = []
    }
  }
}

/** Returns the name of a fault in the coverage report. */
export const nameOf = (fate: Fate, port: Port): string =>
  "when" in fate ? `${port}: ${fate._tag} ${fate.when}` : `${port}: ${fate._tag}`
