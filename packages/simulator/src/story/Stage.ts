import type { Settings } from "@satrail/core/service/Policy"
import { Context } from "effect"
import { createHash } from "node:crypto"
import { Violation } from "../checks/Violation.ts"
import type { Coverage } from "../world/Coverage.ts"
import * as Fault from "../world/Fault.ts"
import type { Handler } from "../world/Front.ts"
import type { Process } from "../world/Process.ts"
import * as Processes from "../world/Processes.ts"
import { Asking } from "../world/Wire.ts"
import type { World } from "../world/World.ts"

/** A request of a customer or a wallet. */
export interface Ask {
  readonly slot: number
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  /** An API key or the operator's token. */
  readonly bearer?: string | undefined
  /** The body as sent. */
  readonly body?: string | undefined
  readonly once?: string | undefined
}

/** A response to a request. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly isReplayed: boolean
}

/** The stage of a scenario: the world, its processes, and the passing of time. */
export interface Stage {
  readonly world: World
  readonly traps: Fault.Traps
  readonly coverage: Coverage
  readonly processes: Processes.Processes
  /**
   * Sends a request to the slot's process, or to another process if that one is dead. `done` receives the
   * response, or undefined if there was none.
   */
  readonly ask: (ask: Ask, done: (answer: Answer | undefined, asking: number) => void) => void
  /** Returns the API key with which a request was sent. */
  readonly keyOf: (asking: number) => string | undefined
  /** Lets this much time pass. */
  readonly pass: (millis: number) => Promise<void>
  /** Moves all clocks ahead, as if the machine had been asleep. */
  readonly jump: (millis: number) => Promise<void>
  /** Ends all faults: removes pending faults, restores ports, and revives and wakes all processes. */
  readonly calm: () => Promise<void>
  /** Stops all processes after the store has completed its work. */
  readonly end: () => Promise<void>
  readonly note: (line: string) => void
  readonly history: () => ReadonlyArray<string>
  readonly hash: () => string
}

// Hundreds of times the number of fibers that ever wake at one moment.
const maxWakes = 2000

const macrotask = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve)
  })

/** Builds the request as a customer's program would send it. */
const requestOf = ({ method, path, bearer, body, once }: Ask, host: string): Request =>
  new Request(`http://service${path}`, {
    method,
    headers: {
      host,
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(once !== undefined && { "idempotency-key": once })
    },
    ...(body !== undefined && { body })
  })

export interface Options {
  readonly world: World
  readonly handler: Handler
  readonly settings: Settings
  readonly coverage: Coverage
  /** Number of processes. */
  readonly slots: number
  /** Whether processes run the workers that call customers' servers. */
  readonly callsCustomers: boolean
  /** The `Host` header of requests. Defaults to the service's domain. */
  readonly host?: string | undefined
  /** Whether the store responds asynchronously, as a database does. */
  readonly isAsync: boolean
}

export const make = (options: Options): Stage => {
  const {
    world,
    handler,
    settings,
    coverage,
    slots,
    callsCustomers,
    isAsync,
    host = settings.domain
  } = options
  const { time, turns } = world
  const traps = Fault.make()
  const history: Array<string> = []
  let broken: string | undefined
  /** The API key of each request so far. */
  const bearers: Array<string | undefined> = []
  /** Requests without a response, and the processes that serve them. */
  const open = new Map<
    number,
    { readonly process: Process; readonly done: (answer: Answer | undefined) => void }
  >()

  const beginning = time.nowMillis()
  const note = (line: string) => {
    history.push(`${time.nowMillis() - beginning} ${line}`)
  }
  const breaks = (what: string) => {
    broken ??= what
  }
  const processes = Processes.make({
    world,
    settings,
    slots,
    callsCustomers,
    traps,
    coverage,
    note,
    breaks,
    died: (host) => {
      for (const [number, { process, done }] of open) {
        if (process.host === host && open.delete(number)) done(undefined)
      }
    }
  })

  const settle = async () => {
    for (let idle = 0; idle < 2;) {
      turns.run()
      if (broken !== undefined) throw new Violation(broken)
      if (open.size === 0 && !isAsync) return
      await macrotask()
      idle = turns.isEmpty() && !processes.isStoreAtWork() ? idle + 1 : 0
    }
  }

  const until = async (atMillis: number) => {
    await settle()
    let wakes = 0
    for (let next = time.next(); next !== undefined && next <= atMillis; next = time.next()) {
      wakes = next > time.nowMillis() ? 0 : wakes + 1
      if (wakes > maxWakes) throw new Violation("endless loop: tasks keep running while no time passes")
      time.set(next)
      await settle()
    }
    time.set(atMillis)
    await settle()
  }

  const answer = async (ask: Ask, number: number, process: Process, finish: (answer: Answer) => void) => {
    const response = await handler(requestOf(ask, host), Context.add(process.context, Asking, number))
    const text = await response.text()
    if (!open.delete(number)) return
    finish({
      status: response.status,
      text,
      isReplayed: response.headers.get("idempotency-replayed") === "true"
    })
  }

  return {
    world,
    traps,
    coverage,
    processes,
    ask: (ask, done) => {
      const process = processes.serving(ask.slot)
      const number = bearers.push(ask.bearer) - 1
      if (process === undefined) return done(undefined, number)
      const finish = (answer: Answer | undefined) => {
        note(
          `${process.host.name} ${ask.method} ${ask.path} ${answer === undefined ? "lost" : answer.status}`
        )
        if (answer !== undefined) coverage.count("answer", `${ask.method} ${answer.status}`)
        done(answer, number)
      }
      open.set(number, { process, done: finish })
      answer(ask, number, process, finish).catch((error: unknown) =>
        breaks(error instanceof Error ? error.message : String(error))
      )
    },
    keyOf: (asking) => bearers[asking],
    pass: (millis) => until(time.nowMillis() + millis),
    jump: async (millis) => {
      await settle()
      time.set(time.nowMillis() + millis)
      await settle()
    },
    calm: async () => {
      traps.clear()
      processes.revive()
      await settle()
    },
    end: async () => {
      processes.end()
      for (let idle = 0; idle < 1;) {
        turns.run()
        await macrotask()
        idle = processes.isStoreAtWork() ? 0 : 1
      }
    },
    note,
    history: () => history,
    hash: () => createHash("sha256").update(history.join("\n")).digest("hex").slice(0, 16)
  }
}
