import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Decimal from "../src/base/Decimal.ts"
import type { Account } from "../src/ledger/Change.ts"
import * as Booking from "../src/reports/Booking.ts"
import * as Statement from "@satrail/features/statements/core/Statement"
import { Result } from "effect"

let last = 0n
const entry = (
  transferId: string,
  from: Account,
  to: Account,
  amount: number,
  atMillis = 0
): Booking.Entry => ({
  id: ++last,
  transferId,
  from,
  to,
  amount: Msat.make(BigInt(amount)),
  atMillis
})

const fold = (...pages: ReadonlyArray<ReadonlyArray<Booking.Entry>>) => {
  let open: Booking.Booking | undefined
  const all: Array<Booking.Booking> = []
  for (const page of pages) {
    const folded = Booking.fold(open, page)
    all.push(...folded.closed)
    open = folded.open
  }
  return [...all, ...(open === undefined ? [] : [open])].map(
    ({ kind, transferId, amount, serviceFee, networkFee }) =>
      [kind, transferId, amount, serviceFee, networkFee].join(" ")
  )
}

describe("Bookings of a company", () => {
  it("bookings: a withdrawal is one line with both fees, even across a page boundary", () => {
    const entries = [
      entry("a", "node", "available", 5_000),
      entry("b", "available", "held", 1_015),
      entry("b", "held", "node", 1_000),
      entry("b", "held", "service_fees", 5),
      entry("b", "held", "network_fees", 10),
      entry("c", "held", "chain", 7)
    ]
    const lines = ["deposit a 5000 0 0", "withdrawal b -1000 -5 -10", "withdrawal c -7 0 0"]
    for (let at = 0; at <= entries.length; at++)
      assert.deepStrictEqual(fold(entries.slice(0, at), entries.slice(at)), lines, `${at}`)
  })

  it("bookings: a transfer's arrival, its reversal and its second arrival are one line each; a hold is not listed", () => {
    const moves = [
      entry("a", "chain", "available", 9),
      entry("a", "available", "chain", 7),
      entry("a", "chain", "available", 7),
      entry("b", "available", "held", 3),
      entry("b", "held", "available", 3),
      entry("a", "available", "loss", 2)
    ]
    assert.deepStrictEqual(fold(moves), [
      "deposit a 9 0 0",
      "reversal a -7 0 0",
      "deposit a 7 0 0",
      "reversal a -2 0 0"
    ])
  })

  it("bookings: anything other than a deposit or withdrawal is an adjustment, whatever its accounts", () => {
    const moves = [
      entry("a", "loss", "available", 9),
      entry("b", "available", "suspense", 2),
      entry("c", "available", "service_fees", 3),
      entry("d", "service_fees", "available", 1),
      entry("e", "held", "loss", 4)
    ]
    const lines = [
      "adjustment a 9 0 0",
      "adjustment b -2 0 0",
      "adjustment c -3 0 0",
      "adjustment d 1 0 0",
      "adjustment e -4 0 0"
    ]
    assert.deepStrictEqual(fold(moves), lines)
  })

  it("bookings: a fiat value is rounded to two decimals, and half is rounded away from zero", () => {
    const value = (msat: bigint, rate: string) =>
      Booking.fiatValue(Msat.make(msat), Result.getOrThrow(Decimal.parse(rate)))
    assert.deepStrictEqual(
      [
        value(1_563_000n, "64000"),
        value(-1_563_000n, "64000"),
        value(7_812n, "64000"),
        value(7_813n, "64000"),
        value(-1n, "64000"),
        value(100_000_000_000n, "65000.125")
      ],
      ["1.00", "-1.00", "0.00", "0.01", "0.00", "65000.13"]
    )
  })

  it("statement: the opening balance, receipts, payments and fees add up to the closing balance, to the msat, for any bookings", () => {
    const accounts: ReadonlyArray<Account> = [
      "available",
      "held",
      "node",
      "chain",
      "service_fees",
      "network_fees",
      "suspense",
      "loss",
      "internal"
    ]
    let amount = 1n
    const turnovers = () =>
      accounts.flatMap((from) =>
        accounts.flatMap((to): ReadonlyArray<Booking.Turnover> => {
          amount = (amount * 7n + 3n) % 1_000_003n
          return from === to ? [] : [{ from, to, amount: Msat.make(amount), count: 1 }]
        })
      )
    const late = turnovers().map((turnover) => ({ ...turnover, firstMillis: 1, lastMillis: 2 }))
    const one = Statement.of({ isClosed: true, before: turnovers(), within: turnovers(), late })
    const { opening, closing } = one
    const [received, sent, fees] = [Statement.received, Statement.sent, Statement.fees].map((part) =>
      BigInt(Statement.whole(part)(one))
    )
    assert.strictEqual<bigint>(
      opening.posted + (received ?? 0n) - (sent ?? 0n) - (fees ?? 0n),
      closing.posted
    )
    for (const parts of [one, one.late])
      assert.isTrue(
        [Statement.received(parts), Statement.sent(parts), Statement.fees(parts)].every((sum) => sum > 0n)
      )
  })

  it("statement: a month starts and ends at midnight UTC and becomes final some time after its end", () => {
    const january = Statement.monthOf("2026-01") ?? assert.fail()
    assert.deepStrictEqual(
      [january.fromMillis, january.untilMillis].map((at) => new Date(at).toISOString()),
      ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]
    )
    assert.strictEqual(Statement.monthOf("2025-12")?.untilMillis, january.fromMillis)
    for (const text of ["2026-13", "2026-00", "2026-1", "26-01", "2026-01-01", "", "２０２６-01"])
      assert.isUndefined(Statement.monthOf(text), text)
    const closing = january.untilMillis + Statement.settlingMillis
    assert.deepStrictEqual([closing - 1, closing].map(Statement.closedUntil), [
      january.fromMillis,
      january.untilMillis
    ])
  })
})
