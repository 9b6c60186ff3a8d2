import type { Random } from "@satrail/testing/Random"
import type { Scheduler } from "effect/Scheduler"

/** One process as far as its fibers go: they go on when it is their turn, and never again once it is dead. */
export interface Host {
  readonly name: string
  /** Something of this process may go on. */
  readonly give: (task: () => void) => void
  /** Has its fibers take turns with everybody else's. */
  readonly scheduler: Scheduler
  readonly isDead: () => boolean
  /** Nothing of it ever runs again: no clean-up, as when the power is cut. */
  readonly die: () => void
  /** Nothing of it runs until it is woken: what arrives meanwhile waits. */
  readonly freeze: () => void
  readonly wake: () => void
  readonly isFrozen: () => boolean
}

/** Everything that may go on, one thing at a time, in an order that follows from the seed. */
export interface Turns {
  readonly host: (name: string) => Host
  /** Runs until nobody can go on any more. Throws when that takes so long that somebody must be running in circles. */
  readonly run: () => void
  readonly isEmpty: () => boolean
}

// Hundreds of times what the busiest moment takes.
const maxTurns = 50_000

/** `random` says which of those who may go on is the next. */
export const make = (random: () => Random): Turns => {
  const ready: Array<{ readonly host: Host; readonly task: () => void }> = []

  const host = (name: string): Host => {
    let isDead = false
    let isFrozen = false
    let waiting: Array<() => void> = []
    // A scheduler keeps the order of its own tasks; who is the next among all is drawn.
    const scheduled: Array<() => void> = []
    const self: Host = {
      name,
      give: (task) => {
        if (isDead) return
        if (isFrozen) waiting.push(task)
        else ready.push({ host: self, task })
      },
      scheduler: {
        executionMode: "async",
        shouldYield: () => false,
        makeDispatcher: () => ({
          scheduleTask: (task) => {
            scheduled.push(task)
            self.give(() => scheduled.shift()?.())
          },
          flush: () => {}
        })
      },
      isDead: () => isDead,
      die: () => {
        isDead = true
        waiting = []
      },
      freeze: () => {
        isFrozen = true
      },
      wake: () => {
        isFrozen = false
        const thawed = waiting
        waiting = []
        for (const task of thawed) self.give(task)
      },
      isFrozen: () => isFrozen
    }
    return self
  }

  return {
    host,
    run: () => {
      for (let turns = 0; ready.length > 0; turns++) {
        if (turns > maxTurns) throw new Error("nobody runs in circles: no time passes, and there is always more to do")
        const at = ready.length === 1 ? 0 : random().below(ready.length)
        const [next] = ready.splice(at, 1)
        if (next === undefined || next.host.isDead()) continue
        // It was frozen after it was told to go on.
        if (next.host.isFrozen()) next.host.give(next.task)
        else next.task()
      }
    },
    isEmpty: () => ready.length === 0
  }
}
