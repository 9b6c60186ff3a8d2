import { assert, describe } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import type { Currency } from "../src/base/Amount.ts"
import type * as CompanyId from "../src/base/CompanyId.ts"
import { ExchangeRates } from "../src/nodes/ExchangeRates.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import type * as Invoice from "../src/receiving/Invoice.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Records } from "../src/service/Records.ts"
import { asked, beginsAtMillis, company, has, made, poll, replace, request, said, scenario } from "./World.ts"

type Create = Pick<
  Parameters<Invoices["Service"]["create"]>[0],
  "description" | "expirySeconds" | "metadata" | "request"
>

const create = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  amount: string | number,
  fields: Partial<Create> = {},
  currency: Currency = "sats"
) {
  const invoices = yield* Invoices
  return yield* invoices.create({
    companyId,
    ...(yield* asked(amount, currency)),
    description: "tea",
    expirySeconds: 3600,
    metadata: {},
    ...fields
  })
})

/** An invoice whose amount the payer chooses. */
const open = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  expected: Pick<Invoice.Invoice, "minAmount" | "maxAmount">
) {
  return yield* (yield* Invoices).create({
    companyId,
    amount: null,
    ...expected,
    description: "tip",
    expirySeconds: 3600,
    metadata: {}
  })
})

/** Prices dated at the start of the test. */
const oldPrices = replace(ExchangeRates, (rates) => ({
  rate: (currency) => Effect.map(rates.rate(currency), ({ price }) => ({ price, atMillis: beginsAtMillis }))
}))

describe("An invoice", () => {
  scenario("invoice: an invoice is stored and created at the node as requested", function* () {
    const { id } = yield* company()
    const invoice = yield* made(
      create(id, 1000, { metadata: { order: "21" }, description: "Grüner Tee", expirySeconds: 600 })
    )
    const bolt11 = Result.getOrThrow(Bolt11.decode(invoice.paymentRequest))
    assert.deepStrictEqual(
      [
        bolt11.amount,
        bolt11.paymentHash,
        bolt11.payee,
        bolt11.description,
        bolt11.expirySeconds,
        bolt11.network
      ],
      [1_000_000n, invoice.paymentHash, invoice.nodeId, "Grüner Tee", 600, "regtest"]
    )
    assert.deepStrictEqual(
      [
        invoice.status,
        invoice.preimage,
        invoice.received,
        invoice.rate,
        invoice.createdAtMillis,
        invoice.expiresAtMillis,
        invoice.metadata
      ],
      ["pending", null, null, null, beginsAtMillis, beginsAtMillis + 600_000, { order: "21" }]
    )
    const invoices = yield* Invoices
    assert.deepStrictEqual(yield* invoices.get(id, invoice.id), {
      ...invoice,
      standing: "open",
      depositId: null
    })
    assert.deepStrictEqual(
      (yield* (yield* LightningReceiver).lookupInvoice(invoice.paymentHash))._tag,
      "open"
    )
  })

  scenario("C53: invoice: an invoice is not visible to other companies", function* () {
    const [one, other] = [yield* company(), yield* company()]
    const invoice = yield* made(create(one.id, 1))
    const { get } = yield* Invoices
    for (const id of [invoice.id, "", "x", invoice.id.toUpperCase()])
      assert.strictEqual(yield* said(get(other.id, id)), "NotFound", id)
  })

  scenario(
    "invoice: the limits on amount, description and expiry are enforced, and the error names the field",
    function* () {
      const { id } = yield* company()
      const table: ReadonlyArray<
        readonly [string, Effect.Effect<unknown, { readonly _tag: string }, Invoices>]
      > = [
        ["ok", create(id, 1)],
        ["ok", create(id, 100_000_000)],
        ["ok", create(id, 21, { expirySeconds: 60 })],
        ["ok", create(id, 21, { expirySeconds: 31_536_000 })],
        ["ok", create(id, 21, { description: "ü".repeat(319) })],
        ["ok", create(id, 21, { description: "" })],
        ["Invalid: amount", create(id, 100_000_001)],
        ["AmountInvalid: above_supply", create(id, "2100000000000001")],
        ["AmountInvalid: not_positive", create(id, 0)],
        ["AmountInvalid: not_positive", create(id, -1)],
        ["AmountInvalid: fraction_of_a_sat", create(id, "1.5")],
        ["Invalid: expiry_seconds", create(id, 21, { expirySeconds: 59 })],
        ["Invalid: expiry_seconds", create(id, 21, { expirySeconds: 31_536_001 })],
        ["Invalid: expiry_seconds", create(id, 21, { expirySeconds: 60.5 })],
        ["Invalid: expiry_seconds", create(id, 21, { expirySeconds: NaN })],
        ["Invalid: description", create(id, 21, { description: "ü".repeat(320) })],
        ["Invalid: description", create(id, 21, { description: "a\0" })],
        ["Invalid: metadata", create(id, 21, { metadata: { "": "x" } })]
      ]
      for (const [verdict, creation] of table) assert.strictEqual(yield* said(creation), verdict)
    }
  )

  scenario(
    "C33: invoice: if an invoice has no amount, the payer sets the amount, and it is credited even if it is outside the expected range",
    function* () {
      const payee = yield* company()
      const { id } = payee
      const expected = { minAmount: Msat.fromSats(100), maxAmount: Msat.fromSats(200) }
      for (const sats of [150, 99, 201, 1_000_000]) {
        const { posted } = yield* has(payee)
        const invoice = yield* made(open(id, expected))
        assert.deepInclude(invoice, { amount: null, ...expected, rate: null })
        assert.isUndefined(Result.getOrThrow(Bolt11.decode(invoice.paymentRequest)).amount)
        yield* (yield* Sandbox).pay({ paymentRequest: invoice.paymentRequest, amount: Msat.fromSats(sats) })
        yield* poll
        assert.strictEqual((yield* (yield* Invoices).get(id, invoice.id)).received, Msat.fromSats(sats))
        assert.deepStrictEqual(yield* has(payee), { posted: posted + sats, held: 0 })
      }
    }
  )

  scenario(
    "invoice: the expected range of amounts must be within the limits for invoices, and the error names the field",
    function* () {
      const { id } = yield* company()
      const table: ReadonlyArray<readonly [string, number | null, number | null]> = [
        ["ok", null, null],
        ["ok", 1, null],
        ["ok", null, 100_000_000],
        ["ok", 21, 21],
        ["Invalid: min_sats", 0, null],
        ["Invalid: min_sats", 100_000_001, null],
        ["Invalid: max_sats", null, 100_000_001],
        ["Invalid: max_sats", null, 0],
        ["Invalid: max_sats", 22, 21]
      ]
      const msat = (sats: number | null) => (sats === null ? null : Msat.fromSats(sats))
      for (const [verdict, min, max] of table)
        assert.strictEqual(yield* said(open(id, { minAmount: msat(min), maxAmount: msat(max) })), verdict)
    }
  )

  scenario("invoice: a fiat amount is converted at the current rate, which is stored", function* () {
    const { id } = yield* company()
    const invoice = yield* made(create(id, "10.01", {}, "usd")) // at a price of 50,000
    assert.deepStrictEqual([invoice.amount, invoice.rate], [Msat.fromSats(20_020), "50000"])
    assert.strictEqual((yield* made(create(id, "0.0000002", {}, "btc"))).amount, Msat.fromSats(20))
  })

  scenario(
    "invoice: no invoice is created at a stale price; an amount in sats needs no price",
    { change: oldPrices },
    function* () {
      const { id } = yield* company()
      yield* TestClock.adjust(60_000)
      assert.strictEqual(yield* said(create(id, 1, {}, "usd")), "ok")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* said(create(id, 1, {}, "usd")), "RateUnavailable")
      assert.strictEqual(yield* said(create(id, 1)), "ok")
    }
  )

  scenario("invoice: no invoice is created while the node is down", function* () {
    const { id } = yield* company()
    yield* (yield* Sandbox).pause("node")
    assert.strictEqual(yield* said(create(id, 1)), "NodeUnavailable")
    assert.deepStrictEqual(yield* (yield* Records).openInvoices(null, 10), [])
  })

  scenario(
    "C23: invoice: one invoice is created per idempotency key; the first response is repeated even if the node is down, the price is stale or the request is now invalid",
    { change: oldPrices },
    function* () {
      const { id } = yield* company()
      const first = yield* made(create(id, "1.00", { request: request("k") }, "usd"))
      yield* TestClock.adjust(29 * 24 * 3600 * 1000)
      yield* (yield* Sandbox).pause("node")
      const again = yield* create(id, "1.00", { request: request("k"), expirySeconds: 1 }, "usd")
      assert.deepStrictEqual(again, { _tag: "Replayed", answer: first.id })
    }
  )
})
