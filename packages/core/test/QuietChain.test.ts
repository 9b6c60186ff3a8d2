import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { deposit } from "@satrail/contracts/Rows"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import {
  accounts,
  company,
  confirm,
  follow,
  has,
  mine,
  onChainAddress,
  outside,
  replace,
  run,
  scenario,
  step,
  steps,
  unheld
} from "./World.ts"

const cursor = Effect.flatMap(LedgerReads, (ledger) => ledger.cursor("chain"))
const send = (address: string, sats: number) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.send({ address, amount: Msat.fromSats(sats) }))

describe("A chain that does not change", () => {
  scenario(
    "C45: deposits: if a pass could not take back all that the operator bears, the next one continues, without a new block",
    { change: replace(ReceivingReads, (reads) => ({ depositsOwed: () => reads.depositsOwed(1) })) },
    function* () {
      const row = yield* company()
      const { address } = yield* onChainAddress(row)
      for (let n = 0; n < 2; n++) yield* send(address, 5000)
      yield* mine(2)
      yield* follow
      const { destination, paymentHash } = yield* outside({ sats: 9000, behaviour: "hold" })
      yield* confirm(row, destination)
      yield* step
      yield* (yield* Sandbox).reorg(2)
      for (let passes = 0; passes < 3; passes++) yield* follow
      yield* (yield* Sandbox).release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome: "fail" })
      yield* steps(3)
      yield* TestClock.adjust("1 minute")
      yield* follow
      assert.isAbove((yield* has(row)).posted, 0)
      yield* follow
      assert.deepStrictEqual([yield* has(row), (yield* accounts)["loss"]], [unheld(0), undefined])
      yield* mine(2)
      yield* follow
      assert.deepStrictEqual(yield* has(row), unheld(10_000))
    }
  )

  it.effect(
    "deposits: each new block rechecks the next page of evicted deposits, and after the oldest starts over",
    () => {
      const asked = new Array<string | null>()
      const ids = Array.from({ length: 120 }, (_, n) => `deposit ${n}`)
      const change = replace(ReceivingReads, () => ({
        depositsGivenUp: (before, limit) => {
          asked.push(before)
          const from = before === null ? 0 : ids.indexOf(before) + 1
          return Effect.succeed(ids.slice(from, from + limit).map((id) => deposit({ id, chainTxId: null })))
        }
      }))
      return run({ change }, function* () {
        for (let blocks = 0; blocks < 4; blocks++) yield* Effect.andThen(mine(1), follow)
        assert.deepStrictEqual(asked, [null, "deposit 49", "deposit 99", null])
      })
    }
  )

  scenario("deposits: a cursor that moves without a new block is stored at once", function* () {
    yield* mine(1)
    for (let passes = 0; passes < 3; passes++) yield* follow
    const before = yield* cursor
    yield* send((yield* outside({ type: "chain_address" })).destination, 1000)
    yield* follow
    assert.notDeepEqual(yield* cursor, before)
  })
})
