import { assert } from "@effect/vitest"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Stream } from "effect"
import * as Metadata from "../src/base/Metadata.ts"
import * as Page from "../src/ledger/Page.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Bookings, type Line } from "../src/reports/Bookings.ts"
import { ReportReads } from "../src/reports/ReportReads.ts"
import { asked, company, made, poll, replace, scenario } from "./World.ts"

const { keys, valueCharacters } = Metadata.limits
const each = keys * valueCharacters
const metadata = Object.fromEntries(
  Array.from({ length: keys }, (_, n) => [`${n}`, "v".repeat(valueCharacters)])
)
const count = Math.ceil(Page.maxCharacters / each) + 50

/** A store that records how many payments, with their metadata, are read at a time. */
const watched = () => {
  const reads: Array<number> = []
  const change = replace(ReportReads, (reports) => ({
    ...reports,
    subjects: (companyId, transferIds) => {
      reads.push(transferIds.length)
      return reports.subjects(companyId, transferIds)
    }
  }))
  return { reads, change }
}

const idsOf = (lines: ReadonlyArray<Line>) =>
  lines.flatMap((line) => (line._tag === "Booked" ? [line.subject?.id] : []))

scenario(
  "bookings: payments with large metadata are read in small parts, and a page of them ends early, but each is listed once",
  watched,
  function* ({ reads }) {
    const shop = yield* company()
    const sandbox = yield* Sandbox.Sandbox
    for (let n = 0; n < count; n++) {
      const one = {
        companyId: shop.id,
        ...(yield* asked(1)),
        description: `n ${n}`,
        expirySeconds: 3600,
        metadata
      }
      yield* sandbox.pay({ paymentRequest: (yield* made((yield* Invoices).create(one))).paymentRequest })
    }
    yield* poll
    const bookings = yield* Bookings
    const period = { fromMillis: 0, untilMillis: Number.MAX_SAFE_INTEGER }
    const exported = idsOf(yield* Stream.runCollect(yield* bookings.lines(shop.id, period)))
    assert.strictEqual(new Set(exported).size, count)
    assert.isAtMost(Math.max(...reads), Page.atOnce)

    const pages: Array<ReadonlyArray<Line>> = []
    let after: Page.Position | null = null
    do {
      const page: Page.Page<Line> = yield* bookings.page(shop.id, { ...period, limit: 1000, after })
      assert.isAtMost(Page.charactersOf(page.rows), Page.maxCharacters + Page.atOnce * (each + 1000))
      pages.push(page.rows)
      after = page.next ?? null
    } while (after !== null)
    assert.isAtMost(Math.max(...reads), Page.atOnce)
    assert.isAtLeast(pages.length, 2)
    assert.deepStrictEqual(idsOf(pages.flat()), exported)
  }
)
