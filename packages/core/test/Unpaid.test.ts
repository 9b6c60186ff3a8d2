import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { type Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { defaults } from "../src/service/Policy.ts"
import type { Invoice } from "../src/receiving/Invoice.ts"
import * as LookUps from "../src/receiving/LookUps.ts"
import { PayRequests } from "../src/receiving/PayRequests.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import * as Settlements from "../src/receiving/Settlements.ts"
import { Records } from "../src/service/Records.ts"
import { settings } from "./Rows.ts"
import { company, has, invoice, lightningAddress, replace, run, said, scenario } from "./World.ts"

// Invoices that nobody pays: a stranger can ask for them at a Lightning address, so what they cost is bounded.

const { openPerCaller, openPerAddress, open, expirySeconds } = defaults.lnurl

const shop = Effect.gen(function* () {
  const row = yield* company()
  return { row, address: yield* lightningAddress(row, "shop") }
})

const ask = Effect.fnUntraced(function* (caller = "203.0.113.1", user = "shop") {
  const place = { host: settings.domain, domain: null, user }
  const { invoice } = yield* (yield* PayRequests).invoice(place, { amount: "21000", comment: null, payerData: null, nostr: null, caller })
  return invoice
})

const pay = ({ paymentRequest }: Invoice, hold = false) => Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest, hold }))

const find = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, id), Option.getOrUndefined))

/** A node that counts how often it is asked about an invoice. */
const counting = () => {
  const asked = new Map<string, number>()
  const count = (hash: string) => Effect.sync(() => asked.set(hash, (asked.get(hash) ?? 0) + 1))
  const change = replace(LightningReceiver, (receiver) =>
    LightningReceiver.of({
      ...receiver,
      lookupInvoice: (hash) => Effect.andThen(count(hash), receiver.lookupInvoice(hash)),
      cancelInvoice: (hash) => Effect.andThen(count(hash), receiver.cancelInvoice(hash))
    })
  )
  return { change, times: ({ paymentHash }: Invoice) => asked.get(paymentHash) ?? 0 }
}

/** A node that cannot close an invoice, and counts how often it is asked about one. */
const withoutCancel = () => {
  const { change, times } = counting()
  const cannot = replace(LightningReceiver, (receiver) =>
    LightningReceiver.of({
      ...receiver,
      lacks: new Set(["cancel"]),
      cancelInvoice: () => Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: new Error("it cannot") }))
    })
  )
  return { change: <R>(ports: Context.Context<R | LightningReceiver>) => change(cannot(ports)), times }
}

/** So much time, in which the workers work. */
const pass = Effect.fnUntraced(function* (minutes: number) {
  for (let minute = 0; minute < minutes; minute++) yield* TestClock.adjust("1 minute")
})

/** The workers of one process, until the story ends. */
const working = Layer.build(Settlements.layerWorker)

describe("An invoice that a wallet asked for", () => {
  scenario(
    "invoice: at a node that cannot close it, one that no wallet pays is looked up seldom, and forgotten when its grace is over; one that was paid is credited",
    withoutCancel,
    function* ({ times }) {
      const { row: company } = yield* shop
      yield* working
      const [unpaid, late] = [yield* ask(), yield* ask()]
      yield* pay(late)
      yield* pass(expirySeconds / 60 + 60)
      assert.deepStrictEqual(yield* has(company), { posted: 21, held: 0 })
      const graceHours = LookUps.defaults.expiredGraceMillis / 3_600_000
      for (let hour = 0; hour < graceHours - 2; hour++) yield* TestClock.adjust("1 hour")
      assert.isDefined(yield* find(unpaid), "it could be paid still, for all that is known")
      assert.isAtMost(times(unpaid), 20)
      for (let hour = 0; hour < 4; hour++) yield* TestClock.adjust("1 hour")
      assert.isUndefined(yield* find(unpaid))
      assert.strictEqual((yield* find(late))?.status, "settled")
    }
  )

  scenario(
    "invoice: one that no wallet pays is asked about a few times, closed at the node and forgotten, and can be paid no more",
    counting,
    function* ({ times }) {
      const { address } = yield* shop
      yield* working
      const row = yield* ask()
      yield* pass(expirySeconds / 60)
      assert.strictEqual((yield* find(row))?.status, "pending")
      yield* pass(4)
      assert.isUndefined(yield* find(row))
      assert.isAtMost(times(row), 10)
      assert.strictEqual((yield* (yield* LightningReceiver).lookupInvoice(row.paymentHash))._tag, "canceled")
      assert.strictEqual((yield* Effect.flip(pay(row))).reason, "invoice_expired")
      const records = yield* Records
      assert.isTrue(Option.isNone(yield* records.invoiceByHash(row.paymentHash)))
      const place = { host: settings.domain, domain: null, user: address.handle }
      assert.strictEqual(yield* said((yield* PayRequests).verify(place, row.paymentHash)), "PayRequestRefused: not_found")
      const events = yield* records.events(0n, 1000)
      assert.notInclude(
        events.map(({ subject }) => subject),
        row.id
      )
    }
  )

  scenario("invoice: a payment that the node still holds when it expires is credited when it settles, however late", function* () {
    const { row: payee } = yield* shop
    yield* working
    const row = yield* ask()
    yield* pay(row, true)
    yield* pass(180)
    assert.strictEqual((yield* find(row))?.status, "pending")
    yield* (yield* Sandbox).loseNextNotice
    yield* (yield* Sandbox).release({ paymentHash: row.paymentHash, outcome: "settle" })
    yield* pass(2)
    assert.deepStrictEqual(yield* has(payee), { posted: 21, held: 0 })
  })

  scenario(
    "invoice: one that was paid, and whose notice was lost, is credited and not forgotten, also where nobody looked before its end",
    function* () {
      const { row: payee } = yield* shop
      const row = yield* ask()
      yield* (yield* Sandbox).loseNextNotice
      yield* pay(row)
      yield* TestClock.adjust("1 day")
      yield* (yield* Settlements.Settlements).forget
      assert.strictEqual((yield* find(row))?.status, "settled")
      assert.deepStrictEqual(yield* has(payee), { posted: 21, held: 0 })
    }
  )

  it.effect("invoice: what the node cannot close stays; what it does not know is forgotten once its grace is over", () => {
    let knows = true
    const away = { operation: "cancelInvoice", cause: "the invoice is not there" }
    const change = replace(LightningReceiver, (receiver) =>
      LightningReceiver.of({
        ...receiver,
        cancelInvoice: () => Effect.fail(new NodeUnavailable(away)),
        lookupInvoice: (hash) => (knows ? receiver.lookupInvoice(hash) : Effect.succeed({ _tag: "unknown" }))
      })
    )
    return run({ change }, function* () {
      yield* shop
      const { forget } = yield* Settlements.Settlements
      const row = yield* ask()
      yield* TestClock.adjust("3 days")
      yield* forget
      assert.strictEqual((yield* find(row))?.status, "pending")
      knows = false
      const young = yield* ask()
      yield* TestClock.adjust("1 hour")
      yield* forget
      assert.isUndefined(yield* find(row))
      assert.strictEqual((yield* find(young))?.status, "pending")
    })
  })

  scenario(
    "invoice: more than a page of them are forgotten, and none that a company asked for",
    { settings: { ...settings, lnurl: { ...settings.lnurl, perAddress: { count: 1000, everyMillis: 1 } } } },
    function* () {
      const { row: payee } = yield* shop
      const own = yield* invoice(payee, 21, 60)
      const rows = yield* Effect.forEach(Array.from({ length: 401 }), (_, at) => ask(`caller ${at}`))
      yield* TestClock.adjust("12 minutes")
      yield* (yield* Settlements.Settlements).forget
      assert.deepStrictEqual(yield* Effect.forEach(rows, find), Array.from({ length: 401 }))
      assert.strictEqual((yield* find(own))?.status, "pending")
    }
  )
})

describe("An invoice that a company asked for", () => {
  scenario(
    "invoice: while nobody pays it, it is looked up less and less often: 17 times in its hour and the day after, and expires",
    () => ({ ...counting() }),
    function* ({ times }) {
      yield* working
      yield* pass(7)
      const row = yield* invoice(yield* company(), 21, 3600)
      yield* pass(60)
      assert.isAtMost(times(row), 9)
      yield* pass(26 * 60)
      assert.strictEqual((yield* find(row))?.status, "expired")
      assert.isAtMost(times(row), 17)
    }
  )

  for (const [minutes, within] of [
    [0.5, 1],
    [3, 4],
    [7, 8],
    [20, 32],
    [70, 120]
  ] as const) {
    scenario(
      `invoice: paid ${minutes} minutes after it was made, with the notice lost, it is credited before it is ${within} minutes old`,
      function* () {
        const payee = yield* company()
        yield* working
        yield* pass(1)
        const row = yield* invoice(payee, 21, 7200)
        yield* TestClock.adjust(minutes * 60_000)
        yield* (yield* Sandbox).loseNextNotice
        yield* pay(row)
        yield* TestClock.adjust((within - minutes) * 60_000 + 31_000)
        assert.deepStrictEqual(yield* has(payee), { posted: 21, held: 0 })
      }
    )
  }
})

describe("Unpaid invoices of wallets", () => {
  const refusal = (asking: ReturnType<typeof ask>) =>
    Effect.map(Effect.flip(asking), (error) => (error._tag === "PayRequestRefused" ? error.message : assert.fail(error._tag)))
  const [callers, address, service] = [
    "Too many unpaid invoices: pay one, or wait until they expire",
    "Too many invoices of this address are not paid: try again in a few minutes",
    "Too many invoices of this service are not paid: try again in a few minutes"
  ]
  const fast = { count: 100_000, everyMillis: 1 }
  const limits = (more: Partial<typeof settings.lnurl>) => ({
    settings: { ...settings, lnurl: { ...settings.lnurl, perCaller: fast, perAddress: fast, ...more } }
  })

  scenario(
    "limits: one caller has so many at once; paying one makes room for one, and their expiry for all",
    { ...limits({}) },
    function* () {
      yield* shop
      const rows = yield* Effect.forEach(Array.from({ length: openPerCaller }), () => ask())
      assert.strictEqual(yield* refusal(ask()), callers)
      yield* ask("203.0.113.2")
      yield* pay(rows[0] ?? assert.fail())
      yield* (yield* Settlements.Settlements).poll
      yield* ask()
      assert.strictEqual(yield* refusal(ask()), callers)
      yield* TestClock.adjust(expirySeconds * 1000)
      yield* Effect.forEach(Array.from({ length: openPerCaller }), () => ask())
      assert.strictEqual(yield* refusal(ask()), callers)
    }
  )

  scenario(
    "limits: at one address there are so many at once, whoever asks; other addresses give on, and their expiry makes room",
    { ...limits({ openPerAddress: 30 }) },
    function* () {
      const { row } = yield* shop
      yield* lightningAddress(row, "bakery")
      for (let at = 0; at < 30; at++) yield* ask(`caller ${at}`)
      assert.strictEqual(yield* refusal(ask("another")), address)
      yield* ask("another", "bakery")
      yield* TestClock.adjust(expirySeconds * 1000)
      yield* ask("another")
    }
  )

  it.effect("limits: in the whole service there are so many at once, also by the count of what other processes gave", () => {
    const others = replace(ReceivingReads, (records) =>
      ReceivingReads.of({
        ...records,
        openForWallets: (nowMillis) =>
          Effect.map(records.openForWallets(nowMillis), (counts) => [...counts, { lightningAddressId: "elsewhere", count: open - 3 }])
      })
    )
    return run({ ...limits({}), change: others }, function* () {
      const { row } = yield* shop
      yield* lightningAddress(row, "bakery")
      for (let at = 0; at < 3; at++) yield* ask(`caller ${at}`)
      assert.strictEqual(yield* refusal(ask("another")), service)
      assert.strictEqual(yield* refusal(ask("another", "bakery")), service)
    })
  })

  it.effect("limits: the store's count is read at most once a second, for any number of callers", () => {
    let counts = 0
    const counted = replace(ReceivingReads, (records) =>
      ReceivingReads.of({
        ...records,
        openForWallets: (nowMillis) => Effect.tap(records.openForWallets(nowMillis), () => Effect.sync(() => counts++))
      })
    )
    return run({ ...limits({}), change: counted }, function* () {
      yield* shop
      for (let at = 0; at < 50; at++) {
        yield* Effect.all([ask(`a${at}`), ask(`b${at}`)], { concurrency: "unbounded" })
        yield* TestClock.adjust("100 millis")
      }
      assert.isAtMost(counts, 5)
      assert.isAtLeast(counts, 4)
      assert.isBelow(50, openPerAddress)
    })
  })
})
