import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@satrail/core/ledger/Journal"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import type { Change } from "@satrail/core/service/Changes"
import * as Changes from "@satrail/core/service/Changes"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Option } from "effect"
import * as CellStories from "../src/CellStories.ts"
import * as Store from "../src/world/Store.ts"
import type { Spoil } from "../src/world/World.ts"

const store = await Store.open("memory")
const tell = (seed: number, spoil?: Spoil) => CellStories.run(seed, { store, operations: 100, ...(spoil && { spoil }) })

/** The sender of the first cell, which lies about what it paid to the other one. */
const failsWhatItPaid: Spoil = (ports) => {
  const sender = Context.get(ports, LightningSender)
  const other = Option.getOrThrow(Context.getOption(ports, Sandbox.Neighbour)).receiver.nodeId
  return Context.add(
    ports,
    LightningSender,
    LightningSender.of({
      ...sender,
      pay: (ask) =>
        Effect.map(sender.pay(ask), (payment) =>
          payment._tag === "settled" && ask.invoice.payee === other ? { _tag: "failed", reason: "no_route" } : payment
        )
    })
  )
}

/** The books of the first cell, which have no posting of what its node has paid. */
const pays = (change: Change): Change => (change._tag === "WithdrawalSettled" ? { ...change, legs: [] } : change)
const forgetsWhatItPaid: Spoil = (ports) =>
  Context.add(
    ports,
    Journal,
    Changes.journal((change) => Context.get(ports, Journal).commit(pays(change)))
  )

const firstOf = async (spoil: Spoil) => {
  for (let seed = 1; seed <= 5; seed++) {
    const { violation } = await tell(seed, spoil)
    if (violation !== undefined) return violation
  }
  return "nothing"
}

describe("Two cells of one service", () => {
  it("simulator: two cells that pay each other keep every promise: npm run simulate -- --cells --seeds 6 --operations 100", async () => {
    let crossed = 0
    for (let seed = 1; seed <= 6; seed++) {
      const outcome = await tell(seed)
      assert.isUndefined(outcome.violation && `seed ${seed}: ${outcome.violation}`)
      crossed += outcome.crossed
    }
    assert.isAbove(crossed, 10, "of the payments many went from one to the other")
  })

  it("simulator: the stories of two cells are the same each time", async () => {
    const [one, again] = [await tell(3), await tell(3)]
    assert.deepStrictEqual([again.hash, again.ending], [one.hash, one.ending])
  })

  it("simulator: a cell whose node calls failed what it paid to the other cell is found out", async () => {
    assert.match(await firstOf(failsWhatItPaid), /what failed (was not paid|is not under way)/)
  })

  it("simulator: a cell whose books miss what it paid to the other cell is found out", async () => {
    assert.notStrictEqual(await firstOf(forgetsWhatItPaid), "nothing")
  })
})
