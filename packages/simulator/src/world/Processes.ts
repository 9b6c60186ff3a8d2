import type { Settings } from "@satrail/core/service/Policy"
import { Exit } from "effect"
import type { Coverage } from "./Coverage.ts"
import * as Fault from "./Fault.ts"
import * as Process from "./Process.ts"
import type { Host } from "./Turns.ts"
import type { Wire } from "./Wire.ts"
import type { World } from "./World.ts"

/** The processes of a story, and what befalls them. */
export interface Processes {
  /** That of the slot, or another one where it is dead; undefined when all are. */
  readonly serving: (slot: number) => Process.Process | undefined
  readonly kill: (slot: number, backAfterMillis: number) => void
  readonly freeze: (slot: number, millis: number) => void
  readonly skew: (slot: number, millis: number) => void
  /** Nothing that goes through the port is heard for so long. */
  readonly takeAway: (port: Fault.Port, millis: number) => void
  /** The next notices of the node are told so often. */
  readonly tellNotices: (times: number) => void
  /** All are alive and awake, their clocks are right, and every port is there. */
  readonly revive: () => void
  /** All die for good. */
  readonly end: () => void
  /** Whether the store has not answered all that it was asked. */
  readonly isStoreAtWork: () => boolean
}

/** What processes are started with. */
export interface Options {
  readonly world: World
  readonly settings: Settings
  readonly slots: number
  /** Whether they send webhooks. */
  readonly hasWebhooks: boolean
  readonly traps: Fault.Traps
  readonly coverage: Coverage
  readonly note: (line: string) => void
  /** Something happened that never may. */
  readonly breaks: (what: string) => void
  /** Nobody answers what this one was asked. */
  readonly died: (host: Host) => void
}

export const make = (options: Options): Processes => {
  const { world, settings, slots, hasWebhooks, traps, coverage, note, breaks, died } = options
  const { time, turns } = world
  const away = new Set<Fault.Port>()
  const skews = Array.from({ length: slots }, () => 0)
  const processes: Array<Process.Process | undefined> = []
  let callsUnderWay = 0
  let noticesTold = 1
  let generation = 0

  const wireOf = (slot: number, host: Host): Omit<Wire, "host"> => ({
    perform: (port, call, asking, done) => {
      if (port === "store") callsUnderWay++
      world.fork(call, asking, (exit) => {
        if (port === "store") callsUnderWay--
        done(exit)
      })
    },
    after: (millis, wake) => void time.after(millis, wake),
    fateOf: (port, name) => {
      const { fate, taken } = traps.spring(slot, port, name)
      if (fate !== undefined) coverage.count("fault", Fault.nameOf(fate, port))
      const heard = (exit: Exit.Exit<unknown, unknown>) => {
        taken.foundNothing = Exit.isSuccess(exit) && Array.isArray(exit.value) && exit.value.length === 0
      }
      return { fate, heard }
    },
    isAway: (port) => away.has(port),
    die: (backAfterMillis) => die(slot, host, backAfterMillis),
    note: (name, exit) => note(`${host.name} ${name} ${typeof exit === "string" ? exit : Exit.isSuccess(exit) ? "ok" : "no"}`),
    tells: () => {
      const times = noticesTold
      noticesTold = 1
      if (times !== 1) coverage.count("fault", "node: notice repeated")
      return times
    }
  })

  const begin = (slot: number): void => {
    const host = turns.host(`p${slot}.${generation++}`)
    processes[slot] = Process.start(world, slot, settings, {
      host,
      skewMillis: () => skews[slot] ?? 0,
      hasWebhooks,
      log: ({ text, isDefect }) => {
        note(`${host.name} says: ${text.split("\n")[0]}`)
        if (isDefect) breaks(`something broke in ${host.name}: ${text}`)
      },
      wire: wireOf(slot, host)
    })
  }

  const die = (slot: number, host: Host, backAfterMillis: number): void => {
    note(`${host.name} dies`)
    host.die()
    if (processes[slot]?.host === host) processes[slot] = undefined
    died(host)
    time.after(backAfterMillis, () => {
      if (processes[slot] === undefined) begin(slot)
    })
  }

  for (let slot = 0; slot < slots; slot++) begin(slot)

  return {
    serving: (slot) => processes[slot % slots] ?? processes.find((one) => one !== undefined),
    kill: (slot, backAfterMillis) => {
      const host = processes[slot]?.host
      if (host !== undefined) die(slot, host, backAfterMillis)
    },
    freeze: (slot, millis) => {
      const host = processes[slot]?.host
      if (host === undefined) return
      note(`${host.name} freezes`)
      host.freeze()
      time.after(millis, host.wake)
    },
    skew: (slot, millis) => {
      skews[slot] = millis
    },
    takeAway: (port, millis) => {
      away.add(port)
      time.after(millis, () => away.delete(port))
    },
    tellNotices: (times) => {
      noticesTold = times
    },
    revive: () => {
      away.clear()
      noticesTold = 1
      skews.fill(0)
      for (let slot = 0; slot < slots; slot++) {
        processes[slot]?.host.wake()
        if (processes[slot] === undefined) begin(slot)
      }
    },
    end: () => {
      for (const process of processes) process?.host.die()
    },
    isStoreAtWork: () => callsUnderWay > 0
  }
}
