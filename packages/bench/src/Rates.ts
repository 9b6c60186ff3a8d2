import { Effect } from "effect"
import type { Generator } from "./Generator.ts"
import type { Load } from "./Load.ts"
import * as Program from "./Program.ts"
import * as Report from "./Report.ts"
import * as Requests from "./Requests.ts"
import * as Service from "./Service.ts"
import type { Store } from "./Starts.ts"

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly wanted: (operation: string) => boolean
  readonly tell: (line: string) => void
}

interface Seen {
  readonly what: Pick<Report.Row, "operation" | "pattern" | "clients" | "limit">
  readonly ours: Array<Report.Measured>
  readonly limits: Array<Report.Measured>
}

const clients = 64
const warmupMillis = 300
const maxDrainMillis = 60_000
const limit = "raw node:http"

interface Operation {
  readonly name: string
  readonly request: keyof Requests.Requests
  readonly limit: "get" | "post"
}

const reads: ReadonlyArray<Operation> = [
  { name: "GET balance", request: "balance", limit: "get" },
  { name: "GET one invoice", request: "invoice", limit: "get" },
  { name: "GET the newest 50", request: "list", limit: "get" }
]
// After all reads, because work is left behind: open invoices that are looked after, withdrawals that are sent.
const writes: ReadonlyArray<Operation> = [
  { name: "POST invoice", request: "createInvoice", limit: "post" },
  { name: "POST confirm", request: "confirm", limit: "post" }
]
const halfLoad = "GET balance, half of its rate at random"

/** Rates and latencies of the service on each store, and of the limit, in rounds that hold one of each. */
export const measure = Effect.fnUntraced(function* (stores: ReadonlyArray<Store>, generator: Generator, options: Options) {
  const { rounds, seconds, wanted, tell } = options
  const millis = seconds * 1000
  if (![...reads, ...writes].some(({ name }) => wanted(name)) && !wanted(halfLoad)) return []
  const raw = yield* Program.server("rawProgram")
  const services = yield* Effect.forEach(stores, (store) =>
    Effect.gen(function* () {
      const service = yield* Service.start(store)
      return { pattern: store.pattern, server: service, requests: yield* Requests.prepare(service) }
    })
  )
  const outcomes = new Map<string, Seen>()
  const note = (operation: string, pattern: string, ours: Report.Measured, limited?: Report.Measured) => {
    const key = `${operation} ${pattern}`
    const entry = outcomes.get(key) ?? {
      what: { operation, pattern, clients, limit: limited === undefined ? null : limit },
      ours: [],
      limits: []
    }
    entry.ours.push(ours)
    if (limited !== undefined) entry.limits.push(limited)
    outcomes.set(key, entry)
  }

  const on = (what: string, { port, pid }: { readonly port: number; readonly pid: number }, load: Omit<Load, "port" | "clients">) =>
    Effect.gen(function* () {
      const before = Program.cpuMicros(pid)
      const outcome = yield* generator(what, { ...load, port, clients })
      const after = Program.cpuMicros(pid)
      return { ...outcome, cpuMicros: before === undefined || after === undefined ? undefined : after - before } satisfies Report.Measured
    })

  const block = Effect.fnUntraced(function* (name: string, all: ReadonlyArray<Operation>) {
    const chosen = all.filter(({ name }) => wanted(name))
    // What is compiled while it runs becomes fast in the first second or two.
    for (const { request, name } of chosen) {
      for (const { server, requests } of services) yield* on(name, server, { requests: [requests[request]], warmupMillis: 0, millis: 1500 })
    }
    for (let round = 1; chosen.length > 0 && round <= rounds; round++) {
      for (const kind of ["get", "post"] as const) {
        const ofKind = chosen.filter((operation) => operation.limit === kind)
        if (ofKind.length === 0) continue
        const load = { warmupMillis, millis }
        const limited = yield* on(limit, raw, { ...load, requests: [Requests.plain[kind]] })
        note(`${kind.toUpperCase()} of ${limit}`, "", limited)
        for (const { name, request } of ofKind) {
          for (const { pattern, server, requests } of services) {
            const ask = { ...load, requests: [requests[request]] }
            const ours = yield* on(`${name}, ${pattern}`, server, ask)
            note(name, pattern, ours, limited)
            if (name === "GET balance" && wanted(halfLoad)) {
              note(halfLoad, pattern, yield* on(halfLoad, server, { ...ask, perSecond: ours.perSecond / 2 }))
            }
          }
        }
      }
      const waited = yield* Effect.forEach(services, ({ server }) => Requests.drained(server, maxDrainMillis), { concurrency: "unbounded" })
      tell(`${name}: round ${round} of ${rounds}${waited.includes(false) ? "; withdrawals of it are still being sent in the next" : ""}`)
    }
  })
  yield* block("reads", reads)
  yield* block("writes", writes)
  return [...outcomes.values()].map(({ what, ours, limits }) => Report.row(what, ours, limits.length === 0 ? undefined : limits))
})
