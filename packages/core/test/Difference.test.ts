import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { deposit, invoice, withdrawal } from "@satrail/contracts/Rows"
import * as CompanyId from "../src/base/CompanyId.ts"
import { Status } from "../src/ledger/Rail.ts"
import * as Tally from "../src/ledger/Tally.ts"
import type { Sent } from "../src/nodes/LightningBooks.ts"
import * as Difference from "../src/reports/reconciliation/Difference.ts"
import * as AssetBalance from "../src/reports/reconciliation/AssetBalance.ts"

const paymentHash = PaymentHash.make("ab")

const cause = (judgement: Difference.Judgement) =>
  typeof judgement === "string" ? judgement : judgement.cause

describe("Payments in the node's records", () => {
  const line = (state: Sent["state"], fields: Partial<Sent> = {}): Sent => ({
    paymentHash,
    amount: Msat.make(1000n),
    fee: Msat.make(3n),
    state,
    ...fields
  })
  const ours = { dispatchedAtMillis: 1, paymentHash }
  const states = ["pending", "settled", "failed"] as const

  // Each key is a status of our withdrawal. Its list has the result for each status at the node:
  // pending, settled, failed.
  const cases: { readonly [status in Status]: ReadonlyArray<string> } = {
    pending: ["under_way", "payment_not_booked", "under_way"],
    settled: ["withdrawal_not_paid", "same", "withdrawal_not_paid"],
    failed: ["payment_of_failed", "payment_of_failed", "same"]
  }
  for (const status of Status.literals) {
    const expected = cases[status]
    it(`discrepancy of a payment: for a ${status} withdrawal, the results are ${expected.join(", ")}`, () => {
      const row = withdrawal({ ...ours, status, networkFee: Msat.make(3n) })
      assert.deepStrictEqual<ReadonlyArray<string>>(
        states.map((state) => cause(Difference.ofSent(line(state), row))),
        expected
      )
    })
  }

  it("discrepancy of a payment: a payment is reported as not ours unless a withdrawal was dispatched with its hash; a failed payment is ignored", () => {
    for (const row of [undefined, withdrawal({ paymentHash, status: "settled" })])
      assert.deepStrictEqual(
        states.map((state) => cause(Difference.ofSent(line(state), row))),
        ["payment_not_ours", "payment_not_ours", "same"]
      )
  })

  it("discrepancy of a payment: the amount is compared first, then the fee, to the msat", () => {
    const row = withdrawal({ ...ours, status: "settled", networkFee: Msat.make(3n) })
    assert.strictEqual(
      cause(Difference.ofSent(line("pending", { amount: Msat.make(1001n) }), row)),
      "payment_amount"
    )
    assert.strictEqual(cause(Difference.ofSent(line("settled", { fee: Msat.make(4n) }), row)), "payment_fee")
  })
})

describe("Settled withdrawals that the node has no record of", () => {
  it("discrepancy of a payment: a withdrawal that an operator settled, because the node has lost it, is no discrepancy", () => {
    const settled = {
      status: "settled",
      dispatchedAtMillis: 1,
      paymentHash,
      networkFee: Msat.make(3n)
    } as const
    const at = (paymentIndex: string | null) =>
      cause(Difference.ofSettled(withdrawal({ ...settled, paymentIndex }), { _tag: "notFound" }))
    assert.deepStrictEqual([at("4"), at(null)], ["withdrawal_not_paid", "same"])
    const failed = { _tag: "failed", reason: "error" } as const
    assert.strictEqual(
      cause(Difference.ofSettled(withdrawal({ ...settled, paymentIndex: null }), failed)),
      "withdrawal_not_paid"
    )
  })
})

describe("Payments the node received", () => {
  const taken = { paymentHash, received: Msat.make(1010n) }
  const receipt = {
    invoice: invoice({ status: "settled" }),
    deposit: deposit({ amount: Msat.make(1010n) }),
    isFromInside: false,
    unmatched: undefined
  }
  const judged = (fields: Partial<Difference.Receipt>) =>
    cause(Difference.ofTaken(taken, { ...receipt, ...fields }))

  it("discrepancy of a receipt: there is no discrepancy if the payment was credited in full or is in suspense", () => {
    const unmatched = {
      id: "u",
      companyId: CompanyId.make("payee"),
      paymentHash,
      received: taken.received,
      reason: "",
      createdAtMillis: 1
    }
    assert.strictEqual(judged({}), "same")
    assert.strictEqual(judged({ isFromInside: true, unmatched }), "same")
    assert.strictEqual(judged({ deposit: deposit({ amount: Msat.make(7n) }), unmatched }), "same")
  })

  it("discrepancy of a receipt: a payment that was not credited is reported, even if an internal payment paid the invoice", () => {
    assert.strictEqual(judged({ invoice: undefined }), "receipt_not_ours")
    assert.strictEqual(judged({ deposit: undefined }), "receipt_not_credited")
    assert.strictEqual(judged({ isFromInside: true }), "receipt_not_credited")
    assert.strictEqual(judged({ deposit: deposit({ amount: Msat.make(1000n) }) }), "receipt_amount")
    const other = {
      id: "u",
      companyId: CompanyId.make("payee"),
      paymentHash,
      received: Msat.make(1n),
      reason: "",
      createdAtMillis: 1
    }
    assert.strictEqual(judged({ isFromInside: true, unmatched: other }), "receipt_not_credited")
  })
})

describe("An asset", () => {
  const turnovers = (node: Tally.Turnover): Tally.Turnovers => ({ ...Tally.nothing, node })
  const booked = (out: bigint, into: bigint) => turnovers({ out: Msat.make(out), into: Msat.make(into) })
  const side = (fields: Partial<Parameters<typeof AssetBalance.of>[0]>) =>
    AssetBalance.of({
      account: "node",
      owned: Msat.make(1100n),
      within: Msat.zero,
      own: Msat.make(600n),
      before: booked(900n, 400n),
      after: booked(900n, 400n),
      mayLeave: Msat.zero,
      mayArrive: Msat.zero,
      ...fields
    })
  const unexplained = (owned: number, fields: Partial<Parameters<typeof AssetBalance.of>[0]> = {}) =>
    Number(side({ owned: Msat.make(BigInt(owned)), ...fields }).unexplained)

  it("discrepancy of a balance: there is no discrepancy if equity and ledger balance add up to the funds", () => {
    assert.deepStrictEqual([unexplained(1100), unexplained(1099), unexplained(1101)], [0, -1, 1])
  })

  it("discrepancy of a balance: the funds may be short by at most the outgoing amounts, and over by at most the incoming amounts", () => {
    const moving = { mayLeave: Msat.make(50n), mayArrive: Msat.make(20n) }
    assert.deepStrictEqual(
      [1050, 1049, 1120, 1121].map((owned) => unexplained(owned, moving)),
      [0, -1, 0, 1]
    )
  })

  it("discrepancy of a balance: amounts posted during the query are tolerated in either direction", () => {
    // Between the two readings, 30 was received and 5 was sent. The node's balance may not include the 30
    // yet, and may still include the 5.
    const between = { before: booked(870n, 395n) }
    assert.deepStrictEqual(
      [1070, 1069, 1105, 1106].map((owned) => unexplained(owned, between)),
      [0, -1, 0, 1]
    )
  })

  it("discrepancy of a balance: a node that reports rounded balances may deviate by its rounding error", () => {
    assert.deepStrictEqual(
      [1098, 1097, 1102, 1103].map((owned) => unexplained(owned, { within: Msat.make(2n) })),
      [0, -1, 0, 1]
    )
  })

  it("discrepancy of a balance: a surplus counts as equity if no equity was declared and nothing is in flight", () => {
    assert.strictEqual(side({ own: null }).own, Msat.make(600n))
    const moving: ReadonlyArray<Partial<Parameters<typeof AssetBalance.of>[0]>> = [
      { mayLeave: Msat.make(1n) },
      { mayArrive: Msat.make(1n) },
      { before: booked(899n, 400n) },
      { before: booked(900n, 399n) }
    ]
    for (const one of moving) {
      const { own, unexplained } = side({ ...one, own: null })
      assert.deepStrictEqual([own, unexplained], [null, Msat.zero])
    }
  })
})
