import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { LightningBooks, type Own } from "../src/nodes/LightningBooks.ts"
import { NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import * as Reconciler from "../src/reports/reconciliation/Reconciler.ts"
import { Reconciliation } from "../src/reports/reconciliation/Reconciliation.ts"
import { settings } from "./Rows.ts"
import { type Ports, type Process, replace, scenario } from "./World.ts"

const { everyMillis } = settings.reconciliation

/**
 * A node that lists two items per page. Its funds exceed those of the sandbox's node by the amount in `earned`,
 * and it may not have listed all of that amount yet.
 */
const make = Effect.gen(function* () {
  const state = { earned: 0n, isAway: false }
  const list: Array<Own> = []
  const ports = replace(LightningBooks, (books) => ({
    owned: Effect.map(books.owned, (owned) => ({ ...owned, amount: Msat.make(owned.amount + state.earned) })),
    own: (after) =>
      Effect.suspend(() => {
        const from = after === null ? list.length : Number(after)
        if (state.isAway && after !== null && from > 1) {
          return Effect.fail(new NodeUnavailable({ operation: "own", cause: new Error("away") }))
        }
        const lines = after === null ? [] : list.slice(from, from + 2)
        return Effect.succeed({ lines, cursor: String(from + lines.length) })
      })
  }))(yield* Effect.context<Ports | Process>())
  const look = Effect.gen(function* () {
    const services = yield* Layer.build(Layer.fresh(Reconciler.layer)).pipe(Effect.provideContext(ports))
    yield* TestClock.adjust(everyMillis)
    return yield* Context.get(services, Reconciler.Reconciler).run()
  })
  const item = (kind: Own["kind"]) => (msat: number) => list.push({ kind, amount: Msat.make(BigInt(msat)) })
  const [lists, closes] = [item("forward"), item("channel")]
  const earns = (msat: number) => {
    state.earned += BigInt(msat)
  }
  return {
    state,
    look,
    lists,
    closes,
    earns,
    forwards: (msat: number) => {
      earns(msat)
      lists(msat)
    }
  }
})

/**
 * The report: causes of discrepancies, forwarding income, channel costs, and the number of closed channels.
 */
const told = Effect.gen(function* () {
  const { differences, listed, node } = Option.getOrThrow(yield* (yield* Reconciliation).last)
  const { forwarding, channels, closed } = listed
  return [
    differences.map(({ cause }) => cause),
    ...[forwarding, channels, closed, node.unexplained].map(Number)
  ]
})

describe("The node's own income and expenses", () => {
  scenario(
    "reconciliation: a forward is counted once, as forwarding income, and is not a discrepancy",
    function* () {
      const node = yield* make
      yield* node.look
      for (const fee of [2234, 1000, 0, 7, 15]) node.forwards(fee)
      for (let looks = 0; looks < 3; looks++) yield* node.look
      assert.deepStrictEqual(yield* told, [[], 3256, 0, 0, 0])
    }
  )

  scenario(
    "reconciliation: items listed before the first run are part of the equity determined by that run",
    function* () {
      const node = yield* make
      node.forwards(2234)
      yield* node.look
      yield* node.look
      assert.deepStrictEqual(yield* told, [[], 0, 0, 0, 0])
    }
  )

  scenario("reconciliation: forwards that are always listed late are not a discrepancy", function* () {
    const node = yield* make
    yield* node.look
    for (let looks = 0; looks < 10; looks++) {
      node.earns(1000 + looks)
      yield* node.look
      assert.deepStrictEqual((yield* told)[0], [])
      node.lists(1000 + looks)
    }
    yield* node.look
    assert.deepStrictEqual(yield* told, [[], 10_045, 0, 0, 0])
  })

  scenario(
    "reconciliation: a forward that the node never lists is a discrepancy, even if the node lists others",
    { logsErrors: true },
    function* () {
      const node = yield* make
      yield* node.look
      node.earns(2234)
      for (let looks = 0; looks < 3; looks++) {
        node.forwards(100)
        yield* node.look
      }
      assert.deepStrictEqual(yield* told, [["node_balance"], 300, 0, 0, 2234])
    }
  )

  scenario(
    "reconciliation: if an outage interrupts reading the list, nothing is counted, and the next run counts each item once",
    function* () {
      const node = yield* make
      yield* node.look
      for (const fee of [1, 2, 3, 4]) node.forwards(fee)
      node.state.isAway = true
      assert.strictEqual((yield* Effect.flip(node.look))._tag, "NodeUnavailable")
      node.state.isAway = false
      yield* node.look
      assert.deepStrictEqual(yield* told, [[], 10, 0, 0, 0])
    }
  )

  scenario(
    "reconciliation: the equity that the operator declares includes all items listed before the declaration",
    function* () {
      const node = yield* make
      const { stateOwnFunds } = yield* Reconciliation
      yield* node.look
      node.forwards(5000)
      yield* node.look
      const { own } = Option.getOrThrow(yield* (yield* Reconciliation).last).node
      node.earns(700)
      yield* stateOwnFunds({ node: Msat.make((own ?? 0n) + 700n), chain: null })
      yield* node.look
      node.forwards(11)
      yield* node.look
      assert.deepStrictEqual(yield* told, [[], 5011, 0, 0, 0])
    }
  )

  scenario(
    "reconciliation: the cost of a closed channel is the amount that the node lists, or up to one satoshi more",
    { isPending: true },
    function* () {
      const node = yield* make
      yield* node.look
      node.closes(-385_000)
      node.closes(0)
      node.earns(-385_000 - 999 - 999)
      yield* node.look
      yield* node.look
      assert.deepStrictEqual(yield* told, [[], 0, -385_000, 2, 0])
    }
  )

  scenario(
    "reconciliation: losing a whole satoshi when a channel closes is a discrepancy",
    { logsErrors: true, isPending: true },
    function* () {
      const node = yield* make
      yield* node.look
      node.closes(-385_000)
      node.earns(-385_000 - 1000)
      yield* node.look
      yield* node.look
      assert.deepStrictEqual(yield* told, [["node_balance"], 0, -385_000, 1, -1])
    }
  )

  scenario(
    "reconciliation: a channel closed before the operator declared the equity allows for no rounding after that",
    { logsErrors: true, isPending: true },
    function* () {
      const node = yield* make
      const { last, stateOwnFunds } = yield* Reconciliation
      yield* node.look
      node.closes(0)
      yield* node.look
      const { own } = Option.getOrThrow(yield* last).node
      yield* stateOwnFunds({ node: own, chain: null })
      node.earns(-999)
      yield* node.look
      yield* node.look
      assert.deepStrictEqual(yield* told, [["node_balance"], 0, 0, 1, -999])
    }
  )
})
