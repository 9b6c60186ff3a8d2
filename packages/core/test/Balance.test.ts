import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Arbitrary, Schema } from "effect"
import * as Balance from "../src/ledger/Balance.ts"
import type { Account, Posting } from "../src/ledger/Change.ts"
import * as Change from "../src/ledger/Change.ts"
import { plain } from "./Rows.ts"

const posting = (from: Account, to: Account, amount: number): Posting => ({
  from,
  to,
  amount: Msat.make(BigInt(amount))
})
const balance = (posted: number, held: number): Balance.Balance => ({
  posted: Msat.make(BigInt(posted)),
  held: Msat.make(BigInt(held))
})

/** Worked examples of how postings change the posted and held amounts, and of the balance they require. */
const examples: ReadonlyArray<
  readonly [what: string, postings: ReadonlyArray<Posting>, posted: number, held: number, need: number]
> = [
  ["a credit", [posting("node", "available", 1000)], 1000, 0, -1000],
  ["a hold", [posting("available", "held", 1015)], 0, 1015, 1015],
  ["a voided hold", [posting("held", "available", 1015)], 0, -1015, -1015],
  [
    "a posted hold",
    [posting("held", "node", 1000), posting("held", "service_fees", 5), posting("held", "network_fees", 10)],
    -1015,
    -1015,
    0
  ],
  ["a reversal", [posting("available", "chain", 800), posting("loss", "chain", 200)], -800, 0, 800],
  ["an operator's expense", [posting("network_fees", "node", 3), posting("loss", "node", 1)], 0, 0, 0]
]

describe("Balance", () => {
  for (const [what, postings, posted, held, need] of examples) {
    it(`balance: ${what} has the expected effect on the posted and held amounts`, () => {
      assert.deepStrictEqual(plain(Balance.effect(postings)), { posted, held })
      assert.strictEqual(Number(Balance.need(postings)), need)
    })
  }

  it("balance: available is posted minus held", () => {
    assert.strictEqual(Balance.available(balance(1000, 300)), 700n)
    assert.strictEqual(Balance.available(Balance.empty), 0n)
  })

  const any: ReadonlyArray<Account> = ["available", "held", "node", "service_fees", "internal"]
  const amounts = Arbitrary.schema(
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 })))
  )

  it.prop(
    "balance: a Change requires exactly the amount that it takes from the available balance",
    { amounts },
    ({ amounts }) => {
      const postings = Change.moving(
        ...amounts.map((amount, at) =>
          posting(any[at % 5] ?? "node", any[(at + 1 + (amount % 4)) % 5] ?? "node", amount)
        )
      )
      const taken = postings.reduce(
        (sum, { from, to, amount }) =>
          sum + (from === "available" ? amount : 0n) - (to === "available" ? amount : 0n),
        0n
      )
      assert.strictEqual(Balance.need(postings), taken)
      const before = balance(5_000, 700)
      assert.strictEqual(
        Balance.available(Balance.add(before, Balance.effect(postings))),
        Balance.available(before) - taken
      )
    },
    { arbitrary: { seed: 11, runs: 300 } }
  )

  it("balance: a zero amount creates no posting", () => {
    assert.deepStrictEqual(Change.moving(posting("held", "service_fees", 0), posting("held", "node", 1)), [
      posting("held", "node", 1)
    ])
  })
})
