import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { PollMillis } from "../src/ledger/Wakes.ts"
import { LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { defaults } from "../src/service/Policy.ts"
import type { Invoice } from "../src/receiving/Invoice.ts"
import * as LookupSchedule from "../src/receiving/LookupSchedule.ts"
import { PayRequests } from "../src/receiving/PayRequests.ts"
import * as Settlements from "../src/receiving/Settlements.ts"
import { Records } from "../src/service/Records.ts"
import { settings } from "./Rows.ts"
import { company, has, invoice, lightningAddress, type Ports, replace, run, said, scenario } from "./World.ts"

// Any stranger can request invoices at a Lightning address, so the cost of unpaid invoices must be bounded.

const { expirySeconds } = defaults.lnurl

const shop = Effect.gen(function* () {
  const row = yield* company()
  return { row, address: yield* lightningAddress(row, "shop") }
})

const ask = Effect.fnUntraced(function* (caller = "203.0.113.1", user = "shop") {
  const place = { host: settings.domain, domain: null, user }
  const { invoice } = yield* (yield* PayRequests).invoice(place, {
    amount: "21000",
    comment: null,
    payerData: null,
    nostr: null,
    caller
  })
  return invoice
})

const pay = ({ paymentRequest }: Invoice, hold = false) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest, hold }))

const find = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, id), Option.getOrUndefined))

/** A node that counts the lookups and cancellations of each invoice. */
const counting = () => {
  const asked = new Map<string, number>()
  const count = (hash: string) => Effect.sync(() => asked.set(hash, (asked.get(hash) ?? 0) + 1))
  const change = replace(LightningReceiver, (receiver) => ({
    lookupInvoice: (hash) => Effect.andThen(count(hash), receiver.lookupInvoice(hash)),
    cancelInvoice: (hash) => Effect.andThen(count(hash), receiver.cancelInvoice(hash))
  }))
  return { change, times: ({ paymentHash }: Invoice) => asked.get(paymentHash) ?? 0 }
}

/** A node that can't cancel invoices, and that counts the calls for each invoice. */
const withoutCancel = () => {
  const { change, times } = counting()
  const cannot = replace(LightningReceiver, () => ({
    lacks: new Set(["cancel"]),
    cancelInvoice: () =>
      Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: new Error("it cannot") }))
  }))
  return { change: <R>(ports: Context.Context<R | LightningReceiver>) => change(cannot(ports)), times }
}

/** Makes days pass quickly: leases are renewed, and due work is looked for, every few minutes instead of every few seconds. */
const rarely = <W extends ReturnType<typeof counting>>({ change, ...world }: W) => ({
  ...world,
  change: (ports: Context.Context<Ports>) => Context.add(change(ports), PollMillis, 300_000),
  settings: { ...settings, dutyLeaseMillis: 3_600_000 }
})

/** Lets this many minutes pass while the workers run. */
const pass = Effect.fnUntraced(function* (minutes: number) {
  for (let minute = 0; minute < minutes; minute++) yield* TestClock.adjust("1 minute")
})

/** Starts one process's workers, which run until the test ends. */
const working = Layer.build(Settlements.layerWorker)

describe("Invoices requested by wallets", () => {
  scenario(
    "invoice: at a node that cannot close invoices, an unpaid invoice is polled rarely and deleted after its grace period; a paid invoice is credited",
    () => rarely(withoutCancel()),
    function* ({ times }) {
      const { row: company } = yield* shop
      yield* working
      const [unpaid, late] = [yield* ask(), yield* ask()]
      yield* pay(late)
      yield* pass(expirySeconds / 60 + 60)
      assert.deepStrictEqual(yield* has(company), { posted: 21, held: 0 })
      const graceHours = LookupSchedule.defaults.expiredGraceMillis / 3_600_000
      for (let hour = 0; hour < graceHours - 2; hour++) yield* TestClock.adjust("1 hour")
      assert.isDefined(yield* find(unpaid), "the invoice might still be paid")
      assert.isAtMost(times(unpaid), 20)
      for (let hour = 0; hour < 4; hour++) yield* TestClock.adjust("1 hour")
      assert.isUndefined(yield* find(unpaid))
      assert.strictEqual((yield* find(late))?.status, "settled")
    }
  )

  scenario(
    "invoice: at a node that cannot close invoices, an invoice whose payment is held is never deleted, and is credited when the payment settles",
    withoutCancel,
    function* () {
      const { row: payee } = yield* shop
      const [row, unpaid] = [yield* ask(), yield* ask()]
      yield* pay(row, true)
      yield* TestClock.adjust("3 days")
      yield* (yield* Settlements.Settlements).forget
      assert.strictEqual((yield* find(row))?.status, "pending")
      assert.isUndefined(yield* find(unpaid))
      yield* (yield* Sandbox).loseNextNotice
      yield* (yield* Sandbox).release({ paymentHash: row.paymentHash, outcome: "settle" })
      yield* (yield* Settlements.Settlements).forget
      assert.deepStrictEqual(yield* has(payee), { posted: 21, held: 0 })
    }
  )

  scenario(
    "invoice: an unpaid invoice is polled a few times, closed at the node and deleted, and can no longer be paid",
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
      assert.strictEqual(
        yield* said((yield* PayRequests).verify(place, row.paymentHash)),
        "PayRequestRefused: not_found"
      )
      const events = yield* records.events(0n, 1000)
      assert.notInclude(
        events.map(({ subject }) => subject),
        row.id
      )
    }
  )

  scenario(
    "invoice: a payment that the node still holds when the invoice expires is credited when it settles, however late that is",
    function* () {
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
    }
  )

  scenario(
    "invoice: a paid invoice whose notification was lost is credited, not deleted, even if it was never polled before it expired",
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

  it.effect(
    "invoice: an invoice that the node cannot close is kept; an invoice unknown to the node is deleted after its grace period",
    () => {
      let knows = true
      const away = { operation: "cancelInvoice", cause: "the invoice is not there" }
      const change = replace(LightningReceiver, (receiver) => ({
        cancelInvoice: () => Effect.fail(new NodeUnavailable(away)),
        lookupInvoice: (hash) => (knows ? receiver.lookupInvoice(hash) : Effect.succeed({ _tag: "unknown" }))
      }))
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
    }
  )

  it.effect(
    "invoice: a node that cannot close invoices and reports a paid one as unknown only once does not lose its payment",
    () => {
      let lost = 0
      const change = replace(LightningReceiver, (receiver) => ({
        lacks: new Set(["cancel"]),
        lookupInvoice: (hash) =>
          Effect.suspend(() =>
            lost-- > 0 ? Effect.succeed({ _tag: "unknown" } as const) : receiver.lookupInvoice(hash)
          )
      }))
      return run({ change }, function* () {
        const { row: payee } = yield* shop
        const row = yield* ask()
        yield* (yield* Sandbox).loseNextNotice
        yield* pay(row)
        yield* TestClock.adjust("3 days")
        lost = 1
        yield* (yield* Settlements.Settlements).forget
        assert.strictEqual((yield* find(row))?.status, "settled")
        assert.deepStrictEqual(yield* has(payee), { posted: 21, held: 0 })
      })
    }
  )

  scenario(
    "invoice: unpaid invoices are deleted even if they fill more than a page, and an invoice requested by a company is kept",
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

describe("Invoices requested by a company", () => {
  scenario(
    "invoice: an unpaid invoice is polled less and less often, at most 17 times in its hour and the following day, and is then marked as expired",
    () => rarely(counting()),
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
      `invoice: an invoice that is paid ${minutes} minutes after creation is credited when it is about ${within} minutes old, even if the notification is lost`,
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

describe("Limits on unpaid invoices requested by wallets", () => {
  const fast = { count: 100_000, everyMillis: 1 }
  const limits = (more: Partial<typeof settings.lnurl>) => ({
    settings: { ...settings, lnurl: { ...settings.lnurl, perCaller: fast, perAddress: fast, ...more } }
  })
  const few = { open: 40, openPerAddress: 40, openPerCompany: 40, openPerCaller: 40 }

  /** Returns an address in one of the 256 /64 networks of a /56. */
  const attacker = (at: number): string => `2001:db8:0:${(at % 256).toString(16)}::1`

  const flood = (count: number, user = "shop") =>
    Effect.forEach(Array.from({ length: count }), (_, at) => ask(attacker(at), user))

  /** Gives the node time to cancel evicted invoices. */
  const canceled = Effect.repeat(TestClock.adjust("10 millis"), { times: 200 })

  const stateOf = ({ paymentHash }: Invoice) =>
    Effect.flatMap(LightningReceiver, (receiver) =>
      Effect.map(receiver.lookupInvoice(paymentHash), ({ _tag }) => _tag)
    )

  scenario(
    "limits: a network that fills the pool evicts only its own invoices; another company's payers still get invoices and keep them",
    { ...limits(few) },
    function* () {
      yield* shop
      yield* lightningAddress(yield* company(), "bakery")
      const before = yield* ask("203.0.113.1", "bakery")
      const rows = yield* flood(200)
      const after = yield* ask("203.0.113.2", "bakery")
      yield* canceled
      const kept = (yield* Effect.forEach(rows, find)).filter((row) => row !== undefined)
      assert.strictEqual(kept.length, few.open - 2)
      assert.deepStrictEqual(yield* Effect.forEach([before, after], stateOf), ["open", "open"])
      assert.strictEqual(yield* stateOf(rows[0] ?? assert.fail()), "canceled")
    }
  )

  scenario(
    "limits: at a full Lightning address, a new invoice evicts the oldest invoice of the caller with the most invoices at that address, and no invoice of another address",
    { ...limits({ ...few, openPerAddress: 10 }) },
    function* () {
      const { row } = yield* shop
      yield* lightningAddress(row, "bakery")
      const [other, payer] = [yield* ask(attacker(1), "bakery"), yield* ask("203.0.113.1")]
      const rows = yield* flood(30)
      yield* canceled
      assert.deepStrictEqual(yield* Effect.forEach([other, payer], stateOf), ["open", "open"])
      assert.strictEqual((yield* Effect.forEach(rows, find)).filter((row) => row !== undefined).length, 9)
    }
  )

  scenario(
    "limits: a caller that exceeds its share gets an invoice that replaces its oldest one",
    { ...limits({ openPerCaller: 3 }) },
    function* () {
      yield* shop
      const rows = yield* Effect.forEach(Array.from({ length: 5 }), () => ask())
      yield* canceled
      assert.deepStrictEqual(yield* Effect.forEach(rows, stateOf), [
        "canceled",
        "canceled",
        "open",
        "open",
        "open"
      ])
    }
  )

  scenario(
    "limits: an evicted invoice that was paid, or is being paid, is credited",
    { ...limits(few) },
    function* () {
      const { row: payee } = yield* shop
      const [paid, held] = [yield* ask(attacker(0)), yield* ask(attacker(1))]
      yield* (yield* Sandbox).loseNextNotice
      yield* pay(paid)
      yield* pay(held, true)
      yield* flood(100)
      yield* canceled
      assert.strictEqual((yield* find(held))?.status, "pending")
      yield* (yield* Sandbox).release({ paymentHash: held.paymentHash, outcome: "settle" })
      yield* (yield* Settlements.Settlements).poll
      assert.deepStrictEqual(
        yield* Effect.forEach([paid, held], (row) => Effect.map(find(row), (found) => found?.status)),
        ["settled", "settled"]
      )
      assert.deepStrictEqual(yield* has(payee), { posted: 42, held: 0 })
    }
  )

  scenario(
    "limits: once others have used up an address's rate, a payer without an unpaid invoice at that address can still get an invoice",
    { ...limits({ perAddress: { count: 5, everyMillis: 60_000 } }) },
    function* () {
      yield* shop
      yield* flood(5)
      assert.strictEqual(yield* said(ask(attacker(6))), "PayRequestRefused: too_many")
      yield* ask("203.0.113.1")
      assert.strictEqual(yield* said(ask("203.0.113.1")), "PayRequestRefused: too_many")
    }
  )

  scenario("limits: expired invoices do not take up slots", { ...limits(few) }, function* () {
    yield* shop
    yield* flood(30)
    yield* TestClock.adjust(expirySeconds * 1000)
    const rows = yield* flood(40)
    yield* canceled
    assert.deepStrictEqual(new Set(yield* Effect.forEach(rows, stateOf)), new Set(["open"]))
  })
})
