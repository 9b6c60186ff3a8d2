import { assert } from "@effect/vitest"
import { Context, Effect, Exit, PubSub, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { AccountReads } from "../src/accounts/AccountReads.ts"
import { WebhookReads } from "@satrail/features/webhooks/core/records/WebhookReads"
import { AuditStore } from "../src/ledger/Audit.ts"
import * as Duties from "../src/ledger/Duties.ts"
import { EventStore } from "../src/ledger/EventStore.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { NounReads } from "../src/ledger/NounReads.ts"
import { type Signal, Signals } from "../src/ledger/Signals.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import * as Wakes from "../src/ledger/Wakes.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import { ReportReads } from "../src/reports/ReportReads.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import { endpoint, second, sending, types, world } from "./Receivers.ts"
import { company, invoice, type Ports, replace, scenario, start, working } from "./World.ts"

/** Records calls to the store. Each call is one statement. */
const asked = () => {
  const made = world()
  const calls: Array<string> = []
  const counted = <S extends object>(name: string, service: S): S =>
    Object.assign(
      {},
      service,
      Object.fromEntries(
        Object.entries(service).map(([key, value]: readonly [string, unknown]) => {
          const note = () => void calls.push(`${name}.${key}`)
          if (typeof value === "function") {
            return [
              key,
              (...all: ReadonlyArray<unknown>) => {
                note()
                return Reflect.apply(value, service, all)
              }
            ]
          }
          return [key, Effect.isEffect(value) ? Effect.andThen(Effect.sync(note), value) : value]
        })
      )
    )
  const change = (ports: Context.Context<Ports>) =>
    (made.change?.(ports) ?? ports).pipe(
      Context.add(Wakes.PollMillis, 5000),
      replace(Journal, (one) => counted("Journal", one)),
      replace(Tasks, (one) => counted("Tasks", one)),
      replace(AccountReads, (one) => counted("AccountReads", one)),
      replace(AuditStore, (one) => counted("AuditStore", one)),
      replace(EventStore, (one) => counted("EventStore", one)),
      replace(LedgerReads, (one) => counted("LedgerReads", one)),
      replace(NounReads, (one) => counted("NounReads", one)),
      replace(ReceivingReads, (one) => counted("ReceivingReads", one)),
      replace(ReportReads, (one) => counted("ReportReads", one)),
      replace(SendingReads, (one) => counted("SendingReads", one)),
      replace(WebhookReads, (one) => counted("WebhookReads", one))
    )
  return {
    ...made,
    calls,
    change,
    settings: { ...made.settings, dutyLeaseMillis: 6000, chainPollMillis: 250 }
  }
}

scenario(
  "idle: a process that runs every worker queries the store at most twice a second",
  asked,
  function* ({ calls }) {
    yield* endpoint(yield* company())
    yield* working()
    yield* sending
    yield* TestClock.adjust("1 minute")
    calls.length = 0
    yield* TestClock.adjust("5 minutes")
    const counts = Object.entries(Object.groupBy(calls, (call) => call)).map(
      ([call, all]) => `${call} ${all?.length}`
    )
    assert.isAtMost(calls.length, 2 * 5 * 60, counts.join(", "))
    assert.isAbove(calls.length, 0)
  }
)

scenario(
  "idle: two processes together query the store at most three times a second",
  asked,
  function* ({ calls }) {
    yield* endpoint(yield* company())
    const ports = yield* Effect.context<Ports>()
    for (const process of [yield* start(ports), yield* start(ports)]) {
      const own = Context.merge(ports, process)
      yield* Effect.provideContext(working(), own)
      yield* Effect.provideContext(sending, own)
    }
    yield* TestClock.adjust("1 minute")
    calls.length = 0
    yield* TestClock.adjust("5 minutes")
    const counts = Object.entries(Object.groupBy(calls, (call) => call)).map(
      ([call, all]) => `${call} ${all?.length}`
    )
    assert.isAtMost(calls.length, 3 * 5 * 60, counts.join(", "))
  }
)

/** Signals between the processes of a test. They arrive only while `isOpen` is true. */
const road = () => {
  const state = { isOpen: true }
  const all: Array<PubSub.PubSub<Signal | null>> = []
  const join = Effect.gen(function* () {
    const own = yield* PubSub.unbounded<Signal | null>()
    all.push(own)
    return Signals.of({
      send: (signal) => {
        if (state.isOpen) for (const other of all) if (other !== own) PubSub.publishUnsafe(other, signal)
      },
      received: Stream.fromPubSub(own)
    })
  })
  return { ...world(), state, join }
}

scenario(
  "wakes: another process sends the webhooks of a commit immediately, or at its next check if the signal is lost",
  road,
  function* ({ sent, state, join }) {
    const scope = yield* Effect.scope
    const ports = Context.add(yield* Effect.context<Ports>(), Wakes.PollMillis, 5000)
    const [here, there] = [
      yield* start(Context.add(ports, Signals, yield* join)),
      yield* start(Context.add(ports, Signals, yield* join))
    ]
    yield* Effect.provideContext(sending, Context.merge(ports, there)).pipe(Scope.provide(scope))
    const row = yield* Effect.provideContext(company(), Context.merge(ports, here))
    yield* Effect.provideContext(endpoint(row), Context.merge(ports, here))
    yield* second
    yield* Effect.provideContext(invoice(row, 1), Context.merge(ports, here))
    yield* TestClock.adjust(20)
    yield* TestClock.adjust(20)
    assert.deepStrictEqual(types(sent), ["invoice.created"])
    yield* TestClock.adjust("1 minute")
    state.isOpen = false
    yield* Effect.provideContext(invoice(row, 2), Context.merge(ports, here))
    yield* TestClock.adjust(20)
    assert.deepStrictEqual(types(sent), ["invoice.created"])
    yield* TestClock.adjust(5000)
    assert.deepStrictEqual(types(sent), ["invoice.created", "invoice.created"])
  }
)

scenario(
  "lease: when a process releases a role because it stops, another process takes the role immediately",
  road,
  function* ({ join }) {
    const ports = Context.add(yield* Effect.context<Ports>(), Wakes.PollMillis, 5000)
    const [here, there] = [
      yield* start(Context.add(ports, Signals, yield* join)),
      yield* start(Context.add(ports, Signals, yield* join))
    ]
    const held: Array<string> = []
    const enter = Effect.fnUntraced(function* (name: string, process: typeof here) {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const run = Duties.run("settlements of a node", () => Effect.sync(() => void held.push(name)))
      yield* Effect.provideContext(Scope.provide(run, scope), Context.merge(ports, process))
      return scope
    })
    const first = yield* enter("first", here)
    yield* second
    yield* enter("second", there)
    yield* second
    assert.deepStrictEqual(held, ["first"])
    yield* Scope.close(first, Exit.void)
    yield* TestClock.adjust(20)
    yield* TestClock.adjust(20)
    assert.deepStrictEqual(held, ["first", "second"])
  }
)
