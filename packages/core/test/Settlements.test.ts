import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Id from "../src/base/Id.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { LightningReceiver, type Settled } from "../src/nodes/LightningReceiver.ts"
import type { Invoice } from "../src/receiving/Invoice.ts"
import { Settlements } from "../src/receiving/Settlements.ts"
import { Records } from "../src/service/Records.ts"
import { settings } from "./Rows.ts"
import {
  accounts,
  company,
  companyWith,
  confirm,
  has,
  invoice,
  poll,
  type Ports,
  replace,
  run,
  scenario,
  sound,
  standing,
  start,
  step,
  steps,
  unheld
} from "./World.ts"

const pay = (invoice: Invoice, sats?: number, hold = false) =>
  Effect.flatMap(Sandbox, (sandbox) =>
    sandbox.pay({
      paymentRequest: invoice.paymentRequest,
      hold,
      ...(sats !== undefined && { amount: Msat.fromSats(sats) })
    })
  )

/** Runs the invoice watcher while `during` runs, and for ten seconds afterward. */
const listening = <A, E, R>(settlements: Settlements["Service"], during: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(settlements.listen())
    const result = yield* during
    yield* Effect.repeat(TestClock.adjust("1 second"), { times: 9 })
    yield* Fiber.interrupt(fiber)
    return result
  })
const listen = Effect.flatMap(Settlements, (settlements) => listening(settlements, Effect.void))
const look = Effect.flatMap(Settlements, ({ look }) => look)
const cursor = Effect.gen(function* () {
  const { nodeId } = yield* LightningReceiver
  return Option.getOrNull(yield* (yield* Records).cursor(`lightning:${nodeId}`))
})
const now = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, id), Option.getOrThrow))

/** A node that sends these notifications. */
const telling = (notices: ReadonlyArray<Settled>) =>
  replace(LightningReceiver, () => ({
    settlements: (after) =>
      Stream.fromIterable(notices.filter((one) => after === null || Number(one.cursor) > Number(after)))
  }))

describe("Incoming payments", () => {
  scenario(
    "invoice watcher: a payment is credited when the node reports it, and the cursor is stored in the same commit",
    function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000)
      yield* listening(yield* Settlements, pay(row))
      const { status, received, settledAtMillis } = yield* now(row)
      assert.deepStrictEqual([status, received], ["settled", Msat.fromSats(1000)])
      assert.isNotNull(settledAtMillis)
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      assert.strictEqual(yield* cursor, "1")
      const [deposit] = yield* (yield* Records).transactions(payee.id, { limit: 2 })
      const { lightningInvoiceId, recipient } = Option.getOrThrow(
        yield* (yield* Records).deposit(payee.id, deposit?.id ?? "")
      )
      assert.deepStrictEqual([lightningInvoiceId, recipient], [row.id, row.paymentRequest])
    }
  )

  scenario("C60: invoice watcher: after a restart, crediting resumes after the last credit", function* () {
    const payee = yield* company()
    const rows = yield* Effect.forEach([1, 2, 3], (sats) => invoice(payee, sats))
    yield* listening(
      yield* Settlements,
      Effect.forEach(rows.slice(0, 1), (row) => pay(row))
    )
    yield* Effect.forEach(rows.slice(1), (row) => pay(row)) // no process is listening
    const asked: Array<string | null> = []
    const noting = replace(LightningReceiver, (receiver) => ({
      settlements: (after) => {
        asked.push(after)
        return receiver.settlements(after)
      }
    }))
    const next = yield* start(noting(yield* Effect.context<Ports>()))
    yield* listening(Context.get(next, Settlements), Effect.void)
    assert.deepStrictEqual(asked, ["1"])
    assert.deepStrictEqual(yield* has(payee), { posted: 6, held: 0 })
    assert.strictEqual(yield* cursor, "3")
  })

  scenario("C60: invoice watcher: a payment without a notification is found by polling", function* () {
    const payee = yield* company()
    const [one, other] = [yield* invoice(payee, 1000), yield* invoice(payee, 10)]
    yield* (yield* Sandbox).loseNextNotice
    yield* listening(yield* Settlements, Effect.andThen(pay(one), pay(other)))
    assert.deepStrictEqual(yield* has(payee), { posted: 10, held: 0 })
    yield* poll
    assert.deepStrictEqual(yield* has(payee), { posted: 1010, held: 0 })
  })

  scenario(
    "invoice watcher: the first lookups of a process include the invoices that came due shortly before its start",
    function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000)
      yield* (yield* Sandbox).loseNextNotice
      yield* pay(row)
      yield* TestClock.adjust(settings.invoicePollMillis + 1)
      yield* look
      assert.deepStrictEqual(yield* has(payee), unheld(1000))
    }
  )

  scenario(
    "invoice watcher: lookups that came due since the last ones are not left out, however long ago that was",
    function* () {
      const payee = yield* company()
      yield* look
      yield* (yield* Sandbox).loseNextNotice
      yield* pay(yield* invoice(payee, 1000))
      yield* TestClock.adjust((settings.invoicePollMillis * 10) / 3) // the last lookup came due at twice the interval
      yield* look
      assert.deepStrictEqual(yield* has(payee), unheld(1000))
    }
  )

  scenario(
    "C60: invoice watcher: a process that lost its lease stops listening without a retry, and does not move the cursor",
    function* () {
      const payee = yield* company()
      yield* pay(yield* invoice(payee, 1000))
      const lost = yield* Effect.forkChild(
        Effect.flatMap(Settlements, ({ listen }) => listen({ taskId: Id.nil, token: 0 }))
      )
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 3 }) // five retries would take six seconds
      const ended = lost.pollUnsafe()?._tag
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 9 })
      assert.deepStrictEqual([ended, yield* cursor, yield* has(payee)], ["Success", null, unheld(0)])
      yield* listen
      assert.deepStrictEqual([yield* cursor, yield* has(payee)], ["1", unheld(1000)])
    }
  )

  scenario(
    "C42 C44: invoice watcher: a payment is credited once, however often it is reported and polled",
    function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000)
      yield* pay(row)
      yield* poll
      yield* listen
      yield* poll
      const again = yield* start(yield* Effect.context<Ports>())
      yield* listening(Context.get(again, Settlements), Effect.void)
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      assert.strictEqual((yield* (yield* Records).transactions(payee.id, { limit: 10 })).length, 1)
    }
  )

  scenario(
    "C42: invoice watcher: a payment found by several processes at the same time is credited once",
    function* () {
      const ports = yield* Effect.context<Ports>()
      const processes = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(start(ports), (process) => Context.get(process, Settlements))
      )
      const payee = yield* company()
      const rows = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, at) => at + 1),
        (sats) => invoice(payee, sats)
      )
      const fibers = yield* Effect.forEach(processes, ({ listen }) => Effect.forkChild(listen()))
      yield* Effect.forEach(rows, (row) => pay(row))
      yield* Effect.all(
        processes.map(({ poll }) => poll),
        { concurrency: "unbounded" }
      )
      yield* TestClock.adjust("10 seconds")
      yield* Effect.forEach(fibers, Fiber.interrupt)
      assert.deepStrictEqual(yield* has(payee), { posted: 465, held: 0 })
    }
  )

  scenario(
    "C33: invoice watcher: a payment above the invoice's amount is credited in full, to the msat",
    function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000)
      yield* (yield* Sandbox).pay({ paymentRequest: row.paymentRequest, amount: Msat.make(1_234_567n) })
      yield* poll
      assert.deepStrictEqual(yield* has(payee), { posted: 1234.567, held: 0 })
      const { amount, received } = yield* now(row)
      assert.deepStrictEqual([amount, received], [1_000_000n, 1_234_567n])
    }
  )

  it.effect(
    "C37: invoice watcher: if a node wrongly accepts less than the invoice's amount, the received amount is credited, and both amounts are stored",
    () => {
      const lenient = replace(LightningReceiver, (receiver) => ({
        lookupInvoice: (hash) =>
          Effect.map(receiver.lookupInvoice(hash), (state) =>
            state._tag === "settled" ? { ...state, received: Msat.make(999_999n) } : state
          )
      }))
      return run({ isPending: true, change: lenient }, function* () {
        const payee = yield* company()
        const row = yield* invoice(payee, 1000)
        yield* pay(row)
        yield* poll
        assert.deepStrictEqual(yield* has(payee), { posted: 999.999, held: 0 })
        const { amount, received } = yield* now(row)
        assert.deepStrictEqual([amount, received], [1_000_000n, 999_999n])
        const [deposit] = yield* (yield* Records).transactions(payee.id, { limit: 2 })
        assert.strictEqual(deposit?.amount, 999_999n)
        yield* sound
      })
    }
  )

  scenario("invoice watcher: an accepted but unsettled HTLC is not credited", function* () {
    const payee = yield* company()
    const row = yield* invoice(payee, 1000, 60)
    yield* pay(row, undefined, true)
    for (let day = 0; day < 3; day++) {
      yield* poll
      yield* TestClock.adjust("1 day")
    }
    assert.deepStrictEqual([(yield* now(row)).status, yield* has(payee)], ["pending", { posted: 0, held: 0 }])
    yield* (yield* Sandbox).release({ paymentHash: row.paymentHash, outcome: "settle" })
    yield* poll
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 }) // although the invoice expired long ago
  })

  it.effect(
    "invoice watcher: a settlement without a valid preimage is not credited, and the invoice is polled again",
    () => {
      const forged = replace(LightningReceiver, (receiver) => ({
        lookupInvoice: (hash) =>
          Effect.map(receiver.lookupInvoice(hash), (state) =>
            state._tag === "settled" ? { ...state, preimage: Preimage.make("00".repeat(32)) } : state
          )
      }))
      return run({ logsErrors: true, change: forged }, function* () {
        const payee = yield* company()
        const row = yield* invoice(payee, 1000)
        yield* pay(row)
        yield* poll
        assert.deepStrictEqual(
          [(yield* now(row)).status, yield* has(payee)],
          ["pending", { posted: 0, held: 0 }]
        )
        yield* listen // the node's notification has the real preimage
        assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      })
    }
  )

  const stranger: Settled = {
    paymentHash: PaymentHash.make("ab".repeat(32)),
    received: Msat.fromSats(9),
    preimage: Preimage.make("cd".repeat(32)),
    settledAtMillis: 1,
    cursor: "7"
  }
  scenario(
    "invoice watcher: a settlement of an unknown invoice is skipped, and does not block the next settlement",
    { change: telling([stranger]) },
    function* () {
      yield* listen
      assert.strictEqual(yield* cursor, "7")
      assert.deepStrictEqual(yield* accounts, {})
    }
  )

  scenario("invoice watcher: the watcher waits while the node is down", function* () {
    const payee = yield* company()
    const row = yield* invoice(payee, 1000)
    yield* pay(row)
    const { pause, resume } = yield* Sandbox
    yield* pause("node")
    assert.strictEqual((yield* Effect.flip(poll))._tag, "NodeUnavailable")
    assert.strictEqual(
      (yield* Effect.flip(Effect.flatMap(Settlements, ({ listen }) => listen())))._tag,
      "NodeUnavailable"
    )
    yield* resume("node")
    yield* poll
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  })

  it.effect(
    "invoice watcher: after a short store outage, the watcher resumes without querying the node again",
    () => {
      let failures = 3
      const flaky = replace(Journal, (journal) => ({
        commit: (change) =>
          change._tag === "InvoiceSettled" && failures-- > 0
            ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: "away" }))
            : journal.commit(change)
      }))
      return run({ change: flaky }, function* () {
        const payee = yield* company()
        yield* listening(yield* Settlements, pay(yield* invoice(payee, 1000)))
        assert.strictEqual(failures, -1)
        assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      })
    }
  )

  it.effect(
    "invoice watcher: if several payments are reported together, the cursor stays before a payment that is not credited",
    () => {
      let [isAway, cursors] = [true, 0]
      // The second of four payments cannot be committed until the listener has stopped retrying.
      const flaky = replace(Journal, (journal) => ({
        commit: (change) => {
          if (change.cursor !== undefined) cursors++
          return isAway &&
            change._tag === "InvoiceSettled" &&
            change.legs.some(({ postings }) => postings[0]?.amount === Msat.fromSats(2))
            ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: "away" }))
            : journal.commit(change)
        }
      }))
      return run({ change: flaky }, function* () {
        const payee = yield* company()
        yield* Effect.forEach([1, 2, 3, 4], (sats) => Effect.flatMap(invoice(payee, sats), (row) => pay(row)))
        yield* listen
        assert.isNull(yield* cursor)
        isAway = false
        yield* listen
        assert.deepStrictEqual(yield* has(payee), { posted: 10, held: 0 })
        assert.strictEqual(yield* cursor, "4")
        assert.strictEqual(cursors, 1, "the cursor moves once for all four payments")
      })
    }
  )

  scenario(
    "invoice watcher: a paid invoice is found even if there are more open invoices than fit on a page",
    function* () {
      const payee = yield* company()
      const rows = yield* Effect.forEach(Array.from({ length: 401 }), () => invoice(payee, 10))
      yield* Effect.forEach(
        [0, 199, 200, 399, 400].flatMap((at) => rows[at] ?? []),
        (row) => pay(row)
      )
      yield* poll
      assert.deepStrictEqual(yield* has(payee), { posted: 50, held: 0 })
    }
  )
})

describe("A second payment of one invoice", () => {
  /**
   * The invoice was first paid internally. The node reported it as canceled, but now reports an external
   * payment of it.
   */
  const paidInside = Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const row = yield* invoice(payee, 1000)
    yield* confirm(payer, row.paymentRequest)
    yield* step
    return { payer, payee, row: yield* now(row) }
  })

  for (const sats of [1001, 1000]) {
    scenario(
      `invoice watcher: a second payment is put in suspense once, for an operator to assign (${sats} sats for an invoice of 1000)`,
      { logsErrors: true, isPending: true },
      function* () {
        const { payer, payee, row } = yield* paidInside
        const before = yield* accounts
        const notice = {
          paymentHash: row.paymentHash,
          received: Msat.fromSats(sats),
          preimage: row.preimage ?? Preimage.make(""),
          settledAtMillis: 1,
          cursor: "21"
        }
        const ports = telling([notice])(yield* Effect.context<Ports>())
        for (let i = 0; i < 2; i++) {
          yield* listening(Context.get(yield* start(ports), Settlements), Effect.void)
          assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(4000), unheld(1000)])
          assert.deepStrictEqual(yield* accounts, {
            ...before,
            node: (before.node ?? 0) - sats,
            suspense: sats
          })
          assert.strictEqual(yield* cursor, "21")
        }
        yield* sound
      }
    )
  }
})

describe("Open invoices", () => {
  scenario(
    "invoice watcher: an open invoice is polled until a day after its expiry, and is then marked as expired",
    function* () {
      const row = yield* invoice(yield* company(), 1000, 60)
      yield* TestClock.adjust(60_000 + 24 * 3600 * 1000)
      yield* poll
      assert.strictEqual((yield* now(row)).status, "pending")
      yield* TestClock.adjust(1)
      yield* poll
      assert.strictEqual((yield* now(row)).status, "expired")
      assert.deepStrictEqual(yield* (yield* Records).openInvoices(null, 10), [])
    }
  )

  scenario(
    "invoice watcher: an invoice that a withdrawal claimed and could not pay is also marked as expired",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const row = yield* invoice(payee, 1000, 60)
      const withdrawal = yield* confirm(payer, row.paymentRequest)
      yield* pay(row, undefined, true)
      yield* steps(2)
      assert.strictEqual(yield* standing(withdrawal), "failed: invoice_not_payable")
      yield* (yield* Sandbox).release({ paymentHash: row.paymentHash, outcome: "fail" })
      yield* TestClock.adjust("2 days")
      yield* poll
      assert.strictEqual((yield* now(row)).status, "expired")
    }
  )

  it.effect("invoice watcher: an expired invoice is still credited when the node reports its payment", () => {
    const late: Array<Settled> = []
    return run({ change: telling(late) }, function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000, 60)
      const { preimage } = yield* pay(row)
      late.push({
        paymentHash: row.paymentHash,
        received: Msat.fromSats(1000),
        preimage: preimage ?? Preimage.make(""),
        settledAtMillis: 1,
        cursor: "1"
      })
      // The node responds as if it had not received the payment yet.
      const asleep = replace(LightningReceiver, () => ({
        lookupInvoice: () => Effect.succeed({ _tag: "open" })
      }))
      yield* TestClock.adjust("2 days")
      yield* Context.get(yield* start(asleep(yield* Effect.context<Ports>())), Settlements).poll
      assert.strictEqual((yield* now(row)).status, "expired")
      yield* listen
      assert.strictEqual((yield* now(row)).status, "settled")
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    })
  })

  it.effect(
    "invoice watcher: if the node answers before the payment and the response arrives after it, the invoice does not expire",
    () => {
      let isFirst = true
      const late = replace(LightningReceiver, (receiver) => ({
        lookupInvoice: (hash) =>
          Effect.tap(receiver.lookupInvoice(hash), () => {
            const slept = isFirst ? Effect.sleep("2 days") : Effect.void
            isFirst = false
            return slept
          })
      }))
      return run({ change: late }, function* () {
        const payee = yield* company()
        const row = yield* invoice(payee, 1000, 60)
        const looking = yield* Effect.forkChild(poll, { startImmediately: true })
        yield* (yield* Sandbox).loseNextNotice
        yield* pay(row)
        yield* TestClock.adjust("2 days") // as if the machine had been suspended
        yield* Fiber.join(looking)
        yield* poll
        assert.strictEqual((yield* now(row)).status, "settled")
        assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      })
    }
  )

  it.effect("invoice watcher: an invoice does not expire because the node calls it unknown once", () => {
    let left = 1
    const wrong = replace(LightningReceiver, (receiver) => ({
      lookupInvoice: (hash) =>
        Effect.suspend(() =>
          left-- > 0 ? Effect.succeed({ _tag: "unknown" } as const) : receiver.lookupInvoice(hash)
        )
    }))
    return run({ change: wrong }, function* () {
      const sandbox = yield* Sandbox
      const row = yield* invoice(yield* company(), 1000, 60)
      yield* sandbox.pay({ paymentRequest: row.paymentRequest, hold: true })
      yield* TestClock.adjust("25 hours")
      yield* poll
      yield* sandbox.loseNextNotice
      yield* sandbox.release({ paymentHash: row.paymentHash, outcome: "settle" })
      yield* poll
      assert.strictEqual((yield* now(row)).status, "settled")
    })
  })

  it.effect(
    "invoice watcher: an unpaid invoice that the node has deleted expires a day after its end, and is looked up no more",
    () => {
      let looked = 0
      const forgetful = replace(LightningReceiver, () => ({
        lookupInvoice: () =>
          Effect.sync(() => {
            looked++
            return { _tag: "unknown" }
          })
      }))
      return run({ change: forgetful }, function* () {
        const row = yield* invoice(yield* company(), 1000, 60)
        yield* TestClock.adjust("1 day")
        yield* poll
        assert.strictEqual((yield* now(row)).status, "pending")
        yield* TestClock.adjust("2 minutes")
        yield* poll
        assert.strictEqual((yield* now(row)).status, "expired")
        const before = looked
        yield* TestClock.adjust("1 day")
        yield* poll
        assert.strictEqual(looked, before)
      })
    }
  )
})
