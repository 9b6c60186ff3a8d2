import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Company } from "@satrail/core/accounts/Company"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Percent from "@satrail/core/base/Percent"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import type { Split } from "@satrail/core/receiving/Purpose"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Records } from "@satrail/core/service/Records"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import {
  asked,
  company,
  companyWith,
  confirm,
  everywhere,
  follow,
  has,
  made,
  mine,
  poll,
  scenario,
  step,
  unheld
} from "../../../../core/test/World.ts"
import * as Share from "../../../src/splits/core/Share.ts"
import { Splits } from "../../../src/splits/core/Splits.ts"

const split = ({ id }: Company, share: string): Split => ({
  companyId: id,
  basisPoints: Percent.parse(share) ?? assert.fail(share)
})

/** Creates an invoice of a company with splits; the payer chooses the amount if `sats` is null. */
const invoiceOf = Effect.fnUntraced(function* (
  { id }: Company,
  sats: number | null,
  ...splits: ReadonlyArray<Split>
) {
  const amount = sats === null ? { amount: null, minAmount: null, maxAmount: null } : yield* asked(sats)
  return yield* made(
    (yield* Invoices).create({
      companyId: id,
      ...amount,
      description: "tea",
      expirySeconds: 3600,
      metadata: {},
      ...(splits.length > 0 && { splits })
    })
  )
})

const pay = Effect.fnUntraced(function* (paymentRequest: string, sats?: number) {
  yield* (yield* Sandbox).pay({ paymentRequest, ...(sats !== undefined && { amount: Msat.fromSats(sats) }) })
  yield* poll
})

/** Returns the newest deposit of a company. */
const newest = Effect.fnUntraced(function* ({ id }: Company) {
  const { rows } = yield* (yield* Transactions).list(id, { limit: 10, type: "deposit" })
  return rows[0] ?? assert.fail("no deposit")
})

const partsOf = Effect.fnUntraced(function* (owner: Company) {
  const { parts } = yield* (yield* Splits).ofDeposit(owner.id, (yield* newest(owner)).id)
  return parts.map(({ companyId, amount, transferId }) => [companyId, Number(amount), transferId !== null])
})

const holds = Effect.fnUntraced(function* (company: Company, sats: number) {
  assert.deepStrictEqual(yield* has(company), unheld(sats))
})

const freeze = Effect.fnUntraced(function* ({ id }: Company) {
  yield* everywhere((yield* Companies).freeze(id, { reason: "a drill", pending: "wait" }))
})

describe("splits", () => {
  it("split: a share is rounded down, and what rounding leaves stays with the receiver", () => {
    const companyId = CompanyId.make("payee")
    for (const [received, share, amount] of [
      [1001n, "12.5%", 125n],
      [1001n, "33.33%", 333n],
      [9999n, "0.01%", 0n],
      [10_000n, "0.01%", 1n],
      [1n, "100%", 1n],
      [2_100_000_000_000_000_000n, "99.99%", 2_099_790_000_000_000_000n]
    ] as const)
      assert.strictEqual(
        Share.amountOf(Msat.make(received), {
          companyId,
          basisPoints: Percent.parse(share) ?? assert.fail(share)
        }),
        Msat.make(amount),
        `${share} of ${received}`
      )
  })

  it("split: a share is a percentage above 0 of at most 100, with at most two decimals", () => {
    for (const [text, basisPoints] of [
      ["12.5%", 1250],
      ["100%", 10_000],
      ["100.00%", 10_000],
      ["0.01%", 1],
      ["7.05%", 705]
    ] as const)
      assert.strictEqual(Percent.parse(text), basisPoints)
    for (const text of ["", "%", "12.5", "12.345%", "-1%", "0%", "0.00%", "100.01%", "1e1%", "012%", ".5%"])
      assert.isUndefined(Percent.parse(text), text)
    for (const basisPoints of [1, 10, 705, 1250, 10_000])
      assert.strictEqual(Percent.parse(Percent.format(basisPoints)), basisPoints)
  })

  scenario("split: an invoice paid from outside or inside credits each payee", function* () {
    const [shop, one, other] = [yield* company(), yield* company(), yield* company()]
    const splits = [split(one, "12.5%"), split(other, "50%")]
    yield* pay((yield* invoiceOf(shop, 1000, ...splits)).paymentRequest)
    yield* holds(shop, 375)
    yield* holds(one, 125)
    yield* holds(other, 500)
    const payer = yield* companyWith(2000)
    yield* confirm(payer, (yield* invoiceOf(shop, 1000, ...splits)).paymentRequest)
    yield* step
    yield* holds(shop, 750)
    yield* holds(one, 250)
    yield* holds(other, 1000)
    assert.deepStrictEqual(yield* partsOf(shop), [
      [one.id, 125_000, true],
      [other.id, 500_000, true]
    ])
  })

  scenario("split: shares are of what arrived, whatever was asked", function* () {
    const [shop, payee] = [yield* company(), yield* company()]
    yield* pay((yield* invoiceOf(shop, null, split(payee, "10%"))).paymentRequest, 1500)
    yield* holds(shop, 1350)
    yield* holds(payee, 150)
  })

  scenario("split: a Lightning address shares payments by its splits at the time of payment", function* () {
    const [shop, one, other] = [yield* company(), yield* company(), yield* company()]
    const { create, change } = yield* LightningAddresses
    const row = yield* made(
      create({ company: shop, handle: "shop", domain: null, metadata: {}, splits: [split(one, "10%")] })
    )
    const payer = yield* companyWith(5000)
    yield* confirm(payer, "shop@pay.example", 1000)
    yield* step
    yield* holds(one, 100)
    const { minSendable, maxSendable, successMessage, metadata } = row
    const settings = { minSendable, maxSendable, successMessage, metadata, splits: [split(other, "25%")] }
    yield* everywhere(change(shop.id, row.id, settings))
    yield* confirm(payer, "shop@pay.example", 1000)
    yield* step
    yield* holds(one, 100)
    yield* holds(other, 250)
    yield* holds(shop, 1650)
  })

  scenario(
    "split: a frozen payee's share stays with the receiver, and the payment is credited nevertheless",
    function* () {
      const [shop, one, frozen] = [yield* company(), yield* company(), yield* company()]
      const { paymentRequest } = yield* invoiceOf(shop, 1000, split(one, "10%"), split(frozen, "20%"))
      yield* freeze(frozen)
      yield* pay(paymentRequest)
      yield* holds(shop, 900)
      yield* holds(frozen, 0)
      assert.deepStrictEqual(yield* partsOf(shop), [
        [one.id, 100_000, true],
        [frozen.id, 0, false]
      ])
    }
  )

  scenario(
    "split: payees keep their shares when a reorganization takes the deposit back, and get no second one",
    function* () {
      const [shop, payee] = [yield* company(), yield* company()]
      yield* pay((yield* invoiceOf(shop, 10_000)).paymentRequest)
      const { address } = yield* made(
        (yield* OnChainAddresses).create({
          companyId: shop.id,
          type: "segwit",
          metadata: {},
          splits: [split(payee, "30%")]
        })
      )
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(5000) })
      yield* mine(6)
      yield* follow
      yield* holds(shop, 13_500)
      yield* holds(payee, 1500)
      yield* (yield* Sandbox).reorg(6)
      yield* follow
      yield* holds(shop, 8500)
      yield* holds(payee, 1500)
      yield* mine(8)
      yield* follow
      yield* holds(shop, 13_500)
      yield* holds(payee, 1500)
      assert.deepStrictEqual(yield* (yield* Records).faults(shop.id), [])
    }
  )
})
