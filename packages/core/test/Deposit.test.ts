import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { deposit } from "@satrail/contracts/Rows"
import { Arbitrary, Schema } from "effect"
import * as Balance from "../src/ledger/Balance.ts"
import * as Deposit from "../src/receiving/Deposit.ts"

describe("An on-chain deposit", () => {
  it("deposit: a deposit is seen, mined, credited, reversed, mined again and credited again", () => {
    const seen = Deposit.seen(deposit({ height: null })).writes[0].record
    const placed = Deposit.after(Deposit.placed(seen, 100, 2))
    const confirmed = Deposit.after(Deposit.confirmed(placed, 3))
    const reversed = Deposit.after(Deposit.reversed(confirmed, Msat.make(200n), 4))
    const again = Deposit.after(Deposit.confirmed(Deposit.after(Deposit.placed(reversed, 103, 5)), 6))
    assert.deepStrictEqual(
      [seen, placed, confirmed, reversed, again].map(
        ({ status, height, absorbed, revision, updatedAtMillis }) => [
          status,
          height,
          Number(absorbed),
          revision,
          updatedAtMillis
        ]
      ),
      [
        ["pending", null, 0, 0, 1],
        ["pending", 100, 0, 1, 2],
        ["settled", 100, 0, 2, 3],
        ["pending", null, 200, 3, 4],
        ["settled", 103, 0, 5, 6]
      ]
    )
  })

  it("deposit: a deposit is evicted when its coins are spent elsewhere, and restored when the chain includes it", () => {
    const dropped = Deposit.after(Deposit.dropped(deposit(), 2))
    assert.deepStrictEqual([dropped.status, dropped.height], ["failed", null])
    assert.strictEqual(Deposit.after(Deposit.placed(dropped, null, 3)).status, "pending")
  })

  it("deposit: a deposit stays credited if it only moves to another block", () => {
    assert.strictEqual(Deposit.after(Deposit.placed(deposit({ status: "settled" }), 9, 2)).status, "settled")
  })

  const steps = Arbitrary.schema(
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })))
  )

  it.prop(
    "C45: deposit: for any order of chain events and spending, no balance goes below zero, and the deposit is credited at most once",
    { steps },
    ({ steps }) => {
      const amount = Msat.make(1000n)
      let now = Deposit.seen(deposit({ amount, height: null })).writes[0].record
      let balance = Balance.empty
      let spent = 0n
      let loss = 0n
      const apply = (move: Deposit.DepositChange) => {
        const postings = move.legs.flatMap((leg) => leg.postings)
        assert.isTrue(Balance.need(postings) <= Balance.available(balance))
        assert.strictEqual(Deposit.after(move).revision, now.revision + 1)
        balance = Balance.add(balance, Balance.effect(postings))
        for (const one of postings)
          loss += (one.from === "loss" ? one.amount : 0n) - (one.to === "loss" ? one.amount : 0n)
        now = Deposit.after(move)
      }
      for (const step of steps) {
        const left = Balance.available(balance)
        switch (step % 6) {
          case 0:
            apply(Deposit.placed(now, step % 2 === 0 ? null : step, step))
            break
          case 1:
            if (now.status === "pending") apply(Deposit.confirmed(now, step))
            break
          case 2:
            if (now.status === "settled")
              apply(Deposit.reversed(now, Msat.make(left >= amount ? 0n : amount - left), step))
            break
          case 3:
            if (now.status === "pending") apply(Deposit.dropped(now, step))
            break
          case 4:
            apply(Deposit.reclaimed(now, left < now.absorbed ? left : now.absorbed, step))
            break
          default: {
            const part = (left * BigInt(step % 11)) / 10n
            balance = { posted: Msat.make(balance.posted - part), held: balance.held }
            spent += part
          }
        }
        assert.isTrue(balance.posted >= 0n && loss >= 0n && loss === now.absorbed)
        // The balance plus the amount spent equals the settled deposit plus the operator's loss.
        assert.strictEqual(balance.posted + spent, (now.status === "settled" ? amount : 0n) + loss)
      }
    },
    { arbitrary: { seed: 11, runs: 500 } }
  )
})
