import type { Settings } from "@satrail/core/Policy"
import { Context, Exit } from "effect"
import { createHash } from "node:crypto"
import type { Coverage } from "./Coverage.ts"
import * as Fault from "./Fault.ts"
import type { Handler } from "./Front.ts"
import * as Process from "./Process.ts"
import type { Host } from "./Turns.ts"
import { Asking } from "./Wire.ts"
import type { World } from "./World.ts"

/** What was promised was not kept. */
export class Violation extends Error {
  override readonly name = "Violation"
}

/** What a customer or a wallet asks the service. */
export interface Ask {
  readonly slot: number
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  /** An API key or the operator's token. */
  readonly bearer?: string | undefined
  /** As it is sent. */
  readonly body?: string | undefined
  readonly once?: string | undefined
}

/** What came back; nothing when the process died before it answered. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly isReplayed: boolean
}

/** Where a story is told: the world, the processes in it, and the time that passes. */
export interface Stage {
  readonly world: World
  readonly traps: Fault.Traps
  readonly coverage: Coverage
  readonly slots: number
  /** Asks whichever process is alive, that of the slot if it is. `done` hears of the answer, or that there was none. */
  readonly ask: (ask: Ask, done: (answer: Answer | undefined, asking: number) => void) => void
  /** Goes on until nobody can without time passing. */
  readonly settle: () => Promise<void>
  /** So much time passes. */
  readonly pass: (millis: number) => Promise<void>
  /** The clocks of all jump ahead, as after a machine slept. */
  readonly jump: (millis: number) => Promise<void>
  readonly kill: (slot: number, backAfterMillis: number) => void
  readonly freeze: (slot: number, millis: number) => void
  readonly skew: (slot: number, millis: number) => void
  /** Nothing that goes through the port is heard for so long. */
  readonly takeAway: (port: Fault.Port, millis: number) => void
  /** The next notices of the node are told so often. */
  readonly tellNotices: (times: number) => void
  /** Faults stop: traps are gone, everything is back, everybody is alive and awake. */
  readonly calm: () => Promise<void>
  /** Everybody is dead, and what the store was asked is done. */
  readonly end: () => Promise<void>
  readonly note: (line: string) => void
  readonly history: () => ReadonlyArray<string>
  readonly hash: () => string
}

// Of those who wake up at one moment, hundreds of times what there ever are.
const maxWakes = 2000

const macrotask = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve)
  })

export const make = (options: {
  readonly world: World
  readonly handler: Handler
  readonly settings: Settings
  readonly coverage: Coverage
  /** How many processes there are. */
  readonly slots: number
  /** Whether the store answers after a while, as one with a database behind it does. */
  readonly isAsync: boolean
}): Stage => {
  const { world, handler, settings, coverage, slots, isAsync } = options
  const { time, turns } = world
  const traps = Fault.make()
  const history: Array<string> = []
  const away = new Set<Fault.Port>()
  const skews = Array.from({ length: slots }, () => 0)
  const processes: Array<Process.Process | undefined> = []
  let broken: string | undefined
  let callsUnderWay = 0
  let asked = 0
  let noticesTold = 1
  let generation = 0
  /** Requests without an answer so far, and who serves them. */
  const open = new Map<number, { readonly process: Process.Process; readonly done: (answer: Answer | undefined) => void }>()

  const note = (line: string) => {
    history.push(`${time.nowMillis() - beginning} ${line}`)
  }
  const beginning = time.nowMillis()

  const begin = (slot: number): void => {
    const host = turns.host(`p${slot}.${generation++}`)
    const process = Process.start(world, slot, settings, {
      host,
      skewMillis: () => skews[slot] ?? 0,
      log: ({ text, isDefect }) => {
        note(`${host.name} says: ${text.split("\n")[0]}`)
        if (isDefect) broken ??= `something broke in ${host.name}: ${text}`
      },
      wire: {
        perform: (port, call, asking, done) => {
          if (port === "store") callsUnderWay++
          world.fork(call, asking, (exit) => {
            if (port === "store") callsUnderWay--
            done(exit)
          })
        },
        after: (millis, wake) => void time.after(millis, wake),
        fateOf: (port, name) => {
          const fate = traps.spring(slot, port, name)
          if (fate !== undefined) coverage.count("fault", Fault.nameOf(fate, port))
          return fate
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
      }
    })
    processes[slot] = process
  }

  const die = (slot: number, host: Host, backAfterMillis: number): void => {
    note(`${host.name} dies`)
    host.die()
    if (processes[slot]?.host === host) processes[slot] = undefined
    for (const [number, { process, done }] of open) {
      if (process.host === host && open.delete(number)) done(undefined)
    }
    time.after(backAfterMillis, () => {
      if (processes[slot] === undefined) begin(slot)
    })
  }

  const settle = async () => {
    for (let idle = 0; idle < 2;) {
      turns.run()
      if (broken !== undefined) throw new Violation(broken)
      if (open.size === 0 && !isAsync) return
      await macrotask()
      idle = turns.isEmpty() && callsUnderWay === 0 ? idle + 1 : 0
    }
  }

  const until = async (atMillis: number) => {
    await settle()
    let wakes = 0
    for (let next = time.next(); next !== undefined && next <= atMillis; next = time.next()) {
      wakes = next > time.nowMillis() ? 0 : wakes + 1
      if (wakes > maxWakes) throw new Violation("nobody runs in circles: no time passes, and there is always more to do")
      time.set(next)
      await settle()
    }
    time.set(atMillis)
    await settle()
  }

  for (let slot = 0; slot < slots; slot++) begin(slot)

  return {
    world,
    traps,
    coverage,
    slots,
    ask: ({ slot, method, path, bearer, body, once }, done) => {
      const process = processes[slot % slots] ?? processes.find((one) => one !== undefined)
      const number = asked++
      if (process === undefined) return done(undefined, number)
      const finish = (answer: Answer | undefined) => {
        note(`${process.host.name} ${method} ${path} ${answer === undefined ? "lost" : answer.status}`)
        if (answer !== undefined) coverage.count("answer", `${method} ${answer.status}`)
        done(answer, number)
      }
      open.set(number, { process, done: finish })
      const request = new Request(`http://service${path}`, {
        method,
        headers: {
          host: "pay.example",
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(once !== undefined && { "idempotency-key": once })
        },
        ...(body !== undefined && { body })
      })
      const answered = async () => {
        const response = await handler(request, Context.add(process.context, Asking, number))
        const text = await response.text()
        if (!open.delete(number)) return
        finish({ status: response.status, text, isReplayed: response.headers.get("idempotency-replayed") === "true" })
      }
      answered().catch((error: unknown) => {
        broken ??= error instanceof Error ? error.message : String(error)
      })
    },
    settle,
    pass: (millis) => until(time.nowMillis() + millis),
    jump: async (millis) => {
      await settle()
      time.set(time.nowMillis() + millis)
      await settle()
    },
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
    calm: async () => {
      traps.clear()
      away.clear()
      noticesTold = 1
      skews.fill(0)
      for (let slot = 0; slot < slots; slot++) {
        processes[slot]?.host.wake()
        if (processes[slot] === undefined) begin(slot)
      }
      await settle()
    },
    end: async () => {
      for (const process of processes) process?.host.die()
      for (let idle = 0; idle < 1;) {
        turns.run()
        await macrotask()
        idle = callsUnderWay === 0 ? 1 : 0
      }
    },
    note,
    history: () => history,
    hash: () => createHash("sha256").update(history.join("\n")).digest("hex").slice(0, 16)
  }
}
