import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect } from "effect"
import * as CompanyChecks from "../checks/CompanyChecks.ts"
import { claim, same } from "../checks/Violation.ts"
import type { World } from "../world/World.ts"
import type { Company } from "./Customers.ts"
import { listOf, member, subjectOf, text } from "./Json.ts"
import type { Stage } from "./Stage.ts"

// Events are deleted after 90 days, and clocks differ.
const keptMillis = 89 * 24 * 3600 * 1000

/** The type of a record's last event, for each status in which a record can remain. */
const lastTold: { readonly [kind in "withdrawal" | "deposit"]: { readonly [status: string]: RegExp } } = {
  withdrawal: { settled: /^withdrawal\.\w+\.completed$/, failed: /^withdrawal\.\w+\.failed$/ },
  deposit: { settled: /^deposit\.\w+\.completed$/, failed: /^deposit\.on_chain\.failed$/ }
}

/** Reads a company's events, oldest first. */
export const read = async (stage: Stage, { bearer }: Company): Promise<ReadonlyArray<unknown>> => {
  const feed: Array<unknown> = []
  for (let cursor = ""; ;) {
    let page: unknown
    stage.ask({ slot: 0, method: "GET", path: `/v1/events?limit=1000${cursor}`, bearer }, (answer) => {
      claim(answer?.status === 200, `every request gets a response: events got ${answer?.text}`)
      page = JSON.parse(answer?.text ?? "null")
    })
    await stage.pass(0)
    const events = listOf(member(page, "data"))
    if (events.length === 0) return feed
    feed.push(...events)
    cursor = `&cursor=${text(events.at(-1), "id")}`
  }
}

/** Checks that a company reads only its own events, and that the last event of every record matches its status. */
export const check = Effect.fnUntraced(function* (
  { records, time }: World,
  companyId: CompanyId.CompanyId,
  feed: ReadonlyArray<unknown>
) {
  for (const event of feed)
    same(member(event, "company_id"), companyId, "a company reads only its own events")
  const told = new Map(feed.map((event) => [subjectOf(event), event]))
  const { withdrawals, deposits, own } = yield* CompanyChecks.read(records, companyId)
  const rows = [
    ...withdrawals.map((row) => ({ kind: "withdrawal", row, last: lastTold.withdrawal }) as const),
    ...deposits.map((row) => ({ kind: "deposit", row, last: lastTold.deposit }) as const),
    ...own.flatMap(({ of: { kind, told }, rows }) => rows.map((row) => ({ kind, row, last: told })))
  ]
  for (const { kind, row, last } of rows) {
    const type = last[row.status]
    // A refund updates a deposit long after its last event.
    const sinceMillis =
      kind === "deposit" && "createdAtMillis" in row ? row.createdAtMillis : row.updatedAtMillis
    if (type === undefined || sinceMillis < time.nowMillis() - keptMillis) continue
    const event = told.get(row.id)
    claim(
      type.test(text(event, "type")),
      `the last event of a record matches its status: ${kind} ${row.id} is ${row.status}, last event ${text(event, "type")}`
    )
  }
})
