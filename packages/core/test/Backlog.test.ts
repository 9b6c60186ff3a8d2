import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type * as Page from "../src/ledger/Page.ts"
import { Backlog } from "../src/reports/reconciliation/Backlog.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import { settings } from "./Rows.ts"
import { companyWith, confirm, mine, outside, replace, scenario, step, steps, weather } from "./World.ts"

/** A store that no longer finds some withdrawals. */
const losing = () => {
  const lost = new Set<string>()
  const change = replace(SendingReads, (sending) => ({
    ...sending,
    withdrawal: (companyId, id) =>
      lost.has(id) ? Effect.succeed(Option.none()) : sending.withdrawal(companyId, id)
  }))
  return { lost, change, isPending: true } as const
}

scenario(
  "backlog: a record that is no longer found is omitted, and the records after it are still listed",
  losing,
  function* ({ lost }) {
    const payer = yield* companyWith(10_000)
    const ids: Array<string> = []
    for (let n = 0; n < 5; n++)
      ids.push((yield* confirm(payer, (yield* outside({ sats: 10 })).destination)).id)
    yield* TestClock.adjust(1000)
    const { withdrawals } = yield* Backlog
    const all = function* () {
      const rows: Array<string> = []
      let after: Page.Position | null = null
      do {
        const page: Effect.Success<ReturnType<typeof withdrawals>> = yield* withdrawals({
          limit: 1,
          after,
          olderThanMillis: 0
        })
        rows.push(...page.rows.map(({ record }) => record.id))
        after = page.next ?? null
      } while (after !== null)
      return rows
    }
    const listed = yield* all()
    assert.sameMembers(listed, ids)
    lost.add(listed[0] ?? "").add(listed[3] ?? "")
    assert.deepStrictEqual(yield* all(), [listed[1], listed[2], listed[4]])
  }
)

scenario(
  "backlog: each payout of a batch is reported in its block although another of its transactions has replaced the one in the block",
  () => ({ settings: { ...settings, payoutWindowMillis: 60_000 }, ...weather() }),
  function* ({ sky }) {
    const payer = yield* companyWith(100_000)
    const ids: Array<string> = []
    for (let n = 0; n < 2; n++)
      ids.push((yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 20_000)).id)
    const [leader = ""] = ids.toSorted()
    yield* TestClock.adjust("60 seconds")
    yield* step
    const { candidates } = yield* SendingReads
    const [first] = yield* candidates(payer.id, leader)
    sky.rate = 4
    sky.deaf = (rawTx) => rawTx !== first?.rawTx
    yield* steps(31, 60)
    assert.strictEqual((yield* candidates(payer.id, leader)).length, 2)
    yield* mine(2)
    for (const id of ids) {
      const { answer } = yield* (yield* Backlog).withdrawal(id)
      assert.match(
        answer ?? "",
        new RegExp(
          `^in block \\d+, with 2 confirmations: transaction ${first?.txId}, which was sent earlier$`
        )
      )
    }
    yield* mine(4)
    yield* steps(2)
    assert.isNull((yield* (yield* Backlog).withdrawal(leader)).answer)
  }
)
