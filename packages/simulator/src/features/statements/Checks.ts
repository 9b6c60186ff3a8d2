import * as Msat from "@satrail/bitcoin/Msat"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as MonthEnd from "@satrail/features/statements/core/MonthEnd"
import * as Statement from "@satrail/features/statements/core/Statement"
import { statements as core } from "@satrail/features/statements/core"
import * as Random from "@satrail/testing/Random"
import { Effect } from "effect"
import { same } from "../../checks/Violation.ts"
import type { World } from "../../world/World.ts"
import * as Feature from "../Feature.ts"

/** Largest time of a JavaScript date. */
const endOfTime = 8.64e15

/** A month end may be this far in the future, because a process's clock can be ahead. */
const aheadMillis = 3_600_000

const textOf = (sums: unknown) =>
  JSON.stringify(sums, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))

/**
 * Returns a check of a company's statements. It closes the company's books at a random time, so that later entries may
 * be late. The months of a scenario have any length.
 */
const books = ({ records, journal, time }: World) => {
  const random = Random.make(1) // the scenario's own would change all scenarios
  const monthsOf = new Map<CompanyId, { readonly ends: Array<number>; readonly final: Map<number, string> }>()

  return Effect.fnUntraced(function* (id: CompanyId) {
    const { ends, final } = monthsOf.get(id) ?? { ends: [], final: new Map<number, string>() }
    monthsOf.set(id, { ends, final })
    const check = Effect.gen(function* () {
      let balance = { posted: Msat.zero, held: Msat.zero }
      for (const [n, untilMillis] of [...ends, endOfTime].entries()) {
        const sums = yield* records.monthSums(id, { fromMillis: ends[n - 1] ?? 0, untilMillis })
        const month = `month ${n} of company ${id}`
        const statement = Statement.of(sums)
        const [received, sent, fees] = [Statement.received, Statement.sent, Statement.fees].map((part) =>
          Statement.whole(part)(statement)
        )
        same(sums.isClosed, n < ends.length, `only months before the last month end are closed: ${month}`)
        same(
          textOf(statement.opening),
          textOf(balance),
          `a statement opens with the closing balance of the previous one: ${month}`
        )
        const closing = statement.opening.posted + (received ?? 0n) - (sent ?? 0n) - (fees ?? 0n)
        same(
          closing,
          statement.closing.posted,
          `a statement's opening balance and movements add up to its closing balance: ${month}`
        )
        if (sums.isClosed)
          same(textOf(sums), final.get(n) ?? textOf(sums), `a final statement never changes: ${month}`)
        if (sums.isClosed) final.set(n, textOf(sums))
        balance = statement.closing
      }
      same(
        textOf(balance),
        textOf(yield* records.balance(id)),
        `the last statement closes with the balance of company ${id}`
      )
    })
    yield* check
    const { number, untilMillis, last } = yield* records.booksClosed(id)
    const nowMillis = time.nowMillis()
    const end = random.between(
      Math.max(untilMillis + 1, nowMillis - aheadMillis),
      Math.max(untilMillis + 1, nowMillis) + aheadMillis
    )
    const row = {
      companyId: id,
      number: number + 1,
      untilMillis: end,
      lastEntry: String(last),
      createdAtMillis: nowMillis
    }
    yield* journal.commit(MonthEnd.closed({ id: Id.fromMillis(nowMillis, random.bytes), ...row }))
    ends.push(end)
    yield* check
  })
}

export const statements = Feature.make(core)({ changes: {}, books })
