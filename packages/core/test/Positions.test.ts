import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { withdrawal } from "@satrail/contracts/Rows"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Tally from "../src/ledger/Tally.ts"
import * as Waiting from "../src/ledger/Waiting.ts"
import type { Found } from "../src/reports/reconciliation/Difference.ts"
import * as Run from "../src/reports/reconciliation/Run.ts"
import * as Positions from "../src/reports/reconciliation/Positions.ts"

const observe = (fields: Partial<Positions.Observed> = {}): Positions.Observed => ({
  node: { amount: Msat.make(5000n), within: Msat.zero },
  chain: Msat.make(9000n),
  before: Tally.nothing,
  after: Tally.nothing,
  roundedAway: Msat.zero,
  own: { node: Msat.make(5000n), chain: Msat.make(9000n) },
  pending: [],
  waiting: Waiting.byKind(Waiting.kinds([]), () => ({ count: 0, oldestAtMillis: null, amount: Msat.zero })),
  lines: [],
  isBehind: false,
  ...fields
})

/** The allowed deviation of each position, below and above the books. */
const slack = (fields: Partial<Positions.Observed>) => {
  const { node, chain } = Positions.of(observe(fields))
  return [node.least, node.most, chain.least, chain.most].map(Number)
}

const sent = {
  _tag: "Sent",
  paymentHash: PaymentHash.make("ab"),
  amount: Msat.make(1000n),
  fee: Msat.zero,
  state: "pending"
} as const

describe("The positions of the node and the wallet", () => {
  it("reconciliation: a withdrawal of 1000 with a fee limit of 10 may reduce the node's balance by up to 1010, and by nothing more once the node lists the payment as pending", () => {
    const pending = [withdrawal({ paymentHash: PaymentHash.make("ab") })]
    assert.deepStrictEqual(slack({ pending }), [-1010, 0, 0, 0])
    assert.deepStrictEqual(slack({ pending, lines: [{ line: sent, judgement: "under_way" }] }), [0, 0, 0, 0])
  })

  it("reconciliation: a payout may reduce the wallet's balance by its fee limit, or by the cost of its replacement if that is higher", () => {
    const payout = (networkFee: bigint | null) =>
      withdrawal({ rail: "on_chain", networkFee: networkFee === null ? null : Msat.make(networkFee) })
    assert.deepStrictEqual(
      [null, 7n, 25n].map((fee) => slack({ pending: [payout(fee)] })[2]),
      [-1010, -1010, -1025]
    )
  })

  it("reconciliation: a receipt that is not yet credited explains a surplus at the node", () => {
    const finding = {
      cause: "receipt_not_credited",
      companyId: CompanyId.make("payee"),
      recordId: "i",
      ours: null,
      theirs: Msat.make(300n)
    } as const
    const lines = [
      {
        line: { _tag: "Taken", paymentHash: PaymentHash.make("cd"), received: Msat.make(300n) },
        judgement: finding
      } as const
    ]
    assert.deepStrictEqual(slack({ lines }), [0, 300, 0, 0])
  })

  it("reconciliation: deposits waiting for confirmations explain a surplus in the wallet", () => {
    const waiting = Waiting.byKind(Waiting.kinds([]), (kind) => ({
      count: 1,
      oldestAtMillis: 1,
      amount: Msat.make(kind === "deposit_unconfirmed" ? 70n : 5n)
    }))
    assert.deepStrictEqual(slack({ waiting }), [0, 0, 0, 75])
  })

  it("reconciliation: until all entries are read, the node's balance is not reported as unexplained and no equity is determined", () => {
    const short = { amount: Msat.make(4000n), within: Msat.zero }
    const read = Positions.of(observe({ node: short }))
    assert.deepStrictEqual(
      Positions.differences(read).map(({ cause, ours, theirs }) => [cause, ours, theirs]),
      [["node_balance", Msat.make(5000n), Msat.make(4000n)]]
    )
    assert.deepStrictEqual(Positions.differences(Positions.of(observe({ node: short, isBehind: true }))), [])
    assert.strictEqual(
      Positions.of(observe({ own: { node: null, chain: null }, isBehind: true })).node.own,
      null
    )
  })
})

describe("Stored results of a run", () => {
  const found: Found = {
    cause: "coin_gone",
    about: "ab:0",
    companyId: null,
    recordId: null,
    ours: null,
    theirs: null
  }
  const finding = {
    cause: "payment_not_ours",
    companyId: null,
    recordId: null,
    ours: null,
    theirs: sent.amount
  } as const
  const lookAt = (atMillis: number, before?: Run.Run): Run.Run => {
    const { watched, found: differing } = Run.open([{ line: sent, judgement: finding }], before, {
      nowMillis: atMillis,
      forgetMillis: 100
    })
    return {
      ...Positions.of(observe()),
      atMillis,
      tally: { accounts: Tally.nothing, mark: "", counted: Tally.nothing },
      found: [...differing, ...Run.dated([found], before, atMillis)],
      isBehind: false,
      watched,
      places: { sent: null, taken: null, event: 0n }
    }
  }

  it("reconciliation: a discrepancy is dated by the run that first found it, and its record is deleted after a while", () => {
    const first = lookAt(1000)
    const second = lookAt(1099, first)
    assert.deepStrictEqual(
      second.found.map(({ about, sinceMillis }) => [about, sinceMillis]),
      [
        ["ab", 1000],
        ["ab:0", 1000]
      ]
    )
    assert.deepStrictEqual(second.watched, [sent])
    const third = lookAt(1100, second)
    assert.deepStrictEqual([third.watched, lookAt(1101, third).watched], [[sent], []])
  })

  it("reconciliation: a discrepancy counts as new only in the first run after it has lasted for the grace period", () => {
    const first = lookAt(1000)
    const second = lookAt(1049, first)
    const third = lookAt(1050, second)
    const fourth = lookAt(1051, third)
    const news = (run: Run.Run, before?: Run.Run) =>
      Run.newDifferences(run, before, 50).map(({ about }) => about)
    assert.deepStrictEqual(
      [news(first), news(second, first), news(third, second), news(fourth, third)],
      [[], [], ["ab", "ab:0"], []]
    )
  })
})
