import type { Random } from "@satrail/testing/Random"
import type { Scheduler } from "effect/Scheduler"

/** One process's fibers. They run only in their turn, and never after the process is dead. */
export interface Host {
  readonly name: string
  /** Queues a task of this process. */
  readonly give: (task: () => void) => void
  /** Schedules the process's fibers in turns with those of all other processes. */
  readonly scheduler: Scheduler
  readonly isDead: () => boolean
  /** Stops the process permanently and without cleanup, as in a power failure. */
  readonly die: () => void
  /** Stops the process until it is woken. Tasks queued in the meantime wait. */
  readonly freeze: () => void
  readonly wake: () => void
  readonly isFrozen: () => boolean
}

/** Runs all runnable tasks one at a time, in an order determined by the seed. */
export interface Turns {
  readonly host: (name: string) => Host
  /** Runs until no task is left. Throws after `maxTurns`, which indicates an endless loop. */
  readonly run: () => void
  readonly isEmpty: () => boolean
}

// Hundreds of times the number of turns that the busiest moment needs.
const maxTurns = 50_000

/** `random` draws the next task from the runnable ones. */
export const make = (random: () => Random): Turns => {
  const ready: Array<{ readonly host: Host; readonly task: () => void }> = []

  const host = (name: string): Host => {
    let isDead = false
    let isFrozen = false
    let waiting: Array<() => void> = []
    // A scheduler keeps its own tasks in order. The next scheduler is drawn at random.
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
        if (turns > maxTurns) throw new Error("endless loop: tasks keep running while no time passes")
        const at = ready.length === 1 ? 0 : random().below(ready.length)
        const [next] = ready.splice(at, 1)
        if (next === undefined || next.host.isDead()) continue
        // The process was frozen after the task was queued.
        if (next.host.isFrozen()) next.host.give(next.task)
        else next.task()
      }
    },
    isEmpty: () => ready.length === 0
  }
}
