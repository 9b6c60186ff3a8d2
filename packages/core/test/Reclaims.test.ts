import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type { TxId } from "@satrail/bitcoin/TxId"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { Vouchers } from "@satrail/features/vouchers/core/Vouchers"
import { Records } from "../src/service/Records.ts"
import {
  accounts,
  asked,
  company,
  confirm,
  follow,
  has,
  made,
  mine,
  onChainAddress,
  outside,
  scenario,
  step,
  steps,
  unheld
} from "./World.ts"

/** A company whose balance is one credited on-chain deposit. */
const credited = Effect.fnUntraced(function* (sats: number) {
  const row = yield* company()
  const { address } = yield* onChainAddress(row)
  const txId = yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(sats) })
  yield* mine(2)
  yield* follow
  return { row, txId }
})

/** A withdrawal whose payee holds the payment of 1000 sats, and how it ends. */
const withdrawal = Effect.fnUntraced(function* (row: Company) {
  const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour: "hold" })
  yield* confirm(row, destination)
  yield* step
  return Effect.fnUntraced(function* (outcome: "settle" | "fail") {
    yield* (yield* Sandbox).release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome })
    yield* steps(3)
  })
})

const voucher = Effect.fnUntraced(function* (row: Company) {
  const vouchers = yield* Vouchers
  const issued = yield* made(
    Effect.flatMap(asked(1000), (amount) =>
      vouchers.create({ company: row, ...amount, description: "a gift", expirySeconds: 3600, metadata: {} })
    )
  )
  return () => vouchers.cancel(row.id, issued.voucher.id)
})

/** Reads again after a full check is due, although the chain did not change. */
const followLater = Effect.andThen(TestClock.adjust("1 minute"), follow)
const reverse = Effect.andThen(
  Effect.flatMap(Sandbox, ({ reorg }) => reorg(2)),
  follow
)
const doubleSpend = Effect.fnUntraced(function* (txId: TxId) {
  yield* (yield* Sandbox).doubleSpend(txId)
  yield* mine(1)
  yield* follow
})

const holds = {
  "a failed withdrawal": (row: Company) => Effect.map(withdrawal(row), (end) => () => end("fail")),
  "a canceled voucher": voucher
}

describe("A reversed deposit", () => {
  for (const [name, hold] of Object.entries(holds)) {
    for (const when of ["before the deposit fails", "after the deposit failed"] as const) {
      scenario(
        `C45: deposits: the hold of ${name} that is released ${when} repays the operator and not the company`,
        function* () {
          const { row, txId } = yield* credited(5000)
          const release = yield* hold(row)
          yield* reverse
          const { held } = yield* has(row)
          assert.deepStrictEqual(
            [held > 1000, yield* has(row), (yield* accounts)["loss"]],
            [true, { posted: held, held }, -held]
          )
          if (when === "after the deposit failed") yield* doubleSpend(txId)
          yield* release()
          yield* followLater
          if (when === "before the deposit fails") yield* doubleSpend(txId)
          assert.deepStrictEqual([yield* has(row), yield* accounts], [unheld(0), {}])
          assert.deepStrictEqual(yield* (yield* Records).faults(row.id), [])
        }
      )
    }
  }

  scenario(
    "C45: deposits: of two holds, the operator bears only the one that was sent, and nothing once the deposit confirms again",
    function* () {
      const { row } = yield* credited(5000)
      const [sent, returned] = [yield* withdrawal(row), yield* withdrawal(row)]
      yield* reverse
      yield* sent("settle")
      yield* returned("fail")
      yield* followLater
      assert.deepStrictEqual([yield* has(row), (yield* accounts)["loss"]], [unheld(0), -1012])
      yield* mine(2)
      yield* follow
      assert.deepStrictEqual([yield* has(row), (yield* accounts)["loss"]], [unheld(3988), undefined])
    }
  )

  scenario(
    "C45: deposits: an amount that the operator bears is taken from the company's next credit, never more",
    function* () {
      const { row, txId } = yield* credited(1013)
      const sent = yield* withdrawal(row)
      yield* reverse
      yield* sent("settle")
      yield* doubleSpend(txId)
      assert.deepStrictEqual([yield* has(row), (yield* accounts)["loss"]], [unheld(0), -1012])
      const { address } = yield* onChainAddress(row)
      for (const [sats, left] of [
        [700, 0],
        [700, 388],
        [700, 1088]
      ] as const) {
        yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(sats) })
        yield* mine(2)
        yield* follow
        assert.deepStrictEqual(yield* has(row), unheld(left))
      }
      assert.deepStrictEqual(
        [(yield* accounts)["loss"], yield* (yield* Records).faults(row.id)],
        [undefined, []]
      )
    }
  )
})
