import type { Settings } from "@satrail/core/service/Policy"
import { Exit } from "effect"
import type { Coverage } from "./Coverage.ts"
import * as Fault from "./Fault.ts"
import * as Process from "./Process.ts"
import type { Host } from "./Turns.ts"
import type { Wire } from "./Wire.ts"
import type { World } from "./World.ts"

/** The processes of a scenario, and their faults. */
export interface Processes {
  /** Returns the slot's process, another process if that one is dead, or undefined if all are dead. */
  readonly serving: (slot: number) => Process.Process | undefined
  readonly kill: (slot: number, backAfterMillis: number) => void
  readonly freeze: (slot: number, millis: number) => void
  readonly skew: (slot: number, millis: number) => void
  /** Makes a port unreachable for this long. */
  readonly takeAway: (port: Fault.Port, millis: number) => void
  /** Delivers the node's next notification this number of times. */
  readonly tellNotices: (times: number) => void
  /** Revives and wakes all processes, and resets clocks and ports. */
  readonly revive: () => void
  /** Stops all processes permanently. */
  readonly end: () => void
  /** Returns whether the store has pending calls. */
  readonly isStoreAtWork: () => boolean
}

export interface Options {
  readonly world: World
  readonly settings: Settings
  readonly slots: number
  /** Whether processes run the workers that call customers' servers. */
  readonly callsCustomers: boolean
  readonly traps: Fault.Traps
  readonly coverage: Coverage
  readonly note: (line: string) => void
  /** Reports an event that must never happen. */
  readonly breaks: (what: string) => void
  /** Called when a process dies, so that its requests get no response. */
  readonly died: (host: Host) => void
}

export const make = (options: Options): Processes => {
  const { world, settings, slots, callsCustomers, traps, coverage, note, breaks, died } = options
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
    note: (name, exit) =>
      note(`${host.name} ${name} ${typeof exit === "string" ? exit : Exit.isSuccess(exit) ? "ok" : "no"}`),
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
      callsCustomers,
      log: ({ text, isDefect }) => {
        note(`${host.name} says: ${text.split("\n")[0]}`)
        if (isDefect) breaks(`unexpected failure in ${host.name}: ${text}`)
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
