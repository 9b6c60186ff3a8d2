import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { type Context, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { Journal } from "../src/ledger/Journal.ts"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import * as Deposit from "../src/receiving/Deposit.ts"
import { ChainDeposits } from "../src/receiving/ChainDeposits.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import { Records } from "../src/service/Records.ts"
import { company, follow, has, mine, onChainAddress, type Ports, replace, run } from "./World.ts"

/** Counts the transactions that are looked up. */
const counting = () => {
  const looked = { count: 0 }
  const change: (ports: Context.Context<Ports>) => Context.Context<Ports> = replace(ChainSource, (chain) => ({
    transaction: (txId) =>
      Effect.suspend(() => {
        looked.count++
        return chain.transaction(txId)
      })
  }))
  return { looked, change }
}

const outputs = 30

/** A company with an address that one transaction pays in many outputs. */
const paidOften = Effect.gen(function* () {
  const row = yield* company()
  const { address } = yield* onChainAddress(row)
  yield* (yield* Sandbox).sendMany(
    Array.from({ length: outputs }, () => ({ address, amount: Msat.fromSats(1000) }))
  )
  return row
})

/** A pass has three parts: it processes reported outputs, checks earlier deposits again, and credits. */
const parts = 3

describe("Lookups of transactions", () => {
  it.effect(
    "deposits: a pass looks up a transaction once in each part, however many of its outputs pay us",
    () => {
      const { looked, change } = counting()
      const pass = Effect.gen(function* () {
        looked.count = 0
        yield* follow
        return looked.count
      })
      return run({ change }, function* () {
        const { reorg } = yield* Sandbox
        const row = yield* paidOften
        const passes = [
          ["seen", Effect.void],
          ["mined", mine(1)],
          ["credited", mine(1)],
          ["removed", reorg(2)],
          ["unconfirmed at a new block", reorg(1)],
          ["credited again", mine(2)]
        ] as const
        for (const [when, happens] of passes) {
          yield* happens
          const count = yield* pass
          assert.isTrue(count >= 1 && count <= parts, `${when}: ${count}`)
        }
        assert.deepStrictEqual(yield* has(row), { posted: outputs * 1000, held: 0 })
      })
    }
  )

  it.effect(
    "deposits: while blocks are read again, as after a rescan, each deposit is read and looked up only once they include its own",
    () => {
      const { looked, change } = counting()
      const read = { count: 0 }
      const reading = replace(ReceivingReads, (reads) => ({
        depositsAbove: (...asked) =>
          Effect.tap(reads.depositsAbove(...asked), (rows) => Effect.sync(() => (read.count += rows.length)))
      }))
      let again: { readonly unchangedTo: number; readonly readTo: number } | undefined
      const reread = replace(ChainSource, (chain) => ({
        activity: (after, ours) =>
          Effect.map(chain.activity(after, ours), (activity) =>
            again === undefined
              ? activity
              : {
                  ...activity,
                  unchangedTo: again.unchangedTo,
                  blocksLeft: activity.tip.height - again.readTo
                }
          )
      }))
      return run({ change: (ports) => reading(reread(change(ports))) }, function* () {
        const row = yield* company()
        const { address } = yield* onChainAddress(row)
        const sandbox = yield* Sandbox
        const heights: Array<number> = []
        for (let n = 0; n < 3; n++) {
          yield* sandbox.send({ address, amount: Msat.fromSats(1000) })
          yield* mine(2)
          yield* follow
          heights.push((yield* (yield* ChainSource).tip).height)
        }
        assert.deepStrictEqual(yield* has(row), { posted: 3000, held: 0 })
        const counts: Array<readonly [read: number, looked: number]> = []
        for (const [n, readTo] of heights.entries()) {
          read.count = looked.count = 0
          again = { unchangedTo: heights[n - 1] ?? 0, readTo }
          yield* (yield* ChainDeposits).follow()
          counts.push([read.count, looked.count])
        }
        assert.deepStrictEqual(
          counts,
          heights.map(() => [1, 1])
        )
      })
    }
  )

  it.effect(
    "deposits: if another process changes all deposits of a transaction first, they are read again together",
    () => {
      const { looked, change } = counting()
      const taken = new Set<string>()
      let changeFirst = (_id: string): Effect.Effect<unknown> => Effect.void
      const contested = replace(Journal, (journal) => ({
        commit: (change) => {
          if (change._tag !== "DepositPlaced" || taken.has(change.id)) return journal.commit(change)
          taken.add(change.id)
          return Effect.andThen(changeFirst(change.id), journal.commit(change))
        }
      }))
      return run({ change: (ports) => contested(change(ports)) }, function* () {
        const [journal, records] = [yield* Journal, yield* Records]
        changeFirst = (id) =>
          Effect.orDie(
            Effect.flatMap(records.depositById(id), (deposit) =>
              journal.commit(Deposit.placed(Option.getOrThrow(deposit), null, 0))
            )
          )
        const row = yield* paidOften
        yield* follow
        yield* mine(1)
        looked.count = 0
        const following = yield* Effect.forkChild(follow)
        yield* TestClock.adjust("1 second") // the pause before a retry
        yield* Fiber.join(following)
        assert.strictEqual(taken.size, outputs)
        assert.isAtMost(looked.count, parts)
        yield* mine(1)
        yield* follow
        assert.deepStrictEqual(yield* has(row), { posted: outputs * 1000, held: 0 })
      })
    }
  )
})
