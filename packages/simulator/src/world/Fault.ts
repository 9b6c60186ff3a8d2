/** What a call of a process goes through. */
export const ports = ["store", "node", "chain", "signer", "web"] as const
export type Port = (typeof ports)[number]

/** Whether it strikes before the call took effect, or after. */
export type When = "before" | "after"

/**
 * What befalls a call. `dies`: the process does. `orphaned`: it does, and the call arrives a while after. `unanswered`: the caller is told that nobody answered. `stray`: he is, and the call arrives a while after. `late`: the call arrives, or its answer
 * does, only after a while, whatever becomes of the caller until then. `frozen`: the whole process stands still for a while, and then goes on.
 * `repeated`: it arrives twice. `contradicted`: the answer is an older one, or none at all, that a node may give and take back.
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

/** Lies in wait for the call that comes after `skips` others of the kind. */
export interface Trap {
  /** Of which process; all count when it is null. */
  readonly process: number | null
  readonly port: Port | null
  /** The name of a call, or the kind of Change that is committed. */
  readonly call: string | null
  readonly skips: number
  readonly fate: Fate
}

/** A call that was made. */
export interface Taken {
  readonly call: string
  /** It was answered with an empty list. */
  foundNothing: boolean
}

/** Traps, until each has sprung. */
export interface Traps {
  readonly set: (trap: Trap) => void
  /** What befalls this call, if anything. */
  readonly spring: (process: number, port: Port, call: string) => { readonly fate: Fate | undefined; readonly taken: Taken }
  /** What was called since this was last asked, in order. */
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

/** What the coverage counts it as. */
export const nameOf = (fate: Fate, port: Port): string => ("when" in fate ? `${port}: ${fate._tag} ${fate.when}` : `${port}: ${fate._tag}`)
